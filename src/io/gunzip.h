/* Decompression by zlib of a gzip file (RFC 1952) or a deflated member of an archive (RFC 1951). */
#ifndef TSL_IO_GUNZIP_H
#define TSL_IO_GUNZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tesela/tesela.h>

typedef struct tsl_unpacking tsl_unpacking;

/* Returns true if a file may be gzip's by its first bytes. */
bool tsl_unpack_recognise(const char *bytes, size_t count);
/* Starts with `fd`, after `count` read bytes. Free with tsl_unpack_end(). *unpacking is NULL on failure. */
tesela_status tsl_unpack_start(const char *path, int fd, const char *bytes, size_t count,
                               tsl_unpacking **unpacking);
/* Starts with deflated data, of `size` bytes and this CRC-32 when expanded. *unpacking is NULL on failure. */
tesela_status tsl_unpack_start_deflated(const char *path, int fd, uint64_t size, uint32_t expected_crc,
                                        tsl_unpacking **unpacking);
/* Decompresses `count` bytes; *got is smaller only at the end. TESELA_BAD_INPUT, with `path`, if damaged. */
tesela_status tsl_unpack_read(tsl_unpacking *unpacking, const char *path, char *out, size_t count,
                              size_t *got);
/* Frees the state, not `fd`. NULL is allowed. */
void tsl_unpack_end(tsl_unpacking *unpacking);

#endif
