/* Finds libraries installed with the tool, which the tool or the programs it starts load. */
#ifndef TSL_TOOL_CLI_LIBRARY_PATHS_H
#define TSL_TOOL_CLI_LIBRARY_PATHS_H

#include <limits.h>
#include <tesela/tesela.h>

/* Writes the path of a library of the tool's build tree or installation. Returns TESELA_BAD_INPUT
 * if it is in neither. */
tesela_status tsl_library_beside(const char *name, char out[PATH_MAX]);

#endif
