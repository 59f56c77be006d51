#include "device/trials.h"

#include "base/log.h"
#include "device/jit_disk.h"
#include "device/slot.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char file_name[] = "trials";
static const char mark[] = "# tesela: what came of the first trials of compiled kernels\n";
enum { FILE_MOST = 1 << 20, LINE_MOST = 2048 };

/* A trial in memory. */
struct tsl_trial_entry {
  tsl_trial_entry *next;
  char *known_by;
  tsl_trial trial;
};

/* --- lines --- */

static void print(const char *known_by, const tsl_trial *trial, tsl_text *out) {
  tsl_text_add(out, "%s %.4g %s %s", trial->right ? "right" : "wrong", trial->seconds, trial->date, known_by);
  if (!trial->right)
    tsl_text_add(out, "\t%s", trial->why);
}

/* The next blank-separated word of a line, cut off; NULL at its end. */
static char *next_word(char **rest) {
  char *word = *rest, *blank = strchr(word, ' ');
  if (!blank || blank == word)
    return NULL;
  *blank = '\0';
  *rest = blank + 1;
  return word;
}

/* Takes a line apart, which is changed; false where it is none of a trial's. */
static bool parse(char *line, const char **known_by, tsl_trial *out) {
  char *rest = line;
  const char *verdict = next_word(&rest), *seconds = verdict ? next_word(&rest) : NULL,
             *date = seconds ? next_word(&rest) : NULL;
  *out = (tsl_trial){.right = false};
  if (!date || strlen(date) >= sizeof out->date || !tsl_parse_double(seconds, &out->seconds))
    return false;
  out->right = strcmp(verdict, "right") == 0;
  memcpy(out->date, date, strlen(date) + 1);
  *known_by = rest;
  if (out->right)
    return true;
  char *tab = strchr(rest, '\t');
  if (strcmp(verdict, "wrong") != 0 || !tab)
    return false;
  *tab = '\0';
  snprintf(out->why, sizeof out->why, "%s", tab + 1);
  return true;
}

/* --- the file --- */

/* Opens the file; -1 where there is none, and why not in errno. */
static int open_file(bool create) {
  char why[256];
  if (tsl_jit_size_limit() == 0) {
    errno = 0;
    return -1;
  }
  const int folder = tsl_jit_folder_open(create, why, sizeof why);
  if (folder < 0)
    return -1;
  const int flags = create ? O_RDWR | O_APPEND | O_CREAT : O_RDONLY;
  const int file = openat(folder, file_name, flags | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW, 0600);
  const int reason = errno;
  close(folder);
  errno = reason;
  return file;
}

/* The file's text; empty where it is not there, or is none of ours. */
static void read_file(tsl_text *text) {
  char block[16384];
  struct stat facts;
  const int file = open_file(false);
  if (file < 0)
    return;
  if (fstat(file, &facts) == 0 && S_ISREG(facts.st_mode))
    for (ssize_t count; (count = read(file, block, sizeof block)) != 0;) {
      if (count < 0 && errno != EINTR)
        break;
      if (count > 0)
        tsl_text_add_bytes(text, block, (size_t)count);
    }
  close(file);
  if (text->length < strlen(mark) || memcmp(text->data, mark, strlen(mark)) != 0 || text->failed)
    tsl_text_free(text);
}

/* Calls each() for every trial of the file, oldest first. */
static void each_in_file(void (*each)(void *argument, const char *known_by, const tsl_trial *trial),
                         void *argument) {
  tsl_text text = {0};
  read_file(&text);
  for (char *line = text.data; line && *line;) {
    char *end = strchr(line, '\n');
    const char *known_by;
    tsl_trial trial;
    if (!end)
      break; /* being written, or cut off */
    *end = '\0';
    if (parse(line, &known_by, &trial))
      each(argument, known_by, &trial);
    line = end + 1;
  }
  tsl_text_free(&text);
}

