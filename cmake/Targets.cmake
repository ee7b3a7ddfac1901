# The functions that declare weir's libraries and executables. Each target exists once, and a second time
# as NAME_sanitized when WEIR_SANITIZED_TESTS asks for it: one build tree then holds the optimized
# program and everything that is tested under the sanitizers, so that one ctest call runs both.

# The names of the dependencies in `links`, with weir's own libraries replaced by their sanitized twins.
function(weir_sanitized_links result)
    set(links "")
    foreach(link IN LISTS ARGN)
        if(link MATCHES "^weir::")
            string(APPEND link "_sanitized")
        endif()
        list(APPEND links "${link}")
    endforeach()
    set(${result} "${links}" PARENT_SCOPE)
endfunction()

# weir_add_library(core [ROOMS policies] PUBLIC ... PRIVATE ... EXCLUDE main.cpp [RUNS_RARELY] [TESTED_BRIEFLY] [ONLY_OPTIMIZED])
# The library `weir_core`, alias `weir::core`, from every .cpp file of the current directory and its ROOMS but the excluded
# ones. A directory of headers only becomes an interface library. What is public is what its headers include.
# RUNS_RARELY: nothing that messages or data wait for, so that a release is content with -O1 and compiles it sooner.
# TESTED_BRIEFLY (RUNS_RARELY implies it): its test cases take moments. Its sanitized twin is not optimized, and compiled sooner.
# ONLY_OPTIMIZED: no sanitized twin.
function(weir_add_library name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "RUNS_RARELY;TESTED_BRIEFLY;ONLY_OPTIMIZED" "" "ROOMS;PUBLIC;PRIVATE;SOURCES;EXCLUDE")
    list(TRANSFORM arg_ROOMS APPEND "/*.cpp" OUTPUT_VARIABLE patterns)
    list(TRANSFORM patterns PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/")
    file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp" ${patterns})
    list(TRANSFORM arg_EXCLUDE PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/")
    list(REMOVE_ITEM sources "" ${arg_EXCLUDE})
    list(APPEND sources ${arg_SOURCES})

    weir_add_library_variant("weir_${name}" "${sources}" "${arg_PUBLIC}" "${arg_PRIVATE}")
    add_library("weir::${name}" ALIAS "weir_${name}")
    if(WEIR_OFFLINE AND sources)
        target_compile_options("weir_${name}" PRIVATE -ffunction-sections -fdata-sections)  # see weir-offline in src/cli
    endif()
    if(arg_RUNS_RARELY)
        target_compile_options("weir_${name}" PRIVATE $<$<CONFIG:Release>:-O1>)
    endif()
    if(WEIR_SANITIZED_TESTS AND NOT arg_ONLY_OPTIMIZED)
        weir_sanitized_links(public ${arg_PUBLIC})
        weir_sanitized_links(private ${arg_PRIVATE})
        weir_add_library_variant("weir_${name}_sanitized" "${sources}" "${public}" "${private};weir_sanitizers")
        add_library("weir::${name}_sanitized" ALIAS "weir_${name}_sanitized")
        if(arg_RUNS_RARELY OR arg_TESTED_BRIEFLY)
            set_target_properties("weir_${name}_sanitized" PROPERTIES WEIR_UNOPTIMIZED ON)
        endif()
    endif()
endfunction()

function(weir_add_library_variant target sources public private)
    if(sources)
        add_library("${target}" STATIC ${sources})
        target_include_directories("${target}" PUBLIC "${PROJECT_SOURCE_DIR}/src")
        # With CMAKE_UNITY_BUILD a library is one compilation.
        set_target_properties("${target}" PROPERTIES UNITY_BUILD_BATCH_SIZE 0)
        target_link_libraries("${target}" PUBLIC ${public} PRIVATE weir_options ${private})
    else()
        add_library("${target}" INTERFACE)
        target_include_directories("${target}" INTERFACE "${PROJECT_SOURCE_DIR}/src")
        target_link_libraries("${target}" INTERFACE ${public})
    endif()
endfunction()

# weir_precompile(target HEADER...)
# Headers that nearly every file of the target includes and that take seconds to compile: the whole build,
# optimized and sanitized, must fit into the tests' time on two cores. Files still include what they use.
function(weir_precompile target)
    if(CMAKE_UNITY_BUILD)
        return()  # every header is read once anyway
    endif()
    foreach(name IN ITEMS "${target}" "${target}_sanitized")
        if(TARGET "${name}")
            target_precompile_headers("${name}" PRIVATE ${ARGN})
        endif()
    endforeach()
endfunction()

# weir_add_executable(weir LINK ... SOURCES ... [ONLY_SANITIZED | ONLY_OPTIMIZED])
# ONLY_...: not the other variant, where there are two.
function(weir_add_executable name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "ONLY_SANITIZED;ONLY_OPTIMIZED" "" "LINK;SOURCES")
    if(NOT (arg_ONLY_SANITIZED AND WEIR_SANITIZED_TESTS))
        add_executable("${name}" ${arg_SOURCES})
        target_link_libraries("${name}" PRIVATE weir_options ${arg_LINK})
    endif()
    if(WEIR_SANITIZED_TESTS AND NOT arg_ONLY_OPTIMIZED)
        weir_sanitized_links(links ${arg_LINK})
        add_executable("${name}_sanitized" ${arg_SOURCES})
        target_link_libraries("${name}_sanitized" PRIVATE weir_options weir_sanitizers ${links})
    endif()
endfunction()
