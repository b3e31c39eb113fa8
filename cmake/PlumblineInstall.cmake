# `cmake --install`: the command, its data, the libraries with their headers, and what find_package(plumbline) reads.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

get_property(plumbline_libraries GLOBAL PROPERTY PLUMBLINE_LIBRARIES)
set(plumbline_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/plumbline)

if(TARGET plan)
  install(TARGETS plan RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

# Headers keep their paths from the root of the repository: #include "core/quantity/quantity.h".
install(TARGETS ${plumbline_libraries} EXPORT plumblineTargets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/plumbline)
install(EXPORT plumblineTargets NAMESPACE plumbline:: DESTINATION ${plumbline_package_dir})

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/plumblineConfig.cmake.in
                              ${PROJECT_BINARY_DIR}/plumblineConfig.cmake
                              INSTALL_DESTINATION ${plumbline_package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/plumblineConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/plumblineConfig.cmake ${PROJECT_BINARY_DIR}/plumblineConfigVersion.cmake
        DESTINATION ${plumbline_package_dir})

# The catalogue: networks, machines and calibrations are data.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/models/ DESTINATION ${CMAKE_INSTALL_DATADIR}/plumbline/models
        FILES_MATCHING PATTERN "*.json")
install(PROGRAMS ${PROJECT_SOURCE_DIR}/scripts/measure_kernels.py DESTINATION ${CMAKE_INSTALL_DATADIR}/plumbline)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/NOTICE DESTINATION ${CMAKE_INSTALL_DOCDIR})

# Shell completions and the man page, which the command wrote when it was built (cli/CMakeLists.txt).
if(TARGET plan)
  set(shell ${PROJECT_BINARY_DIR}/shell)
  install(FILES ${shell}/plan.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME plan)
  install(FILES ${shell}/_plan DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
  install(FILES ${shell}/plan.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
  install(FILES ${shell}/plan.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
endif()
