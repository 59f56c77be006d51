#include "core/hash.h"
#include "core/log.h"
#include "core/safe_open.h"
#include "core/status.h"
#include "device/jit_bundle.h"
#include "device/jit_cache.h"
#include "device/jit_disk.h"
#include "device/self_tests.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Files of the kernel cache's folder. Private to src/device. */
typedef enum tsl_jit_file_role { TSL_JIT_BINARY, TSL_JIT_SOURCE, TSL_JIT_TEMPORARY } tsl_jit_file_role;

typedef struct tsl_jit_file {
  char name[TSL_JIT_NAME_BYTES]; /* starts with the hash */
  tsl_jit_file_role role;
  bool is_marked; /* begins like the cache's files */
  uint64_t bytes;
  struct timespec last_used;
} tsl_jit_file;

/* Consecutive files of one hash. */
typedef struct tsl_jit_files_entry {
  const tsl_jit_file *files;
  int count;
  const tsl_jit_file *binary; /* NULL: only the source exists */
  uint64_t bytes;
  struct timespec last_used;
} tsl_jit_files_entry;

typedef struct tsl_jit_listing {
  tsl_jit_file *files;
  int file_count;
  tsl_jit_files_entry *entries;
  int entry_count;
} tsl_jit_listing;

#define HASH_DIGITS 32
#define TEMPORARY_SECONDS 3600 /* abandoned: a write takes milliseconds */

/* Gets the role of a file by its name; false: not the cache's. */
static bool parse_role(const char *name, tsl_jit_file_role *role) {
  const char *rest = name + HASH_DIGITS;
  if (strspn(name, "0123456789abcdef") != HASH_DIGITS || rest[0] != '.' || strlen(name) >= TSL_JIT_NAME_BYTES)
    return false;
  rest++;
  const size_t letters = strspn(rest, "abcdefghijklmnopqrstuvwxyz");
  if (letters > 0 && letters < 8 && rest[letters] == '\0') {
    *role = strcmp(rest, "bin") == 0 ? TSL_JIT_BINARY : TSL_JIT_SOURCE;
    return true;
  }
  const size_t process = strspn(rest, "0123456789");
  if (process == 0 || rest[process] != '-')
    return false;
  const size_t number = strspn(rest + process + 1, "0123456789");
  *role = TSL_JIT_TEMPORARY;
  return number > 0 && strcmp(rest + process + 1 + number, ".tmp") == 0;
}

static bool file_starts_with(int folder, const char *name, const char *mark) {
  char bytes[32];
  const size_t length = strlen(mark);
  const char *why;
  const int fd = tsl_trusted_file(folder, name, O_RDONLY, 0, &why);
  if (fd < 0)
    return false;
  const ssize_t got = read(fd, bytes, length);
  close(fd);
  return got == (ssize_t)length && memcmp(bytes, mark, length) == 0;
}

/* Fills in a file's facts; false: its name is not the cache's, or it is no regular file. */
static bool jit_scan_read_facts(int folder, const char *name, tsl_jit_file *file) {
  struct stat facts;
  if (!parse_role(name, &file->role) || fstatat(folder, name, &facts, AT_SYMLINK_NOFOLLOW) != 0 ||
      !S_ISREG(facts.st_mode) ||
      snprintf(file->name, sizeof file->name, "%s", name) >= (int)sizeof file->name)
    return false;
  file->bytes = (uint64_t)facts.st_size;
  file->last_used = facts.st_mtim;
  file->is_marked =
      file->role == TSL_JIT_TEMPORARY ||
      file_starts_with(folder, name, file->role == TSL_JIT_BINARY ? TSL_JIT_MAGIC : TSL_JIT_SOURCE_MARK);
  return true;
}

static int compare_by_name(const void *a, const void *b) {
  return strcmp(((const tsl_jit_file *)a)->name, ((const tsl_jit_file *)b)->name);
}

static bool jit_scan_has_same_hash(const tsl_jit_file *a, const tsl_jit_file *b) {
  return strncmp(a->name, b->name, HASH_DIGITS) == 0;
}

/* Collects the entry at files[0], entry->count files; false: no file is known as the cache's. */
static bool jit_scan_collect_entry(const tsl_jit_file *files, int files_left, tsl_jit_files_entry *entry) {
  bool is_ours = false;
  *entry = (tsl_jit_files_entry){.files = files};
  for (; entry->count < files_left && jit_scan_has_same_hash(files, &files[entry->count]); entry->count++) {
    const tsl_jit_file *file = &files[entry->count];
    if (file->role == TSL_JIT_TEMPORARY)
      continue;
    is_ours = is_ours || file->is_marked;
    if (file->role == TSL_JIT_BINARY)
      entry->binary = file;
    if (file->role == TSL_JIT_BINARY || file->is_marked)
      entry->bytes += file->bytes;
    if (file->role == TSL_JIT_BINARY || entry->binary == NULL)
      entry->last_used = file->last_used;
  }
  return is_ours;
}

