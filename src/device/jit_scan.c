#include "device/jit_scan.h"

#include "core/log.h"
#include "core/safe_open.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

void tsl_jit_listing_free(tsl_jit_listing *listing) {
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

bool tsl_jit_listing_make(int folder, tsl_jit_listing *listing) {
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
    tsl_jit_listing_free(listing);
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
bool tsl_jit_remove_entry(int folder, const tsl_jit_files_entry *entry) {
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

double tsl_jit_age(struct timespec last_used) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  const double age =
      (double)(now.tv_sec - last_used.tv_sec) + 1e-9 * (double)(now.tv_nsec - last_used.tv_nsec);
  return age > 0 ? age : 0;
}

void tsl_jit_remove_temporaries(int folder, const tsl_jit_listing *listing, double age) {
  for (int i = 0; i < listing->file_count; i++)
    if (listing->files[i].role == TSL_JIT_TEMPORARY && tsl_jit_age(listing->files[i].last_used) >= age)
      unlinkat(folder, listing->files[i].name, 0);
}

void tsl_jit_folder_trim(int folder, uint64_t limit) {
  tsl_jit_listing listing;
  uint64_t total = 0;
  if (!tsl_jit_listing_make(folder, &listing))
    return;
  tsl_jit_remove_temporaries(folder, &listing, TEMPORARY_SECONDS);
  qsort(listing.entries, (size_t)listing.entry_count, sizeof *listing.entries, compare_by_last_use);
  for (int i = 0; i < listing.entry_count; i++)
    total += listing.entries[i].bytes;
  for (int i = 0; i < listing.entry_count && total > limit; i++) {
    if (tsl_jit_remove_entry(folder, &listing.entries[i]))
      tsl_log(TSL_LOG_CACHE, "%.32s goes, the cache is full", listing.entries[i].files[0].name);
    total -= listing.entries[i].bytes;
  }
  tsl_jit_listing_free(&listing);
}
