#include "io/resumable_npy.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "core/clock.h"
#include "core/memory.h"
#include "core/safe_open.h"
#include "core/status.h"
#include "io/npy_header.h"
#include "io/output.h"
#include "io/preallocate.h"

static const char first_line[] = "tesela-blocks 2\n";

typedef struct block_state {
  bool is_done;
  uint32_t checksum; /* CRC-32 of its bytes in the file, row by row */
} block_state;

struct tsl_resumable {
  char *path, *target; /* path as given, for messages; with links followed */
  char *data_name, *journal_name;
  unsigned mode; /* permissions of the file to be replaced; 0: none */
  int data_fd, journal_fd;
  tsl_text journal_text; /* earlier journal up to its last complete line */
  block_state *blocks;   /* `block_count` entries */
  int64_t block_count, finished_count;
  uint32_t checksum;              /* CRC-32 of the last written block */
  tsl_text unsynced_lines;        /* journal lines of written blocks */
  double last_sync, sync_seconds; /* end and duration of the last sync */
  bool owns_files;                /* this run owns both files */
  bool committed;
  int64_t cols;
  tesela_type type;
  uint64_t start;                    /* offset of the values in the file */
  tsl_write_function write_function; /* write function for blocks; NULL: the system's */
  void *write_state;
};

static tesela_status fail_file_with_errno(const tsl_resumable *part, const char *name, const char *what) {
  return tsl_fail(TESELA_IO_FAILED, "%s: %s %s: %s", part->path, name, what, strerror(errno));
}

static tesela_status make_name_with_ending(const tsl_resumable *part, const char *ending, char **name) {
  tsl_text text = {0};
  tsl_text_add(&text, "%s%s", part->target, ending);
  const tesela_status status = tsl_text_status(&text);
  if (status == TESELA_OK)
    *name = tsl_text_take(&text);
  else
    tsl_text_free(&text);
  return status;
}

/* Opens an earlier run's file. Returns -1 with errno; errno 0: another user may alter it, as *why says. */
static int open_earlier_file(const char *name, const char **why) {
  struct stat about;
  const int file = tsl_trusted_file(AT_FDCWD, name, O_RDWR, 0, why);
  if (file < 0 || (fstat(file, &about) == 0 && about.st_nlink <= 1))
    return file;
  close(file);
  errno = 0;
  *why = "it has a second name (a hard link)";
  return -1;
}

