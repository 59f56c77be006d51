#include "device/jit_bundle.h"

#include "core/env.h"
#include "core/log.h"
#include "core/safe_open.h"
#include "core/status.h"
#include "core/warnings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Change the version with every change of the structs below. */
#define MAGIC "tslkerns"
enum { VERSION = 1, HASH_BYTES = 32, ENTRIES_MAX = 1 << 20 };

typedef struct bundle_head {
  char magic[8];
  uint32_t version, byte_order;
  uint64_t entry_count, file_bytes;
  uint64_t checksum_high, checksum_low; /* checksum of the two numbers above and the index */
} bundle_head;

typedef struct bundle_index_entry {
  char hash[HASH_BYTES];
  uint64_t offset, bytes;
  uint64_t checksum_high, checksum_low; /* checksum in the entry's head */
} bundle_index_entry;

static tsl_hash jit_bundle_checksum(const bundle_head *head, const bundle_index_entry *index) {
  tsl_hash hash = tsl_hash_start();
  hash = tsl_hash_add(hash, &head->entry_count, sizeof head->entry_count);
  hash = tsl_hash_add(hash, &head->file_bytes, sizeof head->file_bytes);
  return tsl_hash_add(hash, index, (size_t)head->entry_count * sizeof *index);
}

/* Returns NULL, or the error. */
static const char *jit_bundle_read_at(int file, uint64_t offset, void *bytes, size_t count) {
  size_t done = 0;
  while (done < count) {
    const ssize_t got = pread(file, (char *)bytes + done, count - done, (off_t)(offset + done));
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return strerror(errno);
    if (got == 0)
      return "it is cut short";
    done += (size_t)got;
  }
  return NULL;
}

/* Reads and checks the head. Returns NULL, or the error. */
static const char *jit_bundle_read_head(int file, bundle_head *head) {
  struct stat facts;
  if (fstat(file, &facts) != 0)
    return strerror(errno);
  if ((uint64_t)facts.st_size < sizeof *head)
    return "it is cut short";
  const char *wrong = jit_bundle_read_at(file, 0, head, sizeof *head);
  if (wrong)
    return wrong;
  if (memcmp(head->magic, MAGIC, sizeof head->magic) != 0)
    return "it is no file that tesela cache export wrote";
  if (head->byte_order != TSL_JIT_BYTE_ORDER)
    return "a machine of another byte order wrote it";
  if (head->version != VERSION)
    return "another version of tesela wrote it; export it again";
  if (head->file_bytes > (uint64_t)facts.st_size)
    return "it is cut short";
  if (head->file_bytes != (uint64_t)facts.st_size || head->entry_count > ENTRIES_MAX ||
      head->entry_count * sizeof(bundle_index_entry) > head->file_bytes - sizeof *head)
    return "it is damaged: its length is not what it says";
  return NULL;
}

/* Returns true if all entries lie between the index and the file's end. */
static bool jit_bundle_is_inside(const bundle_head *head, const bundle_index_entry *index) {
  const uint64_t first = sizeof *head + head->entry_count * sizeof *index;
  for (uint64_t i = 0; i < head->entry_count; i++)
    if (index[i].offset < first || index[i].offset > head->file_bytes ||
        index[i].bytes > head->file_bytes - index[i].offset)
      return false;
  return true;
}

/* Reads and verifies head and index. On success the caller frees the index. */
static const char *jit_bundle_read_index(int file, bundle_head *head, bundle_index_entry **index) {
  *index = NULL;
  const char *wrong = jit_bundle_read_head(file, head);
  if (wrong)
    return wrong;
  const size_t bytes = (size_t)head->entry_count * sizeof **index;
  *index = malloc(bytes + 1);
  if (!*index)
    return "there is no memory for its index";
  wrong = jit_bundle_read_at(file, sizeof *head, *index, bytes);
  if (!wrong) {
    const tsl_hash sum = jit_bundle_checksum(head, *index);
    if (sum.high != head->checksum_high || sum.low != head->checksum_low ||
        !jit_bundle_is_inside(head, *index))
      wrong = "it is damaged: the checksum of its index is wrong";
  }
  if (wrong) {
    free(*index);
    *index = NULL;
  }
  return wrong;
}

static int compare_hash_with_entry(const void *hash, const void *entry) {
  return memcmp(hash, ((const bundle_index_entry *)entry)->hash, HASH_BYTES);
}

