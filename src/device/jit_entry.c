#include "device/jit_disk.h"

#include "core/log.h"
#include "core/safe_open.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Start of a file, in the machine's byte order; key and binary follow, then the end. */
typedef struct entry_head {
  char magic[TSL_JIT_MAGIC_BYTES];
  uint32_t version, byte_order;
  uint64_t key_bytes, binary_bytes;
  uint64_t checksum_high, checksum_low; /* checksum of both lengths, key and binary */
} entry_head;

#define FILE_BYTES_MAX ((size_t)1 << 30)

static tsl_hash jit_entry_checksum(const entry_head *head, const char *key, const void *binary) {
  tsl_hash hash = tsl_hash_start();
  hash = tsl_hash_add(hash, &head->key_bytes, sizeof head->key_bytes);
  hash = tsl_hash_add(hash, &head->binary_bytes, sizeof head->binary_bytes);
  hash = tsl_hash_add(hash, key, (size_t)head->key_bytes);
  return tsl_hash_add(hash, binary, (size_t)head->binary_bytes);
}

/* Reads a whole file that no other user can write. Returns NULL, "" for a missing file, else the error. */
static const char *jit_entry_read_all(int folder, const char *file, char **bytes, size_t *size) {
  struct stat facts;
  const char *wrong;
  const int fd = tsl_trusted_file(folder, file, O_RDONLY, 0, &wrong);
  if (fd < 0)
    return errno == ENOENT ? "" : wrong;
  *bytes = NULL;
  wrong = "it is no file that can be read";
  if (fstat(fd, &facts) != 0 || (uint64_t)facts.st_size > FILE_BYTES_MAX)
    goto out;
  *size = (size_t)facts.st_size;
  *bytes = malloc(*size + 1);
  if (*bytes == NULL)
    goto out;
  size_t done = 0;
  while (done < *size) {
    const ssize_t got = read(fd, *bytes + done, *size - done);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      goto out;
    done += (size_t)got;
  }
  wrong = NULL;
out:
  if (wrong != NULL)
    free(*bytes);
  close(fd);
  return wrong;
}

const char *tsl_jit_entry_verify(char *bytes, size_t size, tsl_jit_loaded *loaded) {
  entry_head head;
  *loaded = (tsl_jit_loaded){0};
  if (size < sizeof head)
    return "it is cut short";
  memcpy(&head, bytes, sizeof head);
  if (memcmp(head.magic, TSL_JIT_MAGIC, sizeof head.magic) != 0)
    return "it is no compiled kernel";
  if (head.version != TSL_JIT_VERSION || head.byte_order != TSL_JIT_BYTE_ORDER)
    return "it is of another version";
  const uint64_t remainder = size - sizeof head;
  if (head.key_bytes > remainder || head.binary_bytes != remainder - head.key_bytes)
    return "its length is not what it says";
  const char *key = bytes + sizeof head, *binary = key + head.key_bytes;
  const tsl_hash sum = jit_entry_checksum(&head, key, binary);
  if (sum.high != head.checksum_high || sum.low != head.checksum_low)
    return "its checksum is wrong";
  *loaded = (tsl_jit_loaded){.bytes = bytes,
                             .key = key,
                             .binary = binary,
                             .size = size,
                             .key_bytes = (size_t)head.key_bytes,
                             .binary_bytes = (size_t)head.binary_bytes,
                             .checksum = sum};
  return NULL;
}

const char *tsl_jit_entry_load(int folder, const char *file, tsl_jit_loaded *loaded) {
  size_t size = 0;
  char *bytes = NULL;
  *loaded = (tsl_jit_loaded){0};
  const char *wrong = jit_entry_read_all(folder, file, &bytes, &size);
  if (wrong != NULL)
    return wrong;
  wrong = tsl_jit_entry_verify(bytes, size, loaded);
  if (wrong != NULL)
    free(bytes);
  return wrong;
}

const char *tsl_jit_entry_take(tsl_jit_loaded *loaded, const tsl_jit_key *key, tsl_binary *binary) {
  if (loaded->key_bytes != key->length || memcmp(loaded->key, key->text, key->length) != 0) {
    free(loaded->bytes);
    return "it belongs to another kernel";
  }
  memmove(loaded->bytes, loaded->binary, loaded->binary_bytes);
  *binary = (tsl_binary){loaded->bytes, loaded->binary_bytes};
  return NULL;
}

