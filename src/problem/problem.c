#include "problem/problem.h"

#include "core/list_text.h"
#include "core/memory.h"
#include "core/status.h"
#include "core/strides.h"

#include <math.h>

static const char *const op_names[TSL_OP_COUNT] = {TSL_OP_LIST(TSL_LIST_WORD)};

const char *tsl_op_name(tsl_op op) {
  return (unsigned)op < TSL_OP_COUNT ? op_names[op] : "?";
}

static tsl_shape make_dense_shape(tesela_type type, int64_t rows, int64_t cols) {
  return (tsl_shape){.type = type, .rows = rows, .cols = cols, .row_stride = cols, .col_stride = 1};
}

/* Rows and columns of A, B and C, as letters of the problem's sizes. */
static const char size_letters[TSL_OP_COUNT][TSL_OPERANDS][2] = {
    [TSL_OP_GEMM] = {{'m', 'k'}, {'k', 'n'}, {'m', 'n'}},
    [TSL_OP_DOT] = {{'m', 'k'}, {'k', 'n'}, {'m', 'n'}},
    [TSL_OP_TRANSPOSE] = {{'n', 'm'}, {'0', '0'}, {'m', 'n'}},
    [TSL_OP_SOLVE] = {{'m', 'm'}, {'m', 'n'}, {'m', 'n'}},
};

static int64_t size_of_letter(const tsl_problem *problem, char letter) {
  return letter == 'm' ? problem->m : letter == 'n' ? problem->n : letter == 'k' ? problem->k : 0;
}

tesela_type tsl_result_type(tsl_op op, tesela_type type) {
  return op == TSL_OP_TRANSPOSE ? type : tsl_type_of_products(type);
}

