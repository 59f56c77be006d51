#include "strategy/epilogue/strategy_epilogue.h"

#include "core/status.h"
#include "host/int_math.h"
#include "strategy/epilogue/finish_shared.h"
#include "strategy/params.h"
#include "strategy/strategy_list.h"

#include <stdio.h>

/* Items of a group (ACROSS along a line, LINES across lines), elements of an item (EACH_NARROW: of two-byte
 * types), groups per unit. */
enum { ACROSS = 64, LINES = 4, EACH = 4, EACH_NARROW = 16, UNIT_GROUPS = 16 };

/* Defines FINISH_SUMS: 0 no scales, 1 sums in f32, 2 in i32. Defines FINISH_SCALES with bits 1 (scale_a), 2
 * (scale_b), 4 (alpha), and FINISH_BEFORE: C is read. */
static void define_sums(const tsl_problem *problem, tsl_text *defines) {
  const bool is_whole = tsl_type(problem->a.type)->is_integer;
  const int scales = (problem->scaling_a != TESELA_NO_SCALE ? 1 : 0) |
                     (problem->scaling_b != TESELA_NO_SCALE ? 2 : 0) | (problem->alpha[0] != 1 ? 4 : 0);
  const bool is_scaled = problem->k > 0 && problem->alpha[0] != 0;
  tsl_text_add(defines, "#define FINISH_SUMS %d\n#define FINISH_SCALES %d\n#define FINISH_BEFORE %d\n",
               !tsl_problem_has_scales(problem) ? 0
               : is_whole                       ? 2
                                                : 1,
               is_scaled ? scales : 0, problem->beta[0] != 0);
}

/* Compiles strategy_epilogue.cl with the lines of `define`. The work's device owns the kernel. */
static tesela_status epilogue_kernel_build(tsl_work *work,
                                           void (*define)(const tsl_problem *problem, tsl_text *defines),
                                           tsl_kernel **kernel) {
  /* relaxed arithmetic, an option of the product, does not apply */
  tsl_work own = *work;
  const tesela_type type = work->problem.c.type, bias = work->problem.bias.type;
  const int of_c = tsl_launch_type_code(type), added = work->problem.bias_axis == TESELA_NO_BIAS ? 0
                                                       : bias == type                            ? 1
                                                                                                 : 2;
  tsl_text defines = {0};
  own.strategy = tsl_strategy_specification(work->problem.op);
  own.config = tsl_strategy_defaults(own.strategy);
  tsl_text_add(&defines,
               "#define TSL_TYPE_AB %d\n#define TSL_TYPE_C %d\n#define FINISH_BIAS %d\n"
               "#define FINISH_FUNCTION %d\n#define FINISH_PLACES %d\n",
               of_c, of_c, added, (int)work->problem.activation, tsl_problem_precision_bits(&work->problem));
  define(&work->problem, &defines);
  tesela_status status = tsl_text_status(&defines);
  if (status == TESELA_OK)
    status = tsl_launch_kernel_with(&own, "strategy/epilogue/strategy_epilogue.cl", "tsl_finish_result",
                                    ACROSS * LINES, tsl_text_get(&defines), kernel);
  tsl_text_free(&defines);
  TSL_TRY(status);
  work->build_seconds = own.build_seconds;
  work->source_count = own.source_count;
  work->source_hash = own.source_hash;
  return TESELA_OK;
}

tesela_status tsl_finish_build(tsl_work *work, tsl_kernel **kernel) {
  return epilogue_kernel_build(work, define_sums, kernel);
}

static tsl_finish_steps epilogue_kernel_steps_of(const tsl_operand *operand, bool by_rows) {
  return (tsl_finish_steps){.offset = operand->offset,
                            .product_stride = operand->batch_step,
                            .line_stride = by_rows ? operand->row_stride : operand->col_stride,
                            .step = by_rows ? operand->col_stride : operand->row_stride};
}

/* Returns the operand's buffer, or C's for a missing operand: each pointer of a kernel needs a buffer. */
static tsl_argument buffer_of(const tsl_operand *operand, const tsl_operand *c) {
  return TSL_ARG_BUFFER(operand->buffer ? operand->buffer : c->buffer);
}

