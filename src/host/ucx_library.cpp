#include "host/ucx_library.hpp"

#include <dlfcn.h>

namespace weir::host {

namespace {

std::optional<UcxLibrary> ask(const char* name, int mode) {
    // Never closed: a library that was loaded just now has started what it may not be able to end.
    void* const library = dlopen(name, mode);
    if (library == nullptr) {
        return std::nullopt;
    }
    using VersionString = const char* (*)();
    const auto version_string = reinterpret_cast<VersionString>(dlsym(library, "ucp_get_version_string"));
    if (version_string == nullptr) {
        return std::nullopt;
    }
    Dl_info where{};
    const bool known = dladdr(reinterpret_cast<const void*>(version_string), &where) != 0;
    return UcxLibrary{version_string(), known && where.dli_fname != nullptr ? where.dli_fname : name};
}

}  // namespace

std::optional<UcxLibrary> loaded_ucx(const char* name) {
    return ask(name, RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
}

std::optional<UcxLibrary> loadable_ucx(const char* name) {
    return ask(name, RTLD_LAZY | RTLD_LOCAL);
}

}  // namespace weir::host
