#include "core/status.h"
#include "host/int_math.h"
#include "strategy/gemm/composite/complex_real/complex_real.h"

typedef struct complex_real_context {
  const tsl_work *work;
  const tsl_complex_real *self;
  const tsl_operands *operands;
  tsl_stream *stream;
} complex_real_context;

static const tsl_operand *complex_real_left_of(const complex_real_context *run) {
  return run->self->method.is_swapped ? &run->operands->b : &run->operands->a;
}

static const tsl_operand *right_of(const complex_real_context *run) {
  return run->self->method.is_swapped ? &run->operands->a : &run->operands->b;
}

/* Returns true if L (`left`) or R is conjugated. */
static bool complex_real_conjugates(const complex_real_context *run, bool left) {
  const tsl_problem *problem = &run->work->problem;
  return run->self->method.is_swapped == left ? problem->conjugate_b : problem->conjugate_a;
}

static tsl_grid complex_real_grid_of(const complex_real_context *run, int64_t groups_across,
                                     int64_t groups_down) {
  const tsl_device *device = run->work->device;
  return (tsl_grid){
      {tsl_launch_limited(device, 0, groups_across), tsl_launch_limited(device, 1, groups_down), 1},
      {COMPLEX_REAL_SIDE, COMPLEX_REAL_LINES, 1}};
}

static tesela_status complex_real_run_copy(const complex_real_context *run,
                                           const complex_real_copy *real_copy, const tsl_operand *from) {
  const tsl_grid grid =
      complex_real_grid_of(run, tsl_ceil_div(real_copy->length, COMPLEX_REAL_SIDE),
                           tsl_ceil_div(real_copy->lines, COMPLEX_REAL_SIDE) * real_copy->products);
  const tsl_argument list[] = {TSL_ARG_BUFFER(from->buffer), TSL_ARG_BUFFER(run->operands->scratch),
                               TSL_ARG_VALUE(*real_copy)};
  return run->work->device->ops->launch(run->stream, run->self->copy, &grid, list,
                                        sizeof list / sizeof *list);
}

/* Returns a copy of an operand to scratch memory, without lines. Products of a batch may share one matrix. */
static complex_real_copy complex_real_copy_of(const complex_real_context *run, const tsl_operand *operand,
                                              int64_t index, const tsl_complex_real_scratch *scratch) {
  const int64_t batch = tsl_problem_batch(&run->work->problem);
  const tsl_launch_wanted wanted = tsl_launch_wanted_of(run->work, run->operands);
  return (complex_real_copy){.products = operand->batch_step == 0 ? 1 : batch,
                             .offset = operand->offset,
                             .step = batch > 1 ? operand->batch_step : 0,
                             .to = index,
                             .to_line = scratch->line,
                             .to_step = scratch->step,
                             .wanted = wanted.at,
                             .wanted_above = wanted.above};
}

/* Sets the source of a copy: counts, and strides in complex numbers. */
static void set_lines(complex_real_copy *copy, int64_t lines, int64_t line_stride, int64_t length,
                      int64_t element_stride) {
  copy->lines = lines, copy->line_stride = line_stride;
  copy->length = length, copy->element_stride = element_stride;
  copy->is_across = !tsl_launch_along(element_stride, line_stride);
}

/* Expands R. L's imaginary parts have terms in a number's second column or, along n, in its second row. */
static tesela_status expand_right(const complex_real_context *run) {
  const tsl_complex_real *self = run->self;
  const tsl_complex_real_method *method = &self->method;
  const tsl_complex_real_strides right = tsl_complex_real_right(method->is_swapped, run->operands);
  const int64_t k = run->work->problem.k;
  const int right_sign = complex_real_conjugates(run, false) ? -1 : 1,
            left_sign = complex_real_conjugates(run, true) ? -1 : 1;
  complex_real_copy copy = complex_real_copy_of(run, right_of(run), self->prepared_offset, &method->prepared);
  copy.form = COMPLEX_REAL_EXPANDED;
  if (method->form == TSL_COMPLEX_REAL_ALONG_K) {
    set_lines(&copy, method->n, right.along, k, right.line);
    copy.sign[0] = -right_sign * left_sign, copy.sign[1] = right_sign, copy.sign[2] = left_sign;
  } else {
    set_lines(&copy, k, right.line, method->n, right.along);
    copy.sign[0] = right_sign, copy.sign[1] = -right_sign * left_sign, copy.sign[2] = left_sign;
  }
  return complex_real_run_copy(run, &copy, right_of(run));
}

