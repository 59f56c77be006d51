/* Wisdom files. A writer locks <file>.lock, reads <file>, writes <file>.tmp and renames it, so readers see
 * complete files. A killed writer's lock is released by the kernel, its temporary file overwritten. A writer
 * removes the lock file at its end; a process whose locked file was removed locks again. */
#include "core/env.h"
#include "core/reserve.h"
#include "core/safe_open.h"
#include "core/status.h"
#include "device/source.h"
#include "planner/planner_wisdom.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct tsl_wisdom_entry {
  char *line; /* NULL: removed */
  bool has_record;
  tsl_wisdom_record record;
} tsl_wisdom_entry;

typedef struct tsl_wisdom_lines {
  tsl_wisdom_entry *entries;
  int count, capacity;
} tsl_wisdom_lines;

/* Cuts off the next line; NULL at the end. */
static char *next_line(char **rest) {
  char *line = *rest;
  if (!line || !*line)
    return NULL;
  char *end = strchr(line, '\n');
  *rest = end ? end + 1 : line + strlen(line);
  if (end)
    *end = '\0';
  const size_t length = strlen(line);
  if (length > 0 && line[length - 1] == '\r')
    line[length - 1] = '\0';
  return line;
}

/* Returns true if a line is empty or a comment. */
static bool wisdom_means_nothing(const char *line) {
  line += strspn(line, " \t");
  return *line == '\0' || *line == '#';
}

static tesela_status wisdom_lines_copy_of(const char *text, char **copy) {
  *copy = strdup(text);
  return *copy ? TESELA_OK : tsl_fail(TESELA_OUT_OF_MEMORY, "no memory to read wisdom");
}

tesela_status tsl_wisdom_each(const char *text,
                              tesela_status (*each)(void *argument, const tsl_wisdom_line *line),
                              void *argument) {
  char *copy, *line;
  TSL_TRY(wisdom_lines_copy_of(text, &copy));
  char *rest = copy;
  tesela_status status = TESELA_OK;
  for (int number = 1; status == TESELA_OK && (line = next_line(&rest)) != NULL; number++) {
    tsl_wisdom_record record;
    char wrong[256];
    if (wisdom_means_nothing(line))
      continue;
    const tesela_status parsed = tsl_wisdom_parse(line, &record);
    const bool good = parsed == TESELA_OK;
    if (parsed == TESELA_OUT_OF_MEMORY)
      TSL_GO(parsed);
    snprintf(wrong, sizeof wrong, "%.*s", (int)sizeof wrong - 1, good ? "" : tesela_last_error());
    status = each(argument, &(tsl_wisdom_line){line, number, good ? &record : NULL, good ? NULL : wrong});
  }
out:
  free(copy);
  return status;
}

static void wisdom_lines_free(tsl_wisdom_lines *all) {
  for (int i = 0; i < all->count; i++)
    free(all->entries[i].line);
  free(all->entries);
}

static tesela_status wisdom_lines_append(tsl_wisdom_lines *all, const char *line,
                                         const tsl_wisdom_record *record) {
  TSL_TRY(
      tsl_list_reserve(&all->entries, all->count, &all->capacity, sizeof *all->entries, "lines of wisdom"));
  tsl_wisdom_entry *added = &all->entries[all->count];
  *added = (tsl_wisdom_entry){.has_record = record != NULL};
  TSL_TRY(wisdom_lines_copy_of(line, &added->line));
  if (record)
    added->record = *record;
  all->count++;
  return TESELA_OK;
}

/* Appends all lines of a text. Free with wisdom_lines_free(), also after a failure. */
static tesela_status wisdom_lines_read(const char *text, tsl_wisdom_lines *out) {
  char *copy, *line;
  TSL_TRY(wisdom_lines_copy_of(text, &copy));
  char *rest = copy;
  tesela_status status = TESELA_OK;
  while (status == TESELA_OK && (line = next_line(&rest)) != NULL) {
    tsl_wisdom_record record;
    const tesela_status parsed =
        wisdom_means_nothing(line) ? TESELA_BAD_INPUT : tsl_wisdom_parse(line, &record);
    status = parsed == TESELA_OUT_OF_MEMORY
                 ? parsed
                 : wisdom_lines_append(out, line, parsed == TESELA_OK ? &record : NULL);
  }
  free(copy);
  return status;
}

