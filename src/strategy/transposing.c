#include "strategy/transposing.h"

#include "base/status.h"

/* kernel/transpose.h has the same struct for the device. alpha ends it where it scales, in the element's type. */
typedef struct tsl_transpose_sizes {
  int64_t m, n;
  int64_t a_offset, a_row_stride, a_col_stride;
  int64_t c_offset, c_row_stride, c_col_stride;
} tsl_transpose_sizes;
typedef struct tsl_transpose_arguments_f32 {
  tsl_transpose_sizes sizes;
  float alpha, unused;
} tsl_transpose_arguments_f32;
typedef struct tsl_transpose_arguments_f64 {
  tsl_transpose_sizes sizes;
  double alpha;
} tsl_transpose_arguments_f64;

static bool scales(const tsl_problem *problem) {
  return problem->alpha[0] != 1 || problem->alpha[1] != 0;
}

tsl_accuracy tsl_transpose_accuracy(const tsl_problem *problem, const tsl_config *config) {
  (void)config;
  return (tsl_accuracy){.factor = scales(problem) ? 1 : 0, .repeats = true};
}

const char *tsl_transpose_refuse_scaling(const tsl_problem *problem) {
  const tesela_type type = problem->c.type;
  if (scales(problem) && type != TESELA_F32 && type != TESELA_F64)
    return tsl_refusal("moves %s, but scales f32 and f64 only", tsl_type(type)->name);
  return NULL;
}

tesela_status tsl_transpose_build(tsl_work *work, const char *path, const char *kernel,
                                  const tsl_grid *grid) {
  const tsl_problem *problem = &work->problem;
  tsl_text defines = {0};
  if (!scales(problem))
    tsl_text_add(&defines, "#define TSL_MOVED_BYTES %zu\n", tsl_type(problem->c.type)->size);
  if (problem->in_place)
    tsl_text_add(&defines, "#define TSL_IN_PLACE 1\n");
  tesela_status status = tsl_text_status(&defines);
  if (status == TESELA_OK)
    status = tsl_launch_build_with(work, path, kernel, grid,
                                   scales(problem) ? problem->c.type : TESELA_TYPE_DEFAULT,
                                   tsl_text_get(&defines));
  tsl_text_free(&defines);
  return status;
}

tesela_status tsl_transpose_launch(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream) {
  const tsl_launch *launch = work->state;
  const tsl_problem *problem = &work->problem;
  const tsl_operand *c = &operands->c, *a = operands->a.buffer ? &operands->a : c;
  const tsl_transpose_sizes sizes = {.m = problem->m,
                                     .n = problem->n,
                                     .a_offset = a->offset,
                                     .a_row_stride = a->row_stride,
                                     .a_col_stride = a->col_stride,
                                     .c_offset = c->offset,
                                     .c_row_stride = c->row_stride,
                                     .c_col_stride = c->col_stride};
  const tsl_transpose_arguments_f32 single = {sizes, (float)problem->alpha[0], 0};
  const tsl_transpose_arguments_f64 twice = {sizes, problem->alpha[0]};
  const bool is_single = scales(problem) && problem->c.type == TESELA_F32;
  const tsl_argument arguments[] = {TSL_ARG_BUFFER(a->buffer), TSL_ARG_BUFFER(c->buffer),
                                    is_single         ? TSL_ARG_VALUE(single)
                                    : scales(problem) ? TSL_ARG_VALUE(twice)
                                                      : TSL_ARG_VALUE(sizes)};
  return work->device->ops->launch(stream, launch->kernel, &launch->grid, arguments,
                                   sizeof arguments / sizeof *arguments);
}

double tsl_transpose_seconds(const tsl_problem *problem, const tsl_device *device, double efficiency) {
  return tsl_problem_bytes(problem) / (efficiency * device->bandwidth) + device->launch_seconds;
}
