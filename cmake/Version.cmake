# `weir_version.hpp`: what was built, from which commit, with what; and the version alone for the Python package
# and for packages. They are written anew by every build, and only if they changed, so that a commit made after
# configuring is not missed. Only the targets that link `weir_version` see the header.

set(weir_generated_dir "${PROJECT_BINARY_DIR}/generated")
add_custom_target(weir_version_header
    COMMAND "${CMAKE_COMMAND}"
            "-DSOURCE_DIR=${PROJECT_SOURCE_DIR}"
            "-DOUTPUT_DIR=${weir_generated_dir}"
            "-DPROJECT_VERSION=${PROJECT_VERSION}"
            "-DCOMPILER=${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}"
            "-DBUILD_TYPE=${CMAKE_BUILD_TYPE}"
            -P "${PROJECT_SOURCE_DIR}/cmake/WriteVersion.cmake"
    BYPRODUCTS "${weir_generated_dir}/weir_version.hpp"
               "${weir_generated_dir}/version.py"
               "${weir_generated_dir}/version.txt"
    VERBATIM)

add_library(weir_version INTERFACE)
target_include_directories(weir_version INTERFACE "${weir_generated_dir}")
add_dependencies(weir_version weir_version_header)
