// The main function for Catch2 version 2, compiled once for all test executables. Version 3 brings its own.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
