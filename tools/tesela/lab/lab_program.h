/* One self-contained program of host and kernel, as the courses hand it out (programs/). */
#ifndef TSL_TOOL_LAB_LAB_PROGRAM_H
#define TSL_TOOL_LAB_LAB_PROGRAM_H

#include "core/types.h"

/* Writes the program of a strategy ("tile_local", "dot block_tree") to a file; NULL: standard output.
 * `language`: opencl, cuda or c. */
tesela_status tsl_lab_program(const char *strategy, const char *language, tesela_type type,
                              const char *output);

#endif
