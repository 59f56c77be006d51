/* Bytes of a gzip file (RFC 1952), or of a deflated part of an archive (RFC 1951), unpacked by zlib as they
 * are read. */
#ifndef TSL_IO_GUNZIP_H
#define TSL_IO_GUNZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tesela/tesela.h>

typedef struct tsl_unpacking tsl_unpacking;

/* Whether a file that starts like this is packed with gzip. */
bool tsl_unpack_recognise(const char *bytes, size_t count);
/* Starts on what `fd` has left, after `count` bytes of it that were read already. *unpacking is NULL after a
 * failure. */
tesela_status tsl_unpack_start(const char *path, int fd, const char *bytes, size_t count,
                               tsl_unpacking **unpacking);
/* The same of deflated bytes alone, which become `size` bytes with this CRC-32. */
tesela_status tsl_unpack_start_deflated(const char *path, int fd, uint64_t size, uint32_t check,
                                        tsl_unpacking **unpacking);
/* Unpacks `count` bytes; fewer only at the end. TESELA_BAD_INPUT, naming `path`, for a file that is damaged
 * or cut off. */
tesela_status tsl_unpack_read(tsl_unpacking *unpacking, const char *path, char *out, size_t count,
                              size_t *got);
/* NULL is allowed. */
void tsl_unpack_end(tsl_unpacking *unpacking);

#endif
