#include "strategy/cost_counts.h"
#include "strategy/gemm/composite/complex_real/complex_real.h"
#include "strategy/model_constants.h"
#include "strategy/support.h"

#include "host/int_math.h"

#include <math.h>

/* Returns seconds from a fraction of the peak and of bandwidth, and whole tiles of C, which are narrow for
 * thin products. */
static double estimate_by_peak(const tsl_problem *real, const tsl_device *device) {
  enum { TILE = 128, NARROW = 16, THIN = 64 };
  const tsl_complex_constants *rates = &tsl_model_constants_of(device)->complex;
  const int64_t m = tsl_round_up(real->m, real->m <= THIN ? NARROW : TILE),
                n = tsl_round_up(real->n, real->n <= THIN ? NARROW : TILE);
  const double peak = real->c.type == TESELA_F64 ? device->peak_f64 : device->peak_f32,
               operations = 2 * (double)m * (double)n * (double)real->k * (double)tsl_problem_batch(real),
               computed = peak > 0 ? operations / (rates->product_fraction * peak) : 0,
               moved = device->bandwidth > 0
                           ? tsl_problem_bytes(real) / (rates->copy_fraction * device->bandwidth)
                           : 0;
  return device->launch_seconds + fmax(computed, moved);
}

/* Returns the least seconds of a product with a short k, whose kernels spend their time on the result. */
static double complex_real_result_seconds(const tsl_problem *real, const tsl_device *device) {
  const tsl_complex_constants *rates = &tsl_model_constants_of(device)->complex;
  const double bytes = (double)real->m * (double)real->n * (double)tsl_problem_batch(real) *
                       (double)tsl_type(real->c.type)->size;
  return device->bandwidth > 0 ? rates->result_traffic * bytes / (rates->copy_fraction * device->bandwidth)
                               : 0;
}

/* Returns the real numbers that are read and written besides the product, and the sums in excess of C. */
static double complex_real_moved(const tsl_problem *problem, const tsl_complex_real_method *method) {
  const double elements = 2 * (double)problem->m * (double)problem->n * (double)tsl_problem_batch(problem);
  const bool imaginary_offset = method->form == TSL_COMPLEX_REAL_SEPARATED,
             reads = problem->beta[0] != 0 || problem->beta[1] != 0;
  return (imaginary_offset ? 2 : 1.5) * (double)method->prepared.elements +
         2 * (double)method->copy.elements +
         (method->is_staged ? (2 + reads + (imaginary_offset ? 2 : 0)) * elements : 0);
}

static int count_launches(const tsl_complex_real_method *method) {
  return !method->is_empty + method->copies + method->is_staged;
}

/* Evaluates models only for the form that is chosen automatically; a named form cannot be faster. */
double tsl_complex_real_seconds(const tsl_problem *problem, const tsl_config *config,
                                const tsl_device *device, tsl_all_strategies *list) {
  const tsl_complex_constants *rates = &tsl_model_constants_of(device)->complex;
  const tsl_complex_real_method method = tsl_complex_real_method_of(problem, config);
  const tsl_problem real = tsl_complex_real_product(problem, &method);
  const double size = (double)tsl_type(problem->c.type)->size / 2;
  double product = method.is_empty ? 0 : estimate_by_peak(&real, device);
  if (config->value[TSL_COMPLEX_REAL_FORM] == TSL_COMPLEX_REAL_ANY && !method.is_empty)
    product = fmin(product, (real.c.type == TESELA_F32 ? rates->measured_over_model : 1) *
                                tsl_strategy_fastest_within(&real, tsl_complex_real_product_accuracy(problem),
                                                            device, list));
  if (!method.is_empty && !device->is_cpu)
    product = fmax(product, complex_real_result_seconds(&real, device));
  return product + count_launches(&method) * device->launch_seconds +
         (device->bandwidth > 0
              ? complex_real_moved(problem, &method) * size / (rates->copy_fraction * device->bandwidth)
              : 0);
}

void tsl_complex_real_account(const tsl_problem *problem, const tsl_config *config, const tsl_device *device,
                              tsl_cost_counts *account) {
  const tsl_complex_real_method method = tsl_complex_real_method_of(problem, config);
  const double size = (double)tsl_type(problem->c.type)->size / 2;
  tsl_cost_counts_operands(problem, (double)problem->m * (double)problem->k,
                           (double)problem->k * (double)problem->n, account);
  tsl_cost_counts_result(problem, 1, account);
  tsl_cost_counts_copies(size * complex_real_moved(problem, &method) / 2, account);
  account->launches = count_launches(&method) + !method.is_empty;
  account->workers = fmin(device->compute_units,
                          (double)problem->m * (double)problem->n * (double)tsl_problem_batch(problem));
}
