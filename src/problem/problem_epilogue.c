#include "core/memory.h"
#include "core/status.h"
#include "problem/problem.h"

#include <math.h>

static const char *const along_names[TESELA_ALONGS] = {"", "row", "column"};
static const char *const activation_names[TESELA_ACTIVATIONS] = {"", "relu", "gelu", "gelu_tanh"};
static const char *const scaling_names[TESELA_SCALINGS] = {"", "tensor", "lines"};

const char *tsl_along_name(tesela_bias_axis along) {
  return along_names[along];
}

const char *tsl_activation_name(tesela_activation activation) {
  return activation_names[activation];
}

const char *tsl_scaling_name(tesela_scaling scaling) {
  return scaling_names[scaling];
}

bool tsl_problem_has_scales(const tsl_problem *problem) {
  return problem->scaling_a != TESELA_NO_SCALE || problem->scaling_b != TESELA_NO_SCALE;
}

bool tsl_problem_has_epilogue(const tsl_problem *problem) {
  return problem->bias_axis != TESELA_NO_BIAS || problem->activation != TESELA_NO_ACTIVATION ||
         tsl_problem_has_scales(problem);
}

static tesela_type type_of_scaled_sums(const tsl_problem *problem) {
  const tsl_type_info *a = tsl_type(problem->a.type);
  return a->is_integer ? TESELA_I32 : TESELA_F32;
}

bool tsl_problem_needs_separate_sums(const tsl_problem *problem) {
  return tsl_problem_has_scales(problem) &&
         (problem->beta[0] != 0 ||
          tsl_type(problem->c.type)->size != tsl_type(type_of_scaled_sums(problem))->size);
}

uint64_t tsl_problem_sums_bytes(const tsl_problem *problem) {
  int64_t elements, all, bytes;
  if (!tsl_problem_needs_separate_sums(problem))
    return 0;
  if (!tsl_i64_mul(problem->m, problem->n, &elements) ||
      !tsl_i64_mul(elements, tsl_problem_batch(problem), &all) ||
      !tsl_i64_mul(all, (int64_t)tsl_type(type_of_scaled_sums(problem))->size, &bytes))
    return UINT64_MAX;
  return (uint64_t)bytes;
}

/* Removes the scales from `sums`, a copy of `whole`. Separate sums are dense in the order of C. */
static void remove_scales(const tsl_problem *whole, tsl_problem *sums) {
  const tsl_shape *c = &whole->c;
  const int64_t down = c->row_stride < 0 ? -c->row_stride : c->row_stride,
                across = c->col_stride < 0 ? -c->col_stride : c->col_stride;
  const bool by_columns = down < across;
  sums->scaling_a = sums->scaling_b = TESELA_NO_SCALE;
  sums->scale_a = sums->scale_b = (tsl_shape){.type = TESELA_TYPE_DEFAULT};
  sums->c.type = type_of_scaled_sums(whole);
  if (tsl_problem_needs_separate_sums(whole)) {
    sums->c.row_stride = by_columns ? 1 : c->cols;
    sums->c.col_stride = by_columns ? c->rows : 1;
  }
  sums->alpha[0] = whole->alpha[0] != 0; /* 0: A and B are not read */
  sums->alpha[1] = sums->beta[0] = sums->beta[1] = 0;
}

int tsl_problem_precision_bits(const tsl_problem *problem) {
  const double unit = tsl_type(problem->c.type)->unit_roundoff;
  return unit > 0 ? -ilogb(unit) : 0;
}

tsl_problem tsl_problem_drop_epilogue(const tsl_problem *problem) {
  tsl_problem product = *problem;
  if (tsl_problem_has_scales(problem))
    remove_scales(problem, &product);
  product.bias_axis = TESELA_NO_BIAS;
  product.bias = (tsl_shape){.type = TESELA_TYPE_DEFAULT};
  product.activation = TESELA_NO_ACTIVATION;
  return product;
}

