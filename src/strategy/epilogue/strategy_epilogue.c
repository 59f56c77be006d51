/* Epilogue on the host. A line of C runs along its smallest stride. Threads share blocks of lines that fit
 * the first-level cache:
 *
 *   C, as it is stored          a block, in the type of C's sums        C
 *   | . . . . . . . . |  --->   | x x x x |  + bias, f  --->            rounded once
 *   or its sums                   with scales: x a b alpha + beta C
 *
 * A vector along the line is converted into a second array; a vector across lines is one number per line. */
#include "strategy/epilogue/strategy_epilogue.h"

#include "host/int_math.h"

#include <math.h>
#include <string.h>

/* Elements of a block, and minimum elements of a task. */
enum { PIECE = 256, TASK_ELEMENTS_MIN = 1 << 14 };

typedef struct epilogue_job {
  const tsl_problem *problem;
  const tsl_operands *operands;
  int64_t lines, length; /* of one product */
  bool by_rows;
  bool is_scaled;                         /* the problem has scales, and sums with terms */
  int64_t pieces, count, blocks_per_task; /* blocks of a line; blocks of all products; blocks of a task */
} epilogue_job;

static const double root_half = 0.70710678118654752440, root_two_over_pi = 0.79788456080286535588,
                    cubic = 0.044715;
/* Limit below which both GELU are 0 in any type: x times an underflowing share would be NaN at -infinity. */
static const double least_gelu = -40;

static void strategy_epilogue_add_f32(float *x, const float *bias, int64_t bias_step, int64_t count) {
  for (int64_t i = 0; i < count; i++)
    x[i] += bias[i * bias_step];
}
static void strategy_epilogue_add_f64(double *x, const double *bias, int64_t bias_step, int64_t count) {
  for (int64_t i = 0; i < count; i++)
    x[i] += bias[i * bias_step];
}

/* Computes ReLU in place. NaN stays NaN. */
static void relu_f32(float *x, int64_t count) {
  for (int64_t i = 0; i < count; i++)
    x[i] = x[i] < 0 ? 0 : x[i];
}
static void relu_f64(double *x, int64_t count) {
  for (int64_t i = 0; i < count; i++)
    x[i] = x[i] < 0 ? 0 : x[i];
}

/* Returns exp(y), -87 <= y <= 88, to a few ulp: 2^whole times a series of the rest, at most ln(2) / 2. */
static inline float power(float y) {
  static const float steps = 12582912; /* 1.5 * 2^23: adding it rounds to a whole number */
  const float whole = (y * 1.44269504088896340736f + steps) - steps;
  const float r =
      (y - whole * 0.693359375f) + whole * 2.12194440e-4f; /* ln(2) in two parts, the first with 9 digits */
  const float series =
      1 + r * (1 + r * (1.0f / 2 + r * (1.0f / 6 + r * (1.0f / 24 + r * (1.0f / 120 + r * (1.0f / 720))))));
  const int32_t bits = ((int32_t)whole + 127) * (1 << 23);
  float scale;
  memcpy(&scale, &bits, sizeof scale);
  return series * scale;
}

/* Computes GELU in place with a polynomial of error at most 0.75e-7 (Abramowitz, Stegun 1964, 7.1.26),
 * without branches and calls: compilers vectorize it. */
static void gelu_f32(float *x, int64_t count) {
  for (int64_t i = 0; i < count; i++) {
    const float z = fabsf(x[i]) * (float)root_half, near = z < 9 ? z : 9, t = 1 / (1 + 0.3275911f * near);
    const float sum = t * (0.254829592f +
                           t * (-0.284496736f + t * (1.421413741f + t * (-1.453152027f + t * 1.061405429f))));
    const float tail = 0.5f * sum * power(-near * near), share = x[i] < 0 ? tail : 1 - tail, y = x[i] * share;
    x[i] = x[i] < (float)least_gelu ? 0 : y;
  }
}
static void gelu_f64(double *x, int64_t count) {
  for (int64_t i = 0; i < count; i++)
    x[i] = x[i] < least_gelu ? 0 : 0.5 * x[i] * (1 + erf(x[i] * root_half));
}

/* Computes GELU by tanh in place; (1 + tanh(x)) / 2 = 1 / (1 + exp(-2 x)). */
static void gelu_tanh_f32(float *x, int64_t count) {
  for (int64_t i = 0; i < count; i++) {
    const float inner = (float)(-2 * root_two_over_pi) * (x[i] + (float)cubic * x[i] * x[i] * x[i]);
    const float low = inner > -87 ? inner : -87, near = low < 88 ? low : 88, y = x[i] / (1 + power(near));
    x[i] = x[i] < (float)least_gelu ? 0 : y;
  }
}
static void gelu_tanh_f64(double *x, int64_t count) {
  for (int64_t i = 0; i < count; i++) {
    const double inner = root_two_over_pi * (x[i] + cubic * x[i] * x[i] * x[i]);
    x[i] = x[i] < least_gelu ? 0 : 0.5 * x[i] * (1 + tanh(inner));
  }
}