static void wisdom_lines_print(const tsl_wisdom_lines *all, tsl_text *text) {
  for (int i = 0; i < all->count; i++)
    if (all->entries[i].line)
      tsl_text_add(text, "%s\n", all->entries[i].line);
}

typedef struct merging {
  tsl_wisdom_lines *all;
  tsl_wisdom_merged *merged;
  bool always;
} merging;

/* Adds a line's record, or replaces the record of its identity, and counts the case. */
static tesela_status merge_line(void *argument, const tsl_wisdom_line *line) {
  const merging *job = argument;
  if (!line->record) {
    job->merged->unreadable++;
    return TESELA_OK;
  }
  for (int i = 0; i < job->all->count; i++) {
    tsl_wisdom_entry *old = &job->all->entries[i];
    if (!old->has_record || !tsl_wisdom_same(&old->record, line->record))
      continue;
    if (!job->always && !tsl_wisdom_supersedes(&old->record, line->record)) {
      job->merged->kept++;
      return TESELA_OK;
    }
    char *copy;
    TSL_TRY(wisdom_lines_copy_of(line->text, &copy));
    free(old->line);
    old->line = copy;
    old->record = *line->record;
    job->merged->replaced++;
    return TESELA_OK;
  }
  TSL_TRY(wisdom_lines_append(job->all, line->text, line->record));
  job->merged->added++;
  return TESELA_OK;
}

/* Merges a text's records into `all`, counted in `merged`. `always` replaces records, faster or not. */
static tesela_status wisdom_lines_merge(tsl_wisdom_lines *all, const char *text, bool always,
                                        tsl_wisdom_merged *merged) {
  return tsl_wisdom_each(text, merge_line, &(merging){all, merged, always});
}

static tesela_status wisdom_lines_join(const char *existing, const char *text, bool always, tsl_text *out,
                                       tsl_wisdom_merged *merged) {
  tsl_wisdom_lines all = {0};
  tesela_status status;
  *merged = (tsl_wisdom_merged){0};
  TSL_GO(wisdom_lines_read(existing, &all));
  TSL_GO(wisdom_lines_merge(&all, text, always, merged));
  wisdom_lines_print(&all, out);
  status = tsl_text_status(out);
out:
  wisdom_lines_free(&all);
  return status;
}

tesela_status tsl_wisdom_merge_texts(const char *existing, const char *text, tsl_text *out,
                                     tsl_wisdom_merged *merged) {
  return wisdom_lines_join(existing, text, false, out, merged);
}

tesela_status tsl_wisdom_update_texts(const char *existing, const char *text, tsl_text *out) {
  tsl_wisdom_merged merged;
  return wisdom_lines_join(existing, text, true, out, &merged);
}

/* A record has about 250 bytes. */
#define FILE_MAX ((size_t)64 << 20)

static const char shipped_path[] = "planner/wisdom.txt";

tesela_status tsl_wisdom_path(tsl_text *path) {
  const char *chosen = tsl_env_get(TSL_ENV_WISDOM), *data = tsl_env_foreign("XDG_DATA_HOME"),
             *home = tsl_env_foreign("HOME");
  if (strcmp(chosen, "none") == 0)
    return tsl_fail(TESELA_UNSUPPORTED, "wisdom is switched off: TESELA_WISDOM is none");
  if (chosen[0] != '\0')
    tsl_text_add(path, "%s", chosen);
  else if (data != NULL && data[0] == '/') /* the XDG specification ignores relative paths */
    tsl_text_add(path, "%s/tesela/wisdom", data);
  else if (home != NULL && home[0] != '\0')
    tsl_text_add(path, "%s/.local/share/tesela/wisdom", home);
  else
    return tsl_fail(TESELA_IO_FAILED,
                    "no path for wisdom: none of TESELA_WISDOM, XDG_DATA_HOME and HOME is set");
  return tsl_text_status(path);
}

