# Writes the scenario files of a directory as a C++ source file. Run at build time:
#
#   cmake -DINPUT_DIR=bench/scenarios -DOUTPUT=embedded_scenarios.cpp -P embed_scenarios.cmake

file(GLOB files "${INPUT_DIR}/*.toml")
list(SORT files)
set(entries "")
foreach(path IN LISTS files)
    get_filename_component(name "${path}" NAME_WLE)
    file(READ "${path}" text)
    # In square brackets and with semicolons CMake sees lists: nothing below treats `text` as one.
    if(text MATCHES "\\)toml\"")
        message(FATAL_ERROR "${path} contains )toml\", which ends the literal that it is embedded in.")
    endif()
    string(APPEND entries "    {\"${name}\", R\"toml(${text})toml\"},\n")
endforeach()
file(WRITE "${OUTPUT}" "// Generated from bench/scenarios by src/config/embed_scenarios.cmake.
#include \"config/embedded_scenarios.hpp\"

namespace weir::config {

namespace {

constexpr EmbeddedScenario scenarios[] = {
${entries}};

}  // namespace

std::span<const EmbeddedScenario> embedded_scenarios() { return scenarios; }

}  // namespace weir::config
")
