/* Text of a problem, "key=value ...". Each key is one row of a table with its print and parse functions. */
#include "core/status.h"
#include "problem/structure.h"

#include <stdlib.h>
#include <string.h>

static tsl_shape *get_writable_shape(tsl_problem *problem, int operand) {
  return operand == TSL_OPERAND_A ? &problem->a : operand == TSL_OPERAND_B ? &problem->b : &problem->c;
}

static void print_integer(tsl_text *text, int64_t value) {
  tsl_text_add(text, "%lld", (long long)value);
}

static tesela_status parse_size(const char *key, const char *value, int64_t *out) {
  if (!tsl_parse_i64(value, out) || *out < 0)
    return tsl_fail(TESELA_BAD_INPUT, "%s=%s is not a size", key, value);
  return TESELA_OK;
}

#define SIZE_KEY(key)                                                                                        \
  static void print_##key(const tsl_problem *problem, tsl_text *text) {                                      \
    print_integer(text, problem->key);                                                                       \
  }                                                                                                          \
  static tesela_status parse_##key(const char *name, const char *value, tsl_problem *problem) {              \
    return parse_size(name, value, &problem->key);                                                           \
  }
SIZE_KEY(m)
SIZE_KEY(n)
SIZE_KEY(k)
#undef SIZE_KEY
static void print_batch(const tsl_problem *problem, tsl_text *text) {
  print_integer(text, problem->batch);
}
static tesela_status parse_batch(const char *key, const char *value, tsl_problem *problem) {
  TSL_TRY(parse_size(key, value, &problem->batch));
  if (problem->batch == 0)
    return tsl_fail(TESELA_BAD_INPUT, "%s=0 is not a number of products: it must be 1 or more", key);
  return TESELA_OK;
}

/* Cuts a copy of "a,b,c" into at most `word_max` words; *count is -1 if more. The caller frees the copy. */
static tesela_status split_at_commas(const char *value, int word_max, char **copy, char *words[],
                                     int *count) {
  *count = 0;
  *copy = strdup(value);
  if (!*copy)
    return tsl_fail(TESELA_OUT_OF_MEMORY, "no memory for a plan's text");
  for (char *rest = *copy; rest && *count >= 0;) {
    if (*count == word_max) {
      *count = -1;
      break;
    }
    words[(*count)++] = rest;
    rest = strchr(rest, ',');
    if (rest)
      *rest++ = '\0';
  }
  return TESELA_OK;
}

static void print_types(const tsl_problem *problem, tsl_text *text) {
  for (int i = 0; i < TSL_OPERANDS; i++)
    tsl_text_add(text, "%s%s", i ? "," : "", tsl_type(tsl_problem_shape(problem, i)->type)->name);
}

static tesela_status parse_types(const char *key, const char *value, tsl_problem *problem) {
  char *copy, *words[TSL_OPERANDS];
  int count;
  tesela_status status = TESELA_OK;
  TSL_TRY(split_at_commas(value, TSL_OPERANDS, &copy, words, &count));
  for (int i = 0; i < TSL_OPERANDS && count == TSL_OPERANDS; i++) {
    get_writable_shape(problem, i)->type = tsl_type_parse(words[i]);
    if (get_writable_shape(problem, i)->type == TESELA_TYPE_DEFAULT)
      count = -1;
  }
  if (count != TSL_OPERANDS)
    status = tsl_fail(TESELA_BAD_INPUT, "%s=%s is not three of %s, such as types=f32,f32,f32", key, value,
                      tsl_type_names());
  free(copy);
  return status;
}

static bool has_strides(const tsl_problem *problem) {
  for (int i = 0; i < TSL_OPERANDS; i++) {
    const tsl_shape *shape = tsl_problem_shape(problem, i);
    if (shape->row_stride != shape->cols || shape->col_stride != 1)
      return true;
  }
  return false;
}

static void print_strides(const tsl_problem *problem, tsl_text *text) {
  for (int i = 0; i < TSL_OPERANDS; i++) {
    const tsl_shape *shape = tsl_problem_shape(problem, i);
    tsl_text_add(text, "%s%lld,%lld", i ? "," : "", (long long)shape->row_stride,
                 (long long)shape->col_stride);
  }
}

static tesela_status parse_strides(const char *key, const char *value, tsl_problem *problem) {
  enum { STRIDES = 2 * TSL_OPERANDS };
  char *copy, *words[STRIDES];
  int count;
  tesela_status status = TESELA_OK;
  TSL_TRY(split_at_commas(value, STRIDES, &copy, words, &count));
  for (int i = 0; i < STRIDES && count == STRIDES; i++) {
    tsl_shape *shape = get_writable_shape(problem, i / 2);
    if (!tsl_parse_i64(words[i], i % 2 == 0 ? &shape->row_stride : &shape->col_stride))
      count = -1;
  }
  if (count != STRIDES)
    status = tsl_fail(TESELA_BAD_INPUT, "%s=%s is not six whole numbers: row and column stride of A, B and C",
                      key, value);
  free(copy);
  return status;
}

