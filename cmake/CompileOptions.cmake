# What every target of weir is compiled with. Two interface targets: `weir_options` for all, and
# `weir_sanitizers` for those built under the sanitizers.

add_library(weir_options INTERFACE)
target_compile_features(weir_options INTERFACE cxx_std_20)
target_compile_options(weir_options INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wredundant-decls
    # A multiplication and an addition fused on one machine and not on another round differently: the
    # same seed must give the same run everywhere.
    -ffp-contract=off
    # Assertions name their file as the repository does, wherever it was compiled.
    "-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # A false alarm in std::string itself (gcc.gnu.org bug 105651), on text.insert(0, "...") and the like.
    target_compile_options(weir_options INTERFACE -Wno-restrict)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # The compiler clears up its memory so often that it takes an eighth of the time; this lets it grow by half a gigabyte first.
    target_compile_options(weir_options INTERFACE --param=ggc-min-heapsize=524288)
endif()
if(WEIR_WERROR)
    target_compile_options(weir_options INTERFACE -Werror)
endif()
# The C++ bindings left the MPI standard long ago; their headers bring warnings and a library of their own.
target_compile_definitions(weir_options INTERFACE OMPI_SKIP_MPICXX=1 MPICH_SKIP_MPICXX=1)

add_library(weir_sanitizers INTERFACE)
# A number that is cast to a type that cannot hold it is undefined too, and not among `undefined`.
set(weir_sanitizer_flags -fsanitize=address,undefined,float-cast-overflow -fno-sanitize-recover=all)
if(WEIR_SANITIZED_TESTS)
    # A third of the time to compile. AddressSanitizer ends a program that uses a null pointer; nothing here reads
    # memory as another type, which is what the others watch. The preset `sanitize` has them all.
    list(APPEND weir_sanitizer_flags -fno-sanitize=null,alignment,object-size,vptr)
endif()
if(WEIR_FUZZ)
    list(APPEND weir_sanitizer_flags -fsanitize=fuzzer-no-link)  # the harnesses bring the main function
endif()
# Test cases, and libraries that no test keeps busy, are not optimized: they compile in half of the time. The others compile in two thirds
# of the time that -O1 takes, and run by a fifth slower.
target_compile_options(weir_sanitizers INTERFACE ${weir_sanitizer_flags} -g1 -fno-omit-frame-pointer
    $<IF:$<BOOL:$<TARGET_PROPERTY:WEIR_UNOPTIMIZED>>,-O0,-Og>)
if(WEIR_SANITIZED_TESTS AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # What is looked for is faults of weir, whose libraries are watched whole: a test case's own stack is not, which saves a quarter of
    # its time to compile.
    target_compile_options(weir_sanitizers INTERFACE
        $<$<BOOL:$<TARGET_PROPERTY:WEIR_TEST_CASES>>:--param=asan-stack=0>)
    # A check of an address is then a call rather than code in its place: an eighth less to compile, and slower to run.
    set(by_calls $<AND:$<BOOL:$<TARGET_PROPERTY:WEIR_UNOPTIMIZED>>,$<NOT:$<BOOL:$<TARGET_PROPERTY:WEIR_CHECKS_IN_PLACE>>>>)
    target_compile_options(weir_sanitizers INTERFACE $<${by_calls}:--param=asan-instrumentation-with-call-threshold=0>)
endif()
target_link_options(weir_sanitizers INTERFACE ${weir_sanitizer_flags})
# What the library can check of its own: indices, empty containers, iterators.
target_compile_definitions(weir_sanitizers INTERFACE _GLIBCXX_ASSERTIONS)
if(WEIR_SANITIZED_TESTS)
    # Every source is compiled so, whether the optimized program treats warnings as errors or not.
    target_compile_options(weir_sanitizers INTERFACE -Werror)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Whoever builds the twins has the memory that they take (2 GB at most) without clearing up before a gigabyte.
    target_compile_options(weir_sanitizers INTERFACE --param=ggc-min-heapsize=1048576)
    # Of values that may not be initialized GCC gives false alarms under the sanitizers (its manual says so); the optimized
    # program is looked at for them.
    target_compile_options(weir_sanitizers INTERFACE -Wno-maybe-uninitialized)
endif()
if(WEIR_SANITIZE)
    target_link_libraries(weir_options INTERFACE weir_sanitizers)
endif()
if(WEIR_SANITIZE_THREADS)
    target_compile_options(weir_options INTERFACE -fsanitize=thread -g1 -fno-omit-frame-pointer)
    target_link_options(weir_options INTERFACE -fsanitize=thread)
endif()

# Colours in compiler messages also when Ninja stands between the compiler and the terminal.
set(CMAKE_COLOR_DIAGNOSTICS ON)
