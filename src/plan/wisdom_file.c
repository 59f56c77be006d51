/* Files of wisdom. A writer holds the lock of <file>.lock, reads <file>, writes all of it to <file>.tmp and renames
 * that: whoever reads, reads a whole file, and whoever is killed, loses its own change only. The kernel gives the
 * lock back with the process, and the next writer starts the same temporary file anew. */
#include "base/env.h"
#include "base/source.h"
#include "base/status.h"
#include "plan/wisdom.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char shipped_path[] = "plan/wisdom.txt";

tesela_status tsl_wisdom_path(tsl_text *path) {
  const char *chosen = tsl_env_get(TSL_ENV_WISDOM), *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
  if (strcmp(chosen, "none") == 0)
    return tsl_fail(TESELA_UNSUPPORTED, "wisdom is switched off: TESELA_WISDOM is none");
  if (chosen[0] != '\0')
    tsl_text_add(path, "%s", chosen);
  else if (data != NULL && data[0] == '/') /* the XDG specification ignores others */
    tsl_text_add(path, "%s/tesela/wisdom", data);
  else if (home != NULL && home[0] != '\0')
    tsl_text_add(path, "%s/.local/share/tesela/wisdom", home);
  else
    return tsl_fail(TESELA_IO_FAILED, "there is no place for wisdom: neither TESELA_WISDOM nor XDG_DATA_HOME "
                                      "nor HOME is set");
  return tsl_text_status(path);
}

const char *tsl_wisdom_shipped(void) {
  const tsl_source_file *file;
  for (int i = 0; (file = tsl_source_at(i)) != NULL; i++)
    if (strcmp(file->path, shipped_path) == 0)
      return (const char *)file->text;
  return "";
}

static tesela_status failed(const char *path, int reason) {
  return tsl_fail(TESELA_IO_FAILED, "%s: %s", path, strerror(reason));
}

tesela_status tsl_wisdom_read(const char *path, bool optional, tsl_text *text) {
  char block[16384];
  ssize_t count;
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return optional && errno == ENOENT ? TESELA_OK : failed(path, errno);
  while ((count = read(file, block, sizeof block)) != 0) {
    if (count > 0)
      tsl_text_add_bytes(text, block, (size_t)count);
    else if (errno != EINTR)
      break;
  }
  const int reason = errno;
  close(file);
  if (count < 0)
    return failed(path, reason);
  if (memchr(tsl_text_get(text), '\0', text->length))
    return tsl_fail(TESELA_BAD_INPUT, "%s: there is a zero byte in it, so it is no text", path);
  return tsl_text_status(text);
}

/* --- lines --- */

/* Takes the next line out of a text, which is changed; NULL at its end. */
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

static bool means_nothing(const char *line) {
  line += strspn(line, " \t");
  return *line == '\0' || *line == '#';
}

tesela_status tsl_wisdom_each(const char *text,
                              tesela_status (*each)(void *argument, const tsl_wisdom_line *line),
                              void *argument) {
  char *copy = strdup(text), *rest = copy, *line;
  tesela_status status = TESELA_OK;
  if (!copy)
    return tsl_fail(TESELA_OUT_OF_MEMORY, "no memory to read wisdom");
  for (int number = 1; status == TESELA_OK && (line = next_line(&rest)) != NULL; number++) {
    tsl_wisdom_record record;
    char wrong[256];
    if (means_nothing(line))
      continue;
    const bool good = tsl_wisdom_parse(line, &record) == TESELA_OK;
    snprintf(wrong, sizeof wrong, "%.*s", (int)sizeof wrong - 1, good ? "" : tesela_last_error());
    status = each(argument, &(tsl_wisdom_line){line, number, good ? &record : NULL, good ? NULL : wrong});
  }
  free(copy);
  return status;
}

/* --- writing --- */

/* Where a file is written: links are followed, so that a link stays one. */
typedef struct target {
  char path[PATH_MAX], lock_path[PATH_MAX + 8], temporary[PATH_MAX + 8];
  int lock;
} target;

static void make_folders(const char *path) {
  char copy[PATH_MAX];
  snprintf(copy, sizeof copy, "%s", path);
  for (char *at = copy + 1; *copy && *at; at++)
    if (*at == '/') {
      *at = '\0';
      mkdir(copy, 0700); /* what cannot be made shows when the lock is opened */
      *at = '/';
    }
}