static void print_scalar(const double value[2], tsl_text *text) {
  tsl_text_add_double(text, value[0]);
  if (value[1] != 0) {
    tsl_text_add(text, ",");
    tsl_text_add_double(text, value[1]);
  }
}

static tesela_status parse_scalar(const char *key, const char *argument, double value[2]) {
  char *copy, *words[2];
  int count;
  tesela_status status = TESELA_OK;
  TSL_TRY(split_at_commas(argument, 2, &copy, words, &count));
  for (int i = 0; i < count; i++)
    if (!tsl_parse_double(words[i], &value[i]))
      count = -1;
  if (count < 1)
    status = tsl_fail(TESELA_BAD_INPUT, "%s=%s is not a number, or two for a complex one", key, argument);
  free(copy);
  return status;
}

static bool has_alpha(const tsl_problem *problem) {
  return problem->alpha[0] != 1 || problem->alpha[1] != 0;
}
static bool has_beta(const tsl_problem *problem) {
  return problem->beta[0] != 0 || problem->beta[1] != 0;
}
#define SCALAR_KEY(key)                                                                                      \
  static void print_##key(const tsl_problem *problem, tsl_text *text) {                                      \
    print_scalar(problem->key, text);                                                                        \
  }                                                                                                          \
  static tesela_status parse_##key(const char *name, const char *value, tsl_problem *problem) {              \
    return parse_scalar(name, value, problem->key);                                                          \
  }
SCALAR_KEY(alpha)
SCALAR_KEY(beta)
#undef SCALAR_KEY

static bool has_in_place(const tsl_problem *problem) {
  return problem->in_place;
}
static void print_in_place(const tsl_problem *problem, tsl_text *text) {
  print_integer(text, problem->in_place);
}
static tesela_status parse_in_place(const char *key, const char *value, tsl_problem *problem) {
  problem->in_place = strcmp(value, "1") == 0;
  if (!problem->in_place && strcmp(value, "0") != 0)
    return tsl_fail(TESELA_BAD_INPUT, "%s=%s is neither 0 nor 1", key, value);
  return TESELA_OK;
}

static bool has_conjugate(const tsl_problem *problem) {
  return problem->conjugate_a || problem->conjugate_b;
}
static void print_conjugate(const tsl_problem *problem, tsl_text *text) {
  tsl_text_add(text, "%s", !problem->conjugate_b ? "a" : problem->conjugate_a ? "a,b" : "b");
}
static tesela_status parse_conjugate(const char *key, const char *value, tsl_problem *problem) {
  problem->conjugate_a = strcmp(value, "a") == 0 || strcmp(value, "a,b") == 0;
  problem->conjugate_b = strcmp(value, "b") == 0 || strcmp(value, "a,b") == 0;
  if (!has_conjugate(problem))
    return tsl_fail(TESELA_BAD_INPUT, "%s=%s is none of a, b and a,b", key, value);
  return TESELA_OK;
}

static bool has_structure_key(const tsl_shape *shape) {
  return shape->structure != TESELA_GENERAL || shape->triangle != TESELA_WHOLE;
}
static tesela_status parse_structure(const char *key, const char *value, tsl_shape *shape) {
  if (!tsl_structure_parse(value, &shape->structure, &shape->triangle))
    return tsl_fail(TESELA_BAD_INPUT,
                    "%s=%s is not lower or upper, alone or after symmetric_, hermitian_, triangular_, "
                    "unit_, symmetric_sum_ or hermitian_sum_",
                    key, value);
  return TESELA_OK;
}
#define STRUCTURE_KEY(operand)                                                                               \
  static bool has_##operand##_is(const tsl_problem *problem) {                                               \
    return has_structure_key(&problem->operand);                                                             \
  }                                                                                                          \
  static void print_##operand##_is(const tsl_problem *problem, tsl_text *text) {                             \
    tsl_structure_print(problem->operand.structure, problem->operand.triangle, text);                        \
  }                                                                                                          \
  static tesela_status parse_##operand##_is(const char *name, const char *value, tsl_problem *problem) {     \
    return parse_structure(name, value, &problem->operand);                                                  \
  }
STRUCTURE_KEY(a)
STRUCTURE_KEY(b)
STRUCTURE_KEY(c)
#undef STRUCTURE_KEY

