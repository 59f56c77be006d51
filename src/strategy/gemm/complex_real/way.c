/* Which factor stays, what needs scratch memory, and the real product of it. */
#include "host/split.h"
#include "strategy/gemm/complex_real/complex_real.h"
#include "strategy/prepared.h"

#include <math.h>

/* Real numbers that a line in scratch memory is a multiple of: 64 bytes of f32. */
enum { GRAIN = 16 };

/* Roundings of alpha times a sum, of beta times what C holds, and of their sum. */
static const double result_roundings = 4;

/* --- oriented operands --- */

tsl_complex_real_strides tsl_complex_real_left(bool swapped, const tsl_operands *of) {
  return swapped ? (tsl_complex_real_strides){of->b.col_stride, of->b.row_stride}
                 : (tsl_complex_real_strides){of->a.row_stride, of->a.col_stride};
}

tsl_complex_real_strides tsl_complex_real_right(bool swapped, const tsl_operands *of) {
  return swapped ? (tsl_complex_real_strides){of->a.row_stride, of->a.col_stride}
                 : (tsl_complex_real_strides){of->b.col_stride, of->b.row_stride};
}

tsl_complex_real_strides tsl_complex_real_c(bool swapped, const tsl_operands *of) {
  return swapped ? (tsl_complex_real_strides){of->c.col_stride, of->c.row_stride}
                 : (tsl_complex_real_strides){of->c.row_stride, of->c.col_stride};
}

bool tsl_complex_real_follows(const tsl_complex_real_strides *strides, int64_t count) {
  return strides->along == 1 || count <= 1;
}

/* Whether that holds of a packed copy, too, which lies along the other way where both strides are 1. */
static bool surely_follows(const tsl_complex_real_strides *strides, int64_t lines, int64_t count) {
  return tsl_complex_real_follows(strides, count) && (count <= 1 || lines <= 1 || strides->line != 1);
}

/* --- the way --- */

static bool has_complex_scalars(const tsl_problem *problem) {
  return problem->alpha[1] != 0 || problem->beta[1] != 0;
}

static tsl_complex_real_way oriented(const tsl_problem *problem, bool swapped) {
  const tsl_operands of = tsl_strides_of(problem);
  const tsl_complex_real_strides left = tsl_complex_real_left(swapped, &of),
                                 c = tsl_complex_real_c(swapped, &of);
  tsl_complex_real_way way = {.is_swapped = swapped,
                              .is_empty = problem->k == 0 || problem->m == 0 || problem->n == 0 ||
                                          (problem->alpha[0] == 0 && problem->alpha[1] == 0)};
  way.m = swapped ? problem->n : problem->m;
  way.n = swapped ? problem->m : problem->n;
  way.copies = !way.is_empty && !surely_follows(&left, way.m, problem->k);
  way.is_staged = way.is_empty || has_complex_scalars(problem) || !tsl_complex_real_follows(&c, way.n);
  return way;
}

/* Complex numbers that pass through memory beside the product: read once, and written twice; copied; sums read, and C written. Where C does not lie along its
 * lines, that takes longer. */
static double moved(const tsl_problem *problem, const tsl_complex_real_way *way) {
  const tsl_operands of = tsl_strides_of(problem);
  const tsl_complex_real_strides c = tsl_complex_real_c(way->is_swapped, &of);
  const double k = (double)problem->k, elements = (double)way->m * (double)way->n;
  return way->is_empty ? 0
                       : 3 * k * (double)way->n + (way->copies ? 2 * k * (double)way->m : 0) +
                             (way->is_staged ? elements * (tsl_launch_along(c.along, c.line) ? 4 : 12) : 0);
}

static tsl_complex_real_room room_of(const tsl_problem *problem, int64_t lines, int64_t places) {
  tsl_complex_real_room room = {.line = tsl_round_up(places, GRAIN), .lines = lines};
  room.step = room.line * lines;
  room.elements = room.step * tsl_problem_batch(problem);
  return room;
}

tsl_complex_real_way tsl_complex_real_way_of(const tsl_problem *problem, const tsl_config *config) {
  const tsl_complex_real_way plain = oriented(problem, false), swapped = oriented(problem, true);
  tsl_complex_real_way way = moved(problem, &swapped) < moved(problem, &plain) ? swapped : plain;
  const bool along_k = config->value[TSL_COMPLEX_REAL_LINES] == TSL_COMPLEX_REAL_ALONG_K;
  const int64_t n = 2 * way.n, k = 2 * problem->k;
  if (way.is_empty)
    return way;
  way.expanded = along_k ? room_of(problem, n, k) : room_of(problem, k, n);
  if (way.copies)
    way.copy = room_of(problem, way.m, k);
  if (way.is_staged)
    way.sums = room_of(problem, way.m, n);
  return way;
}

uint64_t tsl_complex_real_bytes(const tsl_problem *problem, const tsl_complex_real_way *way) {
  const int64_t size = (int64_t)tsl_type(problem->c.type)->size / 2, line = 256 / size;
  return (uint64_t)(size * (tsl_round_up(way->expanded.elements, line) +
                            tsl_round_up(way->copy.elements, line) + tsl_round_up(way->sums.elements, line)));
}

/* --- the real product --- */

static tsl_problem product_of(const tsl_problem *problem, int64_t m, int64_t n) {
  tsl_problem real = tsl_problem_gemm(m, 2 * n, 2 * problem->k, tsl_type(problem->c.type)->component);
  real.batch = problem->batch;
  real.ask = problem->ask;
  return real;
}

tsl_problem tsl_complex_real_product(const tsl_problem *problem, const tsl_config *config,
                                     const tsl_complex_real_way *way) {
  const tsl_operands of = tsl_strides_of(problem);
  const bool along_k = config->value[TSL_COMPLEX_REAL_LINES] == TSL_COMPLEX_REAL_ALONG_K;
  tsl_problem real = product_of(problem, way->m, way->n);
  real.a.row_stride = way->copies ? way->copy.line : 2 * tsl_complex_real_left(way->is_swapped, &of).line;
  real.b.row_stride = along_k ? 1 : way->expanded.line;
  real.b.col_stride = along_k ? way->expanded.line : 1;
  real.c.row_stride = way->is_staged ? way->sums.line : 2 * tsl_complex_real_c(way->is_swapped, &of).line;
  if (!way->is_staged) {
    real.alpha[0] = problem->alpha[0];
    real.beta[0] = problem->beta[0];
  }
  return real;
}

/* Of each part, a sum of 2 k real terms. Where alpha and beta are brought to it later, these roundings are added to a careful sum's, and
 * what an ask allows has them already. */
tsl_accuracy tsl_complex_real_accuracy(const tsl_problem *problem, const tsl_config *config) {
  const tsl_problem real = product_of(problem, problem->m, problem->n);
  tsl_accuracy made = tsl_accuracy_asked_of_parts(&real, 1);
  (void)config;
  made.factor = fmax(made.factor, tsl_accuracy_of_parts(&real, 1).factor + result_roundings);
  return made;
}

tsl_accuracy tsl_complex_real_of_product(const tsl_problem *problem) {
  const tsl_problem real = product_of(problem, problem->m, problem->n);
  tsl_accuracy made = tsl_accuracy_of_one_part(&real, &real, 1);
  made.factor = fmax(tsl_accuracy_of_parts(&real, 1).factor, made.factor - result_roundings);
  return made;
}
