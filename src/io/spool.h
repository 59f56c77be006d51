#ifndef TSL_IO_SPOOL_H
#define TSL_IO_SPOOL_H

#include <tesela/tesela.h>

/* Opens an unnamed temporary file in TMPDIR or /tmp, which vanishes when it is closed. Used for
 * input that must be read twice, and for output to standard output. TESELA_IO_FAILED names `path`,
 * the file that it is for. */
tesela_status tsl_spool_open(const char *path, int *fd);

#endif
