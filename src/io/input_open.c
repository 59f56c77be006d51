#include "core/memory.h"
#include "core/status.h"
#include "core/text.h"
#include "io/input.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

/* NumPy's .npz: a zip archive (APPNOTE.TXT of PKWARE, sections 4.3 to 4.5). One array is readable. */
typedef struct tsl_npz_entry {
  uint64_t offset; /* offset of its first byte in the archive */
  uint64_t size;   /* uncompressed bytes of the .npy file */
  uint32_t crc;    /* CRC-32 of the .npy file */
  bool deflated;   /* compressed by deflate; false: stored */
} tsl_npz_entry;

enum { END_BYTES = 22, LOCATOR_BYTES = 20, WIDE_END_BYTES = 56, ENTRY_BYTES = 46, LOCAL_BYTES = 30 };
/* maximum bytes of the contents */
enum { DIRECTORY_MAX = 1 << 20 };
static const uint32_t field_is_64_bit = UINT32_MAX;

static uint64_t read_little_endian(const unsigned char *src, int bytes) {
  uint64_t value = 0;
  for (int i = bytes - 1; i >= 0; i--)
    value = value << 8 | src[i];
  return value;
}

static bool has_zip_signature(const unsigned char *src, const char *mark) {
  return memcmp(src, "PK", 2) == 0 && memcmp(src + 2, mark, 2) == 0;
}

/* Returns true if a file may be a zip archive by its first bytes. */
static bool npz_recognise(const char *bytes, size_t count) {
  return count >= 4 && (memcmp(bytes, "PK\3\4", 4) == 0 || memcmp(bytes, "PK\5\6", 4) == 0);
}

static tesela_status fail_zip(const tsl_input *in, const char *what) {
  return tsl_fail(TESELA_BAD_INPUT, "%s: cannot be read as a zip archive: %s", in->path, what);
}

static tesela_status read_zip_at(const tsl_input *in, uint64_t offset, void *out, size_t count) {
  size_t got = 0;
  if (offset > in->size || in->size - offset < count)
    return fail_zip(in, "it is cut off");
  TSL_TRY(tsl_input_read_at(in, offset, out, count, &got));
  return got == count ? TESELA_OK : fail_zip(in, "it is cut off");
}

/* Finds the contents by the archive's last bytes, or the 64-bit record before. Refuses a final comment. */
static tesela_status find_directory(const tsl_input *in, uint64_t *offset, uint64_t *bytes) {
  unsigned char end[END_BYTES], locator[LOCATOR_BYTES], wide[WIDE_END_BYTES];
  if (in->size < END_BYTES)
    return fail_zip(in, "it is cut off");
  TSL_TRY(read_zip_at(in, in->size - END_BYTES, end, END_BYTES));
  if (!has_zip_signature(end, "\5\6"))
    return fail_zip(in, "its table of contents is not at its end");
  *bytes = read_little_endian(end + 12, 4);
  *offset = read_little_endian(end + 16, 4);
  if (*offset != field_is_64_bit && *bytes != field_is_64_bit)
    return TESELA_OK;
  if (in->size < END_BYTES + LOCATOR_BYTES)
    return fail_zip(in, "it is cut off");
  TSL_TRY(read_zip_at(in, in->size - END_BYTES - LOCATOR_BYTES, locator, LOCATOR_BYTES));
  if (!has_zip_signature(locator, "\6\7"))
    return fail_zip(in, "its table of contents cannot be found");
  TSL_TRY(read_zip_at(in, read_little_endian(locator + 8, 8), wide, WIDE_END_BYTES));
  if (!has_zip_signature(wide, "\6\6"))
    return fail_zip(in, "its table of contents cannot be found");
  *bytes = read_little_endian(wide + 40, 8);
  *offset = read_little_endian(wide + 48, 8);
  return TESELA_OK;
}

/* Reads 64-bit sizes and offsets: an extra field has those above 32 bits, in this order. */
static void read_64_bit_fields(const unsigned char *extra, size_t length, uint64_t *const fields[3]) {
  size_t at = 0;
  while (at + 4 <= length) {
    const size_t bytes = (size_t)read_little_endian(extra + at + 2, 2);
    if (read_little_endian(extra + at, 2) == 1 && at + 4 + bytes <= length) {
      size_t from = at + 4;
      for (int i = 0; i < 3; i++)
        if (*fields[i] == field_is_64_bit && from + 8 <= at + 4 + bytes) {
          *fields[i] = read_little_endian(extra + from, 8);
          from += 8;
        }
      return;
    }
    at += 4 + bytes;
  }
}

