#include "cli/catalogue.h"

#include <stdlib.h>
#include <string.h>

/* Unescapes the string between the first two quotes of a line to `out`. Returns the place of the NUL. */
static char *catalogue_unquote(const char *line, char *out) {
  for (line = strchr(line, '"') + 1; *line && *line != '"'; line++)
    if (*line != '\\')
      *out++ = *line;
    else {
      line++;
      *out++ = *line == 'n' ? '\n' : *line == 't' ? '\t' : *line;
    }
  *out = '\0';
  return out;
}

/* Returns the place for the string that a line begins; NULL: the line continues the string before it. */
static const char **catalogue_place(const char *line, tsl_catalogue *catalogue) {
  tsl_catalogue_entry *entry = &catalogue->entries[catalogue->count - 1];
  if (strncmp(line, "msgid ", 6) == 0)
    return &entry->one;
  if (strncmp(line, "msgid_plural ", 13) == 0)
    return &entry->many;
  if (strncmp(line, "msgstr ", 7) == 0)
    return &entry->forms[0];
  if (strncmp(line, "msgstr[", 7) == 0 && line[7] >= '0' && line[7] < '0' + TSL_CATALOGUE_FORMS)
    return &entry->forms[line[7] - '0'];
  return NULL;
}

tsl_catalogue tsl_catalogue_parse(const char *po) {
  tsl_catalogue made = {.text = malloc(2 * strlen(po) + 1)};
  int count = 1;
  for (const char *at = po; (at = strstr(at, "\nmsgid ")) != NULL; at++)
    count++;
  made.entries = calloc((size_t)count + 1, sizeof *made.entries);
  if (!made.text || !made.entries) {
    tsl_catalogue_free(&made);
    return made;
  }
  /* Strings are written behind each other; no string is longer than its lines. */
  char *end = made.text;
  const char *files = NULL;
  for (const char *line = po; *line; line += strcspn(line, "\n"), line += *line == '\n') {
    if (strncmp(line, "#: ", 3) == 0) {
      const size_t length = strcspn(line, "\n") - 3;
      if (files) /* it goes on */
        end[-1] = ' ';
      else
        files = end;
      memcpy(end, line + 3, length);
      end += length;
      *end++ = '\0';
    }
    if (*line != 'm' && *line != '"')
      continue;
    if (strncmp(line, "msgid ", 6) == 0) {
      made.entries[made.count++].files = files;
      files = NULL;
    }
    const char **place = made.count > 0 ? catalogue_place(line, &made) : NULL;
    if (place)
      *place = end;
    else if (*line == '"' && end > made.text)
      end--; /* over the NUL of the string that goes on */
    end = catalogue_unquote(line, end) + 1;
  }
  return made;
}

void tsl_catalogue_free(tsl_catalogue *catalogue) {
  free(catalogue->text);
  free(catalogue->entries);
  *catalogue = (tsl_catalogue){0};
}

const tsl_catalogue_entry *tsl_catalogue_find(const tsl_catalogue *catalogue, const char *message) {
  for (int i = 0; i < catalogue->count; i++)
    if (strcmp(catalogue->entries[i].one, message) == 0)
      return &catalogue->entries[i];
  return NULL;
}
