# Binary packages of what is installed: `cpack -G DEB`, `-G RPM`, or `-G TGZ` for an archive to be unpacked anywhere.
# `cmake --workflow --preset package` configures, builds and packs. Their version is that of the last build.

if(NOT CPACK_GENERATOR)
    find_program(DPKG_DEB_PROGRAM dpkg-deb)
    find_program(RPMBUILD_PROGRAM rpmbuild)
    set(CPACK_GENERATOR TGZ)
    if(DPKG_DEB_PROGRAM)
        list(PREPEND CPACK_GENERATOR DEB)
    elseif(RPMBUILD_PROGRAM)
        list(PREPEND CPACK_GENERATOR RPM)
    endif()
endif()

set(CPACK_PACKAGE_NAME weir)
set(CPACK_PACKAGE_VENDOR weir)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "many-to-many benchmark for networks, over MPI")
set(CPACK_PACKAGE_DESCRIPTION
    "Producer ranks generate data at a fixed rate, consumer ranks take it and are
sometimes busy, and one scheduler rank grants every transfer. Every run answers
one question: was every set of data gone before the next one was generated, and
if not, who or what held it up? It is used to size an event-building farm, to
accept a switch, and to compare switch settings. Runs can also be simulated.")
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_STRIP_FILES ON)
set(CPACK_PROJECT_CONFIG_FILE "${PROJECT_BINARY_DIR}/package_options.cmake")
set(CPACK_PRE_BUILD_SCRIPTS "${PROJECT_SOURCE_DIR}/cmake/debian_layout.cmake")

# Whoever makes a package answers for it; Debian's tools take name and address from the same variables.
if(DEFINED ENV{DEBFULLNAME} AND DEFINED ENV{DEBEMAIL})
    set(CPACK_PACKAGE_CONTACT "$ENV{DEBFULLNAME} <$ENV{DEBEMAIL}>")
else()
    set(CPACK_PACKAGE_CONTACT "weir maintainers <weir@invalid.invalid>")
endif()

# Libraries are found by dpkg-shlibdeps; what starts the ranks, and what draws the reports, are programs.
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SECTION net)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
if(MPI_CXX_LIBRARIES MATCHES "openmpi")
    set(CPACK_DEBIAN_PACKAGE_DEPENDS openmpi-bin)
elseif(MPI_CXX_LIBRARIES MATCHES "mpich")
    set(CPACK_DEBIAN_PACKAGE_DEPENDS mpich)
endif()
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS
    "python3-jinja2, python3-matplotlib, python3-scipy")

set(CPACK_RPM_FILE_NAME RPM-DEFAULT)
set(CPACK_RPM_PACKAGE_LICENSE Apache-2.0)
set(CPACK_RPM_PACKAGE_SUGGESTS
    "python3-jinja2, python3-matplotlib, python3-scipy")
# Directories that other packages own.
set(CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION
    /usr/share/bash-completion /usr/share/bash-completion/completions
    /usr/share/man /usr/share/man/man1 /usr/share/zsh /usr/share/zsh/site-functions)

configure_file(cmake/package_options.cmake.in package_options.cmake @ONLY)
include(CPack)
