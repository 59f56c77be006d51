#include "host/int_math.h"
#include "strategy/gemm/composite/complex_real/complex_real.h"
#include "strategy/host_jobs/host_job.h"

#include <math.h>

enum { GRAIN = 16 }; /* unit of a line in scratch memory in real numbers: 64 bytes of f32 */

/* Roundings after the real product: sum of two parts' sums, alpha times that, beta times C, and their sum. */
static const double result_roundings = 5;

tsl_complex_real_strides tsl_complex_real_left(bool swapped, const tsl_operands *operands) {
  return swapped ? (tsl_complex_real_strides){operands->b.col_stride, operands->b.row_stride}
                 : (tsl_complex_real_strides){operands->a.row_stride, operands->a.col_stride};
}

tsl_complex_real_strides tsl_complex_real_right(bool swapped, const tsl_operands *operands) {
  return swapped ? (tsl_complex_real_strides){operands->a.col_stride, operands->a.row_stride}
                 : (tsl_complex_real_strides){operands->b.row_stride, operands->b.col_stride};
}

tsl_complex_real_strides tsl_complex_real_c(bool swapped, const tsl_operands *operands) {
  return swapped ? (tsl_complex_real_strides){operands->c.col_stride, operands->c.row_stride}
                 : (tsl_complex_real_strides){operands->c.row_stride, operands->c.col_stride};
}

tsl_complex_real_strides tsl_complex_real_staying(const tsl_complex_real_way *way,
                                                  const tsl_operands *operands) {
  return way->form == TSL_COMPLEX_REAL_APART ? tsl_complex_real_right(way->is_swapped, operands)
                                             : tsl_complex_real_left(way->is_swapped, operands);
}

bool tsl_complex_real_follows(const tsl_complex_real_strides *strides, int64_t count) {
  return strides->along == 1 || count <= 1;
}

/* Returns true if rows are contiguous also in a packed copy, which is transposed if both strides are 1. */
static bool surely_follows(const tsl_complex_real_strides *strides, int64_t lines, int64_t count) {
  return tsl_complex_real_follows(strides, count) && (count <= 1 || lines <= 1 || strides->line != 1);
}

static bool has_complex_scalars(const tsl_problem *problem) {
  return problem->alpha[1] != 0 || problem->beta[1] != 0;
}

static bool complex_real_choose_is_empty(const tsl_problem *problem) {
  return problem->k == 0 || problem->m == 0 || problem->n == 0 ||
         (problem->alpha[0] == 0 && problem->alpha[1] == 0);
}

/* Returns the method with this form and orientation, without the sizes of scratch memory. */
static tsl_complex_real_way oriented(const tsl_problem *problem, int form, bool swapped) {
  const tsl_operands strides = tsl_strides_of(problem);
  const tsl_complex_real_strides c = tsl_complex_real_c(swapped, &strides);
  const bool apart = form == TSL_COMPLEX_REAL_APART;
  tsl_complex_real_way way = {
      .form = form, .is_swapped = swapped, .is_empty = complex_real_choose_is_empty(problem)};
  const tsl_complex_real_strides stays = tsl_complex_real_staying(&way, &strides);
  way.m = swapped ? problem->n : problem->m;
  way.n = swapped ? problem->m : problem->n;
  way.copies =
      !way.is_empty && !surely_follows(&stays, apart ? problem->k : way.m, apart ? way.n : problem->k);
  way.is_staged =
      way.is_empty || apart || has_complex_scalars(problem) || !tsl_complex_real_follows(&c, way.n);
  return way;
}

/* Returns the complex numbers that are moved besides the product: R read once and written twice, or L's parts
 * once each; a copy of the unchanged factor; sums read (separate ones twice, written twice as well) and C,
 * which costs more if it is not contiguous along its rows. */
static double complex_real_choose_moved(const tsl_problem *problem, const tsl_complex_real_way *way) {
  const tsl_operands strides = tsl_strides_of(problem);
  const tsl_complex_real_strides c = tsl_complex_real_c(way->is_swapped, &strides);
  const double k = (double)problem->k, left = k * (double)way->m, right = k * (double)way->n,
               elements = (double)way->m * (double)way->n,
               result = tsl_launch_along(c.along, c.line) ? 4 : 12;
  if (way->form == TSL_COMPLEX_REAL_APART)
    return 2 * left + (way->copies ? 2 * right : 0) + (result + 2) * elements;
  return 3 * right + (way->copies ? 2 * left : 0) + (way->is_staged ? result * elements : 0);
}

static tsl_complex_real_way choose_orientation(const tsl_problem *problem, int form) {
  const tsl_complex_real_way plain = oriented(problem, form, false), swapped = oriented(problem, form, true);
  return complex_real_choose_moved(problem, &swapped) < complex_real_choose_moved(problem, &plain) ? swapped
                                                                                                   : plain;
}

/* Returns true if lines along n are faster. With tf32 units, transposing the copy costs more than it gains,
 * except for small products (docs/lab/complex_real.md). */
static bool is_faster_along_n(const tsl_problem *problem, bool swapped) {
  enum { SMALL = 1 << 19 };
  const tsl_operands strides = tsl_strides_of(problem);
  const tsl_complex_real_strides right = tsl_complex_real_right(swapped, &strides);
  const double elements = (double)problem->k * (double)(swapped ? problem->m : problem->n);
  return tsl_complex_real_of_product(problem).truncates_inputs && tsl_launch_along(right.along, right.line) &&
         elements >= SMALL;
}