/* Reads an entry and moves its binary out. Returns NULL, or the error, also for an entry of another key. */
static const char *jit_bundle_read_entry(int file, const bundle_index_entry *entry, const tsl_jit_key *key,
                                         tsl_binary *binary) {
  tsl_jit_loaded loaded;
  char *bytes = malloc((size_t)entry->bytes + 1);
  if (!bytes)
    return "there is no memory for it";
  const char *wrong = jit_bundle_read_at(file, entry->offset, bytes, (size_t)entry->bytes);
  if (!wrong)
    wrong = tsl_jit_entry_verify(bytes, (size_t)entry->bytes, &loaded);
  if (!wrong && (loaded.checksum.high != entry->checksum_high || loaded.checksum.low != entry->checksum_low))
    wrong = "its checksum is not that of the index";
  if (wrong) {
    free(bytes);
    return wrong;
  }
  return tsl_jit_entry_take(&loaded, key, binary);
}

bool tsl_jit_bundle_read(const tsl_jit_key *key, const char *name, tsl_binary *binary) {
  const char *path = tsl_env_get(TSL_ENV_CACHE), *why;
  bundle_head head;
  bundle_index_entry *index = NULL;
  if (path[0] == '\0')
    return false;
  const int file = tsl_trusted_shared_file(path, &why);
  if (file >= 0)
    why = jit_bundle_read_index(file, &head, &index);
  if (why)
    tsl_notice(TSL_LOG_CACHE, "TESELA_CACHE is ignored: %s: %s", path, why);
  const bundle_index_entry *entry =
      why ? NULL
          : bsearch(key->hash, index, (size_t)head.entry_count, sizeof *index, compare_hash_with_entry);
  if (entry) {
    why = jit_bundle_read_entry(file, entry, key, binary);
    if (why) {
      tsl_log(TSL_LOG_CACHE, "%s: %s of %s is not used: %s", name, key->hash, path, why);
      tsl_notice(TSL_LOG_CACHE, "TESELA_CACHE: a kernel in %s is damaged and is ignored: %s", path, why);
    }
  }
  free(index);
  if (file >= 0)
    close(file);
  return entry && !why;
}

uint64_t tsl_jit_bundle_bytes(const tsl_jit_loaded *entries, int count) {
  uint64_t bytes = sizeof(bundle_head) + (uint64_t)count * sizeof(bundle_index_entry);
  for (int i = 0; i < count; i++)
    bytes += entries[i].size;
  return bytes;
}

tesela_status tsl_jit_bundle_write(const tsl_jit_loaded *entries, const char (*hashes)[33], int count,
                                   tesela_status (*write)(void *argument, const void *bytes, size_t count),
                                   void *argument) {
  if (count > ENTRIES_MAX)
    return tsl_fail(TESELA_UNSUPPORTED, "%d compiled kernels are more than the %d of a cache file", count,
                    ENTRIES_MAX);
  bundle_index_entry *index = calloc((size_t)count + 1, sizeof *index);
  if (!index)
    return tsl_fail(TESELA_OUT_OF_MEMORY, "no memory for the index of %d compiled kernels", count);
  bundle_head head = {.version = VERSION,
                      .byte_order = TSL_JIT_BYTE_ORDER,
                      .entry_count = (uint64_t)count,
                      .file_bytes = tsl_jit_bundle_bytes(entries, count)};
  memcpy(head.magic, MAGIC, sizeof head.magic);
  uint64_t offset = sizeof head + (uint64_t)count * sizeof *index;
  for (int i = 0; i < count; i++) {
    index[i] = (bundle_index_entry){.offset = offset,
                                    .bytes = entries[i].size,
                                    .checksum_high = entries[i].checksum.high,
                                    .checksum_low = entries[i].checksum.low};
    memcpy(index[i].hash, hashes[i], HASH_BYTES);
    offset += entries[i].size;
  }
  const tsl_hash sum = jit_bundle_checksum(&head, index);
  head.checksum_high = sum.high;
  head.checksum_low = sum.low;
  tesela_status status = write(argument, &head, sizeof head);
  if (status == TESELA_OK)
    status = write(argument, index, (size_t)count * sizeof *index);
  for (int i = 0; i < count && status == TESELA_OK; i++)
    status = write(argument, entries[i].bytes, entries[i].size);
  free(index);
  return status;
}