const tsl_problem *tsl_problem_without_epilogue(const tsl_problem *problem, tsl_problem *storage) {
  if (!tsl_problem_has_scales(problem))
    return problem;
  *storage = tsl_problem_drop_epilogue(problem);
  return storage;
}

void tsl_problem_add_bias(tsl_problem *problem, tesela_bias_axis along, tesela_type type, int64_t stride) {
  const bool is_row = along == TESELA_BIAS_ROW;
  problem->bias_axis = along;
  problem->bias = along == TESELA_NO_BIAS ? (tsl_shape){.type = TESELA_TYPE_DEFAULT}
                                          : (tsl_shape){.type = type,
                                                        .rows = is_row ? 1 : problem->m,
                                                        .cols = is_row ? problem->n : 1,
                                                        .row_stride = is_row ? 0 : stride,
                                                        .col_stride = is_row ? stride : 0};
}

void tsl_problem_add_scale(tsl_problem *problem, int operand, tesela_scaling scaling, int64_t stride) {
  const bool is_a = operand == TSL_OPERAND_SCALE_A, has_lines = scaling == TESELA_SCALE_LINES;
  const tsl_shape made = {.type = TESELA_F32,
                          .rows = is_a && has_lines ? problem->m : 1,
                          .cols = !is_a && has_lines ? problem->n : 1,
                          .row_stride = is_a && has_lines ? stride : 0,
                          .col_stride = !is_a && has_lines ? stride : 0};
  *(is_a ? &problem->scaling_a : &problem->scaling_b) = scaling;
  *(is_a ? &problem->scale_a : &problem->scale_b) =
      scaling == TESELA_NO_SCALE ? (tsl_shape){.type = TESELA_TYPE_DEFAULT} : made;
}

static tesela_status check_bias(const tsl_problem *problem) {
  const bool is_row = problem->bias_axis == TESELA_BIAS_ROW;
  const tsl_type_info *own = tsl_type(problem->bias.type), *c = tsl_type(problem->c.type);
  TSL_TRY(tsl_shape_check(&problem->bias, "bias", is_row ? 1 : problem->m, is_row ? problem->n : 1));
  if ((is_row ? problem->bias.row_stride : problem->bias.col_stride) != 0)
    return tsl_fail(TESELA_BAD_CALL, "bias is a %s and has two strides", tsl_along_name(problem->bias_axis));
  if (own != c && own->type != c->sums)
    return tsl_fail(TESELA_BAD_CALL, "bias is %s where C is %s: it must have the type of C, or %s", own->name,
                    c->name, tsl_type(c->sums)->name);
  return TESELA_OK;
}

static tesela_status check_scale(const tsl_problem *problem, int operand) {
  const bool is_a = operand == TSL_OPERAND_SCALE_A;
  const tesela_scaling scaling = is_a ? problem->scaling_a : problem->scaling_b;
  const tsl_shape *shape = tsl_problem_shape(problem, operand);
  const char *name = is_a ? "scale_a" : "scale_b";
  const bool has_lines = scaling == TESELA_SCALE_LINES;
  if (scaling == TESELA_NO_SCALE)
    return TESELA_OK;
  TSL_TRY(
      tsl_shape_check(shape, name, is_a && has_lines ? problem->m : 1, !is_a && has_lines ? problem->n : 1));
  if (shape->type != TESELA_F32)
    return tsl_fail(TESELA_BAD_CALL, "%s is %s: scales are f32", name, tsl_type(shape->type)->name);
  if (!is_a && shape->row_stride != 0)
    return tsl_fail(TESELA_BAD_CALL, "%s has a row stride: it scales columns, and its row stride must be 0",
                    name);
  if (is_a && shape->col_stride != 0)
    return tsl_fail(TESELA_BAD_CALL,
                    "%s has a column stride: it scales rows, and its column stride must "
                    "be 0",
                    name);
  return TESELA_OK;
}

static int64_t largest_magnitude_of_type(tesela_type type) {
  return type == TESELA_U8 ? 255 : 128;
}

