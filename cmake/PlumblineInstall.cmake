# `cmake --install`: the command, its data, the libraries with their headers, and what find_package(plumbline) reads.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

get_property(plumbline_libraries GLOBAL PROPERTY PLUMBLINE_LIBRARIES)
set(plumbline_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/plumbline)

if(TARGET plan)
  install(TARGETS plan RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT runtime)
endif()

if(TARGET plumbline)
  install(TARGETS plumbline RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT runtime)
  set(plumbline_desktop ${PROJECT_SOURCE_DIR}/gui/desktop)
  install(FILES ${plumbline_desktop}/io.github.plumbline.Plumbline.desktop DESTINATION ${CMAKE_INSTALL_DATADIR}/applications
          COMPONENT runtime)
  install(FILES ${plumbline_desktop}/io.github.plumbline.Plumbline.metainfo.xml DESTINATION ${CMAKE_INSTALL_DATADIR}/metainfo
          COMPONENT runtime)
  install(FILES ${PROJECT_SOURCE_DIR}/gui/resources/plumbline.svg
          DESTINATION ${CMAKE_INSTALL_DATADIR}/icons/hicolor/scalable/apps COMPONENT runtime RENAME io.github.plumbline.Plumbline.svg)
endif()

# Headers keep their paths from the root of the repository: #include "core/quantity/quantity.h".
install(TARGETS ${plumbline_libraries} EXPORT plumblineTargets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/plumbline)
# The library for C stands on nothing of the others where it is used.
if(TARGET plumbline_c)
  install(TARGETS plumbline_c EXPORT plumblineTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
          FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  configure_file(${CMAKE_CURRENT_LIST_DIR}/plumbline.pc.in ${PROJECT_BINARY_DIR}/plumbline.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/plumbline.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()
install(EXPORT plumblineTargets NAMESPACE plumbline:: DESTINATION ${plumbline_package_dir})

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/plumblineConfig.cmake.in
                              ${PROJECT_BINARY_DIR}/plumblineConfig.cmake
                              INSTALL_DESTINATION ${plumbline_package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/plumblineConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/plumblineConfig.cmake ${PROJECT_BINARY_DIR}/plumblineConfigVersion.cmake
        DESTINATION ${plumbline_package_dir})

# The catalogue: networks, machines and calibrations are data.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/models/ DESTINATION ${CMAKE_INSTALL_DATADIR}/plumbline/models
        COMPONENT runtime FILES_MATCHING PATTERN "*.json" REGEX "/models/(builders|description|import|io)$" EXCLUDE)
install(PROGRAMS ${PROJECT_SOURCE_DIR}/scripts/measure_kernels.py DESTINATION ${CMAKE_INSTALL_DATADIR}/plumbline COMPONENT runtime)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/NOTICE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT runtime)

# Shell completions and the man pages, which the command wrote when it was built (cli/CMakeLists.txt).
if(TARGET plan)
  set(shell ${PROJECT_BINARY_DIR}/shell)
  install(FILES ${shell}/plan.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT runtime RENAME plan)
  # Where zsh looks: the first below /usr/local and on most systems, the second for packages of Debian and Ubuntu.
  install(FILES ${shell}/_plan DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT runtime)
  install(FILES ${shell}/_plan DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions COMPONENT runtime)
  install(FILES ${shell}/plan.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT runtime)
  install(DIRECTORY ${shell}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT runtime FILES_MATCHING PATTERN "*.1")
endif()

# `make deb`: the command with its data, manual pages and completions; the libraries stay with `make install`.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME plumbline)
set(CPACK_PACKAGE_VENDOR "the Plumbline developers")
set(CPACK_PACKAGE_CONTACT "the Plumbline developers <plumbline@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "which training configuration to launch on GPUs, and what it costs")
set(CPACK_DEBIAN_RUNTIME_DESCRIPTION
    "Plans the training of neural networks: memory, step time and cost of every way to
divide a network over GPUs, launch files for the training frameworks, and a runtime
that executes plans.")
set(CPACK_COMPONENTS_ALL runtime)
# `make package`: the same as an archive.
set(CPACK_ARCHIVE_COMPONENT_INSTALL ON)
set(CPACK_ARCHIVE_RUNTIME_FILE_NAME plumbline-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME plumbline)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_THREADS 0)
include(CPack)
