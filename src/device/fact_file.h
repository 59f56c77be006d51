/* Files of facts in the kernel cache folder: the last line about a subject counts. Appends are single writes,
 * safe among processes that may be killed. A file with another first line is neither read nor removed. A file
 * above 1 MiB starts anew. Stores nothing in a read-only folder or with TESELA_CACHE_SIZE=0. */
#ifndef TSL_DEVICE_FACT_FILE_H
#define TSL_DEVICE_FACT_FILE_H

#include "core/text.h"

typedef struct tsl_fact_lines {
  const char *file;
  const char *mark; /* first line, with its newline */
} tsl_fact_lines;

/* Calls each() for every complete line after the mark, in order; each() may change the line. */
void tsl_lines_each(const tsl_fact_lines *lines, void (*each)(void *argument, char *line), void *argument);
/* Appends a line without newline, at most 2047 bytes. A failure is logged (topic cache). */
void tsl_lines_add(const tsl_fact_lines *lines, const char *line);
/* Removes the file if it has the mark. */
void tsl_lines_remove(const tsl_fact_lines *lines);

#endif
