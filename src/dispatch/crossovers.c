#include "dispatch/crossovers.h"

#include "core/env.h"
#include "core/isa.h"
#include "core/safe_open.h"
#include "core/status.h"
#include "core/suggest.h"
#include "core/text.h"
#include "device/device.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#define ANY INT64_MAX
tsl_crossover_table tsl_crossovers = {
#define NUMBER(name, number, ...) number,
    TSL_CROSSOVER_LIST(NUMBER)
#undef NUMBER
};

static const struct crossover_row {
  const char *name;
  size_t offset;
  int64_t max;
} rows[] = {
#define ROW(name, number, max, meaning) {#name, offsetof(tsl_crossover_table, name), max},
    TSL_CROSSOVER_LIST(ROW)
#undef ROW
};
#undef ANY
#define NAME(name, ...) #name " "
static const char names[] = TSL_CROSSOVER_LIST(NAME);
#undef NAME

static const struct instruction_set {
  const char *name;
  unsigned needs;
} sets[] = {
#define SET(name, header, needs, ...) {#name, needs},
    TSL_ISA_LIST(SET) TSL_ISA_EXTENSION_LIST(SET)
#undef SET
};

static tesela_status crossovers_set(const tsl_record_field *field, bool applies, tsl_crossover_table *table) {
  char suggestion[TSL_SUGGESTION_BYTES];
  const struct crossover_row *row = NULL;
  double number;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (strcmp(rows[i].name, field->key) == 0)
      row = &rows[i];
  if (!row)
    return tsl_fail(TESELA_BAD_INPUT, "%.64s is no crossover%s", field->key,
                    tsl_suggest(field->key, names, suggestion));
  if (!tsl_parse_double(field->value, &number) || !(number >= 0) ||
      (row->max < INT64_MAX && number > (double)row->max))
    return tsl_fail(TESELA_BAD_INPUT, "%s=%.64s: it can be a number from 0 to %g", field->key, field->value,
                    row->max == INT64_MAX ? (double)INFINITY : (double)row->max);
  if (applies)
    memcpy((char *)table + row->offset, &(int64_t){number < (double)INT64_MAX ? (int64_t)number : INT64_MAX},
           sizeof(int64_t));
  return TESELA_OK;
}

static tesela_status crossovers_read_line(const char *line, unsigned offers, tsl_crossover_table *table) {
  tsl_record record;
  TSL_TRY(tsl_record_parse(line, &record));
  const char *word = tsl_record_word(&record, 0);
  bool is_known = !word, applies = !word;
  for (size_t i = 0; word && i < sizeof sets / sizeof *sets; i++)
    if (strcmp(sets[i].name, word) == 0) {
      is_known = true;
      applies = (sets[i].needs & ~offers) == 0;
    }
  tesela_status status = TESELA_OK;
  if (!is_known || tsl_record_word(&record, 1))
    status = tsl_fail(TESELA_BAD_INPUT, "a line is \"[instruction set] name=number ...\", not \"%.64s ...\"",
                      word);
  for (int i = word != NULL; i < record.count && status == TESELA_OK; i++)
    status = crossovers_set(&record.fields[i], applies, table);
  tsl_record_free(&record);
  return status;
}

tesela_status tsl_crossovers_read(const char *text, unsigned offers, tsl_crossover_table *table) {
  tesela_status status = TESELA_OK;
  for (int number = 1; *text && status == TESELA_OK; number++) {
    const size_t length = strcspn(text, "\n"), used = strcspn(text, "#\n");
    tsl_text line = {0};
    tsl_text_add_bytes(&line, text, used);
    status = tsl_text_status(&line);
    if (status == TESELA_OK && strspn(tsl_text_get(&line), " \t\r") < used)
      status = crossovers_read_line(tsl_text_get(&line), offers, table);
    if (status != TESELA_OK)
      status = tsl_fail_in(status, "line %d", number);
    tsl_text_free(&line);
    text += length + (text[length] == '\n');
  }
  return status;
}

static tesela_status crossovers_read_file(tsl_crossover_table *table) {
  enum { BYTES_MAX = 1 << 20 };
  const char *path = tsl_env_get_or_null(TSL_ENV_CROSSOVERS), *wrong;
  tsl_text text = {0};
  if (!path)
    return TESELA_OK;
  const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  wrong = file < 0 ? strerror(errno) : tsl_read_regular(file, BYTES_MAX, &text);
  if (file >= 0)
    close(file);
  tesela_status status = wrong ? tsl_fail(TESELA_IO_FAILED, "%s", wrong)
                               : tsl_crossovers_read(tsl_text_get(&text), tsl_host_offers(), table);
  tsl_text_free(&text);
  return status == TESELA_OK ? status : tsl_fail_in(status, "TESELA_CROSSOVERS: %s", path);
}

/* A file with an error changes nothing. */
__attribute__((constructor)) static void crossovers_load(void) {
  tsl_crossover_table table = tsl_crossovers;
  if (tsl_env_get_or_null(TSL_ENV_CROSSOVERS) && crossovers_read_file(&table) == TESELA_OK)
    tsl_crossovers = table;
}

tesela_status tsl_crossovers_check(void) {
  tsl_crossover_table table = tsl_crossovers;
  return crossovers_read_file(&table);
}