static tesela_status begin(const char *path, target *out) {
  if (strlen(path) >= sizeof out->path)
    return failed(path, ENAMETOOLONG);
  make_folders(path);
  if (!realpath(path, out->path)) /* not there yet */
    memcpy(out->path, path, strlen(path) + 1);
  snprintf(out->lock_path, sizeof out->lock_path, "%s.lock", out->path);
  snprintf(out->temporary, sizeof out->temporary, "%s.tmp", out->path);
  out->lock = open(out->lock_path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (out->lock < 0)
    return failed(out->lock_path, errno);
  while (flock(out->lock, LOCK_EX) != 0)
    if (errno != EINTR) {
      const int reason = errno;
      close(out->lock);
      return failed(out->lock_path, reason);
    }
  return TESELA_OK;
}

static void end(target *to) {
  close(to->lock);
}

static bool write_all(int file, const char *bytes, size_t count) {
  while (count > 0) {
    const ssize_t done = write(file, bytes, count);
    if (done < 0 && errno != EINTR)
      return false;
    bytes += done > 0 ? done : 0;
    count -= done > 0 ? (size_t)done : 0;
  }
  return true;
}

static tesela_status replace(const target *to, const tsl_text *text) {
  TSL_TRY(tsl_text_status(text));
  const int file = open(to->temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
  if (file < 0)
    return failed(to->temporary, errno);
  bool good = write_all(file, tsl_text_get(text), text->length) && fsync(file) == 0;
  int reason = errno;
  if (close(file) != 0 && good) {
    good = false;
    reason = errno;
  }
  if (good && rename(to->temporary, to->path) == 0)
    return TESELA_OK;
  reason = good ? errno : reason;
  unlink(to->temporary);
  return failed(to->path, reason);
}

/* --- merging --- */

/* A line of the file as it will be. */
typedef struct entry {
  char *line;
  bool has_record;
  tsl_wisdom_record record;
} entry;

typedef struct content {
  entry *entries;
  int count, capacity;
} content;

static void content_free(content *all) {
  for (int i = 0; i < all->count; i++)
    free(all->entries[i].line);
  free(all->entries);
}

static tesela_status append(content *all, const char *line, const tsl_wisdom_record *record) {
  if (all->count == all->capacity) {
    const int capacity = all->capacity ? 2 * all->capacity : 64;
    entry *entries = realloc(all->entries, (size_t)capacity * sizeof *entries);
    if (!entries)
      return tsl_fail(TESELA_OUT_OF_MEMORY, "no memory for %d lines of wisdom", capacity);
    all->entries = entries;
    all->capacity = capacity;
  }
  entry *added = &all->entries[all->count];
  *added = (entry){.line = strdup(line), .has_record = record != NULL};
  if (!added->line)
    return tsl_fail(TESELA_OUT_OF_MEMORY, "no memory for a line of wisdom");
  if (record)
    added->record = *record;
  all->count++;
  return TESELA_OK;
}

/* All lines of what is there, with whatever is in them. */
static tesela_status content_of(char *text, content *out) {
  char *rest = text, *line;
  while ((line = next_line(&rest)) != NULL) {
    tsl_wisdom_record record;
    const bool good = !means_nothing(line) && tsl_wisdom_parse(line, &record) == TESELA_OK;
    TSL_TRY(append(out, line, good ? &record : NULL));
  }
  return TESELA_OK;
}

static tesela_status read_content(const char *path, content *out) {
  tsl_text text = {0};
  tesela_status status = tsl_wisdom_read(path, true, &text);
  if (status == TESELA_OK && text.data)
    status = content_of(text.data, out);
  tsl_text_free(&text);
  return status;
}

static tesela_status write_content(const target *to, const content *all) {
  tsl_text text = {0};
  for (int i = 0; i < all->count; i++)
    if (all->entries[i].line)
      tsl_text_add(&text, "%s\n", all->entries[i].line);
  const tesela_status status = replace(to, &text);
  tsl_text_free(&text);
  return status;
}

typedef struct merging {
  content all;
  tsl_wisdom_merged merged;
  bool always; /* what comes takes the place of what is there */
} merging;

static tesela_status merge_line(void *argument, const tsl_wisdom_line *line) {
  merging *job = argument;
  if (!line->record) {
    job->merged.unreadable++;
    return TESELA_OK;
  }
  for (int i = 0; i < job->all.count; i++) {
    entry *old = &job->all.entries[i];
    if (!old->has_record || !tsl_wisdom_same(&old->record, line->record))
      continue;
    if (!job->always && !tsl_wisdom_supersedes(&old->record, line->record)) {
      job->merged.kept++;
      return TESELA_OK;
    }
    char *copy = strdup(line->text);
    if (!copy)
      return tsl_fail(TESELA_OUT_OF_MEMORY, "no memory for a line of wisdom");
    free(old->line);
    old->line = copy;
    old->record = *line->record;
    job->merged.replaced++;
    return TESELA_OK;
  }
  TSL_TRY(append(&job->all, line->text, line->record));
  job->merged.added++;
  return TESELA_OK;
}

static tesela_status merge(const char *path, const char *text, bool always, tsl_wisdom_merged *merged) {
  merging job = {.always = always};
  target to;
  TSL_TRY(begin(path, &to));
  tesela_status status;
  TSL_GO(read_content(to.path, &job.all));
  TSL_GO(tsl_wisdom_each(text, merge_line, &job));
  if (job.merged.added + job.merged.replaced > 0)
    TSL_GO(write_content(&to, &job.all));
  if (merged)
    *merged = job.merged;
out:
  content_free(&job.all);
  end(&to);
  return status;
}

tesela_status tsl_wisdom_merge(const char *path, const char *text, tsl_wisdom_merged *merged) {
  return merge(path, text, false, merged);
}

tesela_status tsl_wisdom_update(const char *path, const char *text, tsl_wisdom_merged *merged) {
  return merge(path, text, true, merged);
}

tesela_status tsl_wisdom_forget(const char *path,
                                bool (*goes)(const void *argument, const tsl_wisdom_line *line),
                                const void *argument, int *count) {
  content all = {0};
  target to;
  int gone = 0;
  *count = 0;
  TSL_TRY(begin(path, &to));
  tesela_status status;
  TSL_GO(read_content(to.path, &all));
  for (int i = 0; i < all.count; i++) {
    entry *one = &all.entries[i];
    if (means_nothing(one->line))
      continue;
    const tsl_wisdom_line line = {one->line, i + 1, one->has_record ? &one->record : NULL,
                                  one->has_record ? NULL : "is no record"};
    if (!goes(argument, &line))
      continue;
    free(one->line);
    one->line = NULL;
    gone++;
  }
  if (gone > 0)
    TSL_GO(write_content(&to, &all));
  *count = gone;
out:
  content_free(&all);
  end(&to);
  return status;
}