bool tsl_jit_entry_read(int folder, const tsl_jit_key *key, const char *name, tsl_binary *binary) {
  char file[TSL_JIT_NAME_BYTES];
  tsl_jit_loaded loaded;
  snprintf(file, sizeof file, "%s.bin", key->hash);
  const char *wrong = tsl_jit_entry_load(folder, file, &loaded);
  if (wrong == NULL)
    wrong = tsl_jit_entry_take(&loaded, key, binary);
  if (wrong == NULL)
    utimensat(folder, file, NULL, 0);
  else if (wrong[0] != '\0')
    tsl_log(TSL_LOG_CACHE, "%s: %s is built again: %s", name, file, wrong);
  return wrong == NULL;
}

typedef struct jit_entry_range {
  const void *bytes;
  size_t count;
} jit_entry_range;

static bool jit_entry_write_ranges(int fd, const jit_entry_range *ranges, int count) {
  for (int i = 0; i < count; i++) {
    size_t done = 0;
    while (done < ranges[i].count) {
      const ssize_t put = write(fd, (const char *)ranges[i].bytes + done, ranges[i].count - done);
      if (put < 0 && errno == EINTR)
        continue;
      if (put <= 0)
        return false;
      done += (size_t)put;
    }
  }
  return true;
}

/* Creates a file with a new name, which `file` gets. Returns a descriptor; -1: failure, with errno. */
static int jit_entry_create_temporary(int folder, const char *hash, char *file, size_t size) {
  static atomic_uint counter;
  int fd = -1;
  for (int tries = 0; tries < 100 && fd < 0; tries++) {
    snprintf(file, size, "%s.%ld-%u.tmp", hash, (long)getpid(), atomic_fetch_add(&counter, 1));
    fd = openat(folder, file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0 && errno != EEXIST)
      break;
  }
  return fd;
}

/* Writes atomically: readers see the old or the whole new file. */
static bool jit_entry_write_file(int folder, const char *hash, const char *file,
                                 const jit_entry_range *ranges, int count) {
  char temporary[TSL_JIT_NAME_BYTES];
  const int fd = jit_entry_create_temporary(folder, hash, temporary, sizeof temporary);
  if (fd < 0)
    return false;
  bool good = jit_entry_write_ranges(fd, ranges, count);
  int reason = errno;
  if (close(fd) != 0 && good) { /* network file systems report a full disk here */
    reason = errno;
    good = false;
  }
  if (good && renameat(folder, temporary, folder, file) != 0) {
    reason = errno;
    good = false;
  }
  if (!good)
    unlinkat(folder, temporary, 0);
  errno = reason;
  return good;
}

void tsl_jit_entry_write(int folder, const tsl_jit_key *key, const tsl_device *device, const tsl_build *build,
                         const tsl_binary *binary) {
  char mark[512], binary_file[TSL_JIT_NAME_BYTES], source_file[TSL_JIT_NAME_BYTES];
  const uint64_t limit = tsl_jit_size_limit();
  const int mark_bytes =
      snprintf(mark, sizeof mark, TSL_JIT_SOURCE_MARK "%.100s for %s\n", build->name, device->key);
  const jit_entry_range source[] = {{mark, (size_t)mark_bytes}, {build->text, strlen(build->text)}};
  entry_head head = {.version = TSL_JIT_VERSION,
                     .byte_order = TSL_JIT_BYTE_ORDER,
                     .key_bytes = key->length,
                     .binary_bytes = binary->bytes};
  memcpy(head.magic, TSL_JIT_MAGIC, sizeof head.magic);
  const tsl_hash sum = jit_entry_checksum(&head, key->text, binary->data);
  head.checksum_high = sum.high;
  head.checksum_low = sum.low;
  const jit_entry_range entry[] = {
      {&head, sizeof head}, {key->text, key->length}, {binary->data, binary->bytes}};
  const uint64_t bytes = sizeof head + key->length + binary->bytes + source[0].count + source[1].count;
  if (bytes > limit || bytes > FILE_BYTES_MAX) {
    tsl_log(TSL_LOG_CACHE, "%s: not kept on disk, it is larger than the cache may be", build->name);
    return;
  }
  snprintf(binary_file, sizeof binary_file, "%s.bin", key->hash);
  snprintf(source_file, sizeof source_file, "%s.%s", key->hash, device->ops->source_extension);
  /* The binary first: a source alone is no entry. */
  if (jit_entry_write_file(folder, key->hash, binary_file, entry, 3) &&
      jit_entry_write_file(folder, key->hash, source_file, source, 2))
    tsl_log(TSL_LOG_CACHE, "%s: kept as %s", build->name, binary_file);
  else
    tsl_log(TSL_LOG_CACHE, "%s: not kept on disk: %s", build->name, strerror(errno));
  tsl_jit_folder_trim(folder, limit);
}