tsl_problem tsl_problem_of(tsl_op op, int64_t m, int64_t n, int64_t k, tesela_type type) {
  const bool is_dot = op == TSL_OP_DOT, is_transpose = op == TSL_OP_TRANSPOSE;
  tsl_problem made = {.op = op,
                      .m = is_dot ? 1 : m,
                      .n = is_dot ? 1 : n,
                      .k = is_transpose         ? 0
                           : op == TSL_OP_SOLVE ? m
                                                : k,
                      .alpha = {1, 0},
                      .beta = {0, 0}};
  tsl_shape *const shapes[TSL_OPERANDS] = {&made.a, &made.b, &made.c};
  for (int i = 0; i < TSL_OPERANDS; i++)
    *shapes[i] = make_dense_shape(i == TSL_OPERAND_C ? tsl_result_type(op, type) : type,
                                  size_of_letter(&made, size_letters[op][i][0]),
                                  size_of_letter(&made, size_letters[op][i][1]));
  if (op == TSL_OP_SOLVE) {
    made.a.structure = TESELA_TRIANGULAR;
    made.a.triangle = TESELA_LOWER;
  }
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

static tsl_shape transpose_shape(const tsl_shape *shape) {
  static const tesela_triangle other[] = {TESELA_WHOLE, TESELA_UPPER, TESELA_LOWER};
  return (tsl_shape){.type = shape->type,
                     .rows = shape->cols,
                     .cols = shape->rows,
                     .row_stride = shape->col_stride,
                     .col_stride = shape->row_stride,
                     .structure = shape->structure,
                     .triangle = other[shape->triangle]};
}

tsl_problem tsl_problem_swapped(const tsl_problem *problem) {
  tsl_problem out = *problem;
  out.m = problem->n;
  out.n = problem->m;
  out.a = transpose_shape(&problem->b);
  out.b = transpose_shape(&problem->a);
  out.c = transpose_shape(&problem->c);
  out.bias = transpose_shape(&problem->bias);
  out.bias_axis = problem->bias_axis == TESELA_BIAS_ROW      ? TESELA_BIAS_COLUMN
                  : problem->bias_axis == TESELA_BIAS_COLUMN ? TESELA_BIAS_ROW
                                                             : TESELA_NO_BIAS;
  out.scaling_a = problem->scaling_b;
  out.scaling_b = problem->scaling_a;
  out.scale_a = transpose_shape(&problem->scale_b);
  out.scale_b = transpose_shape(&problem->scale_a);
  out.conjugate_a = problem->conjugate_b;
  out.conjugate_b = problem->conjugate_a;
  return out;
}

bool tsl_problem_can_accumulate_in_c(const tsl_problem *problem) {
  const tsl_type_info *type = tsl_type(problem->c.type);
  return tsl_type(type->sums) == type && !type->is_complex;
}

const tsl_shape *tsl_problem_shape(const tsl_problem *problem, int operand) {
  return operand == TSL_OPERAND_A         ? &problem->a
         : operand == TSL_OPERAND_B       ? &problem->b
         : operand == TSL_OPERAND_C       ? &problem->c
         : operand == TSL_OPERAND_BIAS    ? &problem->bias
         : operand == TSL_OPERAND_SCALE_A ? &problem->scale_a
                                          : &problem->scale_b;
}

static bool is_zero_scalar(const double scalar[2]) {
  return scalar[0] == 0 && scalar[1] == 0;
}

bool tsl_is_triangular(tesela_structure structure) {
  return structure == TESELA_TRIANGULAR || structure == TESELA_UNIT_TRIANGULAR;
}

bool tsl_is_hermitian(tesela_structure structure) {
  return structure == TESELA_HERMITIAN || structure == TESELA_HERMITIAN_SUM;
}

bool tsl_is_sum(tesela_structure structure) {
  return structure == TESELA_SYMMETRIC_SUM || structure == TESELA_HERMITIAN_SUM;
}

int64_t tsl_problem_terms(const tsl_problem *problem) {
  return tsl_is_sum(problem->c.structure) ? 2 * problem->k : problem->k;
}

tsl_problem tsl_problem_half_of_sum(const tsl_problem *problem, bool second) {
  const bool conjugates = tsl_is_hermitian(problem->c.structure);
  tsl_problem one = *problem;
  one.c.structure = conjugates ? TESELA_HERMITIAN : TESELA_GENERAL;
  if (!second)
    return one;
  one.a = transpose_shape(&problem->b);
  one.b = transpose_shape(&problem->a);
  one.conjugate_a = problem->conjugate_b != conjugates;
  one.conjugate_b = problem->conjugate_a != conjugates;
  one.beta[0] = 1;
  one.beta[1] = 0;
  return one;
}

int tsl_problem_structured(const tsl_problem *problem) {
  return problem->a.structure != TESELA_GENERAL   ? TSL_OPERAND_A
         : problem->b.structure != TESELA_GENERAL ? TSL_OPERAND_B
                                                  : TSL_OPERAND_C;
}

static bool is_whole_and_general(const tsl_shape *shape) {
  return shape->structure == TESELA_GENERAL && shape->triangle == TESELA_WHOLE;
}

bool tsl_problem_has_structure(const tsl_problem *problem) {
  return !is_whole_and_general(&problem->a) || !is_whole_and_general(&problem->b) ||
         !is_whole_and_general(&problem->c);
}

bool tsl_problem_has_operand(const tsl_problem *problem, int operand) {
  return operand == TSL_OPERAND_BIAS      ? problem->bias_axis != TESELA_NO_BIAS
         : operand == TSL_OPERAND_SCALE_A ? problem->scaling_a != TESELA_NO_SCALE
         : operand == TSL_OPERAND_SCALE_B ? problem->scaling_b != TESELA_NO_SCALE
                                          : true;
}

bool tsl_problem_reads(const tsl_problem *problem, int operand) {
  if (problem->m == 0 || problem->n == 0)
    return false;
  if (operand == TSL_OPERAND_C)
    return problem->in_place || !is_zero_scalar(problem->beta);
  if (operand == TSL_OPERAND_BIAS)
    return problem->bias_axis != TESELA_NO_BIAS;
  if (operand > TSL_OPERAND_BIAS && !tsl_problem_has_operand(problem, operand))
    return false;
  if (problem->op == TSL_OP_TRANSPOSE)
    return operand == TSL_OPERAND_A && !problem->in_place && !is_zero_scalar(problem->alpha);
  if (problem->in_place && operand != tsl_problem_structured(problem))
    return false;
  return problem->k > 0 && !is_zero_scalar(problem->alpha);
}

bool tsl_problem_uses(const tsl_problem *problem, int operand) {
  return operand == TSL_OPERAND_C || tsl_problem_reads(problem, operand);
}

void tsl_problem_round(tsl_problem *problem) {
  const tsl_type_info *type = tsl_type(problem->c.type), *sums = type ? tsl_type(type->sums) : NULL;
  if (!sums || tsl_type(sums->component)->type != TESELA_F32)
    return;
  for (int part = 0; part < 2; part++) {
    problem->alpha[part] = (float)problem->alpha[part];
    problem->beta[part] = (float)problem->beta[part];
  }
}

static int64_t absolute_value(int64_t value) {
  return value < 0 ? -value : value;
}

/* Checks that (rows - 1) |row_stride| + (cols - 1) |col_stride| + 1 elements are addressable as bytes. */
tesela_status tsl_shape_check(const tsl_shape *shape, const char *name, int64_t rows, int64_t cols) {
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
      !tsl_i64_mul(rows - 1, absolute_value(shape->row_stride), &down) ||
      !tsl_i64_mul(cols - 1, absolute_value(shape->col_stride), &across) ||
      !tsl_i64_add(down, across, &extent) || !tsl_i64_add(extent, 1, &extent) ||
      !tsl_i64_mul(extent, (int64_t)type->size, &bytes))
    return tsl_fail(TESELA_BAD_CALL, "%s: %lld x %lld elements with strides %lld, %lld pass 2^63 bytes", name,
                    (long long)rows, (long long)cols, (long long)shape->row_stride,
                    (long long)shape->col_stride);
  return TESELA_OK;
}