/* Adds whole lines in one write, behind whatever an interrupted one left. */
static bool append(int file, const char *line) {
  struct stat facts;
  tsl_text text = {0};
  char last = '\n';
  if (fstat(file, &facts) != 0 || !S_ISREG(facts.st_mode))
    return false;
  if (facts.st_size > FILE_MOST && ftruncate(file, 0) == 0)
    facts.st_size = 0;
  if (facts.st_size > 0 && pread(file, &last, 1, facts.st_size - 1) != 1)
    return false;
  tsl_text_add(&text, "%s%s%s\n", facts.st_size == 0 ? mark : "", last == '\n' ? "" : "\n", line);
  const bool good = !text.failed && write(file, text.data, text.length) == (ssize_t)text.length;
  tsl_text_free(&text);
  return good;
}

static void write_line(const char *line) {
  const int file = open_file(true);
  if (file < 0 || !append(file, line))
    tsl_log(TSL_LOG_CACHE, "a trial is not kept on disk: %s",
            errno ? strerror(errno) : "TESELA_CACHE_SIZE is 0");
  if (file >= 0)
    close(file);
}

/* --- memory --- */

static void remember(tsl_device *device, const char *known_by, const tsl_trial *trial) {
  tsl_device_slot *slot = tsl_device_slot_of(device);
  tsl_trial_entry *entry = calloc(1, sizeof *entry);
  char *copy = strdup(known_by);
  if (!entry || !copy) { /* it is tried once more, then */
    free(entry);
    free(copy);
    return;
  }
  *entry = (tsl_trial_entry){.known_by = copy, .trial = *trial};
  pthread_mutex_lock(&slot->jit_lock);
  entry->next = slot->trials;
  slot->trials = entry;
  pthread_mutex_unlock(&slot->jit_lock);
}

static bool recall(tsl_device *device, const char *known_by, tsl_trial *trial) {
  tsl_device_slot *slot = tsl_device_slot_of(device);
  pthread_mutex_lock(&slot->jit_lock);
  const tsl_trial_entry *entry = slot->trials;
  while (entry && strcmp(entry->known_by, known_by) != 0)
    entry = entry->next;
  if (entry)
    *trial = entry->trial;
  pthread_mutex_unlock(&slot->jit_lock);
  return entry != NULL;
}

void tsl_trial_forget(tsl_device *device) {
  tsl_device_slot *slot = tsl_device_slot_of(device);
  while (slot->trials) {
    tsl_trial_entry *entry = slot->trials;
    slot->trials = entry->next;
    free(entry->known_by);
    free(entry);
  }
}

/* --- both --- */

typedef struct finding {
  const char *known_by;
  bool found;
  tsl_trial *trial;
} finding;

static void find_one(void *argument, const char *known_by, const tsl_trial *trial) {
  finding *job = argument;
  if (strcmp(known_by, job->known_by) != 0)
    return;
  job->found = true;
  *job->trial = *trial;
}

bool tsl_trial_find(tsl_device *device, const char *known_by, tsl_trial *trial) {
  finding job = {.known_by = known_by, .trial = trial};
  if (recall(device, known_by, trial))
    return true;
  each_in_file(find_one, &job);
  if (job.found)
    remember(device, known_by, trial);
  return job.found;
}

void tsl_trial_keep(tsl_device *device, const char *known_by, const tsl_trial *trial) {
  tsl_trial kept = *trial;
  const time_t now = time(NULL);
  struct tm utc;
  tsl_text line = {0};
  strftime(kept.date, sizeof kept.date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
  for (char *c = kept.why; *c; c++)
    *c = *c == '\n' || *c == '\t' ? ' ' : *c;
  remember(device, known_by, &kept);
  print(known_by, &kept, &line);
  if (!line.failed && line.length < LINE_MOST)
    write_line(line.data);
  tsl_text_free(&line);
}

static void count_one(void *argument, const char *known_by, const tsl_trial *trial) {
  tsl_trial_count *counts = argument;
  (void)known_by;
  counts->right += trial->right;
  counts->wrong += !trial->right;
  counts->seconds += trial->seconds;
}

tsl_trial_count tsl_trial_counts(void) {
  tsl_trial_count counts = {0};
  each_in_file(count_one, &counts);
  return counts;
}

void tsl_trial_clear(void) {
  tsl_text text = {0};
  char why[256];
  read_file(&text);
  const int folder = text.length > 0 ? tsl_jit_folder_open(false, why, sizeof why) : -1;
  if (folder >= 0) {
    unlinkat(folder, file_name, 0);
    close(folder);
  }
  tsl_text_free(&text);
}