tesela_status tsl_finish_on_device(const tsl_work *work, tsl_kernel *kernel, const tsl_operands *operands,
                                   tsl_stream *stream) {
  const tsl_problem *problem = &work->problem;
  const tsl_device *device = work->device;
  const tsl_operand *c = &operands->c;
  const bool by_rows = tsl_launch_along(c->col_stride, c->row_stride) ? problem->n > 1 : problem->m == 1;
  const tsl_finish_arguments given = {.products = tsl_problem_batch(problem),
                                      .lines = by_rows ? problem->m : problem->n,
                                      .length = by_rows ? problem->n : problem->m,
                                      .c = epilogue_kernel_steps_of(c, by_rows),
                                      .bias = epilogue_kernel_steps_of(&operands->bias, by_rows),
                                      .sums = epilogue_kernel_steps_of(&operands->sums, by_rows),
                                      .scale_a = epilogue_kernel_steps_of(&operands->scale_a, by_rows),
                                      .scale_b = epilogue_kernel_steps_of(&operands->scale_b, by_rows),
                                      .alpha = (float)problem->alpha[0],
                                      .beta = (float)problem->beta[0]};
  const tsl_argument list[] = {TSL_ARG_BUFFER(c->buffer),        buffer_of(&operands->bias, c),
                               buffer_of(&operands->sums, c),    buffer_of(&operands->scale_a, c),
                               buffer_of(&operands->scale_b, c), TSL_ARG_VALUE(given)};
  const int64_t each = tsl_type(problem->c.type)->size == 2 ? EACH_NARROW : EACH,
                across = tsl_ceil_div(given.length, ACROSS * each),
                down = tsl_ceil_div(given.lines * given.products, LINES),
                most = (int64_t)UNIT_GROUPS * tsl_max(device->compute_units, 1);
  const tsl_grid grid = {
      {tsl_launch_limited(device, 0, tsl_min(across, most)),
       tsl_launch_limited(device, 1, tsl_min(down, tsl_ceil_div(most, tsl_min(across, most)))), 1},
      {ACROSS, LINES, 1}};
  return device->ops->launch(stream, kernel, &grid, list, sizeof list / sizeof *list);
}

static void define_rounding(const tsl_problem *problem, tsl_text *defines) {
  tsl_text_add(defines, "#define FINISH_SUMS 1\n#define FINISH_SCALES %d\n#define FINISH_BEFORE %d\n",
               problem->alpha[0] != 1 ? 4 : 0, problem->beta[0] != 0);
}

static tesela_status build_and_enqueue(tsl_device *device, const tsl_problem *problem,
                                       void (*define)(const tsl_problem *problem, tsl_text *defines),
                                       const tsl_operands *operands, tsl_stream *stream) {
  tsl_work work = {.problem = *problem, .device = device};
  tsl_kernel *kernel;
  TSL_TRY(epilogue_kernel_build(&work, define, &kernel));
  return tsl_finish_on_device(&work, kernel, operands, stream);
}

tesela_status tsl_finish_round(tsl_device *device, const tsl_problem *problem, const tsl_operands *operands,
                               tsl_stream *stream) {
  return build_and_enqueue(device, problem, define_rounding, operands, stream);
}

tesela_status tsl_finish_add(tsl_device *device, const tsl_problem *problem, const tsl_operands *operands,
                             tsl_stream *stream) {
  return build_and_enqueue(device, problem, define_sums, operands, stream);
}

double tsl_finish_seconds(const tsl_problem *problem, const tsl_device *device) {
  const double elements = (double)problem->m * (double)problem->n * (double)tsl_problem_batch(problem),
               size = (double)tsl_type(problem->c.type)->size,
               before =
                   tsl_problem_needs_separate_sums(problem) ? 4 + (problem->beta[0] != 0 ? size : 0) : size;
  return tsl_problem_has_epilogue(problem) && device->bandwidth > 0
             ? elements * (before + size) / device->bandwidth
             : 0;
}