static void jit_listing_free(tsl_jit_listing *listing) {
  free(listing->files);
  free(listing->entries);
}

static bool jit_scan_add_file(tsl_jit_listing *listing, const tsl_jit_file *file) {
  /* The list grows in powers of two: it is full at such a count. */
  if ((listing->file_count & (listing->file_count - 1)) == 0) {
    const size_t capacity = listing->file_count == 0 ? 1 : 2 * (size_t)listing->file_count;
    tsl_jit_file *files = realloc(listing->files, capacity * sizeof *files);
    if (files == NULL)
      return false;
    listing->files = files;
  }
  listing->files[listing->file_count++] = *file;
  return true;
}

/* Lists an open folder; false: unreadable. Free after success. */
static bool jit_listing_make(int folder, tsl_jit_listing *listing) {
  *listing = (tsl_jit_listing){0};
  const int again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *names = again >= 0 ? fdopendir(again) : NULL;
  if (names == NULL) {
    if (again >= 0)
      close(again);
    return false;
  }
  bool good = true;
  tsl_jit_file file;
  for (const struct dirent *name; good && (name = readdir(names)) != NULL;)
    if (jit_scan_read_facts(folder, name->d_name, &file))
      good = jit_scan_add_file(listing, &file);
  closedir(names);
  listing->entries = calloc((size_t)listing->file_count + 1, sizeof *listing->entries);
  if (!good || listing->entries == NULL) {
    jit_listing_free(listing);
    return false;
  }
  if (listing->file_count > 0)
    qsort(listing->files, (size_t)listing->file_count, sizeof *listing->files, compare_by_name);
  tsl_jit_files_entry entry;
  for (int i = 0; i < listing->file_count; i += entry.count)
    if (jit_scan_collect_entry(&listing->files[i], listing->file_count - i, &entry))
      listing->entries[listing->entry_count++] = entry;
  return true;
}

/* Removes the binary first: a source alone is not used. */
static bool jit_remove_entry(int folder, const tsl_jit_files_entry *entry) {
  bool gone = entry->binary == NULL || unlinkat(folder, entry->binary->name, 0) == 0 || errno == ENOENT;
  for (int i = 0; gone && i < entry->count; i++) {
    const tsl_jit_file *file = &entry->files[i];
    if (file->role == TSL_JIT_SOURCE && file->is_marked)
      gone = unlinkat(folder, file->name, 0) == 0 || errno == ENOENT;
  }
  return gone;
}

static int compare_by_last_use(const void *a, const void *b) {
  const struct timespec x = ((const tsl_jit_files_entry *)a)->last_used,
                        y = ((const tsl_jit_files_entry *)b)->last_used;
  if (x.tv_sec != y.tv_sec)
    return x.tv_sec < y.tv_sec ? -1 : 1;
  return (x.tv_nsec > y.tv_nsec) - (x.tv_nsec < y.tv_nsec);
}

/* Returns the seconds since `last_used`, at least 0. */
static double jit_age(struct timespec last_used) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  const double age =
      (double)(now.tv_sec - last_used.tv_sec) + 1e-9 * (double)(now.tv_nsec - last_used.tv_nsec);
  return age > 0 ? age : 0;
}

/* Removes temporary files of at least this age in seconds. */
static void jit_remove_temporaries(int folder, const tsl_jit_listing *listing, double age) {
  for (int i = 0; i < listing->file_count; i++)
    if (listing->files[i].role == TSL_JIT_TEMPORARY && jit_age(listing->files[i].last_used) >= age)
      unlinkat(folder, listing->files[i].name, 0);
}

void tsl_jit_folder_trim(int folder, uint64_t limit) {
  tsl_jit_listing listing;
  uint64_t total = 0;
  if (!jit_listing_make(folder, &listing))
    return;
  jit_remove_temporaries(folder, &listing, TEMPORARY_SECONDS);
  qsort(listing.entries, (size_t)listing.entry_count, sizeof *listing.entries, compare_by_last_use);
  for (int i = 0; i < listing.entry_count; i++)
    total += listing.entries[i].bytes;
  for (int i = 0; i < listing.entry_count && total > limit; i++) {
    if (jit_remove_entry(folder, &listing.entries[i]))
      tsl_log(TSL_LOG_CACHE, "%.32s goes, the cache is full", listing.entries[i].files[0].name);
    total -= listing.entries[i].bytes;
  }
  jit_listing_free(&listing);
}

