# Writes what is known of the version into files (cmake -P; see Version.cmake). Three sources, the first that knows:
#
#   git           `git describe`: the last tag v1.2.3, how far the commit is from it, whether files differ from it
#   archive.txt   the same in an archive made by `git archive`, as hosting sites and `git archive | tar x` do
#   PROJECT_VERSION, and the commit is unknown
#
# The version is written as semantic versioning, Debian, RPM and Python all take it: 1.2.3 at the tag,
# 1.2.3+5.gabc1234 five commits later, 1.2.3+gabc1234 without any tag, and .dirty where files were changed.

set(VERSION "${PROJECT_VERSION}")
set(COMMIT "unknown")
set(COMMIT_DATE "")

# "v1.2.3-5-gabc1234-dirty" -> 1.2.3+5.gabc1234.dirty
function(weir_version_of_description description result)
    string(REGEX REPLACE "^v" "" version "${description}")
    set(local "")
    if(version MATCHES "^(.*)-dirty$")
        set(version "${CMAKE_MATCH_1}")
        set(local "dirty")
    endif()
    if(version MATCHES "^(.*)-([0-9]+)-(g[0-9a-f]+)$")
        set(version "${CMAKE_MATCH_1}")
        list(PREPEND local "${CMAKE_MATCH_2}" "${CMAKE_MATCH_3}")
    endif()
    list(JOIN local "." local)
    if(local)
        string(APPEND version "+${local}")
    endif()
    set(${result} "${version}" PARENT_SCOPE)
endfunction()

# ask_git(RESULT ARGUMENTS...): what git prints, or nothing if it fails. A tree that another user owns, as in a
# container, is one that git otherwise refuses to look at; whoever builds it trusts it.
find_program(git_program git)
function(ask_git result)
    execute_process(
        COMMAND "${git_program}" -c "safe.directory=${SOURCE_DIR}" -C "${SOURCE_DIR}" ${ARGN}
        OUTPUT_VARIABLE answer OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE status)
    if(NOT status EQUAL 0)
        set(answer "")
    endif()
    set(${result} "${answer}" PARENT_SCOPE)
endfunction()

if(git_program AND EXISTS "${SOURCE_DIR}/.git")
    ask_git(commit rev-parse HEAD)
    if(commit)
        set(COMMIT "${commit}")
        ask_git(COMMIT_DATE log -1 --format=%cs)
        ask_git(description describe --tags --match "v[0-9]*" --dirty)
        if(NOT description)
            # No release tag yet: the project's version, and the commit it stands at.
            ask_git(short rev-parse --short HEAD)
            ask_git(changes status --porcelain --untracked-files=no)
            set(VERSION "${PROJECT_VERSION}+g${short}")
            if(changes)
                string(APPEND VERSION ".dirty")
            endif()
        endif()
    endif()
elseif(EXISTS "${SOURCE_DIR}/cmake/archive.txt")
    file(READ "${SOURCE_DIR}/cmake/archive.txt" archive)
    if(archive MATCHES "\ncommit ([0-9a-f]+)\n")
        set(COMMIT "${CMAKE_MATCH_1}")
        if(archive MATCHES "\ndate ([0-9]+-[0-9]+-[0-9]+)\n")
            set(COMMIT_DATE "${CMAKE_MATCH_1}")
        endif()
        # A git before 2.32 cannot describe here, and leaves the word as it was.
        if(archive MATCHES "\ndescribe (v[0-9][^\n ]*)\n")
            set(description "${CMAKE_MATCH_1}")
        else()
            string(SUBSTRING "${COMMIT}" 0 7 short)
            set(VERSION "${PROJECT_VERSION}+g${short}")
        endif()
    endif()
endif()
if(description)
    weir_version_of_description("${description}" VERSION)
endif()

foreach(file IN ITEMS weir_version.hpp version.py version.txt)
    configure_file("${CMAKE_CURRENT_LIST_DIR}/${file}.in" "${OUTPUT_DIR}/${file}" @ONLY)
endforeach()
