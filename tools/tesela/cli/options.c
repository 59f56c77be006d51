#include "cli/options.h"
#include "cli/language.h"

#include "core/kinds.h"
#include "core/status.h"
#include "core/suggest.h"
#include "device/devices.h"
#include "io/io.h"
#include "problem/numerics.h"
#include "problem/problem.h"
#include "problem/structure.h"
#include "problem/verify_mode.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONG_BASE = 256, LETTERS_MAX = 64, HELP = 'h' };

/* Reads a value and stores it at `target`. On failure the message lacks only the option's name. */
typedef tesela_status (*value_reader)(const char *text, void *target);

static tesela_status read_flag(const char *text, void *target) {
  (void)text;
  *(bool *)target = true;
  return TESELA_OK;
}

static tesela_status read_text(const char *text, void *target) {
  if (!*text)
    return tsl_fail(TESELA_BAD_CALL, "is empty");
  *(const char **)target = text;
  return TESELA_OK;
}

static tesela_status read_number(const char *text, void *target) {
  double value;
  if (!tsl_parse_double(text, &value))
    return tsl_fail(TESELA_BAD_CALL, "\"%s\" is not a number", text);
  *(tsl_option_number *)target = (tsl_option_number){value, true};
  return TESELA_OK;
}

/* Reads a number of exactly `length` characters. */
static bool parse_part(const char *text, size_t length, double *value) {
  char part[64];
  if (length >= sizeof part)
    return false;
  memcpy(part, text, length);
  part[length] = '\0';
  return tsl_parse_double(part, value);
}

/* Reads "1.5", "2i" or "1.5-2e-3i". */
static tesela_status read_scalar(const char *text, void *target) {
  tsl_scalar scalar = {.given = true};
  const size_t length = strlen(text);
  bool good;
  if (length > 0 && text[length - 1] != 'i')
    good = parse_part(text, length, &scalar.value[0]);
  else {
    size_t at = length > 0 ? length - 1 : 0;
    while (at > 0 && !(strchr("+-", text[at]) && text[at - 1] != 'e' && text[at - 1] != 'E'))
      at--;
    good = (at == 0 || parse_part(text, at, &scalar.value[0])) && length > 0 &&
           parse_part(text + at, length - 1 - at, &scalar.value[1]);
  }
  if (!good)
    return tsl_fail(TESELA_BAD_CALL, "\"%s\" is not a number such as 1.5, or 1.5-2i", text);
  *(tsl_scalar *)target = scalar;
  return TESELA_OK;
}

/* Returns TESELA_BAD_CALL with the accepted names and the nearest one. */
static tesela_status fail_word(const char *text, const char *what, const char *names) {
  char suggestion[TSL_SUGGESTION_BYTES];
  return tsl_fail(TESELA_BAD_CALL, "\"%s\" %s %s%s", text, what, names, tsl_suggest(text, names, suggestion));
}

tesela_status tsl_word_check(const char *text, bool is_there, tsl_text *names) {
  const tesela_status status = is_there ? TESELA_OK : fail_word(text, "is not one of", tsl_text_get(names));
  tsl_text_free(names);
  return status;
}

static tesela_status read_format(const char *text, void *target) {
  if (!tsl_io_has_format(text))
    return fail_word(text, "is no format of matrix files; there are", tsl_io_formats());
  *(const char **)target = text;
  return TESELA_OK;
}

static tesela_status read_count(const char *text, void *target) {
  int64_t value;
  if (!tsl_parse_i64(text, &value) || value < 1 || value > INT32_MAX)
    return tsl_fail(TESELA_BAD_CALL, "\"%s\" is not a whole number from 1 to %d", text, INT32_MAX);
  *(int64_t *)target = value;
  return TESELA_OK;
}

static tesela_status read_seed(const char *text, void *target) {
  int64_t value;
  if (!tsl_parse_i64(text, &value) || value < 0)
    return tsl_fail(TESELA_BAD_CALL, "\"%s\" is not a whole number from 0 up", text);
  *(int64_t *)target = value;
  return TESELA_OK;
}

