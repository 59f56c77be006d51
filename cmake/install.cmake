# Install: library, headers, tool, pkg-config file and CMake package.
include(CMakePackageConfigHelpers)
# Programs link tesela::tesela, tesela::blas, tesela::cublas, tesela::mpi and tesela::scalapack, installed or
# as a part of their project.
add_library(tesela::tesela ALIAS tesela)
foreach(library IN ITEMS blas cublas mpi scalapack)
  if(TARGET tesela_${library})
    set_target_properties(tesela_${library} PROPERTIES EXPORT_NAME ${library})
    add_library(tesela::${library} ALIAS tesela_${library})
  endif()
endforeach()
install(TARGETS tesela tesela_blas tesela_cublas EXPORT teselaTargets LIBRARY
        DESTINATION ${CMAKE_INSTALL_LIBDIR})
# The headers of MPI's libraries are installed in any case, as documentation.
if(TESELA_HAS_MPI)
  install(TARGETS tesela_mpi tesela_scalapack EXPORT teselaMpiTargets LIBRARY
          DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT mpi NAMELINK_COMPONENT mpi)
endif()
file(GLOB TESELA_HEADERS CONFIGURE_DEPENDS include/tesela/*.h)
install(FILES ${TESELA_HEADERS} ${PROJECT_BINARY_DIR}/include/tesela/version.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tesela)
# Path from the pkg-config files' folder to the prefix, so that an installation may be moved.
file(RELATIVE_PATH TESELA_PREFIX_FROM_PC ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
# tesela_pc(name description requires [component]): installs NAME.pc of the library NAME.
# "requires" names other .pc files.
function(tesela_pc name description requires)
  configure_file(cmake/tesela.pc.in ${name}.pc @ONLY)
  if(ARGN)
    set(component COMPONENT ${ARGN})
  endif()
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig ${component})
endfunction()
tesela_pc(tesela "Matrix multiplication on every processor that a machine has" "")
tesela_pc(tesela_blas "BLAS's products by tesela, linked in front of another BLAS" "")
tesela_pc(tesela_cublas "cuBLAS's products by tesela, linked in front of cuBLAS" "")
install(EXPORT teselaTargets NAMESPACE tesela:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tesela)
if(TESELA_HAS_MPI)
  # MPI's own flags come from its compiler, mpicc.
  tesela_pc(tesela_mpi "tesela's products by the ranks of an MPI communicator; compile with mpicc" tesela mpi)
  tesela_pc(tesela_scalapack
            "ScaLAPACK's products by tesela, linked in front of a ScaLAPACK; compile with mpicc" "" mpi)
  install(EXPORT teselaMpiTargets NAMESPACE tesela:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tesela
          COMPONENT mpi)
endif()
configure_package_config_file(cmake/teselaConfig.cmake.in teselaConfig.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tesela)
write_basic_package_version_file(teselaConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/teselaConfig.cmake ${PROJECT_BINARY_DIR}/teselaConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tesela)
install(FILES README.md CHANGELOG.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs FILES_MATCHING PATTERN "*.md"
        PATTERN "*.svg")
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(CODE "set(TESELA_SOURCE \"${PROJECT_SOURCE_DIR}\")
set(TESELA_DOCUMENTS \"${CMAKE_INSTALL_DOCDIR}\")
set(TESELA_HEADERS \"${CMAKE_INSTALL_INCLUDEDIR}\")")
install(SCRIPT cmake/documents.cmake)
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
    set(file ${PROJECT_BINARY_DIR}/pages/${file})
    get_filename_component(folder ${file} DIRECTORY)
    file(MAKE_DIRECTORY ${folder})
    separate_arguments(arguments)
    add_custom_command(OUTPUT ${file} COMMAND tesela_tool ${arguments} > ${file} DEPENDS tesela_tool VERBATIM)
    list(APPEND pages ${file})
    install(FILES ${file} DESTINATION ${destination})
  endforeach()
  add_custom_target(tesela_pages ALL DEPENDS ${pages})
endif()
