# The functions that declare tests.
#
# weir_find_catch()         the target weir_catch: Catch2 of either version, with a main function
# weir_add_catch_tests()    an executable of Catch2 test cases, one ctest entry per file
# weir_add_mpi_test()       a command under mpirun, one ctest entry per rank count
# weir_add_script_test()    a shell or Python script that tests the program from outside

set(weir_test_launcher "${PROJECT_SOURCE_DIR}/tests/mpi/launch")
# Tests preload libraries of their own (a slow fsync), and AddressSanitizer otherwise insists on being the first.
set(weir_sanitizer_environment
    "ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1:verify_asan_link_order=0"
    "UBSAN_OPTIONS=print_stacktrace=1")
# MPI libraries keep memory until the process ends, and have unloaded by then what could tell whose it was.
set(weir_sanitizer_environment_with_mpi "${weir_sanitizer_environment}" "LSAN_OPTIONS=detect_leaks=0")
# A process that initializes MPI without mpirun needs what mpirun-local gives the others: shared memory only.
set(weir_singleton_environment "OMPI_MCA_pml=ob1" "OMPI_MCA_btl=self" "OMPI_MCA_osc=^ucx" "HWLOC_COMPONENTS=-pci,-linuxio")

function(weir_find_catch)
    add_library(weir_catch INTERFACE)
    # For #include "catch.hpp", whichever version that finds.
    target_include_directories(weir_catch INTERFACE "${PROJECT_SOURCE_DIR}/tests")
    if(Catch2_VERSION VERSION_LESS 3)
        add_library(weir_catch_main STATIC "${PROJECT_SOURCE_DIR}/tests/catch_main.cpp")
        target_link_libraries(weir_catch_main PUBLIC Catch2::Catch2)
        target_compile_features(weir_catch_main PRIVATE cxx_std_20)
        # By far the longest single compilation, and nothing that needs to be fast.
        target_compile_options(weir_catch_main PRIVATE -O0)
        target_link_libraries(weir_catch INTERFACE weir_catch_main)
    else()
        target_link_libraries(weir_catch INTERFACE Catch2::Catch2WithMain)
    endif()
endfunction()