/* Returns the form and orientation that move the fewest bytes. */
static tsl_complex_real_way choose_form(const tsl_problem *problem) {
  tsl_complex_real_way expanded = choose_orientation(problem, TSL_COMPLEX_REAL_ALONG_K);
  const tsl_complex_real_way apart = choose_orientation(problem, TSL_COMPLEX_REAL_APART);
  if (complex_real_choose_moved(problem, &apart) < complex_real_choose_moved(problem, &expanded))
    return apart;
  if (is_faster_along_n(problem, expanded.is_swapped))
    expanded.form = TSL_COMPLEX_REAL_ALONG_N;
  return expanded;
}

/* Returns the memory of `lines` lines of `places` real numbers for each product; lines are padded. */
static tsl_complex_real_room complex_real_choose_room_of(const tsl_problem *problem, int64_t lines,
                                                         int64_t places) {
  tsl_complex_real_room room = {.line = tsl_round_up(places, GRAIN), .lines = lines};
  room.step = room.line * lines;
  room.elements = room.step * tsl_problem_batch(problem);
  return room;
}

tsl_complex_real_way tsl_complex_real_way_of(const tsl_problem *problem, const tsl_config *config) {
  const int form = (int)config->value[TSL_COMPLEX_REAL_FORM];
  tsl_complex_real_way way =
      form == TSL_COMPLEX_REAL_ANY ? choose_form(problem) : choose_orientation(problem, form);
  const bool apart = way.form == TSL_COMPLEX_REAL_APART;
  const int64_t m = way.m, n = way.n, k = problem->k;
  if (way.is_empty)
    return way;
  way.made = apart                                  ? complex_real_choose_room_of(problem, 2 * m, k)
             : way.form == TSL_COMPLEX_REAL_ALONG_K ? complex_real_choose_room_of(problem, 2 * n, 2 * k)
                                                    : complex_real_choose_room_of(problem, 2 * k, 2 * n);
  if (way.copies)
    way.copy = apart ? complex_real_choose_room_of(problem, k, 2 * n)
                     : complex_real_choose_room_of(problem, m, 2 * k);
  if (way.is_staged)
    way.sums = complex_real_choose_room_of(problem, apart ? 2 * m : m, 2 * n);
  return way;
}

uint64_t tsl_complex_real_bytes(const tsl_problem *problem, const tsl_complex_real_way *way) {
  const int64_t size = (int64_t)tsl_type(problem->c.type)->size / 2, line = 256 / size;
  return (uint64_t)(size * (tsl_round_up(way->made.elements, line) + tsl_round_up(way->copy.elements, line) +
                            tsl_round_up(way->sums.elements, line)));
}

static tsl_problem complex_real_choose_product_of(const tsl_problem *problem, int64_t m, int64_t n,
                                                  int64_t k) {
  tsl_problem real = tsl_problem_gemm(m, n, k, tsl_type(problem->c.type)->component);
  real.batch = problem->batch;
  real.ask = problem->ask;
  return real;
}

tsl_problem tsl_complex_real_product(const tsl_problem *problem, const tsl_complex_real_way *way) {
  const tsl_operands strides = tsl_strides_of(problem);
  const int64_t stays = way->copies ? way->copy.line : 2 * tsl_complex_real_staying(way, &strides).line;
  const bool apart = way->form == TSL_COMPLEX_REAL_APART;
  tsl_problem real = apart ? complex_real_choose_product_of(problem, 2 * way->m, 2 * way->n, problem->k)
                           : complex_real_choose_product_of(problem, way->m, 2 * way->n, 2 * problem->k);
  real.a.row_stride = apart ? way->made.line : stays;
  real.b.row_stride = apart ? stays : way->form == TSL_COMPLEX_REAL_ALONG_K ? 1 : way->made.line;
  real.b.col_stride = way->form == TSL_COMPLEX_REAL_ALONG_K ? way->made.line : 1;
  real.c.row_stride =
      way->is_staged ? way->sums.line : 2 * tsl_complex_real_c(way->is_swapped, &strides).line;
  if (!way->is_staged) {
    real.alpha[0] = problem->alpha[0];
    real.beta[0] = problem->beta[0];
  }
  return real;
}

/* Returns the error bound of a component: a sum of 2 k real terms, or of two sums of k. Roundings of alpha
 * and beta are added to a careful sum's bound; the allowed error of a requirement includes them. */
tsl_accuracy tsl_complex_real_accuracy(const tsl_problem *problem, const tsl_config *config) {
  const tsl_problem real =
      complex_real_choose_product_of(problem, problem->m, 2 * problem->n, 2 * problem->k);
  tsl_accuracy result = tsl_accuracy_asked_of_parts(&real, 1);
  (void)config;
  result.factor = fmax(result.factor, tsl_accuracy_of_parts(&real, 1).factor + result_roundings);
  return result;
}

tsl_accuracy tsl_complex_real_of_product(const tsl_problem *problem) {
  const tsl_problem real =
      complex_real_choose_product_of(problem, problem->m, 2 * problem->n, 2 * problem->k);
  tsl_accuracy result = tsl_accuracy_of_one_part(&real, &real, 1);
  result.factor = fmax(tsl_accuracy_of_parts(&real, 1).factor, result.factor - result_roundings);
  return result;
}