static int64_t get_bias_stride(const tsl_problem *problem) {
  return problem->bias_axis == TESELA_BIAS_ROW ? problem->bias.col_stride : problem->bias.row_stride;
}
static bool has_bias(const tsl_problem *problem) {
  return problem->bias_axis != TESELA_NO_BIAS;
}
static bool has_scale_a(const tsl_problem *problem) {
  return problem->scaling_a != TESELA_NO_SCALE;
}
static bool has_scale_b(const tsl_problem *problem) {
  return problem->scaling_b != TESELA_NO_SCALE;
}
static bool has_activation(const tsl_problem *problem) {
  return problem->activation != TESELA_NO_ACTIVATION;
}
static void print_bias(const tsl_problem *problem, tsl_text *text) {
  const int64_t stride = get_bias_stride(problem);
  const bool is_plain = stride == 1 && problem->bias.type == problem->c.type;
  tsl_text_add(text, "%s", tsl_along_name(problem->bias_axis));
  if (!is_plain)
    tsl_text_add(text, ",%s,%lld", tsl_type(problem->bias.type)->name, (long long)stride);
}
/* Appends "lines,2"; stride: from one line's scale to the next. */
static void print_scaling(tesela_scaling scaling, int64_t stride, tsl_text *text) {
  tsl_text_add(text, "%s", tsl_scaling_name(scaling));
  if (scaling == TESELA_SCALE_LINES && stride != 1)
    tsl_text_add(text, ",%lld", (long long)stride);
}
static void print_scale_a(const tsl_problem *problem, tsl_text *text) {
  print_scaling(problem->scaling_a, problem->scale_a.row_stride, text);
}
static void print_scale_b(const tsl_problem *problem, tsl_text *text) {
  print_scaling(problem->scaling_b, problem->scale_b.col_stride, text);
}
static void print_activation(const tsl_problem *problem, tsl_text *text) {
  tsl_text_add(text, "%s", tsl_activation_name(problem->activation));
}
/* Reads "row", "column" or "row,f32,2". */
static tesela_status parse_bias(const char *key, const char *value, tsl_problem *problem) {
  char *copy, *words[3];
  int count, along = TESELA_NO_BIAS + 1;
  tesela_status status = TESELA_OK;
  TSL_TRY(split_at_commas(value, 3, &copy, words, &count));
  int64_t stride = 1;
  tesela_type type = problem->c.type;
  while (along < TESELA_ALONGS && strcmp(words[0], tsl_along_name((tesela_bias_axis)along)) != 0)
    along++;
  if (count == 3)
    type = tsl_type_parse(words[1]);
  if (along == TESELA_ALONGS || (count != 1 && count != 3) || type == TESELA_TYPE_DEFAULT ||
      (count == 3 && !tsl_parse_i64(words[2], &stride)))
    status = tsl_fail(TESELA_BAD_INPUT,
                      "%s=%s is not row or column, alone or followed by a type and a "
                      "stride",
                      key, value);
  else
    tsl_problem_add_bias(problem, (tesela_bias_axis)along, type, stride);
  free(copy);
  return status;
}
/* Reads "tensor", "lines" or "lines,2". */
static tesela_status parse_scaling(const char *key, const char *value, int operand, tsl_problem *problem) {
  const char *rest = strchr(value, ',');
  const size_t length = rest ? (size_t)(rest - value) : strlen(value);
  int scaling = TESELA_NO_SCALE + 1;
  int64_t stride = 1;
  while (scaling < TESELA_SCALINGS &&
         (strlen(tsl_scaling_name((tesela_scaling)scaling)) != length ||
          strncmp(value, tsl_scaling_name((tesela_scaling)scaling), length) != 0))
    scaling++;
  if (scaling == TESELA_SCALINGS ||
      (rest && (scaling != TESELA_SCALE_LINES || !tsl_parse_i64(rest + 1, &stride))))
    return tsl_fail(TESELA_BAD_INPUT, "%s=%s is not tensor or lines, or lines followed by a stride", key,
                    value);
  tsl_problem_add_scale(problem, operand, (tesela_scaling)scaling, stride);
  return TESELA_OK;
}
static tesela_status parse_scale_a(const char *key, const char *value, tsl_problem *problem) {
  return parse_scaling(key, value, TSL_OPERAND_SCALE_A, problem);
}
static tesela_status parse_scale_b(const char *key, const char *value, tsl_problem *problem) {
  return parse_scaling(key, value, TSL_OPERAND_SCALE_B, problem);
}
static tesela_status parse_activation(const char *key, const char *value, tsl_problem *problem) {
  int found = TESELA_NO_ACTIVATION + 1;
  while (found < TESELA_ACTIVATIONS && strcmp(value, tsl_activation_name((tesela_activation)found)) != 0)
    found++;
  if (found == TESELA_ACTIVATIONS)
    return tsl_fail(TESELA_BAD_INPUT, "%s=%s is not relu, gelu or gelu_tanh", key, value);
  problem->activation = (tesela_activation)found;
  return TESELA_OK;
}

static bool has_batch(const tsl_problem *problem) {
  return problem->batch > 0;
}

