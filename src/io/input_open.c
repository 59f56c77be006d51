#include "core/memory.h"
#include "core/status.h"
#include "io/input.h"
#include "io/npz.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

static tesela_status start_gunzip(tsl_input *in) {
  char *const packed = in->block;
  in->block = NULL;
  tesela_status status =
      tsl_unpack_start(in->path, in->fd, packed + in->at, in->end - in->at, &in->unpacking);
  in->at = in->end = 0;
  in->offset = 0;
  in->regular = in->eof = false;
  in->size = 0;
  tsl_free(packed);
  if (status == TESELA_OK)
    status = tsl_alloc(TSL_INPUT_BLOCK, "reading a file", (void **)&in->block);
  return status;
}

static tesela_status check_stored_crc(const tsl_input *in, const tsl_npz_entry *entry) {
  uint32_t checksum = 0;
  for (uint64_t at = 0; at < entry->size;) {
    const uint64_t left = entry->size - at;
    const size_t count = left < TSL_INPUT_BLOCK ? (size_t)left : TSL_INPUT_BLOCK;
    size_t got = 0;
    TSL_TRY(tsl_input_read_at(in, entry->offset + at, in->block, count, &got));
    if (got < count)
      return tsl_fail(TESELA_BAD_INPUT, "%s: is truncated inside its array", in->path);
    checksum = (uint32_t)crc32_z(checksum, (const Bytef *)in->block, count);
    at += count;
  }
  return checksum == entry->crc
             ? TESELA_OK
             : tsl_fail(TESELA_BAD_INPUT, "%s: is damaged: its array has another checksum", in->path);
}

/* Opens an archive's single array: a window of the file, or deflated data. */
static tesela_status open_archive_member(tsl_input *in) {
  tsl_npz_entry entry;
  TSL_TRY(tsl_npz_find_single_array(in, &entry));
  if (!entry.deflated)
    TSL_TRY(check_stored_crc(in, &entry));
  TSL_TRY(tsl_input_seek(in, entry.offset, 1));
  in->size = entry.offset + entry.size;
  in->archive = true;
  if (!entry.deflated)
    return TESELA_OK;
  in->offset = 0;
  in->size = 0;
  in->regular = false;
  return tsl_unpack_start_deflated(in->path, in->fd, entry.size, entry.crc, &in->unpacking);
}

tesela_status tsl_input_open(const char *path, const char *name, tsl_input *in) {
  tesela_status status = TESELA_OK;
  struct stat about;
  const bool standard = strcmp(path, "-") == 0;
  *in =
      (tsl_input){.path = name,
                  .fd = standard ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) : open(path, O_RDONLY | O_CLOEXEC),
                  .line = 1};
  if (in->fd < 0 || fstat(in->fd, &about) != 0) {
    status = tsl_fail(TESELA_IO_FAILED, "%s: cannot be opened: %s", name, strerror(errno));
    goto out;
  }
  if (S_ISDIR(about.st_mode)) {
    status = tsl_fail(TESELA_IO_FAILED, "%s: is a folder, not a matrix file", name);
    goto out;
  }
  in->regular = S_ISREG(about.st_mode);
  in->size = in->regular ? (uint64_t)about.st_size : 0;
  if (in->regular && standard) { /* its start may be read already */
    const off_t position = lseek(in->fd, 0, SEEK_CUR);
    in->offset = position > 0 ? (uint64_t)position : 0;
  }
  TSL_GO(tsl_alloc(TSL_INPUT_BLOCK, "reading a file", (void **)&in->block));
  posix_fadvise(in->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
  TSL_GO(tsl_input_fill(in, 4));
  if (tsl_unpack_recognise(in->block + in->at, in->end - in->at))
    TSL_GO(start_gunzip(in));
  else if (tsl_npz_recognise(in->block + in->at, in->end - in->at))
    TSL_GO(open_archive_member(in));
out:
  if (status != TESELA_OK)
    tsl_input_close(in);
  return status;
}