static bool overlaps_itself(const tsl_shape *shape) {
  return tsl_strides_overlap(shape->rows, shape->cols, shape->row_stride, shape->col_stride);
}

static bool has_same_layout(const tsl_shape *a, const tsl_shape *b) {
  return a->type == b->type && a->row_stride == b->row_stride && a->col_stride == b->col_stride;
}

static const char *const structure_words[TESELA_STRUCTURES] = {
    "general",         "symmetric",       "hermitian",      "triangular",
    "unit triangular", "a symmetric sum", "a hermitian sum"};

static bool has_valid_structure(const tsl_shape *shape) {
  return (unsigned)shape->structure < TESELA_STRUCTURES && (unsigned)shape->triangle < TESELA_TRIANGLES;
}

/* Checks structure and triangle of A or B: a triangle needs a structure, and a square matrix. */
static tesela_status check_factor_structure(const tsl_shape *shape, const char *name) {
  if (is_whole_and_general(shape))
    return TESELA_OK;
  if (shape->structure == TESELA_GENERAL)
    return tsl_fail(TESELA_BAD_CALL, "%s is general: all of it is used, not a triangle", name);
  if (tsl_is_sum(shape->structure))
    return tsl_fail(TESELA_BAD_CALL, "%s is %s: only C can be a sum", name,
                    structure_words[shape->structure]);
  if (shape->triangle == TESELA_WHOLE)
    return tsl_fail(TESELA_BAD_CALL, "%s is %s: its stored triangle must be specified", name,
                    structure_words[shape->structure]);
  if (shape->rows != shape->cols)
    return tsl_fail(TESELA_BAD_CALL, "%s is %s and %lld x %lld: it must be square", name,
                    structure_words[shape->structure], (long long)shape->rows, (long long)shape->cols);
  return TESELA_OK;
}

/* Checks structure and triangle of C: general, hermitian, or a sum; hermitian needs real scalars. */
static tesela_status check_triangle_of_c(const tsl_problem *problem) {
  const tsl_shape *c = &problem->c;
  const bool is_hermitian = tsl_is_hermitian(c->structure), is_sum = tsl_is_sum(c->structure);
  if (c->structure != TESELA_GENERAL && !is_hermitian && !is_sum)
    return tsl_fail(TESELA_BAD_CALL,
                    "C is %s: it must be general, or a hermitian triangle, or a triangle "
                    "of a sum",
                    structure_words[c->structure]);
  if (is_sum && c->triangle == TESELA_WHOLE)
    return tsl_fail(TESELA_BAD_CALL, "C is %s: its computed triangle must be specified",
                    structure_words[c->structure]);
  if (is_sum && is_hermitian && problem->alpha[1] != 0)
    return tsl_fail(TESELA_BAD_CALL, "alpha has an imaginary part where C is a hermitian sum");
  if (is_hermitian && (c->triangle == TESELA_WHOLE || !tsl_type(c->type)->is_complex))
    return tsl_fail(TESELA_BAD_CALL,
                    "C is hermitian: it must be complex, and which triangle of it is computed be said");
  if (is_hermitian && problem->beta[1] != 0)
    return tsl_fail(TESELA_BAD_CALL, "beta has an imaginary part where C is hermitian");
  if (c->triangle != TESELA_WHOLE && c->rows != c->cols)
    return tsl_fail(TESELA_BAD_CALL, "a triangle of C is computed, which is %lld x %lld and must be square",
                    (long long)c->rows, (long long)c->cols);
  return TESELA_OK;
}