typedef void function_f32(float *x, int64_t count);
typedef void function_f64(double *x, int64_t count);
static function_f32 *const functions_f32[TESELA_ACTIVATIONS] = {
    [TESELA_RELU] = relu_f32, [TESELA_GELU] = gelu_f32, [TESELA_GELU_TANH] = gelu_tanh_f32};
static function_f64 *const functions_f64[TESELA_ACTIVATIONS] = {
    [TESELA_RELU] = relu_f64, [TESELA_GELU] = gelu_f64, [TESELA_GELU_TANH] = gelu_tanh_f64};

typedef union strategy_epilogue_piece {
  float f32[2 * PIECE];
  double f64[2 * PIECE];
  int32_t i32[2 * PIECE];
} strategy_epilogue_piece;

typedef struct strategy_epilogue_stretch {
  int64_t product, line, first, count; /* a block: elements first to first + count - 1 of a line of C */
} strategy_epilogue_stretch;

static int64_t strategy_epilogue_element_stride(const epilogue_job *job, const tsl_operand *operand) {
  return job->by_rows ? operand->col_stride : operand->row_stride;
}

/* Returns the address of the block's first element in an operand of `type`. */
static unsigned char *strategy_epilogue_address(const epilogue_job *job, const tsl_operand *operand,
                                                tesela_type type, const strategy_epilogue_stretch *stretch) {
  const int64_t line = job->by_rows ? operand->row_stride : operand->col_stride;
  return (unsigned char *)operand->host + (stretch->product * operand->batch_step + stretch->line * line +
                                           stretch->first * strategy_epilogue_element_stride(job, operand)) *
                                              (int64_t)tsl_type(type)->size;
}

/* Converts the block's part of a vector to the type of the sums. Returns the step in `out`: 1; 0 for one
 * number. */
static int64_t load_vector(const epilogue_job *job, const tsl_operand *vector, tesela_type type,
                           const strategy_epilogue_stretch *stretch, strategy_epilogue_piece *out) {
  const tesela_type sums = tsl_type(job->problem->c.type)->sums;
  const int64_t step = strategy_epilogue_element_stride(job, vector);
  tsl_type_convert(type, strategy_epilogue_address(job, vector, type, stretch), step, sums, out, 1,
                   step != 0 ? (size_t)stretch->count : 1);
  return step != 0;
}

static void add_bias(const epilogue_job *job, const strategy_epilogue_stretch *stretch,
                     strategy_epilogue_piece *x) {
  const tsl_type_info *sums = tsl_type(tsl_type(job->problem->c.type)->sums);
  const bool is_double = sums->component == TESELA_F64;
  const int parts = sums->is_complex ? 2 : 1;
  strategy_epilogue_piece bias;
  const int64_t step = load_vector(job, &job->operands->bias, job->problem->bias.type, stretch, &bias);
  if (is_double && !step && parts == 2) {
    for (int64_t i = 0; i < 2 * stretch->count; i++)
      x->f64[i] += bias.f64[i % 2];
  } else if (!is_double && !step && parts == 2) {
    for (int64_t i = 0; i < 2 * stretch->count; i++)
      x->f32[i] += bias.f32[i % 2];
  } else if (is_double) {
    strategy_epilogue_add_f64(x->f64, bias.f64, step, parts * stretch->count);
  } else {
    strategy_epilogue_add_f32(x->f32, bias.f32, step, parts * stretch->count);
  }
}

static void strategy_epilogue_multiply_f32(float *x, const float *factors, int64_t step, int64_t count) {
  for (int64_t i = 0; i < count; i++)
    x[i] *= factors[i * step];
}

static void multiply_by_scale(const epilogue_job *job, const tsl_operand *scale,
                              const strategy_epilogue_stretch *stretch, strategy_epilogue_piece *x) {
  strategy_epilogue_piece by;
  const int64_t step = load_vector(job, scale, TESELA_F32, stretch, &by);
  strategy_epilogue_multiply_f32(x->f32, by.f32, step, stretch->count);
}

