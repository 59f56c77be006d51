#include "api/small_gemm.h"

#include "api/gemm_key.h"
#include "core/floats.h"
#include "dispatch/crossovers.h"
#include "dispatch/direct_rule.h"
#include "planner/planner.h"
#include "strategy/host_jobs/host_job.h"

#include <math.h>

tesela_status tsl_small_gemm_begin(tesela_context *context, tsl_small_gemm_finding *state) {
  state->context = context;
  state->known = NULL;
  state->choice = (tsl_choice){.vendors = tsl_planner_vendors(), .sparing = true};
  state->problem =
      (tsl_problem){.op = TSL_OP_GEMM, .ask = context->ask}; /* each product sets the other members */
  TSL_TRY(tsl_api_devices(context, &state->choice.devices));
  TSL_TRY(tsl_api_wisdom(context, &state->known));
  state->choice.wisdom = state->known->wisdom;
  state->cpu = tsl_devices_of_kind(state->choice.devices, 0, 0);
  return TESELA_OK;
}

void tsl_small_gemm_end(tsl_small_gemm_finding *state) {
  tsl_api_wisdom_release(state->known);
}

/* Writes the memory range of lines that are `line_distance` elements apart. Returns false if lines overlap,
 * or an element is not aligned. */
static bool small_gemm_extent(const void *data, int64_t lines, int64_t length, int64_t line_distance,
                              int64_t size, uintptr_t *start, uintptr_t *end) {
  *start = (uintptr_t)data;
  if (line_distance < length || line_distance > INT32_MAX || !data || (*start & (uintptr_t)(size - 1)) != 0)
    return false;
  *end = *start + (uintptr_t)(((lines - 1) * line_distance + length) * size);
  return *end > *start;
}

/* Returns false unless rows or columns are contiguous and aligned. */
static bool small_gemm_place(const tesela_matrix *matrix, int64_t rows, int64_t cols, int64_t size,
                             tsl_shape *shape, uintptr_t *start, uintptr_t *end) {
  tsl_api_strides(matrix, rows, cols, &shape->row_stride, &shape->col_stride);
  shape->rows = rows;
  shape->cols = cols;
  return shape->col_stride == 1
             ? small_gemm_extent(matrix->data, rows, cols, shape->row_stride, size, start, end)
             : shape->row_stride == 1 &&
                   small_gemm_extent(matrix->data, cols, rows, shape->col_stride, size, start, end);
}

static bool is_small(const tesela_gemm_desc *desc) {
  return desc->m > 0 && desc->n > 0 && desc->k > 0 && desc->m <= tsl_crossovers.direct_side &&
         desc->n <= tsl_crossovers.direct_side && desc->k <= tsl_crossovers.direct_side;
}

/* Rounds to f32 to nearest in any caller's mode, and raises no flag. */
static __attribute__((noinline)) double rounded(double value) {
  TSL_DEFAULT_FLOATS;
  const volatile double exact = value; /* prevents rounding at compile time */
  return (double)(float)exact;
}

/* Rounds as tsl_problem_round() does. 0 and 1 need no rounding. */
static double small_gemm_factor(const double *argument, double fallback, tesela_type type) {
  const double value = argument ? *argument : fallback;
  return type != TESELA_F32 || value == 0 || value == 1 ? value : rounded(value);
}

bool tsl_small_gemm_take(tsl_small_gemm_finding *state, const tesela_gemm_desc *desc, tsl_small_gemm *out) {
  tsl_dispatch_key key;
  tsl_problem *p = &state->problem;
  const tesela_matrix c = tsl_api_as_matrix(&desc->c);
  uintptr_t start[TSL_OPERAND_C], end[TSL_OPERAND_C];
  if (!is_small(desc) || !tsl_gemm_key(state->context, desc, &key))
    return false;
  const tesela_type type = desc->a.type == TESELA_TYPE_DEFAULT ? TESELA_F32 : desc->a.type;
  const int64_t size = type == TESELA_F64 ? 8 : 4;
  p->m = desc->m;
  p->n = desc->n;
  p->k = desc->k;
  p->a.type = p->b.type = p->c.type = type;
  p->alpha[0] = small_gemm_factor(desc->alpha, 1, type);
  p->beta[0] = small_gemm_factor(desc->beta, 0, type);
  state->choice.device = desc->options.device ? desc->options.device : state->context->device;
  if (!isfinite(p->alpha[0]) || !isfinite(p->beta[0]) ||
      !small_gemm_place(&desc->a, p->m, p->k, size, &p->a, &start[TSL_OPERAND_A], &end[TSL_OPERAND_A]) ||
      !small_gemm_place(&desc->b, p->k, p->n, size, &p->b, &start[TSL_OPERAND_B], &end[TSL_OPERAND_B]) ||
      !small_gemm_place(&c, p->m, p->n, size, &p->c, &out->start, &out->end))
    return false;
  for (int i = 0; i < TSL_OPERAND_C; i++)
    if (start[i] < out->end && out->start < end[i])
      return false;
  out->is_dense = out->end - out->start == (uintptr_t)(p->m * p->n * size);
  tsl_operands operands = tsl_strides_of(p);
  operands.a.host = tsl_writable(desc->a.data);
  operands.b.host = tsl_writable(desc->b.data);
  operands.c.host = desc->c.data;
  out->call = tsl_call_of(p, &operands);
  return tsl_direct_strategy(p, &state->choice) != NULL;
}

bool tsl_small_gemm_run(tesela_context *context, const tesela_gemm_desc *desc) {
  tsl_small_gemm_finding finding;
  tsl_small_gemm gemm;
  if (!is_small(desc))
    return false;
  const bool taken =
      tsl_small_gemm_begin(context, &finding) == TESELA_OK && tsl_small_gemm_take(&finding, desc, &gemm);
  tsl_small_gemm_end(&finding);
  return taken && tsl_dispatch(&gemm.call, finding.cpu, NULL);
}
