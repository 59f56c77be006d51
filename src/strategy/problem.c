#include "strategy/problem.h"

#include "base/memory.h"
#include "base/status.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const op_names[TSL_OP_COUNT] = {
#define TSL_OP_NAME(name, text) [TSL_OP_##name] = #text,
    TSL_OP_LIST(TSL_OP_NAME)
#undef TSL_OP_NAME
};

const char *tsl_op_name(tsl_op op) {
  return (unsigned)op < TSL_OP_COUNT ? op_names[op] : "?";
}

static tsl_shape dense(tesela_type type, int64_t rows, int64_t cols) {
  return (tsl_shape){.type = type, .rows = rows, .cols = cols, .row_stride = cols, .col_stride = 1};
}

/* Rows and columns of A, B and C, as letters of the problem's sizes. */
static const char extents[TSL_OP_COUNT][TSL_OPERANDS][2] = {
    [TSL_OP_GEMM] = {{'m', 'k'}, {'k', 'n'}, {'m', 'n'}},
    [TSL_OP_DOT] = {{'m', 'k'}, {'k', 'n'}, {'m', 'n'}},
    [TSL_OP_TRANSPOSE] = {{'n', 'm'}, {'0', '0'}, {'m', 'n'}},
};

static int64_t size_of(const tsl_problem *problem, char letter) {
  return letter == 'm' ? problem->m : letter == 'n' ? problem->n : letter == 'k' ? problem->k : 0;
}

tesela_type tsl_result_type(tsl_op op, tesela_type type) {
  const tsl_type_info *info = tsl_type(type);
  return op != TSL_OP_TRANSPOSE && info && info->is_integer ? info->sums : type;
}

tsl_problem tsl_problem_of(tsl_op op, int64_t m, int64_t n, int64_t k, tesela_type type) {
  const bool is_dot = op == TSL_OP_DOT, is_transpose = op == TSL_OP_TRANSPOSE;
  tsl_problem made = {.op = op,
                      .m = is_dot ? 1 : m,
                      .n = is_dot ? 1 : n,
                      .k = is_transpose ? 0 : k,
                      .alpha = {1, 0},
                      .beta = {0, 0}};
  tsl_shape *const shapes[TSL_OPERANDS] = {&made.a, &made.b, &made.c};
  for (int i = 0; i < TSL_OPERANDS; i++)
    *shapes[i] = dense(i == TSL_OPERAND_C ? tsl_result_type(op, type) : type,
                       size_of(&made, extents[op][i][0]), size_of(&made, extents[op][i][1]));
  return made;
}

tsl_problem tsl_problem_gemm(int64_t m, int64_t n, int64_t k, tesela_type type) {
  return tsl_problem_of(TSL_OP_GEMM, m, n, k, type);
}

tsl_problem tsl_problem_dot(int64_t n, tesela_type type) {
  return tsl_problem_of(TSL_OP_DOT, 1, 1, n, type);
}

tsl_problem tsl_problem_transpose(int64_t m, int64_t n, tesela_type type) {
  return tsl_problem_of(TSL_OP_TRANSPOSE, m, n, 0, type);
}

static tsl_shape turned(const tsl_shape *shape) {
  return (tsl_shape){shape->type, shape->cols, shape->rows, shape->col_stride, shape->row_stride};
}

tsl_problem tsl_problem_turned(const tsl_problem *problem) {
  tsl_problem out = *problem;
  out.m = problem->n;
  out.n = problem->m;
  out.a = turned(&problem->b);
  out.b = turned(&problem->a);
  out.c = turned(&problem->c);
  out.conjugate_a = problem->conjugate_b;
  out.conjugate_b = problem->conjugate_a;
  return out;
}

const tsl_shape *tsl_problem_shape(const tsl_problem *problem, int operand) {
  return operand == TSL_OPERAND_A ? &problem->a : operand == TSL_OPERAND_B ? &problem->b : &problem->c;
}

static bool is_zero(const double scalar[2]) {
  return scalar[0] == 0 && scalar[1] == 0;
}

bool tsl_problem_reads(const tsl_problem *problem, int operand) {
  if (problem->m == 0 || problem->n == 0)
    return false;
  if (operand == TSL_OPERAND_C)
    return problem->in_place || !is_zero(problem->beta);
  if (problem->op == TSL_OP_TRANSPOSE)
    return operand == TSL_OPERAND_A && !problem->in_place && !is_zero(problem->alpha);
  return problem->k > 0 && !is_zero(problem->alpha);
}