# weir_add_catch_tests(unit_core LABEL unit LINK weir::core [DIRECTORIES core ...] [MPI] [LONG] [OPTIMIZED])
# The executable NAME from every .cpp file of DIRECTORIES, which for unit_<library> is <library>. Nothing is
# built while they have none. MPI: a test case may initialize MPI, as the only rank. LONG: its files begin
# before those that take a moment, and are compiled to run sooner.
# With WEIR_SANITIZED_TESTS the cases run under the sanitizers only: the time of tests/run is short, and the
# optimized code is what the tests under mpirun run. The presets release and debug run them without. OPTIMIZED: they never do.
function(weir_add_catch_tests name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "MPI;LONG;OPTIMIZED" "LABEL" "DIRECTORIES;LINK")
    set(cost 0)
    if(arg_LONG)
        set(cost 300)
    endif()
    if(NOT arg_DIRECTORIES)
        string(REGEX REPLACE "^unit_" "" arg_DIRECTORIES "${name}")
    endif()
    list(TRANSFORM arg_DIRECTORIES PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/")
    list(TRANSFORM arg_DIRECTORIES APPEND "/*.cpp")
    file(GLOB sources CONFIGURE_DEPENDS ${arg_DIRECTORIES})
    if(NOT sources)
        return()
    endif()

    set(environment "")
    set(mpi "")
    if(arg_MPI)
        set(environment ${weir_singleton_environment})
        set(mpi "_with_mpi")
    endif()
    set(sanitized_environment ${environment} ${weir_sanitizer_environment${mpi}})
    if(WEIR_SANITIZE)
        set(environment "${sanitized_environment}")
    endif()
    set(only ONLY_SANITIZED)
    if(arg_OPTIMIZED)
        set(only ONLY_OPTIMIZED)
    endif()
    weir_add_executable("${name}" SOURCES ${sources} LINK ${arg_LINK} weir_catch ${only})
    if(arg_OPTIMIZED)
        target_compile_options("${name}" PRIVATE -O0)  # the libraries are optimized; test cases compile sooner
    endif()
    weir_precompile("${name}" "${PROJECT_SOURCE_DIR}/tests/catch.hpp")
    foreach(variant IN ITEMS "${name}" "${name}_sanitized")
        if(TARGET "${variant}")
            # In a unity build: Catch2's header is read once for so many files, and memory stays below 2 GB.
            set_target_properties("${variant}" PROPERTIES UNITY_BUILD_BATCH_SIZE 16)
        endif()
    endforeach()
    if(NOT TARGET "${name}_sanitized")
        weir_add_catch_entries("${name}" "${name}" "${sources}" "${arg_LABEL}" "${environment}" "${cost}")
    else()
        set_target_properties("${name}_sanitized" PROPERTIES WEIR_TEST_CASES ON)
        if(NOT arg_LABEL STREQUAL "property")  # those run long rather than compile long
            set_target_properties("${name}_sanitized" PROPERTIES WEIR_UNOPTIMIZED ON WEIR_CHECKS_IN_PLACE "${arg_LONG}")
        endif()
        weir_add_catch_entries("${name}_sanitized" "sanitize.${name}" "${sources}" "${arg_LABEL};sanitize"
                               "${sanitized_environment}" "${cost}")
    endif()
endfunction()

# One ctest entry for the cases of each file: PREFIX.FILE. A process for each case would take longer to start than most
# cases run. A file without cases fails.
function(weir_add_catch_entries target prefix sources labels environment cost)
    set(arguments --filenames-as-tags)
    if(Catch2_VERSION VERSION_LESS 3)
        list(APPEND arguments --warn NoTests)
    endif()
    foreach(source IN LISTS sources)
        cmake_path(GET source STEM LAST_ONLY file)
        add_test(NAME "${prefix}.${file}" COMMAND "${target}" ${arguments} "[#${file}]")
        set_tests_properties("${prefix}.${file}" PROPERTIES
            LABELS "${labels}"
            ENVIRONMENT "${environment}"
            COST "${cost}"
            TIMEOUT 300)
    endforeach()
endfunction()

# weir_add_mpi_test(NAME x RANKS 3 4 7 [EXPECT_EXIT n] [TIMEOUT seconds] [LABELS ...] COMMAND program arguments...)
# Runs the command under mpirun with each of the rank counts, in a new empty directory, and fails on another
# exit status than the one expected (0) and on processes left behind. Entries: mpi.NAME.3_ranks, ...
function(weir_add_mpi_test)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME;EXPECT_EXIT;TIMEOUT" "RANKS;LABELS;COMMAND")
    if(NOT arg_NAME OR NOT arg_RANKS OR NOT arg_COMMAND)
        message(FATAL_ERROR "weir_add_mpi_test needs NAME, RANKS and COMMAND")
    endif()
    if(NOT DEFINED arg_EXPECT_EXIT)
        set(arg_EXPECT_EXIT 0)
    endif()
    if(NOT arg_TIMEOUT)
        set(arg_TIMEOUT 60)
    endif()
    foreach(ranks IN LISTS arg_RANKS)
        set(test "mpi.${arg_NAME}.${ranks}_ranks")
        add_test(NAME "${test}"
                 COMMAND "${weir_test_launcher}" --ranks "${ranks}" --expect-exit "${arg_EXPECT_EXIT}"
                         --timeout "${arg_TIMEOUT}" -- ${arg_COMMAND})
        weir_set_launched_test_properties("${test}" "mpi;${arg_LABELS}" "${arg_TIMEOUT}")
    endforeach()
endfunction()

# weir_add_script_test(NAME x SCRIPT x.sh [RANKS 3 4 7] [SANITIZED] [TIMEOUT seconds] [LABELS ...] [ARGUMENTS ...])
# Runs a script (.sh by bash, .py by Python) in a new empty directory; exit status 0 is success, and 77 means
# skipped, with the reason as its last line. Processes left behind are a failure. The script finds in its environment:
#   WEIR             the program
#   WEIR_MPIRUN      bench/mpirun-local: takes mpirun's options, runs on this machine only
#   WEIR_SOURCE_DIR  the repository
#   WEIR_RANKS       the rank count, if RANKS are declared: one test for each
# SANITIZED: a second entry runs it with the sanitized program.
# Tests run side by side, and beside whatever else the machine does: none may depend on how soon it gets a processor.
function(weir_add_script_test)
    cmake_parse_arguments(PARSE_ARGV 0 arg "SANITIZED" "NAME;SCRIPT;TIMEOUT" "RANKS;LABELS;ARGUMENTS")
    if(NOT arg_NAME OR NOT arg_SCRIPT)
        message(FATAL_ERROR "weir_add_script_test needs NAME and SCRIPT")
    endif()
    if(NOT TARGET weir)
        return()
    endif()
    if(NOT arg_TIMEOUT)
        set(arg_TIMEOUT 60)
    endif()
    cmake_path(ABSOLUTE_PATH arg_SCRIPT BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}")
    if(arg_SCRIPT MATCHES "\\.py$")
        set(interpreter "${Python3_EXECUTABLE}")
    else()
        set(interpreter bash)
    endif()
    # The directory's name is the group's: tests/cli/... become cli.NAME.
    get_filename_component(group "${CMAKE_CURRENT_SOURCE_DIR}" NAME)
    set(labels "${group}" ${arg_LABELS})

    set(rank_counts "${arg_RANKS}")
    if(NOT rank_counts)
        set(rank_counts none)
    endif()
    foreach(ranks IN LISTS rank_counts)
        set(test "${group}.${arg_NAME}")
        set(environment "")
        if(NOT ranks STREQUAL "none")
            string(APPEND test ".${ranks}_ranks")
            list(APPEND environment "WEIR_RANKS=${ranks}")
        endif()
        set(command "${weir_test_launcher}" --script --timeout "${arg_TIMEOUT}" -- "${interpreter}" "${arg_SCRIPT}"
                    ${arg_ARGUMENTS})

        add_test(NAME "${test}" COMMAND ${command})
        weir_set_launched_test_properties("${test}" "${labels}" "${arg_TIMEOUT}")
        set_property(TEST "${test}" APPEND PROPERTY ENVIRONMENT "WEIR=$<TARGET_FILE:weir>" ${environment})

        if(arg_SANITIZED AND WEIR_SANITIZED_TESTS)
            add_test(NAME "sanitize.${test}" COMMAND ${command})
            weir_set_launched_test_properties("sanitize.${test}" "${labels};sanitize" "${arg_TIMEOUT}")
            set_property(TEST "sanitize.${test}" APPEND PROPERTY ENVIRONMENT
                         "WEIR=$<TARGET_FILE:weir_sanitized>" ${environment}
                         ${weir_sanitizer_environment_with_mpi})
        endif()
    endforeach()
endfunction()

function(weir_set_launched_test_properties test labels timeout)
    # The launcher ends a test that takes too long, and says so; ctest's own limit is only behind it.
    math(EXPR outer_timeout "${timeout} + 30")
    set_tests_properties("${test}" PROPERTIES
        LABELS "${labels}"
        TIMEOUT "${outer_timeout}"
        # Where ctest has not yet seen how long tests take, those that may take long start first: none is left for the end.
        COST "${timeout}"
        SKIP_RETURN_CODE 77)
    if(WEIR_SANITIZE)
        set_property(TEST "${test}" APPEND PROPERTY ENVIRONMENT ${weir_sanitizer_environment_with_mpi})
    endif()
endfunction()