/* Gets the value of the key's line "name 3 abc"; "?": none. */
static void get_key_part(const tsl_jit_loaded *loaded, const char *name, char *out, size_t size) {
  const char *at = loaded->key, *end = loaded->key + loaded->key_bytes;
  const size_t length = strlen(name);
  snprintf(out, size, "?");
  while (at < end) {
    const char *line_end = memchr(at, '\n', (size_t)(end - at));
    if (line_end == NULL)
      return;
    if ((size_t)(line_end - at) > length && memcmp(at, name, length) == 0 && at[length] == ' ') {
      const char *value = memchr(at + length + 1, ' ', (size_t)(line_end - at) - length - 1);
      if (value != NULL)
        snprintf(out, size, "%.*s", (int)(line_end - value - 1), value + 1);
      return;
    }
    at = line_end + 1;
  }
}

/* Returns the length of the word at `src`, up to a blank or the line's end. */
static size_t word_length(const char *src, const char *end) {
  size_t length = 0;
  while (src + length < end && src[length] != ' ' && src[length] != '\n')
    length++;
  return length;
}

/* Appends `#define TSL_PARAM_TILE 16` as "tile=16"; other names stay, TSL_REAL as its value alone. */
static void add_definition(const char *name, size_t name_length, const char *value, size_t value_length,
                           tsl_text *out) {
  static const char param[] = "TSL_PARAM_", real[] = "TSL_REAL";
  const bool is_param = name_length > strlen(param) && strncmp(name, param, strlen(param)) == 0;
  tsl_text_add(out, "%s", out->length > 0 ? " " : "");
  if (name_length == strlen(real) && strncmp(name, real, name_length) == 0) {
    tsl_text_add_bytes(out, value, value_length);
    return;
  }
  for (size_t i = is_param ? strlen(param) : 0; i < name_length; i++)
    tsl_text_add(out, "%c", is_param ? tolower((unsigned char)name[i]) : name[i]);
  tsl_text_add(out, "=");
  tsl_text_add_bytes(out, value, value_length);
}

/* Gets the config: the definitions at the start of the key's text. */
static void get_key_config(const tsl_jit_loaded *loaded, char *out, size_t size) {
  static const char mark[] = "\ntext ", define[] = "#define ";
  const char *end = loaded->key + loaded->key_bytes;
  const char *at = memmem(loaded->key, loaded->key_bytes, mark, strlen(mark));
  tsl_text text = {0};
  if (at) {
    at += strlen(mark);
    at += word_length(at, end); /* the text's length */
    at += at < end;
  }
  while (at && (size_t)(end - at) > strlen(define) && memcmp(at, define, strlen(define)) == 0) {
    const char *name = at + strlen(define);
    const size_t name_length = word_length(name, end);
    const char *value = name + name_length + 1;
    const size_t value_length = value < end ? word_length(value, end) : 0;
    if (value >= end)
      break;
    add_definition(name, name_length, value, value_length, &text);
    at = memchr(value, '\n', (size_t)(end - value));
    at = at ? at + 1 : NULL;
  }
  snprintf(out, size, "%s", tsl_text_get(&text));
  tsl_text_free(&text);
}

/* Loads and verifies an entry; a damaged entry has no name and no config. */
static tsl_jit_entry jit_admin_describe(int folder, const tsl_jit_files_entry *entry) {
  tsl_jit_entry out = {.name = "?", .device = "?", .bytes = entry->bytes, .age = jit_age(entry->last_used)};
  tsl_jit_loaded loaded = {0};
  char hash[33];
  snprintf(out.hash, sizeof out.hash, "%.32s", entry->files[0].name);
  out.damaged = entry->binary == NULL || tsl_jit_entry_load(folder, entry->binary->name, &loaded) != NULL;
  if (out.damaged)
    return out;
  tsl_hash_text(tsl_hash_add(tsl_hash_start(), loaded.key, loaded.key_bytes), hash);
  out.damaged = strcmp(hash, out.hash) != 0;
  get_key_part(&loaded, "name", out.name, sizeof out.name);
  get_key_part(&loaded, "device", out.device, sizeof out.device);
  get_key_config(&loaded, out.config, sizeof out.config);
  free(loaded.bytes);
  return out;
}

/* Lists the folder; a missing folder is empty. */
static tesela_status open_listing(int *folder, tsl_jit_listing *listing) {
  char why[256];
  *listing = (tsl_jit_listing){0};
  *folder = tsl_jit_folder_open(false, why, sizeof why);
  if (*folder < 0)
    return errno == ENOENT ? TESELA_OK : tsl_fail(TESELA_IO_FAILED, "%s", why);
  if (jit_listing_make(*folder, listing))
    return TESELA_OK;
  close(*folder);
  return tsl_fail(TESELA_IO_FAILED, "the folder of compiled kernels cannot be listed");
}

