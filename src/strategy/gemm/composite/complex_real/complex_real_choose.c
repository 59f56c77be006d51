#include "host/int_math.h"
#include "strategy/gemm/composite/complex_real/complex_real.h"
#include "strategy/host_jobs/host_job.h"

#include <math.h>

enum { LINE_UNIT = 16 }; /* unit of a line in scratch memory in real numbers: 64 bytes of f32 */

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

tsl_complex_real_strides tsl_complex_real_unchanged_strides(const tsl_complex_real_method *method,
                                                            const tsl_operands *operands) {
  return method->form == TSL_COMPLEX_REAL_SEPARATED ? tsl_complex_real_right(method->is_swapped, operands)
                                                    : tsl_complex_real_left(method->is_swapped, operands);
}

bool tsl_complex_real_is_contiguous(const tsl_complex_real_strides *strides, int64_t count) {
  return strides->along == 1 || count <= 1;
}

/* Returns true if rows are contiguous also in a packed copy, which is transposed if both strides are 1. */
static bool is_contiguous_when_packed(const tsl_complex_real_strides *strides, int64_t lines, int64_t count) {
  return tsl_complex_real_is_contiguous(strides, count) && (count <= 1 || lines <= 1 || strides->line != 1);
}

static bool has_complex_scalars(const tsl_problem *problem) {
  return problem->alpha[1] != 0 || problem->beta[1] != 0;
}

static bool complex_real_choose_is_empty(const tsl_problem *problem) {
  return problem->k == 0 || problem->m == 0 || problem->n == 0 ||
         (problem->alpha[0] == 0 && problem->alpha[1] == 0);
}

/* Returns the method with this form and orientation, without the sizes of scratch memory. */
static tsl_complex_real_method method_without_sizes(const tsl_problem *problem, int form, bool swapped) {
  const tsl_operands strides = tsl_strides_of(problem);
  const tsl_complex_real_strides c = tsl_complex_real_c(swapped, &strides);
  const bool imaginary_offset = form == TSL_COMPLEX_REAL_SEPARATED;
  tsl_complex_real_method method = {
      .form = form, .is_swapped = swapped, .is_empty = complex_real_choose_is_empty(problem)};
  const tsl_complex_real_strides stays = tsl_complex_real_unchanged_strides(&method, &strides);
  method.m = swapped ? problem->n : problem->m;
  method.n = swapped ? problem->m : problem->n;
  method.copies =
      !method.is_empty && !is_contiguous_when_packed(&stays, imaginary_offset ? problem->k : method.m,
                                                     imaginary_offset ? method.n : problem->k);
  method.is_staged = method.is_empty || imaginary_offset || has_complex_scalars(problem) ||
                     !tsl_complex_real_is_contiguous(&c, method.n);
  return method;
}

/* Returns the complex numbers that are moved besides the product: R read once and written twice, or L's parts
 * once each; a copy of the unchanged factor; sums read (separate ones twice, written twice as well) and C,
 * which costs more if it is not contiguous along its rows. */
static double moved_numbers(const tsl_problem *problem, const tsl_complex_real_method *method) {
  const tsl_operands strides = tsl_strides_of(problem);
  const tsl_complex_real_strides c = tsl_complex_real_c(method->is_swapped, &strides);
  const double k = (double)problem->k, left = k * (double)method->m, right = k * (double)method->n,
               elements = (double)method->m * (double)method->n,
               result = tsl_launch_along(c.along, c.line) ? 4 : 12;
  if (method->form == TSL_COMPLEX_REAL_SEPARATED)
    return 2 * left + (method->copies ? 2 * right : 0) + (result + 2) * elements;
  return 3 * right + (method->copies ? 2 * left : 0) + (method->is_staged ? result * elements : 0);
}

static tsl_complex_real_method choose_orientation(const tsl_problem *problem, int form) {
  const tsl_complex_real_method plain = method_without_sizes(problem, form, false),
                                swapped = method_without_sizes(problem, form, true);
  return moved_numbers(problem, &swapped) < moved_numbers(problem, &plain) ? swapped : plain;
}

/* Returns true if lines along n are faster. With tf32 units, transposing the copy costs more than it gains,
 * except for small products (docs/lab/complex_real.md). */
static bool is_faster_along_n(const tsl_problem *problem, bool swapped) {
  enum { SMALL = 1 << 19 };
  const tsl_operands strides = tsl_strides_of(problem);
  const tsl_complex_real_strides right = tsl_complex_real_right(swapped, &strides);
  const double elements = (double)problem->k * (double)(swapped ? problem->m : problem->n);
  return tsl_complex_real_product_accuracy(problem).truncates_inputs &&
         tsl_launch_along(right.along, right.line) && elements >= SMALL;
}

