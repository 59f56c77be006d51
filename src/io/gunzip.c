#include "io/gunzip.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "core/memory.h"
#include "core/status.h"

enum { PACKED_BYTES = 1 << 18 };

struct tsl_unpacking {
  z_stream stream;
  int fd;
  bool eof;             /* the file has no more bytes */
  bool between_members; /* between concatenated members of the file */
  bool deflated;        /* raw data: size and CRC are compared here, not by zlib */
  uint64_t size, got;   /* expected bytes when expanded; bytes expanded so far */
  uLong expected_crc, expanded_crc;
  unsigned char packed[PACKED_BYTES];
};

bool tsl_unpack_recognise(const char *bytes, size_t count) {
  return count >= 3 && memcmp(bytes, "\x1f\x8b\x08", 3) == 0;
}

static tesela_status start_inflating(const char *path, int fd, int window, const char *bytes, size_t count,
                                     tsl_unpacking **unpacking) {
  void *block;
  *unpacking = NULL;
  TSL_TRY(tsl_alloc_zeroed(sizeof(tsl_unpacking) + count, "unpacking a file", &block));
  tsl_unpacking *const made = block;
  /* Read bytes follow the struct until used. */
  unsigned char *const first = (unsigned char *)(made + 1);
  if (count > 0)
    memcpy(first, bytes, count);
  made->fd = fd;
  made->stream.next_in = first;
  made->stream.avail_in = (uInt)count;
  if (inflateInit2(&made->stream, window) != Z_OK) {
    tsl_free(made);
    return tsl_fail(TESELA_OUT_OF_MEMORY, "%s: no memory to unpack it", path);
  }
  *unpacking = made;
  return TESELA_OK;
}

tesela_status tsl_unpack_start(const char *path, int fd, const char *bytes, size_t count,
                               tsl_unpacking **unpacking) {
  return start_inflating(path, fd, MAX_WBITS + 16, bytes, count, unpacking);
}

tesela_status tsl_unpack_start_deflated(const char *path, int fd, uint64_t size, uint32_t expected_crc,
                                        tsl_unpacking **unpacking) {
  TSL_TRY(start_inflating(path, fd, -MAX_WBITS, NULL, 0, unpacking));
  (*unpacking)->deflated = true;
  (*unpacking)->size = size;
  (*unpacking)->expected_crc = expected_crc;
  (*unpacking)->expanded_crc = crc32(0, NULL, 0);
  return TESELA_OK;
}

static tesela_status read_more_input(tsl_unpacking *unpacking, const char *path) {
  ssize_t got;
  do
    got = read(unpacking->fd, unpacking->packed, PACKED_BYTES);
  while (got < 0 && errno == EINTR);
  if (got < 0)
    return tsl_fail(TESELA_IO_FAILED, "%s: cannot be read: %s", path, strerror(errno));
  unpacking->eof = got == 0;
  unpacking->stream.next_in = unpacking->packed;
  unpacking->stream.avail_in = (uInt)got;
  return TESELA_OK;
}

/* Skips zero padding after a member. *more: another member follows. Other bytes are an error. */
static tesela_status next_member(tsl_unpacking *unpacking, const char *path, bool *more) {
  z_stream *const stream = &unpacking->stream;
  *more = false;
  if (unpacking->deflated)
    return TESELA_OK;
  for (;;) {
    while (stream->avail_in > 0 && *stream->next_in == 0) {
      stream->next_in++;
      stream->avail_in--;
    }
    if (stream->avail_in > 0 || unpacking->eof)
      break;
    TSL_TRY(read_more_input(unpacking, path));
  }
  *more = stream->avail_in > 0;
  if (!*more)
    return TESELA_OK;
  if (*stream->next_in != 0x1f)
    return tsl_fail(TESELA_BAD_INPUT, "%s: other bytes follow its gzip data", path);
  unpacking->between_members = false;
  return TESELA_OK;
}

/* Decompresses once, or reads more input. */
static tesela_status inflate_or_read_more(tsl_unpacking *unpacking, const char *path) {
  z_stream *const stream = &unpacking->stream;
  const int result = inflate(stream, Z_NO_FLUSH);
  if (result == Z_STREAM_END) {
    unpacking->between_members = true;
    return unpacking->deflated || inflateReset(stream) == Z_OK
               ? TESELA_OK
               : tsl_fail(TESELA_INTERNAL, "%s: zlib cannot be reset", path);
  }
  if (result == Z_OK)
    return TESELA_OK;
  if (result == Z_BUF_ERROR && !unpacking->eof)
    return read_more_input(unpacking, path);
  if (result == Z_BUF_ERROR)
    return tsl_fail(TESELA_BAD_INPUT, "%s: is truncated inside its gzip data", path);
  if (result == Z_MEM_ERROR)
    return tsl_fail(TESELA_OUT_OF_MEMORY, "%s: no memory to unpack it", path);
  return tsl_fail(TESELA_BAD_INPUT, "%s: is damaged: its gzip data cannot be unpacked (%s)", path,
                  stream->msg != NULL ? stream->msg : "zlib gives no reason");
}

/* Checks size and CRC at the end, as zlib does for gzip files. */
static tesela_status check_deflated(tsl_unpacking *unpacking, const char *path, const char *bytes,
                                    size_t count) {
  unpacking->got += count;
  unpacking->expanded_crc = crc32(unpacking->expanded_crc, (const Bytef *)bytes, (uInt)count);
  if (!unpacking->between_members ||
      (unpacking->got == unpacking->size && unpacking->expanded_crc == unpacking->expected_crc))
    return TESELA_OK;
  return tsl_fail(TESELA_BAD_INPUT, "%s: is damaged: its array has another checksum or length", path);
}

tesela_status tsl_unpack_read(tsl_unpacking *unpacking, const char *path, char *out, size_t count,
                              size_t *got) {
  z_stream *const stream = &unpacking->stream;
  *got = 0;
  while (*got < count) {
    bool more = true;
    if (unpacking->between_members)
      TSL_TRY(next_member(unpacking, path, &more));
    if (!more)
      break;
    const size_t space = count - *got < INT_MAX ? count - *got : INT_MAX;
    stream->next_out = (Bytef *)out + *got;
    stream->avail_out = (uInt)space;
    TSL_TRY(inflate_or_read_more(unpacking, path));
    const size_t now = space - stream->avail_out;
    if (unpacking->deflated)
      TSL_TRY(check_deflated(unpacking, path, out + *got, now));
    *got += now;
  }
  return TESELA_OK;
}

void tsl_unpack_end(tsl_unpacking *unpacking) {
  if (unpacking == NULL)
    return;
  inflateEnd(&unpacking->stream);
  tsl_free(unpacking);
}