bool tsl_problem_uses(const tsl_problem *problem, int operand) {
  return operand == TSL_OPERAND_C || tsl_problem_reads(problem, operand);
}

static int64_t magnitude(int64_t value) {
  return value < 0 ? -value : value;
}

/* (rows - 1) |row_stride| + (cols - 1) |col_stride| + 1 elements must be addressable as bytes. */
static tesela_status check_shape(const tsl_shape *shape, const char *name, int64_t rows, int64_t cols) {
  const tsl_type_info *type = tsl_type(shape->type);
  if (!type)
    return tsl_fail(TESELA_BAD_CALL, "%s: type %d is none of %s", name, (int)shape->type, tsl_type_names());
  if (shape->rows != rows || shape->cols != cols)
    return tsl_fail(TESELA_BAD_CALL, "%s is %lld x %lld where the product needs %lld x %lld", name,
                    (long long)shape->rows, (long long)shape->cols, (long long)rows, (long long)cols);
  if (rows == 0 || cols == 0)
    return TESELA_OK;
  int64_t down, across, extent, bytes;
  if (shape->row_stride == INT64_MIN || shape->col_stride == INT64_MIN ||
      !tsl_i64_mul(rows - 1, magnitude(shape->row_stride), &down) ||
      !tsl_i64_mul(cols - 1, magnitude(shape->col_stride), &across) || !tsl_i64_add(down, across, &extent) ||
      !tsl_i64_add(extent, 1, &extent) || !tsl_i64_mul(extent, (int64_t)type->size, &bytes))
    return tsl_fail(TESELA_BAD_CALL, "%s: %lld x %lld elements with strides %lld, %lld pass 2^63 bytes", name,
                    (long long)rows, (long long)cols, (long long)shape->row_stride,
                    (long long)shape->col_stride);
  return TESELA_OK;
}

