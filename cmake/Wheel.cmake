# What scikit-build-core takes into the wheel beside the packages of pyproject.toml. WEIR_OFFLINE_PROGRAM saves the build:
#
#   SKBUILD_CMAKE_DEFINE=WEIR_OFFLINE_PROGRAM=$PWD/build/release/libexec/weir/weir-offline pip wheel . --no-deps
if(WEIR_OFFLINE_PROGRAM)
    add_custom_target(weir-offline DEPENDS weir_version_header)
    install(PROGRAMS "${WEIR_OFFLINE_PROGRAM}" DESTINATION weir_runs/bin RENAME weir COMPONENT wheel)
else()
    install(PROGRAMS "$<TARGET_FILE:weir-offline>" DESTINATION weir_runs/bin RENAME weir COMPONENT wheel)
endif()
install(FILES "${PROJECT_BINARY_DIR}/generated/version.py" DESTINATION weir_runs COMPONENT wheel)