static tesela_status check_triangle_of_solve(const tsl_problem *problem) {
  if (!tsl_is_triangular(problem->a.structure))
    return tsl_fail(TESELA_BAD_CALL, "A is %s: a solve needs a triangular or unit triangular A",
                    structure_words[problem->a.structure]);
  if (!is_whole_and_general(&problem->b) || !is_whole_and_general(&problem->c))
    return tsl_fail(TESELA_BAD_CALL, "B and C of a solve are general matrices");
  return TESELA_OK;
}

/* Checks structures and triangles. All operands then have one type of f32, f64, c64 and c128. */
static tesela_status check_structures(const tsl_problem *problem) {
  const tsl_shape *const shapes[TSL_OPERANDS] = {&problem->a, &problem->b, &problem->c};
  for (int i = 0; i < TSL_OPERANDS; i++)
    if (!has_valid_structure(shapes[i]))
      return tsl_fail(TESELA_BAD_CALL, "%c has structure %d and triangle %d, which are none", "ABC"[i],
                      (int)shapes[i] -> structure, (int)shapes[i] -> triangle);
  if (problem->op != TSL_OP_SOLVE && !tsl_problem_has_structure(problem))
    return TESELA_OK;
  if ((problem->op != TSL_OP_GEMM && problem->op != TSL_OP_SOLVE) || tsl_problem_batch(problem) > 1)
    return tsl_fail(TESELA_BAD_CALL, "only operands of one product or solve have structures and triangles");
  const tesela_type type = problem->c.type;
  if (problem->a.type != type || problem->b.type != type || tsl_type(type)->sums != type ||
      tsl_type(type)->is_integer)
    return tsl_fail(TESELA_BAD_CALL,
                    "operands with structures are all f32, f64, c64 or c128, not %s x %s -> %s",
                    tsl_type(problem->a.type)->name, tsl_type(problem->b.type)->name, tsl_type(type)->name);
  TSL_TRY(check_factor_structure(&problem->a, "A"));
  TSL_TRY(check_factor_structure(&problem->b, "B"));
  if (problem->op == TSL_OP_SOLVE)
    return check_triangle_of_solve(problem);
  if (problem->a.structure != TESELA_GENERAL && problem->b.structure != TESELA_GENERAL)
    return tsl_fail(TESELA_BAD_CALL, "A is %s and B is %s: A or B must be general",
                    structure_words[problem->a.structure], structure_words[problem->b.structure]);
  if (tsl_problem_structured(problem) != TSL_OPERAND_C && problem->c.triangle != TESELA_WHOLE)
    return tsl_fail(TESELA_BAD_CALL, "a triangle of C needs general A and B");
  return check_triangle_of_c(problem);
}

/* Checks a product in place: C = alpha A C, or C = alpha C B. */
static tesela_status check_in_place(const tsl_problem *problem) {
  const int triangle = tsl_problem_structured(problem);
  const tsl_shape *general = triangle == TSL_OPERAND_A ? &problem->b : &problem->a;
  if (triangle == TSL_OPERAND_C || !tsl_is_triangular(tsl_problem_shape(problem, triangle)->structure))
    return tsl_fail(TESELA_BAD_CALL, "a product in place needs a triangular A or B");
  if (!is_zero_scalar(problem->beta))
    return tsl_fail(TESELA_BAD_CALL, "a product in place has no beta");
  if (!has_same_layout(general, &problem->c))
    return tsl_fail(TESELA_BAD_CALL, "in place, the general factor and C have one type and the same strides");
  return TESELA_OK;
}