const char *tsl_wisdom_shipped(void) {
  const tsl_source_file *file;
  for (int i = 0; (file = tsl_source_at(i)) != NULL; i++)
    if (strcmp(file->path, shipped_path) == 0)
      return (const char *)file->text;
  return "";
}

static tesela_status wisdom_file_failed(const char *path, int reason) {
  return tsl_fail(TESELA_IO_FAILED, "%s: %s", path, strerror(reason));
}

/* Reads and closes an open file. */
static tesela_status wisdom_file_read_text(const char *path, int file, tsl_text *text) {
  const char *wrong = tsl_read_regular(file, FILE_MAX, text);
  close(file);
  if (wrong)
    return tsl_fail(text->failed ? TESELA_OUT_OF_MEMORY : TESELA_IO_FAILED, "%s: %s", path, wrong);
  if (memchr(tsl_text_get(text), '\0', text->length))
    return tsl_fail(TESELA_BAD_INPUT, "%s: it contains a zero byte, so it is no text", path);
  return tsl_text_status(text);
}

tesela_status tsl_wisdom_read(const char *path, bool optional, tsl_text *text) {
  const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0)
    return optional && errno == ENOENT ? TESELA_OK : wisdom_file_failed(path, errno);
  return wisdom_file_read_text(path, file, text);
}

tesela_status tsl_wisdom_read_own(const char *path, tsl_text *text) {
  const char *why;
  const int file = tsl_trusted_file(AT_FDCWD, path, O_RDONLY, 0, &why);
  if (file >= 0)
    return wisdom_file_read_text(path, file, text);
  return errno == ENOENT ? TESELA_OK : tsl_fail(TESELA_IO_FAILED, "%s: %s", path, why);
}

typedef struct target {
  const char *path;
  char lock_path[PATH_MAX + 8], temporary[PATH_MAX + 8];
  int lock;
} target;

static void wisdom_file_make_folders(const char *path) {
  char copy[PATH_MAX];
  snprintf(copy, sizeof copy, "%s", path);
  for (char *slash = copy + 1; *copy && *slash; slash++)
    if (*slash == '/') {
      *slash = '\0';
      mkdir(copy, 0700); /* opening the lock reports failures */
      *slash = '/';
    }
}

/* Returns true if the locked file still has its name. */
static bool wisdom_file_is_current(const target *file_target) {
  struct stat locked, named;
  return fstat(file_target->lock, &locked) == 0 && stat(file_target->lock_path, &named) == 0 &&
         locked.st_dev == named.st_dev && locked.st_ino == named.st_ino;
}

/* Locks the lock file, again if it was removed meanwhile. */
static tesela_status take_lock(target *file_target) {
  for (;;) {
    const char *why;
    file_target->lock = tsl_trusted_file(AT_FDCWD, file_target->lock_path, O_RDWR | O_CREAT, 0600, &why);
    if (file_target->lock < 0)
      return tsl_fail(TESELA_IO_FAILED, "%s: %s", file_target->lock_path, why);
    while (flock(file_target->lock, LOCK_EX) != 0)
      if (errno != EINTR) {
        const int reason = errno;
        close(file_target->lock);
        return wisdom_file_failed(file_target->lock_path, reason);
      }
    if (wisdom_file_is_current(file_target))
      return TESELA_OK;
    close(file_target->lock);
  }
}

/* Makes the folders and locks the file; end with wisdom_file_end(). */
static tesela_status wisdom_file_begin(const char *path, target *out) {
  if (strlen(path) >= PATH_MAX)
    return wisdom_file_failed(path, ENAMETOOLONG);
  wisdom_file_make_folders(path);
  out->path = path;
  snprintf(out->lock_path, sizeof out->lock_path, "%s.lock", path);
  snprintf(out->temporary, sizeof out->temporary, "%s.tmp", path);
  return take_lock(out);
}