/* Returns the form and orientation that move the fewest bytes. */
static tsl_complex_real_method choose_form(const tsl_problem *problem) {
  tsl_complex_real_method expanded = choose_orientation(problem, TSL_COMPLEX_REAL_ALONG_K);
  const tsl_complex_real_method imaginary_offset = choose_orientation(problem, TSL_COMPLEX_REAL_SEPARATED);
  if (moved_numbers(problem, &imaginary_offset) < moved_numbers(problem, &expanded))
    return imaginary_offset;
  if (is_faster_along_n(problem, expanded.is_swapped))
    expanded.form = TSL_COMPLEX_REAL_ALONG_N;
  return expanded;
}

/* Returns the memory of `lines` lines of `length` real numbers for each product; lines are padded. */
static tsl_complex_real_scratch complex_real_choose_room_of(const tsl_problem *problem, int64_t lines,
                                                            int64_t length) {
  tsl_complex_real_scratch scratch = {.line = tsl_round_up(length, LINE_UNIT), .lines = lines};
  scratch.step = scratch.line * lines;
  scratch.elements = scratch.step * tsl_problem_batch(problem);
  return scratch;
}

tsl_complex_real_method tsl_complex_real_method_of(const tsl_problem *problem, const tsl_config *config) {
  const int form = (int)config->value[TSL_COMPLEX_REAL_FORM];
  tsl_complex_real_method method =
      form == TSL_COMPLEX_REAL_ANY ? choose_form(problem) : choose_orientation(problem, form);
  const bool imaginary_offset = method.form == TSL_COMPLEX_REAL_SEPARATED;
  const int64_t m = method.m, n = method.n, k = problem->k;
  if (method.is_empty)
    return method;
  method.prepared = imaginary_offset ? complex_real_choose_room_of(problem, 2 * m, k)
                    : method.form == TSL_COMPLEX_REAL_ALONG_K
                        ? complex_real_choose_room_of(problem, 2 * n, 2 * k)
                        : complex_real_choose_room_of(problem, 2 * k, 2 * n);
  if (method.copies)
    method.copy = imaginary_offset ? complex_real_choose_room_of(problem, k, 2 * n)
                                   : complex_real_choose_room_of(problem, m, 2 * k);
  if (method.is_staged)
    method.sums = complex_real_choose_room_of(problem, imaginary_offset ? 2 * m : m, 2 * n);
  return method;
}

uint64_t tsl_complex_real_bytes(const tsl_problem *problem, const tsl_complex_real_method *method) {
  const int64_t size = (int64_t)tsl_type(problem->c.type)->size / 2, line = 256 / size;
  return (uint64_t)(size *
                    (tsl_round_up(method->prepared.elements, line) +
                     tsl_round_up(method->copy.elements, line) + tsl_round_up(method->sums.elements, line)));
}

static tsl_problem complex_real_choose_product_of(const tsl_problem *problem, int64_t m, int64_t n,
                                                  int64_t k) {
  tsl_problem real = tsl_problem_gemm(m, n, k, tsl_type(problem->c.type)->component);
  real.batch = problem->batch;
  real.ask = problem->ask;
  return real;
}

tsl_problem tsl_complex_real_product(const tsl_problem *problem, const tsl_complex_real_method *method) {
  const tsl_operands strides = tsl_strides_of(problem);
  const int64_t stays =
      method->copies ? method->copy.line : 2 * tsl_complex_real_unchanged_strides(method, &strides).line;
  const bool imaginary_offset = method->form == TSL_COMPLEX_REAL_SEPARATED;
  tsl_problem real = imaginary_offset
                         ? complex_real_choose_product_of(problem, 2 * method->m, 2 * method->n, problem->k)
                         : complex_real_choose_product_of(problem, method->m, 2 * method->n, 2 * problem->k);
  real.a.row_stride = imaginary_offset ? method->prepared.line : stays;
  real.b.row_stride = imaginary_offset                           ? stays
                      : method->form == TSL_COMPLEX_REAL_ALONG_K ? 1
                                                                 : method->prepared.line;
  real.b.col_stride = method->form == TSL_COMPLEX_REAL_ALONG_K ? method->prepared.line : 1;
  real.c.row_stride =
      method->is_staged ? method->sums.line : 2 * tsl_complex_real_c(method->is_swapped, &strides).line;
  if (!method->is_staged) {
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

tsl_accuracy tsl_complex_real_product_accuracy(const tsl_problem *problem) {
  const tsl_problem real =
      complex_real_choose_product_of(problem, problem->m, 2 * problem->n, 2 * problem->k);
  tsl_accuracy result = tsl_accuracy_of_one_part(&real, &real, 1);
  result.factor = fmax(tsl_accuracy_of_parts(&real, 1).factor, result.factor - result_roundings);
  return result;
}