static tesela_status read_bytes(const char *text, void *target) {
  uint64_t value;
  if (!tsl_parse_bytes(text, &value) || value == 0)
    return tsl_fail(TESELA_BAD_CALL, "\"%s\" is not a size such as 512MiB or 4GiB", text);
  *(uint64_t *)target = value;
  return TESELA_OK;
}

static tesela_status read_seconds(const char *text, void *target) {
  static const struct {
    const char *unit;
    double seconds;
  } units[] = {{"ms", 1e-3}, {"s", 1}, {"min", 60}, {"m", 60}, {"h", 3600}, {"", 1}};
  char digits[64];
  for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
    const size_t length = strlen(text), tail = strlen(units[i].unit);
    if (length <= tail || length - tail >= sizeof digits || strcmp(text + length - tail, units[i].unit) != 0)
      continue;
    memcpy(digits, text, length - tail);
    digits[length - tail] = '\0';
    double value;
    if (!tsl_parse_double(digits, &value))
      break;
    value *= units[i].seconds;
    if (!(value > 0) || isinf(value))
      break;
    *(double *)target = value;
    return TESELA_OK;
  }
  return tsl_fail(TESELA_BAD_CALL, "\"%s\" is not a time above 0 such as 30, 30s or 2min", text);
}

static tesela_status read_fraction(const char *text, void *target) {
  double value;
  if (!tsl_parse_double(text, &value) || !(value > 0 && value <= 1))
    return tsl_fail(TESELA_BAD_CALL, "\"%s\" is not a fraction such as 0.02, more than 0 and at most 1",
                    text);
  *(double *)target = value;
  return TESELA_OK;
}

static tesela_status read_type(const char *text, void *target) {
  const tesela_type type = tsl_type_parse(text);
  if (type == TESELA_TYPE_DEFAULT)
    return fail_word(text, "is not a type; there are", tsl_type_names());
  *(tesela_type *)target = type;
  return TESELA_OK;
}

static tesela_status read_device(const char *text, void *target) {
  TSL_TRY(tsl_device_name_check(text));
  *(const char **)target = text;
  return TESELA_OK;
}

/* Adds a name to a list. Returns true if the text equals it. */
static bool add_name(tsl_text *names, const char *name, const char *text) {
  tsl_text_add(names, "%s%s", names->length ? ", " : "", name);
  return strcmp(name, text) == 0;
}

static tesela_status read_op(const char *text, void *target) {
  tsl_text names = {0};
  *(const char **)target = NULL;
  for (int i = 0; i < TSL_OP_COUNT; i++)
    if (add_name(&names, tsl_op_name((tsl_op)i), text))
      *(const char **)target = text;
  return tsl_word_check(text, *(const char **)target != NULL, &names);
}

static tesela_status read_locale(const char *text, void *target) {
  tsl_text names = {0};
  *(const char **)target = text;
  const bool is_known = tsl_locale_is_known(text, &names);
  return tsl_word_check(text, is_known, &names);
}

static tesela_status read_accuracy(const char *text, void *target) {
  tsl_numeric_requirements ask = {.bits = TSL_REPRODUCIBILITY_ANY};
  *(const char **)target = text;
  return tsl_numeric_requirements_parse_accuracy(text, &ask);
}

static tesela_status read_bits(const char *text, void *target) {
  tsl_numeric_requirements ask = {.bits = TSL_REPRODUCIBILITY_ANY};
  *(const char **)target = text;
  return tsl_numeric_requirements_parse_bits(text, &ask);
}

static tesela_status read_checksums(const char *text, void *target) {
  tsl_verify_mode mode;
  *(const char **)target = text;
  return tsl_verify_parse(text, &mode);
}

static tesela_status read_structure(const char *text, void *target) {
  tsl_option_structure *is = target;
  if (tsl_structure_parse(text, &is->structure, &is->triangle) && is->structure != TESELA_GENERAL)
    return TESELA_OK;
  return fail_word(text, "is none of",
                   "symmetric_lower, symmetric_upper, hermitian_lower, hermitian_upper, triangular_lower, "
                   "triangular_upper, unit_lower, unit_upper");
}

