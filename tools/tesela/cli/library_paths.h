/* Libraries that are installed with the tool, and loaded by what it starts or by itself. */
#ifndef TSL_TOOL_CLI_LIBRARY_PATHS_H
#define TSL_TOOL_CLI_LIBRARY_PATHS_H

#include <limits.h>
#include <tesela/tesela.h>

/* The path of a library in a folder that belongs to the tool's: of a build tree, or of an installation.
 * TESELA_BAD_INPUT where it is in none. */
tesela_status tsl_library_beside(const char *name, char out[PATH_MAX]);

#endif
