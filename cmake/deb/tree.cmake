# Adds files that only a package has, before CPack packs: the changelog and the licence under Debian's names.
# It also compresses the manual pages and puts the completion for zsh into Debian's folder.
set(top ${CPACK_TEMPORARY_INSTALL_DIRECTORY}${CPACK_PACKAGING_INSTALL_PREFIX})
set(documents ${top}/share/doc/tesela)
file(COPY ${CPACK_TESELA_BINARY}/deb/copyright DESTINATION ${documents})
file(COPY_FILE ${CPACK_TESELA_BINARY}/deb/changelog ${documents}/changelog.Debian)
file(REMOVE ${documents}/LICENSE)
file(RENAME ${documents}/CHANGELOG.md ${documents}/changelog)
file(READ ${documents}/README.md text)
string(REPLACE "](LICENSE)" "](copyright)" text "${text}")
file(WRITE ${documents}/README.md "${text}")
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

# The modes of a checkout, and of files and folders made here, depend on the builder's umask.
file(CHMOD_RECURSE ${top}/share FILE_PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
file(CHMOD_RECURSE ${CPACK_TEMPORARY_INSTALL_DIRECTORY} DIRECTORY_PERMISSIONS
     OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
