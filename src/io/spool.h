/* A file without a name: for what must be read twice and comes through a pipe, and for what may appear on
 * standard output whole or not at all. */
#ifndef TSL_IO_SPOOL_H
#define TSL_IO_SPOOL_H

#include <tesela/tesela.h>

/* Opens one in TMPDIR, or /tmp. It is gone when it is closed, however the process ends. TESELA_IO_FAILED
 * names `path`, for which it is. */
tesela_status tsl_spool_open(const char *path, int *fd);

#endif
