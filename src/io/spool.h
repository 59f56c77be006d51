#ifndef TSL_IO_SPOOL_H
#define TSL_IO_SPOOL_H

#include <tesela/tesela.h>

/* Opens an unnamed file in TMPDIR or /tmp for the file `path`, which TESELA_IO_FAILED names. */
tesela_status tsl_spool_open(const char *path, int *fd);

#endif
