# What a package's tree has and an installed one has not, by CPack before it packs: the changelog and the licence under Debian's
# names, manual pages packed, and the completion for zsh where Debian's looks for it.
set(top ${CPACK_TEMPORARY_INSTALL_DIRECTORY}${CPACK_PACKAGING_INSTALL_PREFIX})
set(documents ${top}/share/doc/tesela)
file(COPY ${CPACK_TESELA_BINARY}/deb/copyright DESTINATION ${documents})
file(COPY_FILE ${CPACK_TESELA_BINARY}/deb/changelog ${documents}/changelog.Debian)
file(REMOVE ${documents}/LICENSE)
file(RENAME ${documents}/CHANGELOG.md ${documents}/changelog)
file(MAKE_DIRECTORY ${top}/share/lintian/overrides)
file(COPY_FILE ${CPACK_TESELA_SOURCE}/cmake/deb/lintian ${top}/share/lintian/overrides/tesela)

find_program(gzip gzip REQUIRED)
set(pages ${documents}/changelog ${documents}/changelog.Debian)
file(GLOB_RECURSE manual ${top}/share/man/*)
list(APPEND pages ${manual})
foreach(page IN LISTS pages)
  execute_process(COMMAND ${gzip} --best --no-name --force ${page} COMMAND_ERROR_IS_FATAL ANY)
endforeach()

if(EXISTS ${top}/share/zsh/site-functions)
  file(RENAME ${top}/share/zsh/site-functions ${top}/share/zsh/vendor-completions)
endif()
