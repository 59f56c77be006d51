#include "device/trials.h"

#include "device/lines.h"
#include "device/slot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const tsl_lines file = {.file = "trials",
                               .mark = "# tesela: what came of the first trials of compiled kernels\n"};

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

static void find_one(void *argument, char *line) {
  finding *job = argument;
  const char *known_by;
  tsl_trial trial;
  if (!parse(line, &known_by, &trial) || strcmp(known_by, job->known_by) != 0)
    return;
  job->found = true;
  *job->trial = trial;
}

bool tsl_trial_find(tsl_device *device, const char *known_by, tsl_trial *trial) {
  finding job = {.known_by = known_by, .trial = trial};
  if (recall(device, known_by, trial))
    return true;
  tsl_lines_each(&file, find_one, &job);
  if (job.found)
    remember(device, known_by, trial);
  return job.found;
}

typedef struct having {
  const char *prefix;
  char key[sizeof((tsl_device *)0)->key + 16];
  bool found;
} having;

static void find_prefix(void *argument, char *line) {
  having *job = argument;
  const char *known_by;
  tsl_trial trial;
  job->found |= parse(line, &known_by, &trial) && trial.right &&
                strncmp(known_by, job->prefix, strlen(job->prefix)) == 0 && strstr(known_by, job->key);
}

bool tsl_trial_has(const tsl_device *device, const char *prefix) {
  having job = {.prefix = prefix};
  snprintf(job.key, sizeof job.key, " device=%s ", device->key);
  tsl_lines_each(&file, find_prefix, &job);
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
  if (!line.failed)
    tsl_lines_add(&file, line.data);
  tsl_text_free(&line);
}

static void count_one(void *argument, char *line) {
  tsl_trial_count *counts = argument;
  const char *known_by;
  tsl_trial trial;
  if (!parse(line, &known_by, &trial))
    return;
  counts->right += trial.right;
  counts->wrong += !trial.right;
  counts->seconds += trial.seconds;
}

tsl_trial_count tsl_trial_counts(void) {
  tsl_trial_count counts = {0};
  tsl_lines_each(&file, count_one, &counts);
  return counts;
}

void tsl_trial_clear(void) {
  tsl_lines_remove(&file);
}