static tesela_status check_operation(const tsl_problem *problem) {
  if ((unsigned)problem->op >= TSL_OP_COUNT)
    return tsl_fail(TESELA_BAD_CALL, "%d is no operation", (int)problem->op);
  if (problem->op == TSL_OP_DOT && (problem->m != 1 || problem->n != 1))
    return tsl_fail(TESELA_BAD_CALL, "the result of a dot is 1 x 1, not %lld x %lld", (long long)problem->m,
                    (long long)problem->n);
  if (problem->op == TSL_OP_TRANSPOSE && (problem->k != 0 || !is_zero_scalar(problem->beta)))
    return tsl_fail(TESELA_BAD_CALL, "a transpose has no k and no beta");
  if (problem->op == TSL_OP_SOLVE && (problem->k != problem->m || !is_zero_scalar(problem->beta)))
    return tsl_fail(TESELA_BAD_CALL, "a solve has k = m and no beta");
  if (!problem->in_place)
    return TESELA_OK;
  if (problem->op == TSL_OP_GEMM)
    return check_in_place(problem);
  if (problem->op == TSL_OP_SOLVE)
    return has_same_layout(&problem->b, &problem->c)
               ? TESELA_OK
               : tsl_fail(TESELA_BAD_CALL, "in place, B and C have one type and the same strides");
  if (problem->op != TSL_OP_TRANSPOSE)
    return tsl_fail(TESELA_BAD_CALL, "a %s is not made in place", tsl_op_name(problem->op));
  if (problem->m != problem->n)
    return tsl_fail(TESELA_BAD_CALL, "only a square matrix can be transposed in place, not %lld x %lld",
                    (long long)problem->n, (long long)problem->m);
  if (!has_same_layout(&problem->a, &problem->c))
    return tsl_fail(TESELA_BAD_CALL, "in place, A and C have one type and the same strides");
  return TESELA_OK;
}

static tesela_status check_conjugates(const tsl_problem *problem) {
  if (!problem->conjugate_a && !problem->conjugate_b)
    return TESELA_OK;
  if (problem->op != TSL_OP_GEMM && problem->op != TSL_OP_SOLVE)
    return tsl_fail(TESELA_BAD_CALL, "a %s has no conjugation", tsl_op_name(problem->op));
  if (problem->op == TSL_OP_SOLVE && problem->conjugate_b)
    return tsl_fail(TESELA_BAD_CALL, "a solve can conjugate A only");
  if (!tsl_type(problem->a.type)->is_complex || !tsl_type(problem->b.type)->is_complex)
    return tsl_fail(TESELA_BAD_CALL, "A is %s and B is %s: only complex matrices have conjugates",
                    tsl_type(problem->a.type)->name, tsl_type(problem->b.type)->name);
  return TESELA_OK;
}

static tesela_status check_scalars(const tsl_problem *problem) {
  if (tsl_type(problem->c.type)->is_complex || (problem->alpha[1] == 0 && problem->beta[1] == 0))
    return TESELA_OK;
  return tsl_fail(TESELA_BAD_CALL, "%s has an imaginary part where C is %s",
                  problem->alpha[1] != 0 ? "alpha" : "beta", tsl_type(problem->c.type)->name);
}

static bool is_int32(double value) {
  return value >= INT32_MIN && value <= INT32_MAX && value == rint(value);
}

/* Checks integer products, modulo 2^32: operands are integers, scalars whole numbers of 32 bits. */
static tesela_status check_integers(const tsl_problem *problem) {
  if (problem->op == TSL_OP_TRANSPOSE || !tsl_type(problem->c.type)->is_integer)
    return TESELA_OK;
  if (!tsl_type(problem->a.type)->is_integer || !tsl_type(problem->b.type)->is_integer)
    return tsl_fail(TESELA_BAD_CALL, "C is %s, but A is %s and B is %s: an integer C needs integer A and B",
                    tsl_type(problem->c.type)->name, tsl_type(problem->a.type)->name,
                    tsl_type(problem->b.type)->name);
  const double *const scalars[] = {problem->alpha, problem->beta};
  for (int i = 0; i < 2; i++)
    if (!is_int32(scalars[i][0]))
      return tsl_fail(TESELA_BAD_CALL, "%s is %.12g where C is %s: it must be a whole number of 32 bits",
                      i == 0 ? "alpha" : "beta", scalars[i][0], tsl_type(problem->c.type)->name);
  return TESELA_OK;
}

/* Refuses sizes that no memory holds, even without elements: models round sizes up and multiply them. */
static tesela_status check_matrix_sizes(const tsl_problem *problem) {
  static const int64_t elements_max = (int64_t)1 << 59;
  for (int i = 0; i < TSL_OPERANDS; i++) {
    const tsl_shape *shape = tsl_problem_shape(problem, i);
    const int64_t rows = shape->rows > 1 ? shape->rows : 1, cols = shape->cols > 1 ? shape->cols : 1;
    if (rows > elements_max / cols)
      return tsl_fail(TESELA_BAD_CALL, "%c is %lld x %lld: matrices of more than 2^59 elements are refused",
                      "ABC"[i], (long long)shape -> rows, (long long)shape -> cols);
  }
  return TESELA_OK;
}

