/* The kernel cache's folder as a whole: where it is, what is in it, and what goes when it is full. */
#include "device/jit_disk.h"

#include "base/env.h"
#include "base/notice.h"
#include "base/status.h"
#include "base/trusted.h"
#include "device/jit_cache.h"
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

#define HASH_DIGITS 32
/* A temporary file of this age is nobody's any more: writing one takes milliseconds. */
#define TEMPORARY_SECONDS 3600

tesela_status tsl_jit_folder(tsl_text *folder) {
  const char *chosen = tsl_env_get(TSL_ENV_CACHE_DIR);
  const char *cache = tsl_env_foreign("XDG_CACHE_HOME"), *home = tsl_env_foreign("HOME");
  if (chosen[0] != '\0')
    tsl_text_add(folder, "%s", chosen);
  else if (cache != NULL && cache[0] == '/') /* the XDG specification ignores others */
    tsl_text_add(folder, "%s/tesela/kernels", cache);
  else if (home != NULL && home[0] != '\0')
    tsl_text_add(folder, "%s/.cache/tesela/kernels", home);
  else
    return tsl_fail(TESELA_IO_FAILED, "there is no folder for compiled kernels: neither TESELA_CACHE_DIR nor "
                                      "XDG_CACHE_HOME nor HOME is set");
  return tsl_text_status(folder);
}

uint64_t tsl_jit_size_limit(void) {
  uint64_t limit = 0;
  if (tsl_parse_bytes(tsl_env_get(TSL_ENV_CACHE_SIZE), &limit))
    return limit;
  const char *fallback = tsl_env_at(TSL_ENV_CACHE_SIZE)->fallback;
  tsl_log(TSL_LOG_CACHE, "TESELA_CACHE_SIZE is \"%s\" and no size like 256MiB; %s is used instead",
          tsl_env_get(TSL_ENV_CACHE_SIZE), fallback);
  return tsl_parse_bytes(fallback, &limit) ? limit : 0;
}

/* Makes a folder and those above it, for this user alone. What cannot be made shows when it is opened. */
static void make_folders(char *path) {
  for (char *at = path + 1; *at != '\0'; at++)
    if (*at == '/') {
      *at = '\0';
      mkdir(path, 0700);
      *at = '/';
    }
  mkdir(path, 0700);
}

int tsl_jit_folder_open(bool create, char *why, size_t size) {
  tsl_text path = {0};
  tsl_status_saved saved;
  int folder = -1, reason = 0;
  tsl_status_save(&saved);
  if (tsl_jit_folder(&path) != TESELA_OK) {
    snprintf(why, size, "%s", tesela_last_error());
    tsl_status_restore(&saved);
  } else {
    if (create)
      make_folders(path.data);
    const char *refused;
    folder = tsl_trusted_folder(path.data, &refused);
    reason = folder < 0 ? errno : 0;
    if (folder < 0)
      snprintf(why, size, "%s: %s", path.data, refused);
    if (folder < 0 && reason == 0)
      tsl_notice(TSL_LOG_CACHE, "compiled kernels are not kept in %s: %s", path.data, refused);
  }
  tsl_text_free(&path);
  errno = reason;
  return folder;
}

/* --- what is there --- */

typedef enum file_role { ROLE_BINARY, ROLE_SOURCE, ROLE_TEMPORARY } file_role;

typedef struct cache_file {
  char name[TSL_JIT_NAME_MOST]; /* starts with the hash */
  file_role role;
  bool is_marked; /* starts as the cache's files do */
  uint64_t bytes;
  struct timespec used;
} cache_file;

/* Files of one hash, next to each other in a listing. */
typedef struct cache_entry {
  const cache_file *files;
  int count;
  const cache_file *binary; /* NULL: only the source is there */
  uint64_t bytes;
  struct timespec used;
} cache_entry;

typedef struct cache_listing {
  cache_file *files;
  int file_count;
  cache_entry *entries;
  int entry_count;
} cache_listing;

/* Whether a name is one that the cache gives, and to what. */
static bool role_of(const char *name, file_role *role) {
  const char *rest = name + HASH_DIGITS;
  if (strspn(name, "0123456789abcdef") != HASH_DIGITS || rest[0] != '.' || strlen(name) >= TSL_JIT_NAME_MOST)
    return false;
  rest++;
  const size_t letters = strspn(rest, "abcdefghijklmnopqrstuvwxyz");
  if (letters > 0 && letters < 8 && rest[letters] == '\0') {
    *role = strcmp(rest, "bin") == 0 ? ROLE_BINARY : ROLE_SOURCE;
    return true;
  }
  const size_t process = strspn(rest, "0123456789");
  if (process == 0 || rest[process] != '-')
    return false;
  const size_t number = strspn(rest + process + 1, "0123456789");
  *role = ROLE_TEMPORARY;
  return number > 0 && strcmp(rest + process + 1 + number, ".tmp") == 0;
}