/* Copies the real parts of L, and below these its imaginary parts, to scratch memory. */
static tesela_status separate_left(const complex_real_context *run) {
  const tsl_complex_real *self = run->self;
  const tsl_complex_real_strides left = tsl_complex_real_left(self->method.is_swapped, run->operands);
  complex_real_copy copy =
      complex_real_copy_of(run, complex_real_left_of(run), self->prepared_offset, &self->method.prepared);
  copy.form = COMPLEX_REAL_SEPARATED;
  set_lines(&copy, self->method.m, left.line, run->work->problem.k, left.along);
  return complex_real_run_copy(run, &copy, complex_real_left_of(run));
}

static bool is_separated(const complex_real_context *run) {
  return run->self->method.form == TSL_COMPLEX_REAL_SEPARATED;
}

static const tsl_operand *unchanged_factor(const complex_real_context *run) {
  return is_separated(run) ? right_of(run) : complex_real_left_of(run);
}

/* Returns the complex numbers of a row of the unchanged factor. */
static int64_t complex_real_length_of(const complex_real_context *run) {
  return is_separated(run) ? run->self->method.n : run->work->problem.k;
}

static tesela_status copy_unchanged_factor(const complex_real_context *run) {
  const tsl_complex_real_method *method = &run->self->method;
  const tsl_complex_real_strides strides = tsl_complex_real_unchanged_strides(method, run->operands);
  complex_real_copy copy =
      complex_real_copy_of(run, unchanged_factor(run), run->self->copy_offset, &method->copy);
  set_lines(&copy, is_separated(run) ? run->work->problem.k : method->m, strides.line,
            complex_real_length_of(run), strides.along);
  return complex_real_run_copy(run, &copy, unchanged_factor(run));
}

/* Returns a matrix in scratch memory from real number `index` on; `shared`: one for all products. */
static tsl_operand in_scratch(const complex_real_context *run, const tsl_complex_real_scratch *scratch,
                              int64_t index, bool shared) {
  return (tsl_operand){.buffer = run->operands->scratch,
                       .offset = index,
                       .row_stride = scratch->line,
                       .col_stride = 1,
                       .batch_step = shared ? 0 : scratch->step};
}

/* Returns a complex operand with contiguous rows, `line` numbers apart, as a matrix of real numbers. */
static tsl_operand as_real(const tsl_operand *operand, int64_t line) {
  return (tsl_operand){.buffer = operand->buffer,
                       .offset = 2 * operand->offset,
                       .row_stride = 2 * line,
                       .col_stride = 1,
                       .batch_step = 2 * operand->batch_step};
}

/* Enqueues the copies and the real product. Fails if the strides do not suit the plan. */
static tesela_status complex_real_multiply(const complex_real_context *run) {
  const tsl_complex_real *self = run->self;
  const tsl_complex_real_method *method = &self->method;
  const tsl_complex_real_strides strides = tsl_complex_real_unchanged_strides(method, run->operands),
                                 c = tsl_complex_real_c(method->is_swapped, run->operands);
  const bool stays = tsl_complex_real_is_contiguous(&strides, complex_real_length_of(run));
  if ((!stays && !method->copies) || (!method->is_staged && !tsl_complex_real_is_contiguous(&c, method->n)))
    return tsl_fail(TESELA_UNSUPPORTED,
                    "complex_real: operands do not lie along the lines that its plan is for");
  const tsl_operand as_it_lies = stays ? as_real(unchanged_factor(run), strides.line)
                                       : in_scratch(run, &method->copy, self->copy_offset,
                                                    unchanged_factor(run)->batch_step == 0),
                    expanded = in_scratch(
                        run, &method->prepared, self->prepared_offset,
                        (is_separated(run) ? complex_real_left_of(run) : right_of(run))->batch_step == 0);
  tsl_operands real = {.a = is_separated(run) ? expanded : as_it_lies,
                       .b = is_separated(run) ? as_it_lies : expanded,
                       .c = method->is_staged ? in_scratch(run, &method->sums, self->sums_offset, false)
                                              : as_real(&run->operands->c, c.line)};
  if (method->form == TSL_COMPLEX_REAL_ALONG_K) {
    real.b.col_stride = real.b.row_stride;
    real.b.row_stride = 1;
  }
  TSL_TRY(is_separated(run) ? separate_left(run) : expand_right(run));
  if (!stays)
    TSL_TRY(copy_unchanged_factor(run));
  const tsl_run_hints hints = {.wanted = run->operands->hints ? run->operands->hints->wanted
                                                              : (tsl_run_predicate){.is_set = false}};
  real.hints = &hints;
  return run->work->subplans->enqueue_as_given(self->child, &real, run->stream, run->operands->scratch);
}

