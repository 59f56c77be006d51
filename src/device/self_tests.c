#include "device/self_tests.h"

#include "device/device_private.h"
#include "device/fact_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const tsl_fact_lines file = {.file = "trials",
                                    .mark = "# tesela: what came of the first trials of compiled kernels\n"};

struct tsl_self_test_entry {
  tsl_self_test_entry *next;
  char *known_by;
  tsl_self_test self_test;
};

static void self_tests_print(const char *known_by, const tsl_self_test *self_test, tsl_text *out) {
  tsl_text_add(out, "%s %.4g %s %s", self_test->right ? "right" : "wrong", self_test->seconds,
               self_test->date, known_by);
  if (!self_test->right)
    tsl_text_add(out, "\t%s", self_test->why);
}

/* Cuts off and returns the next blank-separated word; NULL at the end. */
static char *next_word(char **rest) {
  char *word = *rest, *blank = strchr(word, ' ');
  if (!blank || blank == word)
    return NULL;
  *blank = '\0';
  *rest = blank + 1;
  return word;
}

/* Parses a line in place; false: another format. */
static bool parse_line(char *line, const char **known_by, tsl_self_test *out) {
  char *rest = line;
  const char *verdict = next_word(&rest), *seconds = verdict ? next_word(&rest) : NULL,
             *date = seconds ? next_word(&rest) : NULL;
  *out = (tsl_self_test){.right = false};
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

static void self_tests_add_in_memory(tsl_device *device, const char *known_by,
                                     const tsl_self_test *self_test) {
  tsl_device_slot *slot = tsl_device_slot_of(device);
  tsl_self_test_entry *entry = calloc(1, sizeof *entry);
  char *copy = strdup(known_by);
  if (!entry || !copy) {
    free(entry);
    free(copy);
    return;
  }
  *entry = (tsl_self_test_entry){.known_by = copy, .self_test = *self_test};
  pthread_mutex_lock(&slot->jit_lock);
  entry->next = slot->self_tests;
  slot->self_tests = entry;
  pthread_mutex_unlock(&slot->jit_lock);
}

static bool self_tests_find_in_memory(tsl_device *device, const char *known_by, tsl_self_test *self_test) {
  tsl_device_slot *slot = tsl_device_slot_of(device);
  pthread_mutex_lock(&slot->jit_lock);
  const tsl_self_test_entry *entry = slot->self_tests;
  while (entry && strcmp(entry->known_by, known_by) != 0)
    entry = entry->next;
  if (entry)
    *self_test = entry->self_test;
  pthread_mutex_unlock(&slot->jit_lock);
  return entry != NULL;
}

void tsl_self_test_forget(tsl_device *device) {
  tsl_device_slot *slot = tsl_device_slot_of(device);
  while (slot->self_tests) {
    tsl_self_test_entry *entry = slot->self_tests;
    slot->self_tests = entry->next;
    free(entry->known_by);
    free(entry);
  }
}

typedef struct text_search {
  const char *known_by;
  bool found;
  tsl_self_test *self_test;
} text_search;

static void self_tests_match_text(void *argument, char *line) {
  text_search *job = argument;
  const char *known_by;
  tsl_self_test self_test;
  if (!parse_line(line, &known_by, &self_test) || strcmp(known_by, job->known_by) != 0)
    return;
  job->found = true;
  *job->self_test = self_test;
}

bool tsl_self_test_find(tsl_device *device, const char *known_by, tsl_self_test *self_test) {
  text_search job = {.known_by = known_by, .self_test = self_test};
  if (self_tests_find_in_memory(device, known_by, self_test))
    return true;
  tsl_lines_each(&file, self_tests_match_text, &job);
  if (job.found)
    self_tests_add_in_memory(device, known_by, self_test);
  return job.found;
}

typedef struct prefix_search {
  const char *prefix;
  char key[sizeof((tsl_device *)0)->key + 16];
  bool found;
} prefix_search;

static void self_tests_match_prefix(void *argument, char *line) {
  prefix_search *job = argument;
  const char *known_by;
  tsl_self_test self_test;
  job->found |= parse_line(line, &known_by, &self_test) && self_test.right &&
                strncmp(known_by, job->prefix, strlen(job->prefix)) == 0 && strstr(known_by, job->key);
}

bool tsl_self_test_has(const tsl_device *device, const char *prefix) {
  prefix_search job = {.prefix = prefix};
  snprintf(job.key, sizeof job.key, " device=%s ", device->key);
  tsl_lines_each(&file, self_tests_match_prefix, &job);
  return job.found;
}

void tsl_self_test_keep(tsl_device *device, const char *known_by, const tsl_self_test *self_test) {
  tsl_self_test kept = *self_test;
  const time_t now = time(NULL);
  struct tm utc;
  tsl_text line = {0};
  strftime(kept.date, sizeof kept.date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
  for (char *c = kept.why; *c; c++)
    *c = *c == '\n' || *c == '\t' ? ' ' : *c;
  self_tests_add_in_memory(device, known_by, &kept);
  self_tests_print(known_by, &kept, &line);
  if (!line.failed)
    tsl_lines_add(&file, line.data);
  tsl_text_free(&line);
}

static void self_tests_count_line(void *argument, char *line) {
  tsl_self_test_count *counts = argument;
  const char *known_by;
  tsl_self_test self_test;
  if (!parse_line(line, &known_by, &self_test))
    return;
  counts->right += self_test.right;
  counts->wrong += !self_test.right;
  counts->seconds += self_test.seconds;
}

tsl_self_test_count tsl_self_test_counts(void) {
  tsl_self_test_count counts = {0};
  tsl_lines_each(&file, self_tests_count_line, &counts);
  return counts;
}

void tsl_self_test_clear(void) {
  tsl_lines_remove(&file);
}