static tesela_status read_along(const char *text, void *target) {
  tesela_bias_axis *axis = target;
  tsl_text names = {0};
  for (int i = TESELA_NO_BIAS + 1; i < TESELA_ALONGS; i++)
    if (add_name(&names, tsl_along_name((tesela_bias_axis)i), text))
      *axis = (tesela_bias_axis)i;
  return tsl_word_check(text, *axis != TESELA_NO_BIAS, &names);
}

static tesela_status read_activation(const char *text, void *target) {
  tesela_activation *activation = target;
  tsl_text names = {0};
  for (int i = TESELA_NO_ACTIVATION + 1; i < TESELA_ACTIVATIONS; i++)
    if (add_name(&names, tsl_activation_name((tesela_activation)i), text))
      *activation = (tesela_activation)i;
  return tsl_word_check(text, *activation != TESELA_NO_ACTIVATION, &names);
}

static tesela_status read_scaling(const char *text, void *target) {
  tesela_scaling *scaling = target;
  tsl_text names = {0};
  for (int i = TESELA_NO_SCALE + 1; i < TESELA_SCALINGS; i++)
    if (add_name(&names, tsl_scaling_name((tesela_scaling)i), text))
      *scaling = (tesela_scaling)i;
  return tsl_word_check(text, *scaling != TESELA_NO_SCALE, &names);
}

static tesela_status read_distribution(const char *text, void *target) {
  if (tsl_kind_parse(text, (tsl_kind *)target))
    return TESELA_OK;
  tsl_text names = {0};
  for (int i = 0; i < TSL_KIND_COUNT; i++)
    (void)add_name(&names, tsl_kind_name((tsl_kind)i), text);
  return tsl_word_check(text, false, &names);
}

static const struct {
  const char *shown;
  value_reader read;
} kinds[] = {
#define KIND_ROW(name, shown, reader, type) [TSL_VALUE_##name] = {shown, reader},
    TSL_VALUE_LIST(KIND_ROW)
#undef KIND_ROW
};

bool tsl_option_prints(const char *name) {
  static const char *const printing[] = {"csv", "json", "markdown"};
  for (size_t i = 0; i < sizeof printing / sizeof *printing; i++)
    if (strcmp(printing[i], name) == 0)
      return true;
  return false;
}

const char *tsl_value_shown(tsl_value value) {
  return kinds[value].shown;
}

static tesela_status store(const tsl_option *option, const char *text, void *target) {
  const tesela_status status = kinds[option->value].read(text, (char *)target + option->offset);
  return status == TESELA_OK ? TESELA_OK : tsl_fail_in(TESELA_BAD_CALL, "--%s", option->name);
}

/* Returns TESELA_BAD_CALL for an option that getopt_long does not know: suggests a near name, or
 * lists the names it abbreviates. */
static tesela_status unknown(const tsl_option *options, int count, const char *word) {
  if (strncmp(word, "--", 2) != 0)
    return tsl_fail(TESELA_BAD_CALL, "there is no option %s; --help lists them", word);
  char name[64], suggestion[TSL_SUGGESTION_BYTES];
  const size_t length = strcspn(word, "=");
  snprintf(name, sizeof name, "%.*s", (int)(length < 60 ? length : 60), word);
  tsl_text names = {0};
  int starting = 0;
  for (int i = 0; i < count; i++) {
    tsl_text_add(&names, "--%s, ", options[i].name);
    starting += strncmp(options[i].name, name + 2, strlen(name + 2)) == 0;
  }
  tsl_text_add(&names, "--help");
  tsl_suggest(name, tsl_text_get(&names), suggestion);
  tsl_text_free(&names);
  if (starting > 1)
    return tsl_fail(TESELA_BAD_CALL, "%s could be several options; --help lists them", name);
  return tsl_fail(TESELA_BAD_CALL, "there is no option %s%s", name,
                  *suggestion ? suggestion : "; --help lists them");
}

/* Makes getopt's tables. In the string of letters a leading '+' ends options at the first word, and
 * ':' reports a missing value. */
