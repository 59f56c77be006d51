#ifndef TSL_IO_SPOOL_H
#define TSL_IO_SPOOL_H

#include <stddef.h>
#include <tesela/tesela.h>

/* Opens an unnamed file in TMPDIR or /tmp for the file `path`, which TESELA_IO_FAILED names. */
tesela_status tsl_spool_open(const char *path, int *fd);
/* Writes all bytes to it. */
tesela_status tsl_spool_write(int fd, const char *path, const char *bytes, size_t count);

#endif