tesela_status tsl_problem_check_all_but_epilogue(const tsl_problem *problem) {
  if (problem->m < 0 || problem->n < 0 || problem->k < 0)
    return tsl_fail(TESELA_BAD_CALL, "a size is negative: m=%lld n=%lld k=%lld", (long long)problem->m,
                    (long long)problem->n, (long long)problem->k);
  TSL_TRY(check_operation(problem));
  for (int i = 0; i < TSL_OPERANDS; i++) {
    const char name[] = {"ABC"[i], '\0'};
    const char *letters = size_letters[problem->op][i];
    TSL_TRY(tsl_shape_check(tsl_problem_shape(problem, i), name, size_of_letter(problem, letters[0]),
                            size_of_letter(problem, letters[1])));
  }
  TSL_TRY(check_matrix_sizes(problem));
  TSL_TRY(check_structures(problem));
  TSL_TRY(check_conjugates(problem));
  TSL_TRY(check_scalars(problem));
  TSL_TRY(check_integers(problem));
  if (overlaps_itself(&problem->c))
    return tsl_fail(TESELA_BAD_CALL, "elements of C (%lld x %lld, strides %lld, %lld) overlap each other",
                    (long long)problem->c.rows, (long long)problem->c.cols, (long long)problem->c.row_stride,
                    (long long)problem->c.col_stride);
  return TESELA_OK;
}

int64_t tsl_shape_extent(const tsl_shape *shape) {
  if (shape->rows == 0 || shape->cols == 0)
    return 0;
  return (shape->rows - 1) * absolute_value(shape->row_stride) +
         (shape->cols - 1) * absolute_value(shape->col_stride) + 1;
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

bool tsl_problem_fixes_rows(const tsl_problem *problem) {
  return problem->ask.bits == TSL_REPRODUCIBILITY_ROWS && !tsl_type(problem->a.type)->is_integer;
}

int64_t tsl_problem_batch(const tsl_problem *problem) {
  return problem->batch < 1 ? 1 : problem->batch;
}

/* Returns the fraction of the elements that is stored: 1, or about 0.5 for a triangle. */
static double problem_stored_fraction(const tsl_shape *shape) {
  return shape->triangle == TESELA_WHOLE || shape->rows == 0 ? 1 : 0.5 + 0.5 / (double)shape->rows;
}

double tsl_problem_flops(const tsl_problem *problem) {
  const double per_term =
      (tsl_type(problem->c.type)->is_complex ? 8 : 2) * (double)tsl_problem_batch(problem);
  const int factor = tsl_problem_structured(problem);
  const tsl_shape *shape = tsl_problem_shape(problem, factor);
  const double fraction = problem->op == TSL_OP_SOLVE ? 0.5
                          : factor == TSL_OPERAND_C || tsl_is_triangular(shape->structure)
                              ? problem_stored_fraction(shape)
                              : 1;
  return fraction * per_term * (double)problem->m * (double)problem->n * (double)tsl_problem_terms(problem);
}

double tsl_problem_operand_bytes(const tsl_problem *problem, int operand) {
  const tsl_shape *shape = tsl_problem_shape(problem, operand);
  return (double)shape->rows * (double)shape->cols * (double)tsl_type(shape->type)->size;
}

double tsl_problem_bytes(const tsl_problem *problem) {
  double bytes = 0;
  for (int i = 0; i < TSL_OPERANDS; i++) {
    const int times = tsl_problem_reads(problem, i) + (i == TSL_OPERAND_C);
    bytes += times * problem_stored_fraction(tsl_problem_shape(problem, i)) *
             tsl_problem_operand_bytes(problem, i);
  }
  return bytes * (double)tsl_problem_batch(problem);
}

double tsl_problem_cache_bytes(const tsl_problem *problem) {
  const double c_bytes = problem_stored_fraction(&problem->c) * (double)problem->m * (double)problem->n *
                         (double)tsl_type(problem->c.type)->size * (double)tsl_problem_batch(problem);
  return tsl_problem_bytes(problem) + (tsl_problem_reads(problem, TSL_OPERAND_C) ? 0 : c_bytes);
}
