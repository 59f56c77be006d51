#include "planner/wisdom_lines.h"

#include "core/reserve.h"
#include "core/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

bool tsl_wisdom_means_nothing(const char *line) {
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
    if (tsl_wisdom_means_nothing(line))
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

void tsl_wisdom_lines_free(tsl_wisdom_lines *all) {
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

tesela_status tsl_wisdom_lines_read(const char *text, tsl_wisdom_lines *out) {
  char *copy, *line;
  TSL_TRY(wisdom_lines_copy_of(text, &copy));
  char *rest = copy;
  tesela_status status = TESELA_OK;
  while (status == TESELA_OK && (line = next_line(&rest)) != NULL) {
    tsl_wisdom_record record;
    const tesela_status parsed =
        tsl_wisdom_means_nothing(line) ? TESELA_BAD_INPUT : tsl_wisdom_parse(line, &record);
    status = parsed == TESELA_OUT_OF_MEMORY
                 ? parsed
                 : wisdom_lines_append(out, line, parsed == TESELA_OK ? &record : NULL);
  }
  free(copy);
  return status;
}

void tsl_wisdom_lines_print(const tsl_wisdom_lines *all, tsl_text *text) {
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

tesela_status tsl_wisdom_lines_merge(tsl_wisdom_lines *all, const char *text, bool always,
                                     tsl_wisdom_merged *merged) {
  return tsl_wisdom_each(text, merge_line, &(merging){all, merged, always});
}

static tesela_status wisdom_lines_join(const char *existing, const char *text, bool always, tsl_text *out,
                                       tsl_wisdom_merged *merged) {
  tsl_wisdom_lines all = {0};
  tesela_status status;
  *merged = (tsl_wisdom_merged){0};
  TSL_GO(tsl_wisdom_lines_read(existing, &all));
  TSL_GO(tsl_wisdom_lines_merge(&all, text, always, merged));
  tsl_wisdom_lines_print(&all, out);
  status = tsl_text_status(out);
out:
  tsl_wisdom_lines_free(&all);
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