static void wisdom_file_end(target *file_target) {
  unlink(file_target->lock_path);
  close(file_target->lock);
}

static bool wisdom_file_write_all(int file, const char *bytes, size_t count) {
  while (count > 0) {
    const ssize_t done = write(file, bytes, count);
    if (done < 0 && errno != EINTR)
      return false;
    bytes += done > 0 ? done : 0;
    count -= done > 0 ? (size_t)done : 0;
  }
  return true;
}

/* Writes the temporary file and renames it over the target. */
static tesela_status wisdom_file_replace(const target *file_target, const tsl_text *text) {
  TSL_TRY(tsl_text_status(text));
  unlink(file_target->temporary); /* left by a killed writer */
  const int file = open(file_target->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (file < 0)
    return wisdom_file_failed(file_target->temporary, errno);
  bool good = wisdom_file_write_all(file, tsl_text_get(text), text->length) && fsync(file) == 0;
  int reason = errno;
  if (close(file) != 0 && good) {
    good = false;
    reason = errno;
  }
  if (good && rename(file_target->temporary, file_target->path) == 0)
    return TESELA_OK;
  reason = good ? errno : reason;
  unlink(file_target->temporary);
  return wisdom_file_failed(file_target->path, reason);
}

static tesela_status read_lines(const target *file_target, tsl_wisdom_lines *out) {
  tsl_text text = {0};
  tesela_status status = tsl_wisdom_read_own(file_target->path, &text);
  if (status == TESELA_OK)
    status = wisdom_lines_read(tsl_text_get(&text), out);
  tsl_text_free(&text);
  return status;
}

static tesela_status write_lines(const target *file_target, const tsl_wisdom_lines *all) {
  tsl_text text = {0};
  wisdom_lines_print(all, &text);
  const tesela_status status = wisdom_file_replace(file_target, &text);
  tsl_text_free(&text);
  return status;
}

static tesela_status wisdom_file_merge(const char *path, const char *text, bool always,
                                       tsl_wisdom_merged *merged) {
  tsl_wisdom_lines all = {0};
  tsl_wisdom_merged count = {0};
  target file_target;
  TSL_TRY(wisdom_file_begin(path, &file_target));
  tesela_status status;
  TSL_GO(read_lines(&file_target, &all));
  TSL_GO(wisdom_lines_merge(&all, text, always, &count));
  if (count.added + count.replaced > 0)
    TSL_GO(write_lines(&file_target, &all));
  if (merged)
    *merged = count;
out:
  wisdom_lines_free(&all);
  wisdom_file_end(&file_target);
  return status;
}

tesela_status tsl_wisdom_merge(const char *path, const char *text, tsl_wisdom_merged *merged) {
  return wisdom_file_merge(path, text, false, merged);
}

tesela_status tsl_wisdom_update(const char *path, const char *text, tsl_wisdom_merged *merged) {
  return wisdom_file_merge(path, text, true, merged);
}

tesela_status tsl_wisdom_forget(const char *path,
                                bool (*is_removed)(const void *argument, const tsl_wisdom_line *line),
                                const void *argument, int *count) {
  tsl_wisdom_lines all = {0};
  target file_target;
  int gone = 0;
  *count = 0;
  TSL_TRY(wisdom_file_begin(path, &file_target));
  tesela_status status;
  TSL_GO(read_lines(&file_target, &all));
  for (int i = 0; i < all.count; i++) {
    tsl_wisdom_entry *entry = &all.entries[i];
    if (wisdom_means_nothing(entry->line))
      continue;
    const tsl_wisdom_line line = {entry->line, i + 1, entry->has_record ? &entry->record : NULL,
                                  entry->has_record ? NULL : "is no record"};
    if (!is_removed(argument, &line))
      continue;
    free(entry->line);
    entry->line = NULL;
    gone++;
  }
  if (gone > 0)
    TSL_GO(write_lines(&file_target, &all));
  *count = gone;
out:
  wisdom_lines_free(&all);
  wisdom_file_end(&file_target);
  return status;
}
