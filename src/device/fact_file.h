/* Small files of facts in the folder of compiled kernels, one a line. A line is written at once, at the
 * file's end, so that any number of processes may write, and be killed while they do; of lines about one
 * thing the last counts. The first line says whose the file is: any other file of that name is neither read
 * nor removed. Past 1 MiB a file starts anew. A folder that cannot be written, or TESELA_CACHE_SIZE=0, keeps
 * nothing. */
#ifndef TSL_DEVICE_FACT_FILE_H
#define TSL_DEVICE_FACT_FILE_H

#include "base/text.h"

typedef struct tsl_fact_lines {
  const char *file; /* its name */
  const char *mark; /* the first line, with its end */
} tsl_fact_lines;

/* Calls each() for every whole line behind the mark, in their order; it may change the line. */
void tsl_lines_each(const tsl_fact_lines *lines, void (*each)(void *argument, char *line), void *argument);
/* Adds a line, which has no end and at most 2047 bytes. What cannot be written is a line in the log (cache).
 */
void tsl_lines_add(const tsl_fact_lines *lines, const char *line);
void tsl_lines_remove(const tsl_fact_lines *lines);

#endif