/* Refuses a k at which sums of integers may wrap: the error of a wrapped sum would exceed any bound. */
static tesela_status check_depth_of_integers(const tsl_problem *problem) {
  const tsl_type_info *a = tsl_type(problem->a.type), *b = tsl_type(problem->b.type);
  if (a->is_integer != b->is_integer || (a->is_integer && (a->size != 1 || b->size != 1)))
    return tsl_fail(TESELA_BAD_CALL, "A is %s and B is %s: scales need sums in f32 or of 8-bit integers",
                    a->name, b->name);
  const int64_t term = a->is_integer ? largest_magnitude_of_type(a->type) * largest_magnitude_of_type(b->type)
                                     : 0,
                most = term > 0 ? INT32_MAX / term : INT64_MAX;
  if (problem->k > most)
    return tsl_fail(TESELA_BAD_CALL, "k is %lld: scaled sums of %s x %s fit 32 bits only up to k=%lld",
                    (long long)problem->k, a->name, b->name, (long long)most);
  return TESELA_OK;
}

static tesela_status check_scales(const tsl_problem *problem) {
  const tsl_type_info *c = tsl_type(problem->c.type);
  if (!tsl_problem_has_scales(problem))
    return TESELA_OK;
  if (c->is_integer || c->is_complex || c->sums != TESELA_F32)
    return tsl_fail(TESELA_BAD_CALL, "C is %s: products with scales have results of f32, f16 or bf16",
                    c->name);
  if (tsl_type(problem->a.type)->sums == TESELA_F64 || tsl_type(problem->b.type)->sums == TESELA_F64)
    return tsl_fail(TESELA_BAD_CALL, "A is %s and B is %s: scales need sums in f32 or of 8-bit integers",
                    tsl_type(problem->a.type)->name, tsl_type(problem->b.type)->name);
  TSL_TRY(check_depth_of_integers(problem));
  TSL_TRY(check_scale(problem, TSL_OPERAND_SCALE_A));
  return check_scale(problem, TSL_OPERAND_SCALE_B);
}

static tesela_status check_epilogue_enums(const tsl_problem *problem) {
  if ((unsigned)problem->bias_axis >= TESELA_ALONGS || (unsigned)problem->activation >= TESELA_ACTIVATIONS)
    return tsl_fail(TESELA_BAD_CALL, "bias_axis is %d and activation %d, which are none",
                    (int)problem->bias_axis, (int)problem->activation);
  if ((unsigned)problem->scaling_a >= TESELA_SCALINGS || (unsigned)problem->scaling_b >= TESELA_SCALINGS)
    return tsl_fail(TESELA_BAD_CALL, "scaling_a is %d and scaling_b %d, which are none",
                    (int)problem->scaling_a, (int)problem->scaling_b);
  return TESELA_OK;
}

static tesela_status check_epilogue(const tsl_problem *problem) {
  const tsl_type_info *c = tsl_type(problem->c.type);
  TSL_TRY(check_epilogue_enums(problem));
  if (!tsl_problem_has_epilogue(problem))
    return TESELA_OK;
  if (problem->op != TSL_OP_GEMM)
    return tsl_fail(TESELA_BAD_CALL, "a %s has neither bias nor activation nor scales",
                    tsl_op_name(problem->op));
  if (tsl_problem_has_structure(problem) || problem->in_place)
    return tsl_fail(TESELA_BAD_CALL, "a bias, an activation or scales need general matrices and all of C");
  TSL_TRY(check_scales(problem));
  if (c->is_integer)
    return tsl_fail(TESELA_BAD_CALL, "C is %s: integers have neither bias nor activation", c->name);
  if (c->is_complex && problem->activation != TESELA_NO_ACTIVATION)
    return tsl_fail(TESELA_BAD_CALL, "C is %s: there is no %s of complex numbers", c->name,
                    tsl_activation_name(problem->activation));
  return problem->bias_axis == TESELA_NO_BIAS ? TESELA_OK : check_bias(problem);
}

tesela_status tsl_problem_check(const tsl_problem *problem) {
  TSL_TRY(tsl_problem_check_all_but_epilogue(problem));
  return check_epilogue(problem);
}
