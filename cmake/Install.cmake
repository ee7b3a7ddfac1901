# What an installation has beside the programs: scenarios and switches as files, batch scripts, a dashboard and alerts, the licence and the documents. Nothing
# in it knows where it lies, so the tree can be moved.
install(DIRECTORY bench/scenarios bench/switches DESTINATION "${CMAKE_INSTALL_DATADIR}/weir")
if(IS_DIRECTORY "${PROJECT_SOURCE_DIR}/slurm")
    install(DIRECTORY slurm DESTINATION "${CMAKE_INSTALL_DATADIR}/weir" USE_SOURCE_PERMISSIONS
            PATTERN __pycache__ EXCLUDE
            REGEX "/slurm/(sweeps|sites)/[^/]+/" EXCLUDE)  # campaigns that were made from these files lie beside them
endif()
install(DIRECTORY packaging/grafana packaging/prometheus DESTINATION "${CMAKE_INSTALL_DATADIR}/weir")
install(FILES LICENSE README.md CHANGELOG.md CITATION.cff DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(DIRECTORY docs DESTINATION "${CMAKE_INSTALL_DOCDIR}")
