# Every library that weir needs, as Debian and Fedora package it. Each one that is missing is named, all of
# them at once, together with the command that installs them.

set(weir_missing "")

find_package(PkgConfig QUIET)
find_package(Threads REQUIRED)

find_package(MPI 3.1 QUIET COMPONENTS CXX)
if(NOT MPI_CXX_FOUND)
    list(APPEND weir_missing "an MPI library (Debian: libopenmpi-dev openmpi-bin, Fedora: openmpi-devel)")
endif()

find_package(fmt QUIET)
if(NOT fmt_FOUND)
    list(APPEND weir_missing "fmt (Debian: libfmt-dev, Fedora: fmt-devel)")
endif()

find_package(nlohmann_json QUIET)
if(NOT nlohmann_json_FOUND)
    list(APPEND weir_missing "nlohmann_json (Debian: nlohmann-json3-dev, Fedora: json-devel)")
endif()

find_package(tomlplusplus QUIET)
if(NOT tomlplusplus_FOUND)
    list(APPEND weir_missing "toml++ (Debian: libtomlplusplus-dev, Fedora: tomlplusplus-devel)")
endif()

find_package(CLI11 QUIET)
if(NOT CLI11_FOUND)
    list(APPEND weir_missing "CLI11 (Debian: libcli11-dev, Fedora: cli11-devel)")
endif()

# libcrypto, for the proofs of --join.
find_package(OpenSSL 1.1 QUIET COMPONENTS Crypto)
if(NOT OpenSSL_FOUND)
    list(APPEND weir_missing "OpenSSL (Debian: libssl-dev, Fedora: openssl-devel)")
endif()

# xxHash comes without CMake configuration files on most distributions.
if(PkgConfig_FOUND)
    pkg_check_modules(xxhash QUIET IMPORTED_TARGET GLOBAL libxxhash)
else()
    list(APPEND weir_missing "pkg-config (Debian: pkg-config, Fedora: pkgconf-pkg-config)")
endif()
if(PkgConfig_FOUND AND NOT xxhash_FOUND)
    list(APPEND weir_missing "xxHash (Debian: libxxhash-dev, Fedora: xxhash-devel)")
endif()

# For one thing only, the MTU of RDMA packets, which `weir check` does without where it is not installed.
if(PkgConfig_FOUND)
    pkg_check_modules(ibverbs QUIET IMPORTED_TARGET GLOBAL libibverbs)
endif()
add_library(weir_ibverbs INTERFACE)
if(ibverbs_FOUND)
    target_link_libraries(weir_ibverbs INTERFACE PkgConfig::ibverbs)
    target_compile_definitions(weir_ibverbs INTERFACE WEIR_HAVE_IBVERBS)
endif()

# For --engine ucx. Its headers only: a program that was built with them loads the library when it is asked for.
if(PkgConfig_FOUND)
    pkg_check_modules(ucx QUIET ucx>=1.13)
endif()
add_library(weir_ucx INTERFACE)
if(ucx_FOUND)
    target_include_directories(weir_ucx SYSTEM INTERFACE ${ucx_INCLUDE_DIRS})
    target_compile_definitions(weir_ucx INTERFACE WEIR_HAVE_UCX)
endif()

if(WEIR_TESTS)
    find_package(Catch2 QUIET)
    if(NOT Catch2_FOUND)
        list(APPEND weir_missing "Catch2, for the tests (Debian: catch2, Fedora: catch-devel; or -DWEIR_TESTS=OFF)")
    endif()
    find_package(Python3 3.9 QUIET COMPONENTS Interpreter)
    if(NOT Python3_FOUND)
        list(APPEND weir_missing "Python 3.9 or later, for the tests (python3; or -DWEIR_TESTS=OFF)")
    endif()
endif()

if(weir_missing)
    if(WEIR_TESTS)
        set(weir_install_command "bench/install-dependencies --tests")
    else()
        set(weir_install_command "bench/install-dependencies")
    endif()
    list(JOIN weir_missing "\n  - " weir_missing_lines)
    message(FATAL_ERROR "Missing:\n  - ${weir_missing_lines}\nTo install: ${weir_install_command}\n")
endif()