static bool starts_with(int folder, const char *name, const char *mark) {
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

static bool look_at(int folder, const char *name, cache_file *file) {
  struct stat facts;
  if (!role_of(name, &file->role) || fstatat(folder, name, &facts, AT_SYMLINK_NOFOLLOW) != 0 ||
      !S_ISREG(facts.st_mode))
    return false;
  snprintf(file->name, sizeof file->name, "%s", name);
  file->bytes = (uint64_t)facts.st_size;
  file->used = facts.st_mtim;
  file->is_marked =
      file->role == ROLE_TEMPORARY ||
      starts_with(folder, name, file->role == ROLE_BINARY ? TSL_JIT_MAGIC : TSL_JIT_SOURCE_MARK);
  return true;
}

static int by_name(const void *a, const void *b) {
  return strcmp(((const cache_file *)a)->name, ((const cache_file *)b)->name);
}

static bool is_of(const cache_file *a, const cache_file *b) {
  return strncmp(a->name, b->name, HASH_DIGITS) == 0;
}

/* The entry that starts at files[0]; its count says where the next one starts. False when nothing of it is
 * known for the cache's. */
static bool gather(const cache_file *files, int left, cache_entry *entry) {
  bool is_ours = false;
  *entry = (cache_entry){.files = files};
  for (; entry->count < left && is_of(files, &files[entry->count]); entry->count++) {
    const cache_file *file = &files[entry->count];
    if (file->role == ROLE_TEMPORARY)
      continue;
    is_ours = is_ours || file->is_marked;
    if (file->role == ROLE_BINARY)
      entry->binary = file;
    if (file->role == ROLE_BINARY || file->is_marked)
      entry->bytes += file->bytes;
    if (file->role == ROLE_BINARY || entry->binary == NULL)
      entry->used = file->used;
  }
  return is_ours;
}

static void listing_free(cache_listing *listing) {
  free(listing->files);
  free(listing->entries);
}

static bool add_file(cache_listing *listing, const cache_file *file) {
  /* Room grows in powers of two: it is full when the count is one. */
  if ((listing->file_count & (listing->file_count - 1)) == 0) {
    const size_t room = listing->file_count == 0 ? 1 : 2 * (size_t)listing->file_count;
    cache_file *files = realloc(listing->files, room * sizeof *files);
    if (files == NULL)
      return false;
    listing->files = files;
  }
  listing->files[listing->file_count++] = *file;
  return true;
}

static bool list_folder(int folder, cache_listing *listing) {
  *listing = (cache_listing){0};
  const int again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *names = again >= 0 ? fdopendir(again) : NULL;
  if (names == NULL) {
    if (again >= 0)
      close(again);
    return false;
  }
  bool good = true;
  cache_file file;
  for (const struct dirent *name; good && (name = readdir(names)) != NULL;)
    if (look_at(folder, name->d_name, &file))
      good = add_file(listing, &file);
  closedir(names);
  listing->entries = calloc((size_t)listing->file_count + 1, sizeof *listing->entries);
  if (!good || listing->entries == NULL) {
    listing_free(listing);
    return false;
  }
  if (listing->file_count > 0)
    qsort(listing->files, (size_t)listing->file_count, sizeof *listing->files, by_name);
  cache_entry entry;
  for (int i = 0; i < listing->file_count; i += entry.count)
    if (gather(&listing->files[i], listing->file_count - i, &entry))
      listing->entries[listing->entry_count++] = entry;
  return true;
}

/* --- what goes --- */

/* False when a file stays. The binary goes first: a source alone is no entry that anyone would use. */
static bool remove_entry(int folder, const cache_entry *entry) {
  bool gone = entry->binary == NULL || unlinkat(folder, entry->binary->name, 0) == 0 || errno == ENOENT;
  for (int i = 0; gone && i < entry->count; i++) {
    const cache_file *file = &entry->files[i];
    if (file->role == ROLE_SOURCE && file->is_marked)
      gone = unlinkat(folder, file->name, 0) == 0 || errno == ENOENT;
  }
  return gone;
}

static int by_use(const void *a, const void *b) {
  const struct timespec x = ((const cache_entry *)a)->used, y = ((const cache_entry *)b)->used;
  if (x.tv_sec != y.tv_sec)
    return x.tv_sec < y.tv_sec ? -1 : 1;
  return (x.tv_nsec > y.tv_nsec) - (x.tv_nsec < y.tv_nsec);
}

static double age_of(struct timespec used) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  const double age = (double)(now.tv_sec - used.tv_sec) + 1e-9 * (double)(now.tv_nsec - used.tv_nsec);
  return age > 0 ? age : 0;
}

static void remove_temporaries(int folder, const cache_listing *listing, double age) {
  for (int i = 0; i < listing->file_count; i++)
    if (listing->files[i].role == ROLE_TEMPORARY && age_of(listing->files[i].used) >= age)
      unlinkat(folder, listing->files[i].name, 0);
}

