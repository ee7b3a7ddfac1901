# Writes weir_version.hpp (cmake -P; see Version.cmake). Without git, as in an unpacked archive, the
# version is the project's and the commit is unknown.

set(VERSION "${PROJECT_VERSION}")
set(COMMIT "unknown")
find_program(git_program git)
if(git_program AND EXISTS "${SOURCE_DIR}/.git")
    execute_process(
        COMMAND "${git_program}" -C "${SOURCE_DIR}" rev-parse HEAD
        OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE status)
    if(status EQUAL 0)
        set(COMMIT "${commit}")
        execute_process(
            COMMAND "${git_program}" -C "${SOURCE_DIR}" describe --tags --match "v[0-9]*" --dirty
            OUTPUT_VARIABLE described OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE status)
        if(status EQUAL 0)
            string(REGEX REPLACE "^v" "" VERSION "${described}")
        else()
            # No release tag yet: the project's version, and the commit it stands at.
            execute_process(
                COMMAND "${git_program}" -C "${SOURCE_DIR}" describe --always --dirty --exclude "*"
                OUTPUT_VARIABLE described OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
            set(VERSION "${PROJECT_VERSION}+g${described}")
        endif()
    endif()
endif()

configure_file("${TEMPLATE}" "${OUTPUT}" @ONLY)