typedef union complex_real_number {
  float f32;
  double f64;
} complex_real_number;

static complex_real_number complex_real_number_of(tesela_type type, double value) {
  complex_real_number out = {.f64 = value};
  if (type == TESELA_C64)
    out.f32 = (float)value;
  return out;
}

static tesela_status complex_real_finish(const complex_real_context *run) {
  const tsl_complex_real *self = run->self;
  const tsl_complex_real_method *method = &self->method;
  const tsl_problem *problem = &run->work->problem;
  const tsl_operand *c = &run->operands->c;
  const tsl_complex_real_strides strides = tsl_complex_real_c(method->is_swapped, run->operands);
  const int64_t batch = tsl_problem_batch(problem);
  const size_t size = tsl_type(problem->c.type)->size / 2;
  const int right = complex_real_conjugates(run, false) ? -1 : 1,
            left = complex_real_conjugates(run, true) ? -1 : 1;
  const tsl_launch_wanted wanted = tsl_launch_wanted_of(run->work, run->operands);
  const complex_real_result result = {.rows = method->m,
                                      .cols = method->n,
                                      .products = batch,
                                      .sums = self->sums_offset,
                                      .sums_row = method->sums.line,
                                      .sums_step = method->sums.step,
                                      .imaginary_offset =
                                          is_separated(run) ? method->m * method->sums.line : 0,
                                      .offset = c->offset,
                                      .row_stride = strides.line,
                                      .col_stride = strides.along,
                                      .step = batch > 1 ? c->batch_step : 0,
                                      .is_empty = method->is_empty,
                                      .reads = problem->beta[0] != 0 || problem->beta[1] != 0,
                                      .sign = {left * right, right, left},
                                      .wanted = wanted.at,
                                      .wanted_above = wanted.above};
  const tsl_grid grid = complex_real_grid_of(run, tsl_ceil_div(result.cols, COMPLEX_REAL_SIDE),
                                             tsl_ceil_div(result.rows * result.products, COMPLEX_REAL_LINES));
  const complex_real_number scalars[] = {complex_real_number_of(problem->c.type, problem->alpha[0]),
                                         complex_real_number_of(problem->c.type, problem->alpha[1]),
                                         complex_real_number_of(problem->c.type, problem->beta[0]),
                                         complex_real_number_of(problem->c.type, problem->beta[1])};
  /* Unused if method->is_empty. */
  const tsl_argument list[] = {TSL_ARG_BUFFER(method->is_empty ? c->buffer : run->operands->scratch),
                               TSL_ARG_BUFFER(c->buffer),
                               TSL_ARG_VALUE(result),
                               {.value = &scalars[0], .bytes = size},
                               {.value = &scalars[1], .bytes = size},
                               {.value = &scalars[2], .bytes = size},
                               {.value = &scalars[3], .bytes = size}};
  return run->work->device->ops->launch(run->stream, self->finish, &grid, list, sizeof list / sizeof *list);
}

tesela_status tsl_complex_real_run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream) {
  const complex_real_context run = {
      .work = work, .self = work->state, .operands = operands, .stream = stream};
  if (run.self->child)
    TSL_TRY(complex_real_multiply(&run));
  return run.self->method.is_staged ? complex_real_finish(&run) : TESELA_OK;
}
