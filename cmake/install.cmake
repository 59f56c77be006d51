# Install: library, headers, tool, pkg-config file and CMake package.
include(CMakePackageConfigHelpers)
install(TARGETS tesela EXPORT teselaTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES include/tesela/tesela.h ${CMAKE_BINARY_DIR}/include/tesela/version.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tesela)
# From the pkg-config file's folder to the prefix, so that what is installed may be moved.
file(RELATIVE_PATH TESELA_PREFIX_FROM_PC ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(cmake/tesela.pc.in tesela.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/tesela.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(EXPORT teselaTargets NAMESPACE tesela:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tesela)
configure_package_config_file(cmake/teselaConfig.cmake.in teselaConfig.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tesela)
write_basic_package_version_file(teselaConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/teselaConfig.cmake ${CMAKE_BINARY_DIR}/teselaConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tesela)
if(TESELA_TOOL)
  install(TARGETS tesela_tool DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
