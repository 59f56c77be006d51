# Install: library, headers, tool, pkg-config file and CMake package.
include(CMakePackageConfigHelpers)
install(TARGETS tesela_blas LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS tesela EXPORT teselaTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
# Its headers are installed in any case: they say what there would be.
if(TESELA_HAS_MPI)
  install(TARGETS tesela_mpi tesela_scalapack LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT mpi NAMELINK_COMPONENT mpi)
endif()
install(FILES include/tesela/tesela.h include/tesela/blas.h include/tesela/tesela_finish.h include/tesela/tesela_buffer.h include/tesela/tesela_structure.h include/tesela/tesela_pieces.h include/tesela/tesela_stream.h include/tesela/tesela_layout.h include/tesela/tesela_level3.h include/tesela/tesela_mpi.h ${CMAKE_BINARY_DIR}/include/tesela/version.h
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
install(FILES README.md CHANGELOG.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs FILES_MATCHING PATTERN "*.md" PATTERN "*.svg")
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DOCDIR})
if(TESELA_TOOL)
  install(TARGETS tesela_tool DESTINATION ${CMAKE_INSTALL_BINDIR})
  # The tool writes its own man page and shell completion.
  foreach(page "man1/tesela.1|help --man|${CMAKE_INSTALL_MANDIR}/man1"
               "bash/tesela|completion bash|${CMAKE_INSTALL_DATADIR}/bash-completion/completions"
               "zsh/_tesela|completion zsh|${CMAKE_INSTALL_DATADIR}/zsh/site-functions"
               "fish/tesela.fish|completion fish|${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d")
    string(REPLACE "|" ";" page "${page}")
    list(GET page 0 file)
    list(GET page 1 arguments)
    list(GET page 2 destination)
    set(file ${CMAKE_BINARY_DIR}/pages/${file})
    get_filename_component(folder ${file} DIRECTORY)
    file(MAKE_DIRECTORY ${folder})
    separate_arguments(arguments)
    add_custom_command(OUTPUT ${file} COMMAND tesela_tool ${arguments} > ${file} DEPENDS tesela_tool VERBATIM)
    list(APPEND pages ${file})
    install(FILES ${file} DESTINATION ${destination})
  endforeach()
  add_custom_target(tesela_pages ALL DEPENDS ${pages})
endif()
