# What Debian wants to have otherwise in its packages than in /usr/local or anywhere else: run by cpack on the tree that it is
# about to pack.
if(NOT CPACK_GENERATOR STREQUAL "DEB")
    return()
endif()
set(share "${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr/share")

# site-functions is the administrator's.
if(EXISTS "${share}/zsh/site-functions")
    file(RENAME "${share}/zsh/site-functions" "${share}/zsh/vendor-completions")
endif()

file(GLOB pages "${share}/man/man1/*.1")
if(pages)
    execute_process(COMMAND gzip --best --no-name ${pages} COMMAND_ERROR_IS_FATAL ANY)
endif()

# The licence is on every Debian system.
file(REMOVE "${share}/doc/weir/LICENSE")
file(WRITE "${share}/doc/weir/copyright"
"Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: weir

Files: *
Copyright: the weir maintainers
License: Apache-2.0
 On Debian systems, the text of the Apache License, version 2.0, is in
 /usr/share/common-licenses/Apache-2.0.
")
file(CHMOD "${share}/doc/weir/copyright" PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