/* Creates a file (0600) for reading and writing; -1 with errno. O_EXCL opens no existing file or link. */
static int create_private(const char *name) {
  return open(name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
}

static tesela_status fail_unusable_file(const tsl_resumable *part, const char *name, const char *why) {
  return tsl_fail(TESELA_IO_FAILED, "%s: %s is not used: %s; remove it to start anew", part->path, name, why);
}

static tesela_status fail_written_by_other(const tsl_resumable *part, const char *name) {
  return tsl_fail(TESELA_BAD_CALL, "%s: another process is writing it, by %s", part->path, name);
}

/* Returns true if the name still refers to the open file. */
static bool name_refers_to_file(int file, const char *name) {
  struct stat here, there;
  return file >= 0 && fstat(file, &here) == 0 && lstat(name, &there) == 0 && here.st_dev == there.st_dev &&
         here.st_ino == there.st_ino;
}

/* Returns false if another process has the lock. */
static bool try_lock(int file) {
  return flock(file, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

/* Opens and locks the journal; repeats if another process created or removed it. */
static tesela_status open_and_lock_journal(tsl_resumable *part) {
  for (;;) {
    const char *why = NULL;
    part->journal_fd = open_earlier_file(part->journal_name, &why);
    if (part->journal_fd < 0 && errno == ENOENT)
      part->journal_fd = create_private(part->journal_name);
    else if (part->journal_fd < 0)
      return fail_unusable_file(part, part->journal_name, why);
    if (part->journal_fd < 0 && errno == EEXIST)
      continue;
    if (part->journal_fd < 0 && (errno == ENOENT || errno == ENOTDIR))
      return tsl_fail(TESELA_IO_FAILED, "%s: cannot be written, because its folder does not exist: %s",
                      part->path, strerror(errno));
    if (part->journal_fd < 0)
      return tsl_fail(TESELA_IO_FAILED, "%s: cannot be written: %s", part->path, strerror(errno));
    if (!try_lock(part->journal_fd))
      return fail_written_by_other(part, part->journal_name);
    if (name_refers_to_file(part->journal_fd, part->journal_name))
      return TESELA_OK;
    close(part->journal_fd);
  }
}

/* Reads the journal without an incomplete last line. */
static tesela_status read_journal(tsl_resumable *part) {
  char block[4096];
  for (;;) {
    const ssize_t got = read(part->journal_fd, block, sizeof block);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return fail_file_with_errno(part, part->journal_name, "cannot be read");
    if (got == 0)
      break;
    tsl_text_add_bytes(&part->journal_text, block, (size_t)got);
  }
  TSL_TRY(tsl_text_status(&part->journal_text));
  while (part->journal_text.length > 0 && part->journal_text.data[part->journal_text.length - 1] != '\n')
    part->journal_text.data[--part->journal_text.length] = '\0';
  return TESELA_OK;
}

/* Replaces the list of blocks by `count` unfinished ones. */
static tesela_status reset_blocks(tsl_resumable *part, int64_t count) {
  void *list;
  tsl_free(part->blocks);
  part->blocks = NULL;
  part->block_count = part->finished_count = 0;
  TSL_TRY(tsl_alloc_zeroed((size_t)count * sizeof(block_state), "a list of blocks", &list));
  part->blocks = list;
  part->block_count = count;
  return TESELA_OK;
}

static void mark_block_finished(tsl_resumable *part, int64_t block, uint32_t checksum) {
  part->finished_count += !part->blocks[block].is_done;
  part->blocks[block] = (block_state){.is_done = true, .checksum = checksum};
}

/* Parses the line "done 17 9ae0daaf" up to `end`; false: another line or unknown block. */
static bool parse_done(const tsl_resumable *part, const char *line, const char *end, int64_t *block,
                       uint32_t *checksum) {
  enum { LENGTH_MAX = 48 };
  char copy[LENGTH_MAX], rest;
  if (end - line >= LENGTH_MAX)
    return false;
  snprintf(copy, sizeof copy, "%.*s", (int)(end - line), line);
  return sscanf(copy, "done %18" SCNd64 " %8" SCNx32 "%c", block, checksum, &rest) == 2 && *block >= 0 &&
         *block < part->block_count;
}

/* Marks the blocks of "done" lines, up to the first other line after them. */
static tesela_status read_done_lines(tsl_resumable *part) {
  enum { MAX_BLOCKS = 1 << 30 };
  const char *at = tsl_text_get(&part->journal_text), *const blocks =
                                                          tsl_resumable_earlier_line(part, "blocks");
  bool is_done = false;
  int64_t count = 0;
  if (part->journal_text.length == 0)
    return TESELA_OK;
  if (strncmp(at, first_line, strlen(first_line)) != 0)
    return tsl_fail(TESELA_BAD_INPUT,
                    "%s: %s is no journal that this version of tesela reads; remove it to start anew",
                    part->path, part->journal_name);
  if (blocks != NULL && tsl_parse_i64(blocks, &count) && count > 0 && count < MAX_BLOCKS)
    TSL_TRY(reset_blocks(part, count));
  for (const char *end; (end = strchr(at, '\n')) != NULL; at = end + 1) {
    int64_t block;
    uint32_t checksum;
    const bool is_block = parse_done(part, at, end, &block, &checksum);
    if (is_done && !is_block)
      break;
    is_done = is_block;
    if (is_block)
      mark_block_finished(part, block, checksum);
  }
  part->journal_text.length = (size_t)(at - part->journal_text.data);
  part->journal_text.data[part->journal_text.length] = '\0';
  return TESELA_OK;
}

static tesela_status set_all_names(const char *path, tsl_resumable *part) {
  part->path = strdup(path);
  if (part->path == NULL)
    return tsl_fail(TESELA_OUT_OF_MEMORY, "%s: no memory to write it", path);
  TSL_TRY(tsl_output_resolve_target(path, &part->target, &part->mode));
  TSL_TRY(make_name_with_ending(part, ".tesela-part", &part->data_name));
  return make_name_with_ending(part, TSL_OUTPUT_JOURNAL, &part->journal_name);
}

static tesela_status create_unopened(const char *path, tsl_resumable **out) {
  tsl_resumable *part = calloc(1, sizeof *part);
  *out = NULL;
  if (part == NULL)
    return tsl_fail(TESELA_OUT_OF_MEMORY, "%s: no memory to write it", path);
  part->data_fd = part->journal_fd = -1;
  const tesela_status status = set_all_names(path, part);
  if (status == TESELA_OK)
    *out = part;
  else
    tsl_resumable_close(part);
  return status;
}

tesela_status tsl_resumable_open(const char *path, tsl_resumable **out) {
  tesela_status status = TESELA_OK;
  tsl_resumable *part;
  *out = NULL;
  TSL_TRY(create_unopened(path, &part));
  TSL_GO(open_and_lock_journal(part));
  part->owns_files = true;
  TSL_GO(read_journal(part));
  TSL_GO(read_done_lines(part));
out:
  if (status != TESELA_OK) {
    if (part->owns_files)
      part->finished_count = 1; /* unknown state: keep both files */
    tsl_resumable_close(part);
    part = NULL;
  }
  *out = part;
  return status;
}

int64_t tsl_resumable_finished_blocks(const tsl_resumable *part) {
  return part->finished_count;
}

bool tsl_resumable_is_finished(const tsl_resumable *part, int64_t block) {
  return block < part->block_count && part->blocks[block].is_done;
}

const char *tsl_resumable_earlier_line(const tsl_resumable *part, const char *word) {
  static _Thread_local char line[8192];
  const size_t length = strlen(word);
  for (const char *at = tsl_text_get(&part->journal_text), *end; (end = strchr(at, '\n')) != NULL;
       at = end + 1)
    if (strncmp(at, word, length) == 0 && at[length] == ' ') {
      snprintf(line, sizeof line, "%.*s", (int)(end - at - (ptrdiff_t)length - 1), at + length + 1);
      return line;
    }
  return NULL;
}

static tesela_status write_data_at(const tsl_resumable *part, const char *bytes, size_t count,
                                   uint64_t offset) {
  const size_t done =
      part->write_function != NULL ? part->write_function(part->write_state, offset, bytes, count) : 0;
  bytes += done;
  count -= done;
  offset += done;
  while (count > 0) {
    const ssize_t now = pwrite(part->data_fd, bytes, count, (off_t)offset);
    if (now < 0 && errno == EINTR)
      continue;
    if (now < 0)
      return tsl_fail(TESELA_IO_FAILED, "%s: cannot be written: %s", part->path, strerror(errno));
    bytes += now;
    count -= (size_t)now;
    offset += (uint64_t)now;
  }
  return TESELA_OK;
}

/* Appends to the journal and syncs it. */
static tesela_status append_to_journal(const tsl_resumable *part, const char *text, size_t count) {
  while (count > 0) {
    const ssize_t now = write(part->journal_fd, text, count);
    if (now < 0 && errno == EINTR)
      continue;
    if (now < 0)
      return fail_file_with_errno(part, part->journal_name, "cannot be written");
    text += now;
    count -= (size_t)now;
  }
  if (fdatasync(part->journal_fd) != 0 && errno != EINVAL && errno != ENOTSUP)
    return fail_file_with_errno(part, part->journal_name, "cannot be written");
  return TESELA_OK;
}

static uint64_t data_file_bytes(const tsl_resumable *part, const tsl_rectangle *whole) {
  return part->start +
         (uint64_t)(whole->rows * whole->cols) * tsl_type(tsl_npy_stored_type(part->type))->size;
}

/* Reserves disk space, so that a full disk is reported at the start. */
static tesela_status reserve_data_space(const tsl_resumable *part, uint64_t bytes) {
  char shown[32];
  const int reason = tsl_reserve_file_space(part->data_fd, bytes);
  if (reason == 0)
    return TESELA_OK;
  return tsl_fail(TESELA_IO_FAILED, "%s: there is no room for its %s: %s", part->path,
                  tsl_format_bytes(bytes, shown, sizeof shown), strerror(reason));
}

/* Creates the data file; removes an existing file or link unless another process writes it. */
static tesela_status create_data_file(tsl_resumable *part) {
  const char *why;
  const int left = open_earlier_file(part->data_name, &why);
  const bool is_busy = left >= 0 && !try_lock(left);
  if (left >= 0)
    close(left);
  if (is_busy)
    return fail_written_by_other(part, part->data_name);
  if (unlink(part->data_name) != 0 && errno != ENOENT)
    return fail_file_with_errno(part, part->data_name, "cannot be removed");
  part->data_fd = create_private(part->data_name);
  if (part->data_fd < 0)
    return fail_file_with_errno(part, part->data_name, "cannot be written");
  return try_lock(part->data_fd) ? TESELA_OK : fail_written_by_other(part, part->data_name);
}

static tesela_status open_data_file(tsl_resumable *part) {
  const char *why;
  part->data_fd = open_earlier_file(part->data_name, &why);
  if (part->data_fd < 0 && errno == ENOENT)
    return tsl_fail(TESELA_IO_FAILED, "%s: %s is missing, so no blocks are left; remove %s to start anew",
                    part->path, part->data_name, part->journal_name);
  return part->data_fd >= 0 ? TESELA_OK : fail_unusable_file(part, part->data_name, why);
}

tesela_status tsl_resumable_begin(tsl_resumable *part, const tsl_rectangle *whole, tesela_type type,
                                  int64_t blocks, const char *lines) {
  char header[TSL_NPY_HEADER_MAX];
  tsl_text text = {0};
  part->type = type;
  part->cols = whole->cols;
  TSL_TRY(reset_blocks(part, blocks));
  if (ftruncate(part->journal_fd, 0) != 0 || lseek(part->journal_fd, 0, SEEK_SET) < 0)
    return fail_file_with_errno(part, part->journal_name, "cannot be written");
  TSL_TRY(create_data_file(part));
  part->start = tsl_npy_header_print(type, whole->rows, whole->cols, header);
  TSL_TRY(reserve_data_space(part, data_file_bytes(part, whole)));
  TSL_TRY(write_data_at(part, header, part->start, 0));
  tsl_text_add(&text, "%s%sblocks %" PRId64 "\n", first_line, lines, blocks);
  tesela_status status = tsl_text_status(&text);
  if (status == TESELA_OK)
    status = append_to_journal(part, text.data, text.length);
  tsl_text_free(&text);
  return status;
}

tesela_status tsl_resumable_continue(tsl_resumable *part, const tsl_rectangle *whole, tesela_type type,
                                     int64_t blocks) {
  char header[TSL_NPY_HEADER_MAX];
  struct stat about;
  int64_t count;
  part->type = type;
  part->cols = whole->cols;
  part->start = tsl_npy_header_print(type, whole->rows, whole->cols, header);
  const char *count_text = tsl_resumable_earlier_line(part, "blocks");
  if (count_text == NULL || !tsl_parse_i64(count_text, &count) || count != blocks)
    return tsl_fail(TESELA_BAD_INPUT, "%s: its journal belongs to another product, or is damaged; remove %s",
                    part->path, part->journal_name);
  TSL_TRY(open_data_file(part));
  if (!try_lock(part->data_fd))
    return fail_written_by_other(part, part->data_name);
  if (fstat(part->data_fd, &about) != 0 || (uint64_t)about.st_size != data_file_bytes(part, whole))
    return tsl_fail(TESELA_BAD_INPUT, "%s: %s does not have the size in its journal; remove both", part->path,
                    part->data_name);
  /* removes an incomplete last line */
  if (ftruncate(part->journal_fd, (off_t)part->journal_text.length) != 0 ||
      lseek(part->journal_fd, 0, SEEK_END) < 0)
    return fail_file_with_errno(part, part->journal_name, "cannot be written");
  return TESELA_OK;
}

tesela_status tsl_resumable_open_shared(const char *path, const tsl_rectangle *whole, tesela_type type,
                                        tsl_resumable **out) {
  char header[TSL_NPY_HEADER_MAX];
  struct stat about;
  tesela_status status = TESELA_OK;
  tsl_resumable *part;
  *out = NULL;
  TSL_TRY(create_unopened(path, &part));
  part->type = type;
  part->cols = whole->cols;
  part->start = tsl_npy_header_print(type, whole->rows, whole->cols, header);
  TSL_GO(open_data_file(part));
  if (fstat(part->data_fd, &about) != 0 || (uint64_t)about.st_size != data_file_bytes(part, whole))
    TSL_GO(tsl_fail(TESELA_IO_FAILED, "%s: %s no longer has its initial size", part->path, part->data_name));
  *out = part;
out:
  if (status != TESELA_OK)
    tsl_resumable_close(part);
  return status;
}

static tesela_status write_and_add_checksum(tsl_resumable *part, const char *bytes, size_t count,
                                            uint64_t offset) {
  part->checksum = (uint32_t)crc32_z(part->checksum, (const Bytef *)bytes, count);
  return write_data_at(part, bytes, count, offset);
}

/* Writes a row of a type that files lack. */
static tesela_status write_converted_row(tsl_resumable *part, const char *row, int64_t count,
                                         uint64_t offset) {
  enum { BUFFER_ELEMENTS = 4096 };
  char buffer[BUFFER_ELEMENTS * 16];
  const tesela_type stored = tsl_npy_stored_type(part->type);
  const size_t from = tsl_type(part->type)->size, to = tsl_type(stored)->size;
  for (int64_t at = 0; at < count; at += BUFFER_ELEMENTS) {
    const size_t now = (size_t)(count - at < BUFFER_ELEMENTS ? count - at : BUFFER_ELEMENTS);
    tsl_type_convert(part->type, row + (size_t)at * from, 1, stored, buffer, 1, now);
    TSL_TRY(write_and_add_checksum(part, buffer, now * to, offset + (uint64_t)at * to));
  }
  return TESELA_OK;
}

tesela_status tsl_resumable_write(tsl_resumable *part, const tsl_rectangle *block, const void *data,
                                  int64_t row_stride) {
  const tesela_type stored = tsl_npy_stored_type(part->type);
  const size_t from = tsl_type(part->type)->size, to = tsl_type(stored)->size;
  const bool whole = block->cols == part->cols && row_stride == block->cols && stored == part->type;
  const size_t bytes = (size_t)block->cols * to;
  part->checksum = 0;
  for (int64_t i = 0; i < (whole ? 1 : block->rows); i++) {
    const char *row = (const char *)data + (size_t)(i * row_stride) * from;
    const uint64_t offset = part->start + (uint64_t)((block->row + i) * part->cols + block->col) * to;
    if (stored == part->type)
      TSL_TRY(write_and_add_checksum(part, row, bytes * (whole ? (size_t)block->rows : 1), offset));
    else
      TSL_TRY(write_converted_row(part, row, block->cols, offset));
  }
  return TESELA_OK;
}

static tesela_status read_data_at(const tsl_resumable *part, char *bytes, size_t count, uint64_t offset) {
  while (count > 0) {
    const ssize_t now = pread(part->data_fd, bytes, count, (off_t)offset);
    if (now < 0 && errno == EINTR)
      continue;
    if (now <= 0)
      return tsl_fail(TESELA_IO_FAILED, "%s: %s cannot be read: %s", part->path, part->data_name,
                      now < 0 ? strerror(errno) : "it ends too early");
    bytes += now;
    count -= (size_t)now;
    offset += (uint64_t)now;
  }
  return TESELA_OK;
}

tesela_status tsl_resumable_read(const tsl_resumable *part, const tsl_rectangle *block, void *data) {
  enum { BUFFER_ELEMENTS = 4096 };
  char buffer[BUFFER_ELEMENTS * 16];
  const tesela_type stored = tsl_npy_stored_type(part->type);
  const size_t size = tsl_type(part->type)->size, there = tsl_type(stored)->size;
  for (int64_t i = 0; i < block->rows; i++)
    for (int64_t j = 0; j < block->cols; j += BUFFER_ELEMENTS) {
      const size_t now = (size_t)(block->cols - j < BUFFER_ELEMENTS ? block->cols - j : BUFFER_ELEMENTS);
      const int64_t index = (block->row + i) * part->cols + block->col + j;
      TSL_TRY(read_data_at(part, buffer, now * there, part->start + (uint64_t)index * there));
      tsl_type_convert(stored, buffer, 1, part->type, (char *)data + (size_t)(i * block->cols + j) * size, 1,
                       now);
    }
  return TESELA_OK;
}

tesela_status tsl_resumable_check_block(tsl_resumable *part, const tsl_rectangle *block, int64_t index,
                                        bool *good) {
  enum { BUFFER_BYTES = 1 << 16 };
  char buffer[BUFFER_BYTES];
  const size_t size = tsl_type(tsl_npy_stored_type(part->type))->size, bytes = (size_t)block->cols * size;
  uint32_t checksum = 0;
  for (int64_t i = 0; i < block->rows; i++) {
    const uint64_t offset = part->start + (uint64_t)((block->row + i) * part->cols + block->col) * size;
    for (size_t at = 0; at < bytes; at += BUFFER_BYTES) {
      const size_t now = bytes - at < BUFFER_BYTES ? bytes - at : BUFFER_BYTES;
      TSL_TRY(read_data_at(part, buffer, now, offset + at));
      checksum = (uint32_t)crc32_z(checksum, (const Bytef *)buffer, now);
    }
  }
  *good = checksum == part->blocks[index].checksum;
  if (!*good) {
    part->blocks[index].is_done = false;
    part->finished_count--;
  }
  return TESELA_OK;
}

void tsl_resumable_set_write_function(tsl_resumable *part, tsl_write_function write_function,
                                      void *write_state) {
  part->write_function = write_function;
  part->write_state = write_state;
  if (write_function != NULL && part->owns_files)
    flock(part->data_fd, LOCK_UN); /* would block MPI's locks on a network file system */
}

tesela_status tsl_resumable_sync_data(tsl_resumable *part) {
  if (fdatasync(part->data_fd) != 0 && errno != EINVAL && errno != ENOTSUP)
    return tsl_fail(TESELA_IO_FAILED, "%s: cannot be written: %s", part->path, strerror(errno));
  return TESELA_OK;
}

tesela_status tsl_resumable_record_written(tsl_resumable *part) {
  const double start = tsl_clock();
  if (part->unsynced_lines.length == 0)
    return TESELA_OK;
  TSL_TRY(tsl_resumable_sync_data(part));
  const tesela_status status =
      append_to_journal(part, part->unsynced_lines.data, part->unsynced_lines.length);
  tsl_text_free(&part->unsynced_lines);
  part->last_sync = tsl_clock();
  part->sync_seconds = part->last_sync - start;
  return status;
}

bool tsl_resumable_keeps_its_names(const tsl_resumable *part) {
  return name_refers_to_file(part->data_fd, part->data_name) &&
         (!part->owns_files || name_refers_to_file(part->journal_fd, part->journal_name));
}

static tesela_status fail_replaced(const tsl_resumable *part) {
  return tsl_fail(TESELA_IO_FAILED, "%s: %s was removed or replaced while it was written", part->path,
                  name_refers_to_file(part->journal_fd, part->journal_name) ? part->data_name
                                                                            : part->journal_name);
}

/* Returns the replaced file's permissions, or a new file's by the umask. */
static mode_t final_mode(const tsl_resumable *part) {
  unsigned mask = S_IWGRP | S_IWOTH;
  char line[128];
  FILE *const file = part->mode == 0 ? fopen("/proc/self/status", "re") : NULL;
  while (file != NULL && fgets(line, sizeof line, file) != NULL && sscanf(line, "Umask: %o", &mask) != 1)
    ;
  if (file != NULL)
    fclose(file);
  return part->mode != 0 ? part->mode : 0666 & ~mask;
}

tesela_status tsl_resumable_mark_written(tsl_resumable *part, int64_t index) {
  enum { REST = 10 };
  if (!tsl_resumable_keeps_its_names(part))
    return fail_replaced(part);
  tsl_text_add(&part->unsynced_lines, "done %" PRId64 " %08" PRIx32 "\n", index, part->checksum);
  TSL_TRY(tsl_text_status(&part->unsynced_lines));
  mark_block_finished(part, index, part->checksum);
  return tsl_clock() - part->last_sync < REST * part->sync_seconds ? TESELA_OK
                                                                   : tsl_resumable_record_written(part);
}

tesela_status tsl_resumable_commit(tsl_resumable *part) {
  if (!tsl_resumable_keeps_its_names(part))
    return fail_replaced(part);
  if (fchmod(part->data_fd, final_mode(part)) != 0 && part->mode != 0)
    return fail_file_with_errno(part, part->data_name, "cannot have the permissions of the file before it");
  const tesela_status status = tsl_output_rename(part->path, &part->data_fd, part->data_name, part->target);
  part->committed = access(part->data_name, F_OK) != 0;
  return status;
}

void tsl_resumable_close(tsl_resumable *part) {
  if (part == NULL)
    return;
  if (part->owns_files && part->finished_count == 0 && !part->committed &&
      name_refers_to_file(part->data_fd, part->data_name))
    unlink(part->data_name);
  if (part->owns_files && (part->finished_count == 0 || part->committed) &&
      name_refers_to_file(part->journal_fd, part->journal_name))
    unlink(part->journal_name);
  if (part->data_fd >= 0)
    close(part->data_fd);
  if (part->journal_fd >= 0)
    close(part->journal_fd);
  tsl_text_free(&part->journal_text);
  tsl_free(part->blocks);
  tsl_text_free(&part->unsynced_lines);
  free(part->data_name);
  free(part->journal_name);
  free(part->target);
  free(part->path);
  free(part);
}

const char *tsl_resumable_data_name(const tsl_resumable *part) {
  return part->data_name;
}

const char *tsl_resumable_journal_name(const tsl_resumable *part) {
  return part->journal_name;
}