static struct option *getopt_table(const tsl_option *options, int count, bool word_ends,
                                   char letters[LETTERS_MAX]) {
  struct option *table = calloc((size_t)count + 2, sizeof *table);
  if (!table)
    return NULL;
  size_t used = 0;
  if (word_ends)
    letters[used++] = '+';
  letters[used++] = ':';
  letters[used++] = HELP;
  for (int i = 0; i < count; i++) {
    const int takes = kinds[options[i].value].shown ? required_argument : no_argument;
    table[i] = (struct option){options[i].name, takes, NULL, LONG_BASE + i};
    if (options[i].letter && used + 3 < LETTERS_MAX) {
      letters[used++] = options[i].letter;
      if (takes == required_argument)
        letters[used++] = ':';
    }
  }
  letters[used] = '\0';
  table[count] = (struct option){"help", no_argument, NULL, HELP};
  return table;
}

static int find_letter(const tsl_option *options, int count, int letter) {
  for (int i = 0; i < count; i++)
    if (options[i].letter == letter)
      return i;
  return -1;
}

/* Returns TESELA_BAD_CALL if an earlier option set the member that option `index` sets, else keeps its text
 * in `texts`. Flags may be repeated. */
static tesela_status check_repeated(const tsl_option *options, int index, const char *text,
                                    const char **texts) {
  const tsl_option *option = &options[index];
  const char *shown = kinds[option->value].shown;
  for (int i = 0; options[i].name && shown; i++)
    if (texts[i] && options[i].offset == option->offset)
      return tsl_fail(TESELA_BAD_CALL, "--%s %s comes after --%s %s; %s", option->name, text, options[i].name,
                      texts[i], strcmp(shown, "LIST") == 0 ? "write one list, with commas" : "give one");
  texts[index] = text;
  return TESELA_OK;
}

tesela_status tsl_options_parse(const tsl_option *options, bool word_ends, int argc, char **argv,
                                void *target, size_t bytes, int *words, bool *help) {
  tesela_status status = TESELA_OK;
  char letters[LETTERS_MAX];
  int count = 0;
  memset(target, 0, bytes);
  for (; options[count].name; count++)
    if (options[count].fallback)
      TSL_TRY(store(&options[count], options[count].fallback, target));
  struct option *table = getopt_table(options, count, word_ends, letters);
  const char **texts = calloc((size_t)count + 1, sizeof *texts); /* of the options given so far */
  if (!table || !texts)
    TSL_GO(tsl_fail(TESELA_OUT_OF_MEMORY, "no memory to read the options"));
  *help = false;
  opterr = 0;
  optind = 0;
  for (;;) {
    const int found = getopt_long(argc, argv, letters, table, NULL);
    if (found == -1)
      break;
    if (found == HELP) {
      *help = true;
      break;
    }
    const int index = found >= LONG_BASE ? found - LONG_BASE : find_letter(options, count, found);
    if (found == ':' || (found == '?' && optopt >= LONG_BASE)) {
      const int which = optopt >= LONG_BASE ? optopt - LONG_BASE : find_letter(options, count, optopt);
      const char *shown = kinds[options[which].value].shown;
      status = shown ? tsl_fail(TESELA_BAD_CALL, "--%s needs %s after it", options[which].name, shown)
                     : tsl_fail(TESELA_BAD_CALL, "--%s takes no value%s", options[which].name,
                                tsl_option_prints(options[which].name)
                                    ? "; it prints to standard output, which > FILE sends to a file"
                                    : "");
      break;
    }
    if (found == '?') {
      const char letter[] = {'-', (char)optopt, '\0'};
      status = unknown(options, count, optopt ? letter : argv[optind - 1]);
      break;
    }
    TSL_GO(check_repeated(options, index, optarg ? optarg : "", texts));
    TSL_GO(store(&options[index], optarg ? optarg : "", target));
  }
out:
  *words = optind;
  free(texts);
  free(table);
  return status;
}

tesela_status tsl_list_next(const char **list, char **piece) {
  *piece = NULL;
  if (!*list)
    return TESELA_OK;
  const char *start = *list + strspn(*list, " "), *end = start + strcspn(start, ",");
  *list = *end ? end + 1 : NULL;
  while (end > start && end[-1] == ' ')
    end--;
  if (end == start)
    return tsl_fail(TESELA_BAD_CALL, "a list has an empty entry; write it as a,b,c");
  *piece = strndup(start, (size_t)(end - start));
  return *piece ? TESELA_OK : tsl_fail(TESELA_OUT_OF_MEMORY, "no memory to read a list");
}