static int64_t greatest_common_divisor(int64_t a, int64_t b) {
  while (b != 0) {
    const int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

/* Two elements share an address where i row_stride = j col_stride with 0 < |i| < rows or 0 < |j| < cols. The
 * smallest such step is the strides over their greatest common divisor. */
static bool overlaps_itself(const tsl_shape *shape) {
  const int64_t down = magnitude(shape->row_stride), across = magnitude(shape->col_stride);
  if (shape->rows == 0 || shape->cols == 0)
    return false;
  if ((shape->rows > 1 && down == 0) || (shape->cols > 1 && across == 0))
    return true;
  if (shape->rows == 1 || shape->cols == 1)
    return false;
  const int64_t divisor = greatest_common_divisor(down, across);
  return across / divisor < shape->rows && down / divisor < shape->cols;
}

static bool same_layout(const tsl_shape *a, const tsl_shape *b) {
  return a->type == b->type && a->row_stride == b->row_stride && a->col_stride == b->col_stride;
}

/* What an operation has beside its shapes. */
static tesela_status check_op(const tsl_problem *problem) {
  if ((unsigned)problem->op >= TSL_OP_COUNT)
    return tsl_fail(TESELA_BAD_CALL, "%d is no operation", (int)problem->op);
  if (problem->op == TSL_OP_DOT && (problem->m != 1 || problem->n != 1))
    return tsl_fail(TESELA_BAD_CALL, "the result of a dot is 1 x 1, not %lld x %lld", (long long)problem->m,
                    (long long)problem->n);
  if (problem->op == TSL_OP_TRANSPOSE && (problem->k != 0 || !is_zero(problem->beta)))
    return tsl_fail(TESELA_BAD_CALL, "a transpose has no k and no beta");
  if (!problem->in_place)
    return TESELA_OK;
  if (problem->op != TSL_OP_TRANSPOSE)
    return tsl_fail(TESELA_BAD_CALL, "a %s is not made in place", tsl_op_name(problem->op));
  if (problem->m != problem->n)
    return tsl_fail(TESELA_BAD_CALL, "only a square is transposed in place, not %lld x %lld",
                    (long long)problem->n, (long long)problem->m);
  if (!same_layout(&problem->a, &problem->c))
    return tsl_fail(TESELA_BAD_CALL, "in place, A and C have one type and the same strides");
  return TESELA_OK;
}

/* Conjugates of A and B, of complex types only. */
static tesela_status check_conjugates(const tsl_problem *problem) {
  if (!problem->conjugate_a && !problem->conjugate_b)
    return TESELA_OK;
  if (problem->op != TSL_OP_GEMM)
    return tsl_fail(TESELA_BAD_CALL, "a %s conjugates nothing", tsl_op_name(problem->op));
  if (!tsl_type(problem->a.type)->is_complex || !tsl_type(problem->b.type)->is_complex)
    return tsl_fail(TESELA_BAD_CALL, "A is %s and B is %s: only complex matrices have conjugates",
                    tsl_type(problem->a.type)->name, tsl_type(problem->b.type)->name);
  return TESELA_OK;
}

static bool is_whole(double value) {
  return value >= INT32_MIN && value <= INT32_MAX && value == rint(value);
}

/* Integers are added up modulo 2^32: every term and both scalars are whole numbers. */
static tesela_status check_integers(const tsl_problem *problem) {
  if (problem->op == TSL_OP_TRANSPOSE || !tsl_type(problem->c.type)->is_integer)
    return TESELA_OK;
  if (!tsl_type(problem->a.type)->is_integer || !tsl_type(problem->b.type)->is_integer)
    return tsl_fail(TESELA_BAD_CALL, "C is %s, but A is %s and B is %s: integers come from integers only",
                    tsl_type(problem->c.type)->name, tsl_type(problem->a.type)->name,
                    tsl_type(problem->b.type)->name);
  const double *const scalars[] = {problem->alpha, problem->beta};
  for (int i = 0; i < 2; i++)
    if (!is_whole(scalars[i][0]))
      return tsl_fail(TESELA_BAD_CALL, "%s is %.12g where C is %s: it must be a whole number of 32 bits",
                      i == 0 ? "alpha" : "beta", scalars[i][0], tsl_type(problem->c.type)->name);
  return TESELA_OK;
}

tesela_status tsl_problem_check(const tsl_problem *problem) {
  if (problem->m < 0 || problem->n < 0 || problem->k < 0)
    return tsl_fail(TESELA_BAD_CALL, "a size is negative: m=%lld n=%lld k=%lld", (long long)problem->m,
                    (long long)problem->n, (long long)problem->k);
  TSL_TRY(check_op(problem));
  for (int i = 0; i < TSL_OPERANDS; i++) {
    const char name[] = {"ABC"[i], '\0'};
    const char *letters = extents[problem->op][i];
    TSL_TRY(check_shape(tsl_problem_shape(problem, i), name, size_of(problem, letters[0]),
                        size_of(problem, letters[1])));
  }
  TSL_TRY(check_conjugates(problem));
  TSL_TRY(check_integers(problem));
  if (overlaps_itself(&problem->c))
    return tsl_fail(TESELA_BAD_CALL, "elements of C (%lld x %lld, strides %lld, %lld) overlap each other",
                    (long long)problem->c.rows, (long long)problem->c.cols, (long long)problem->c.row_stride,
                    (long long)problem->c.col_stride);
  return TESELA_OK;
}

static void print_scalar(tsl_text *text, const char *key, const double value[2], double fallback) {
  if (value[0] == fallback && value[1] == 0)
    return;
  tsl_text_add(text, " %s=", key);
  tsl_text_add_double(text, value[0]);
  if (value[1] != 0) {
    tsl_text_add(text, ",");
    tsl_text_add_double(text, value[1]);
  }
}

void tsl_problem_print(const tsl_problem *problem, tsl_text *text) {
  const tsl_shape *shapes[3] = {&problem->a, &problem->b, &problem->c};
  tsl_text_add(text, "m=%lld n=%lld k=%lld types=%s,%s,%s", (long long)problem->m, (long long)problem->n,
               (long long)problem->k, tsl_type(problem->a.type)->name, tsl_type(problem->b.type)->name,
               tsl_type(problem->c.type)->name);
  bool all_dense = true;
  for (int i = 0; i < 3; i++)
    all_dense = all_dense && shapes[i]->row_stride == shapes[i]->cols && shapes[i]->col_stride == 1;
  if (!all_dense) {
    tsl_text_add(text, " strides=");
    for (int i = 0; i < 3; i++)
      tsl_text_add(text, "%s%lld,%lld", i ? "," : "", (long long)shapes[i]->row_stride,
                   (long long)shapes[i]->col_stride);
  }
  print_scalar(text, "alpha", problem->alpha, 1);
  print_scalar(text, "beta", problem->beta, 0);
  if (problem->in_place)
    tsl_text_add(text, " in_place=1");
  if (problem->conjugate_a || problem->conjugate_b)
    tsl_text_add(text, " conjugate=%s%s%s", problem->conjugate_a ? "a" : "",
                 problem->conjugate_a && problem->conjugate_b ? "," : "", problem->conjugate_b ? "b" : "");
  if (problem->batch > 0)
    tsl_text_add(text, " batch=%lld", (long long)problem->batch);
}

/* Cuts "a,b,c" in place at commas into at most `most` words; the number of words, or -1 when there are more.
 */
static int split(char *list, char *words[], int most) {
  int count = 0;
  char *rest = list;
  while (rest) {
    if (count == most)
      return -1;
    words[count++] = rest;
    rest = strchr(rest, ',');
    if (rest)
      *rest++ = '\0';
  }
  return count;
}

static tesela_status parse_size(const tsl_record *record, const char *key, int64_t *out) {
  const char *value = tsl_record_get(record, key);
  if (!value)
    return tsl_fail(TESELA_BAD_INPUT, "%s= is missing", key);
  if (!tsl_parse_i64(value, out) || *out < 0)
    return tsl_fail(TESELA_BAD_INPUT, "%s=%s is not a size", key, value);
  return TESELA_OK;
}

/* Copies the value of `key` and splits it; *count is 0 when the key is not there. The caller frees *copy. */
static tesela_status parse_list(const tsl_record *record, const char *key, int most, char **copy,
                                char *words[], int *count) {
  const char *value = tsl_record_get(record, key);
  *copy = NULL;
  *count = 0;
  if (!value)
    return TESELA_OK;
  *copy = strdup(value);
  if (!*copy)
    return tsl_fail(TESELA_OUT_OF_MEMORY, "no memory for a plan's text");
  *count = split(*copy, words, most);
  return TESELA_OK;
}

static tesela_status parse_types(const tsl_record *record, tesela_type types[3]) {
  char *copy, *words[3];
  int count;
  tesela_status status = TESELA_OK;
  TSL_TRY(parse_list(record, "types", 3, &copy, words, &count));
  for (int i = 0; i < 3 && count == 3; i++) {
    types[i] = tsl_type_parse(words[i]);
    if (types[i] == TESELA_TYPE_DEFAULT)
      count = -1;
  }
  if (count != 3)
    status = tsl_fail(TESELA_BAD_INPUT, "types=%s is not three of %s, such as types=f32,f32,f32",
                      copy ? tsl_record_get(record, "types") : "", tsl_type_names());
  free(copy);
  return status;
}

static tesela_status parse_strides(const tsl_record *record, tsl_problem *problem) {
  char *copy, *words[6];
  int count;
  tesela_status status = TESELA_OK;
  int64_t *targets[6] = {&problem->a.row_stride, &problem->a.col_stride, &problem->b.row_stride,
                         &problem->b.col_stride, &problem->c.row_stride, &problem->c.col_stride};
  TSL_TRY(parse_list(record, "strides", 6, &copy, words, &count));
  for (int i = 0; i < 6 && count == 6; i++)
    if (!tsl_parse_i64(words[i], targets[i]))
      count = -1;
  if (copy && count != 6)
    status =
        tsl_fail(TESELA_BAD_INPUT, "strides=%s is not six whole numbers: row and column stride of A, B and C",
                 tsl_record_get(record, "strides"));
  free(copy);
  return status;
}

static tesela_status parse_scalar(const tsl_record *record, const char *key, double value[2]) {
  char *copy, *words[2];
  int count;
  tesela_status status = TESELA_OK;
  TSL_TRY(parse_list(record, key, 2, &copy, words, &count));
  for (int i = 0; i < count; i++)
    if (!tsl_parse_double(words[i], &value[i]))
      count = -1;
  if (copy && count < 1)
    status = tsl_fail(TESELA_BAD_INPUT, "%s=%s is not a number, or two for a complex one", key,
                      tsl_record_get(record, key));
  free(copy);
  return status;
}

static tesela_status parse_in_place(const tsl_record *record, bool *in_place) {
  const char *value = tsl_record_get(record, "in_place");
  *in_place = value && strcmp(value, "1") == 0;
  if (value && !*in_place && strcmp(value, "0") != 0)
    return tsl_fail(TESELA_BAD_INPUT, "in_place=%s is neither 0 nor 1", value);
  return TESELA_OK;
}

static tesela_status parse_conjugates(const tsl_record *record, tsl_problem *problem) {
  const char *value = tsl_record_get(record, "conjugate");
  problem->conjugate_a = value && (strcmp(value, "a") == 0 || strcmp(value, "a,b") == 0);
  problem->conjugate_b = value && (strcmp(value, "b") == 0 || strcmp(value, "a,b") == 0);
  if (value && !problem->conjugate_a && !problem->conjugate_b)
    return tsl_fail(TESELA_BAD_INPUT, "conjugate=%s is none of a, b and a,b", value);
  return TESELA_OK;
}

/* Sizes that the operation does not have must say so. */
static tesela_status check_sizes(const tsl_problem *made, int64_t m, int64_t n, int64_t k) {
  if (made->m == m && made->n == n && made->k == k)
    return TESELA_OK;
  return tsl_fail(TESELA_BAD_INPUT,
                  "m=%lld n=%lld k=%lld are no sizes of a %s: these would be m=%lld n=%lld k=%lld",
                  (long long)m, (long long)n, (long long)k, tsl_op_name(made->op), (long long)made->m,
                  (long long)made->n, (long long)made->k);
}

tesela_status tsl_problem_parse(const tsl_record *record, tsl_op op, tsl_problem *problem) {
  int64_t m, n, k;
  tesela_type types[3] = {TESELA_F32, TESELA_F32, TESELA_F32};
  TSL_TRY(parse_size(record, "m", &m));
  TSL_TRY(parse_size(record, "n", &n));
  TSL_TRY(parse_size(record, "k", &k));
  TSL_TRY(parse_types(record, types));
  tsl_problem made = tsl_problem_of(op, m, n, k, types[0]);
  TSL_TRY(check_sizes(&made, m, n, k));
  made.b.type = types[1];
  made.c.type = types[2];
  TSL_TRY(parse_strides(record, &made));
  TSL_TRY(parse_scalar(record, "alpha", made.alpha));
  TSL_TRY(parse_scalar(record, "beta", made.beta));
  TSL_TRY(parse_in_place(record, &made.in_place));
  TSL_TRY(parse_conjugates(record, &made));
  if (tsl_record_get(record, "batch"))
    TSL_TRY(parse_size(record, "batch", &made.batch));
  TSL_TRY(tsl_problem_check(&made));
  *problem = made;
  return TESELA_OK;
}

int64_t tsl_shape_extent(const tsl_shape *shape) {
  if (shape->rows == 0 || shape->cols == 0)
    return 0;
  return (shape->rows - 1) * magnitude(shape->row_stride) + (shape->cols - 1) * magnitude(shape->col_stride) +
         1;
}

int64_t tsl_shape_below(const tsl_shape *shape) {
  if (shape->rows == 0 || shape->cols == 0)
    return 0;
  return (shape->row_stride < 0 ? (shape->rows - 1) * -shape->row_stride : 0) +
         (shape->col_stride < 0 ? (shape->cols - 1) * -shape->col_stride : 0);
}

bool tsl_shape_is_dense(const tsl_shape *shape) {
  return !overlaps_itself(shape) && tsl_shape_extent(shape) == shape->rows * shape->cols;
}

int64_t tsl_problem_batch(const tsl_problem *problem) {
  return problem->batch < 1 ? 1 : problem->batch;
}

double tsl_problem_flops(const tsl_problem *problem) {
  const double per_term =
      (tsl_type(problem->c.type)->is_complex ? 8 : 2) * (double)tsl_problem_batch(problem);
  return per_term * (double)problem->m * (double)problem->n * (double)problem->k;
}

double tsl_problem_bytes(const tsl_problem *problem) {
  double bytes = 0;
  for (int i = 0; i < TSL_OPERANDS; i++) {
    const tsl_shape *shape = tsl_problem_shape(problem, i);
    const int times = tsl_problem_reads(problem, i) + (i == TSL_OPERAND_C);
    bytes += times * (double)shape->rows * (double)shape->cols * (double)tsl_type(shape->type)->size;
  }
  return bytes * (double)tsl_problem_batch(problem);
}
