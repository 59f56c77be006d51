#include "core/text.h"

#include "core/status.h"

#include <stdlib.h>
#include <string.h>

/* Bounds the search for repeated keys. */
#define WORDS_MAX 1024
/* Characters of a wrong word that a message shows. */
#define SHOWN_CHARACTERS 60

static bool record_is_blank(char c) {
  return c == ' ' || c == '\t';
}

static bool is_control_character(char c) {
  return (unsigned char)c < 0x20 || c == 0x7f;
}

/* Counts the words of a line. TESELA_BAD_INPUT: a control character but tabs, or over WORDS_MAX words. */
static tesela_status count_words(const char *line, int *out) {
  int count = 0;
  for (size_t i = 0; line[i]; i++) {
    if (record_is_blank(line[i]))
      continue;
    if (is_control_character(line[i]))
      return tsl_fail(TESELA_BAD_INPUT,
                      "control character 0x%02x at column %zu; a line of \"name key=value\" has none",
                      (unsigned)(unsigned char)line[i], i + 1);
    if ((i == 0 || record_is_blank(line[i - 1])) && ++count > WORDS_MAX)
      return tsl_fail(TESELA_BAD_INPUT, "more than %d words in one line", WORDS_MAX);
  }
  *out = count;
  return TESELA_OK;
}

/* Appends "key=value", which is split in place, or a bare word. */
static tesela_status add_field(tsl_record *record, char *word) {
  char *const equals = strchr(word, '=');
  tsl_record_field *const field = &record->fields[record->count];
  if (!equals) {
    if (record->count > 0 && record->fields[record->count - 1].key)
      return tsl_fail(TESELA_BAD_INPUT, "word \"%.*s\" stands after key=value; write it as key=value",
                      SHOWN_CHARACTERS, word);
    *field = (tsl_record_field){NULL, word};
  } else {
    if (equals == word)
      return tsl_fail(TESELA_BAD_INPUT, "word \"%.*s\" has no key in front of \"=\"", SHOWN_CHARACTERS, word);
    *equals = '\0';
    if (tsl_record_get(record, word))
      return tsl_fail(TESELA_BAD_INPUT, "key \"%.*s\" is given twice", SHOWN_CHARACTERS, word);
    *field = (tsl_record_field){word, equals + 1};
  }
  record->count++;
  return TESELA_OK;
}

tesela_status tsl_record_parse(const char *line, tsl_record *out) {
  tesela_status status = TESELA_OK;
  tsl_record record = {0};
  int words = 0;
  TSL_GO(count_words(line, &words));
  record.storage = strdup(line);
  record.fields = calloc(words > 0 ? (size_t)words : 1, sizeof *record.fields);
  if (!record.storage || !record.fields)
    TSL_GO(tsl_fail(TESELA_OUT_OF_MEMORY, "out of memory for a line of %zu bytes", strlen(line)));
  char *rest = NULL;
  for (char *word = strtok_r(record.storage, " \t", &rest); word; word = strtok_r(NULL, " \t", &rest))
    TSL_GO(add_field(&record, word));
out:
  if (status != TESELA_OK)
    tsl_record_free(&record);
  *out = record;
  return status;
}

void tsl_record_free(tsl_record *record) {
  free(record->fields);
  free(record->storage);
  *record = (tsl_record){0};
}

const char *tsl_record_word(const tsl_record *record, int index) {
  for (int i = 0; i < record->count; i++)
    if (!record->fields[i].key && index-- == 0)
      return record->fields[i].value;
  return NULL;
}

const char *tsl_record_get(const tsl_record *record, const char *key) {
  for (int i = 0; i < record->count; i++)
    if (record->fields[i].key && strcmp(record->fields[i].key, key) == 0)
      return record->fields[i].value;
  return NULL;
}