void tsl_jit_folder_trim(int folder, uint64_t limit) {
  cache_listing listing;
  uint64_t total = 0;
  if (!list_folder(folder, &listing))
    return;
  remove_temporaries(folder, &listing, TEMPORARY_SECONDS);
  qsort(listing.entries, (size_t)listing.entry_count, sizeof *listing.entries, by_use);
  for (int i = 0; i < listing.entry_count; i++)
    total += listing.entries[i].bytes;
  for (int i = 0; i < listing.entry_count && total > limit; i++) {
    if (remove_entry(folder, &listing.entries[i]))
      tsl_log(TSL_LOG_CACHE, "%.32s goes, the cache is full", listing.entries[i].files[0].name);
    total -= listing.entries[i].bytes;
  }
  listing_free(&listing);
}

/* --- what people ask --- */

/* The value of a key's line "name 3 abc"; "?" when it is not there. */
static void key_part(const tsl_jit_loaded *loaded, const char *name, char *out, size_t size) {
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

/* Takes a word off a line's front: what is before the next blank or the line's end. */
static size_t word_length(const char *at, const char *end) {
  size_t length = 0;
  while (at + length < end && at[length] != ' ' && at[length] != '\n')
    length++;
  return length;
}

/* What stands in front of a kernel's text, as `#define TSL_PARAM_TILE 16`, as a config: "tile=16". Other definitions keep
 * their names; that of the type of numbers is left out: it is the first, and stands alone. */
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

/* The definitions at the beginning of the key's text. */
static void key_config(const tsl_jit_loaded *loaded, char *out, size_t size) {
  static const char mark[] = "\ntext ", define[] = "#define ";
  const char *end = loaded->key + loaded->key_bytes;
  const char *at = memmem(loaded->key, loaded->key_bytes, mark, strlen(mark));
  tsl_text text = {0};
  if (at) {
    at += strlen(mark);
    at += word_length(at, end); /* the length of the text */
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

static tsl_jit_entry describe(int folder, const cache_entry *entry) {
  tsl_jit_entry out = {.name = "?", .device = "?", .bytes = entry->bytes, .age = age_of(entry->used)};
  tsl_jit_loaded loaded = {0};
  char hash[33];
  snprintf(out.hash, sizeof out.hash, "%.32s", entry->files[0].name);
  out.damaged = entry->binary == NULL || tsl_jit_entry_load(folder, entry->binary->name, &loaded) != NULL;
  if (out.damaged)
    return out;
  tsl_hash_text(tsl_hash_add(tsl_hash_start(), loaded.key, loaded.key_bytes), hash);
  out.damaged = strcmp(hash, out.hash) != 0;
  key_part(&loaded, "name", out.name, sizeof out.name);
  key_part(&loaded, "device", out.device, sizeof out.device);
  key_config(&loaded, out.config, sizeof out.config);
  free(loaded.bytes);
  return out;
}

/* Opens the folder and lists it. A folder that is not there has nothing in it. */
static tesela_status open_listing(int *folder, cache_listing *listing) {
  char why[256];
  *listing = (cache_listing){0};
  *folder = tsl_jit_folder_open(false, why, sizeof why);
  if (*folder < 0)
    return errno == ENOENT ? TESELA_OK : tsl_fail(TESELA_IO_FAILED, "%s", why);
  if (list_folder(*folder, listing))
    return TESELA_OK;
  close(*folder);
  return tsl_fail(TESELA_IO_FAILED, "the folder of compiled kernels cannot be listed");
}

tesela_status tsl_jit_list(void (*each)(void *argument, const tsl_jit_entry *entry), void *argument) {
  cache_listing listing;
  int folder;
  TSL_TRY(open_listing(&folder, &listing));
  for (int i = 0; i < listing.entry_count; i++) {
    const tsl_jit_entry entry = describe(folder, &listing.entries[i]);
    each(argument, &entry);
  }
  listing_free(&listing);
  if (folder >= 0)
    close(folder);
  return TESELA_OK;
}

tesela_status tsl_jit_clear(int *count, uint64_t *bytes) {
  cache_listing listing;
  int folder, left = 0, reason = 0;
  *count = 0;
  *bytes = 0;
  tsl_self_test_clear();
  TSL_TRY(open_listing(&folder, &listing));
  for (int i = 0; i < listing.entry_count; i++) {
    if (!remove_entry(folder, &listing.entries[i])) {
      reason = errno;
      left++;
      continue;
    }
    ++*count;
    *bytes += listing.entries[i].bytes;
  }
  if (folder >= 0) {
    remove_temporaries(folder, &listing, 0);
    close(folder);
  }
  listing_free(&listing);
  if (left > 0)
    return tsl_fail(TESELA_IO_FAILED, "%d compiled kernels could not be removed: %s", left, strerror(reason));
  return TESELA_OK;
}