/* Gets a block of the separate sums as f32; integer sums are rounded. */
static void load_sums(const epilogue_job *job, const strategy_epilogue_stretch *stretch,
                      strategy_epilogue_piece *x) {
  const tsl_operand *sums = &job->operands->sums;
  const bool is_whole = tsl_type(job->problem->a.type)->is_integer;
  const tesela_type type = is_whole ? TESELA_I32 : TESELA_F32;
  strategy_epilogue_piece whole;
  tsl_type_convert(type, strategy_epilogue_address(job, sums, type, stretch),
                   strategy_epilogue_element_stride(job, sums), type, is_whole ? &whole : x, 1,
                   (size_t)stretch->count);
  for (int64_t i = 0; is_whole && i < stretch->count; i++)
    x->f32[i] = (float)whole.i32[i];
}

/* Gets a block of sums, multiplied by scales and alpha, plus beta C. */
static void scale_sums(const epilogue_job *job, const strategy_epilogue_stretch *stretch,
                       strategy_epilogue_piece *x) {
  const tsl_problem *problem = job->problem;
  const tsl_operands *operands = job->operands;
  const float alpha = (float)problem->alpha[0], beta = (float)problem->beta[0];
  load_sums(job, stretch, x);
  if (job->is_scaled && problem->scaling_a != TESELA_NO_SCALE)
    multiply_by_scale(job, &operands->scale_a, stretch, x);
  if (job->is_scaled && problem->scaling_b != TESELA_NO_SCALE)
    multiply_by_scale(job, &operands->scale_b, stretch, x);
  if (job->is_scaled && alpha != 1)
    strategy_epilogue_multiply_f32(x->f32, &alpha, 0, stretch->count);
  if (beta == 0)
    return;
  strategy_epilogue_piece before;
  const tsl_operand *c = &operands->c;
  tsl_type_convert(problem->c.type, strategy_epilogue_address(job, c, problem->c.type, stretch),
                   strategy_epilogue_element_stride(job, c), TESELA_F32, &before, 1, (size_t)stretch->count);
  for (int64_t i = 0; i < stretch->count; i++)
    x->f32[i] += beta * before.f32[i];
}

/* Applies the epilogue in place to one block of a line of C; `index` counts blocks of all products. */
static void finish_block(const epilogue_job *job, int64_t index) {
  const tsl_problem *problem = job->problem;
  const tsl_operand *c = &job->operands->c;
  const tesela_type type = problem->c.type, sums = tsl_type(type)->sums;
  const int64_t first = index % job->pieces * PIECE;
  const strategy_epilogue_stretch at = {.product = index / job->pieces / job->lines,
                                        .line = index / job->pieces % job->lines,
                                        .first = first,
                                        .count = tsl_min(job->length - first, PIECE)};
  unsigned char *to = strategy_epilogue_address(job, c, type, &at);
  strategy_epilogue_piece x;
  if (tsl_problem_has_scales(problem))
    scale_sums(job, &at, &x);
  else
    tsl_type_convert(type, to, strategy_epilogue_element_stride(job, c), sums, &x, 1, (size_t)at.count);
  if (problem->bias_axis != TESELA_NO_BIAS)
    add_bias(job, &at, &x);
  if (problem->activation != TESELA_NO_ACTIVATION && tsl_type(sums)->component == TESELA_F64)
    functions_f64[problem->activation](x.f64, at.count);
  else if (problem->activation != TESELA_NO_ACTIVATION)
    functions_f32[problem->activation](x.f32, at.count);
  tsl_type_convert(sums, &x, 1, type, to, strategy_epilogue_element_stride(job, c), (size_t)at.count);
}

static void finish_task(void *argument, int64_t index, int worker) {
  const epilogue_job *job = argument;
  const int64_t first = index * job->blocks_per_task, end = tsl_min(first + job->blocks_per_task, job->count);
  (void)worker;
  for (int64_t i = first; i < end; i++)
    finish_block(job, i);
}

void tsl_finish_on_host(const tsl_problem *problem, const tsl_operands *operands) {
  const tsl_operand *c = &operands->c;
  const bool by_rows =
      problem->n > 1 && (problem->m == 1 || tsl_abs(c->col_stride) <= tsl_abs(c->row_stride));
  epilogue_job job = {.problem = problem,
                      .operands = operands,
                      .by_rows = by_rows,
                      .is_scaled = problem->k > 0 && problem->alpha[0] != 0,
                      .lines = by_rows ? problem->m : problem->n,
                      .length = by_rows ? problem->n : problem->m};
  job.pieces = (job.length + PIECE - 1) / PIECE;
  job.count = tsl_problem_batch(problem) * job.lines * job.pieces;
  job.blocks_per_task = tsl_min(job.count, 1 + TASK_ELEMENTS_MIN / tsl_min(job.length, PIECE));
  tsl_team_run(operands->team, (job.count + job.blocks_per_task - 1) / job.blocks_per_task, finish_task,
               &job);
}
