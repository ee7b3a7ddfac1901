// Stands in for UCX: a library of its name with another version.
extern "C" const char* ucp_get_version_string();
extern "C" const char* ucp_get_version_string() {
    return "98.7.6";
}