/* Reads a directory entry at `src`, after which its name and extra field follow; checks the array's place. */
static tesela_status read_directory_entry(const tsl_input *in, const unsigned char *src, size_t name_length,
                                          size_t extra_length, tsl_npz_entry *entry) {
  unsigned char local[LOCAL_BYTES];
  const uint64_t flags = read_little_endian(src + 8, 2), method = read_little_endian(src + 10, 2);
  uint64_t packed = read_little_endian(src + 20, 4), start = read_little_endian(src + 42, 4);
  *entry = (tsl_npz_entry){.size = read_little_endian(src + 24, 4),
                           .crc = (uint32_t)read_little_endian(src + 16, 4)};
  read_64_bit_fields(src + ENTRY_BYTES + name_length, extra_length,
                     (uint64_t *const[]){&entry->size, &packed, &start});
  if ((flags & 1) != 0)
    return fail_zip(in, "its array is encrypted");
  if (method != 0 && method != 8)
    return fail_zip(in, "its array is neither stored nor deflated");
  entry->deflated = method == 8;
  TSL_TRY(read_zip_at(in, start, local, LOCAL_BYTES));
  if (!has_zip_signature(local, "\3\4"))
    return fail_zip(in, "its array is not where its table of contents says");
  entry->offset = start + LOCAL_BYTES + read_little_endian(local + 26, 2) + read_little_endian(local + 28, 2);
  if (entry->offset > in->size || in->size - entry->offset < packed ||
      (!entry->deflated && packed != entry->size))
    return fail_zip(in, "it is cut off");
  return TESELA_OK;
}

static tesela_status fail_array_count(const tsl_input *in, int count, const tsl_text *names,
                                      const char *first) {
  char quoted[TSL_QUOTE_MAX];
  if (count == 0)
    return tsl_fail(TESELA_BAD_INPUT, "%s: is an archive without arrays", in->path);
  return tsl_fail(TESELA_BAD_INPUT,
                  "%s: holds %d arrays (%s), but must hold one: extract it, as with  unzip -p %s %s >%s",
                  in->path, count, tsl_text_get(names), in->path,
                  tsl_input_quote(first, strlen(first), quoted), quoted);
}

static tesela_status find_single_entry(const tsl_input *in, const unsigned char *directory, size_t bytes,
                                       tsl_npz_entry *entry) {
  enum { NAMES_SHOWN = 5 };
  tsl_text names = {0};
  char first[TSL_QUOTE_MAX] = "";
  int count = 0;
  tesela_status status = TESELA_OK;
  size_t at = 0;
  while (at + ENTRY_BYTES <= bytes && has_zip_signature(directory + at, "\1\2")) {
    char quoted[TSL_QUOTE_MAX];
    const size_t name = (size_t)read_little_endian(directory + at + 28, 2),
                 extra = (size_t)read_little_endian(directory + at + 30, 2);
    const size_t length = ENTRY_BYTES + name + extra + (size_t)read_little_endian(directory + at + 32, 2);
    if (length > bytes - at) {
      status = fail_zip(in, "its table of contents is cut off");
      goto out;
    }
    tsl_input_quote((const char *)directory + at + ENTRY_BYTES, name, quoted);
    if (count == 0)
      TSL_GO(read_directory_entry(in, directory + at, name, extra, entry));
    if (count == 0)
      memcpy(first, quoted, sizeof first);
    if (count < NAMES_SHOWN)
      tsl_text_add(&names, "%s%s", count > 0 ? ", " : "", quoted);
    else if (count == NAMES_SHOWN)
      tsl_text_add(&names, ", ...");
    count++;
    at += length;
  }
  status = count == 1 ? TESELA_OK : fail_array_count(in, count, &names, first);
out:
  tsl_text_free(&names);
  return status;
}

/* Finds the single array. TESELA_BAD_INPUT for none, several (with their names), or a damaged archive. */
static tesela_status npz_find_single_array(const tsl_input *in, tsl_npz_entry *entry) {
  uint64_t offset = 0, bytes = 0;
  void *directory;
  if (!in->regular)
    return tsl_fail(TESELA_BAD_INPUT,
                    "%s: is a zip archive, which cannot be read from a pipe: save it as a file", in->path);
  TSL_TRY(find_directory(in, &offset, &bytes));
  if (bytes > DIRECTORY_MAX)
    return fail_zip(in, "its table of contents is too long for arrays");
  TSL_TRY(tsl_alloc((size_t)bytes, "an archive's table of contents", &directory));
  tesela_status status = read_zip_at(in, offset, directory, (size_t)bytes);
  if (status == TESELA_OK)
    status = find_single_entry(in, directory, (size_t)bytes, entry);
  tsl_free(directory);
  return status;
}

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
  TSL_TRY(npz_find_single_array(in, &entry));
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
  else if (npz_recognise(in->block + in->at, in->end - in->at))
    TSL_GO(open_archive_member(in));
out:
  if (status != TESELA_OK)
    tsl_input_close(in);
  return status;
}