static bool has_accuracy(const tsl_problem *problem) {
  return tsl_numeric_requirements_has_accuracy(&problem->ask);
}
static bool has_bits(const tsl_problem *problem) {
  return problem->ask.bits != TSL_REPRODUCIBILITY_ANY;
}
static void print_accuracy(const tsl_problem *problem, tsl_text *text) {
  tsl_numeric_requirements_print_accuracy(&problem->ask, text);
}
static void print_bits(const tsl_problem *problem, tsl_text *text) {
  tsl_text_add(text, "%s", tsl_numeric_requirements_bits_word(problem->ask.bits));
}
/* Turns TESELA_BAD_CALL into TESELA_BAD_INPUT with "key=" before the message; else returns `status`. */
static tesela_status to_bad_input(const char *key, tesela_status status) {
  return status == TESELA_BAD_CALL ? tsl_fail_in(TESELA_BAD_INPUT, "%s=", key) : status;
}
static tesela_status parse_accuracy(const char *key, const char *value, tsl_problem *problem) {
  return to_bad_input(key, tsl_numeric_requirements_parse_accuracy(value, &problem->ask));
}
static tesela_status parse_bits(const char *key, const char *value, tsl_problem *problem) {
  return to_bad_input(key, tsl_numeric_requirements_parse_bits(value, &problem->ask));
}

typedef struct key_row {
  tsl_text_key words;
  bool (*is_present)(const tsl_problem *problem); /* true: the key is printed; NULL: always */
  void (*print)(const tsl_problem *problem, tsl_text *text);
  tesela_status (*parse)(const char *key, const char *value, tsl_problem *problem);
} key_row;

static const key_row keys[] = {
#define PRESENT_ALWAYS(name) NULL
#define PRESENT_MAYBE(name) has_##name
#define KEY_ROW(name, when, what) {{#name, what}, PRESENT_##when(name), print_##name, parse_##name},
    TSL_PROBLEM_KEY_LIST(KEY_ROW)
#undef KEY_ROW
#undef PRESENT_MAYBE
#undef PRESENT_ALWAYS
};
enum { KEYS = sizeof keys / sizeof *keys };

const tsl_text_key *tsl_problem_key(int index) {
  return index >= 0 && index < KEYS ? &keys[index].words : NULL;
}

void tsl_problem_print(const tsl_problem *problem, tsl_text *text) {
  for (int i = 0; i < KEYS; i++) {
    if (keys[i].is_present && !keys[i].is_present(problem))
      continue;
    tsl_text_add(text, "%s%s=", i ? " " : "", keys[i].words.name);
    keys[i].print(problem, text);
  }
}

/* Parses the keys of one kind: `is_required` the mandatory keys, else the optional keys that are present. */
static tesela_status parse_keys(const tsl_record *record, bool is_required, tsl_problem *problem) {
  for (int i = 0; i < KEYS; i++) {
    const char *name = keys[i].words.name, *value = tsl_record_get(record, name);
    if (!keys[i].is_present != is_required)
      continue;
    if (value)
      TSL_TRY(keys[i].parse(name, value, problem));
    else if (is_required)
      return tsl_fail(TESELA_BAD_INPUT, "%s= is missing", name);
  }
  return TESELA_OK;
}

/* Fails if `problem` has other sizes than the text, `text_sizes`: the operation may fix some. */
static tesela_status check_sizes(const tsl_problem *problem, const tsl_problem *text_sizes) {
  if (problem->m == text_sizes->m && problem->n == text_sizes->n && problem->k == text_sizes->k)
    return TESELA_OK;
  return tsl_fail(
      TESELA_BAD_INPUT, "m=%lld n=%lld k=%lld are not sizes of a %s: expected m=%lld n=%lld k=%lld",
      (long long)text_sizes->m, (long long)text_sizes->n, (long long)text_sizes->k, tsl_op_name(problem->op),
      (long long)problem->m, (long long)problem->n, (long long)problem->k);
}

tesela_status tsl_problem_parse(const tsl_record *record, tsl_op op, tsl_problem *problem) {
  tsl_problem sizes_of_text = {.op = op};
  TSL_TRY(parse_keys(record, true, &sizes_of_text));
  tsl_problem problem_of_op =
      tsl_problem_of(op, sizes_of_text.m, sizes_of_text.n, sizes_of_text.k, sizes_of_text.a.type);
  TSL_TRY(check_sizes(&problem_of_op, &sizes_of_text));
  problem_of_op.b.type = sizes_of_text.b.type;
  problem_of_op.c.type = sizes_of_text.c.type;
  TSL_TRY(parse_keys(record, false, &problem_of_op));
  tsl_problem_round(&problem_of_op);
  TSL_TRY(tsl_problem_check(&problem_of_op));
  *problem = problem_of_op;
  return TESELA_OK;
}