tesela_status tsl_jit_list(void (*each)(void *argument, const tsl_jit_entry *entry), void *argument) {
  tsl_jit_listing listing;
  int folder;
  TSL_TRY(open_listing(&folder, &listing));
  for (int i = 0; i < listing.entry_count; i++) {
    const tsl_jit_entry entry = jit_admin_describe(folder, &listing.entries[i]);
    each(argument, &entry);
  }
  jit_listing_free(&listing);
  if (folder >= 0)
    close(folder);
  return TESELA_OK;
}

/* Exported entries, sorted by hash. */
typedef struct jit_admin_export {
  tsl_jit_loaded *entries;
  char (*hashes)[33];
  int count;
} jit_admin_export;

static bool jit_admin_is_for_devices(const tsl_jit_loaded *loaded, const char *const *device_keys,
                                     int key_count) {
  char device[sizeof((tsl_jit_entry *)0)->device];
  get_key_part(loaded, "device", device, sizeof device);
  bool is_wanted = key_count == 0;
  for (int i = 0; i < key_count && !is_wanted; i++)
    is_wanted = strcmp(device_keys[i], device) == 0;
  return is_wanted;
}

/* Loads the valid entries for these devices. */
static tesela_status jit_admin_load_entries(int folder, const tsl_jit_listing *listing,
                                            const char *const *device_keys, int key_count,
                                            jit_admin_export *out) {
  out->entries = calloc((size_t)listing->entry_count + 1, sizeof *out->entries);
  out->hashes = calloc((size_t)listing->entry_count + 1, sizeof *out->hashes);
  if (!out->entries || !out->hashes)
    return tsl_fail(TESELA_OUT_OF_MEMORY, "no memory for the list of %d compiled kernels",
                    listing->entry_count);
  for (int i = 0; i < listing->entry_count; i++) {
    const tsl_jit_files_entry *entry = &listing->entries[i];
    tsl_jit_loaded loaded;
    if (!entry->binary || tsl_jit_entry_load(folder, entry->binary->name, &loaded) != NULL)
      continue;
    char *hash = out->hashes[out->count];
    tsl_hash_text(tsl_hash_add(tsl_hash_start(), loaded.key, loaded.key_bytes), hash);
    if (strncmp(hash, entry->binary->name, strlen(hash)) == 0 &&
        jit_admin_is_for_devices(&loaded, device_keys, key_count))
      out->entries[out->count++] = loaded;
    else
      free(loaded.bytes);
  }
  return TESELA_OK;
}

tesela_status tsl_jit_export(const char *const *device_keys, int key_count,
                             tesela_status (*write)(void *argument, const void *bytes, size_t count),
                             void *argument, int *count, uint64_t *bytes) {
  tsl_jit_listing listing;
  jit_admin_export all = {0};
  int folder;
  TSL_TRY(open_listing(&folder, &listing));
  tesela_status status = jit_admin_load_entries(folder, &listing, device_keys, key_count, &all);
  if (status == TESELA_OK && all.count == 0)
    status = tsl_fail(TESELA_UNSUPPORTED,
                      "there is nothing to export: the cache holds no kernel%s that is "
                      "not damaged; tesela cache prefill compiles them",
                      key_count > 0 ? " of this device" : "");
  if (status == TESELA_OK)
    status = tsl_jit_bundle_write(all.entries, (const char(*)[33])all.hashes, all.count, write, argument);
  *count = all.count;
  *bytes = tsl_jit_bundle_bytes(all.entries, all.count);
  for (int i = 0; i < all.count; i++)
    free(all.entries[i].bytes);
  free(all.entries);
  free(all.hashes);
  jit_listing_free(&listing);
  if (folder >= 0)
    close(folder);
  return status;
}

tesela_status tsl_jit_clear(int *count, uint64_t *bytes) {
  tsl_jit_listing listing;
  int folder, left = 0, reason = 0;
  *count = 0;
  *bytes = 0;
  tsl_self_test_clear();
  TSL_TRY(open_listing(&folder, &listing));
  for (int i = 0; i < listing.entry_count; i++) {
    if (!jit_remove_entry(folder, &listing.entries[i])) {
      reason = errno;
      left++;
      continue;
    }
    ++*count;
    *bytes += listing.entries[i].bytes;
  }
  if (folder >= 0) {
    jit_remove_temporaries(folder, &listing, 0);
    close(folder);
  }
  jit_listing_free(&listing);
  if (left > 0)
    return tsl_fail(TESELA_IO_FAILED, "%d compiled kernels could not be removed: %s", left, strerror(reason));
  return TESELA_OK;
}
