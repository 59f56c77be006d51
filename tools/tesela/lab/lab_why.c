/* Why a kernel is faster or slower than the rung that it began as: by the loads that the detector counted. */
#include "lab/lab_why.h"

#include <math.h>

/* Returns the rung's counts with the kernel's own loads, stores and barriers. Sums and vectors are the
 * rung's: a compiler is expected to treat both kernels alike. */
static tsl_cost_counts count_kernel(const tsl_lab_report *report, const tsl_problem *problem,
                                    const tsl_cost_counts *rung) {
  tsl_cost_counts account = *rung;
  const double size = (double)tsl_type(problem->c.type)->size, each = account.useful / report->products,
               before = rung->global.read + rung->local.read;
  account.computed = account.useful;
  account.global = (tsl_moved){each * report->global_reads * size, each * report->global_writes * size};
  account.local = (tsl_moved){each * report->local_reads * size, each * report->local_writes * size};
  if (before > 0) /* as many elements to a load instruction, and bytes to a line, as in the rung */
    account.loads *= (account.global.read + account.local.read) / before;
  if (rung->global.read > 0) {
    account.touched *= account.global.read / rung->global.read;
    account.needed *= account.global.read / rung->global.read;
  }
  account.barriers = report->barriers > 0 ? rung->barriers : 0;
  return account;
}

void tsl_lab_explain(const tsl_problem *problem, const tsl_device *device, const tsl_race_entry *kernel,
                     const tsl_race_entry *rung, tsl_lab_report *report) {
  tsl_cost_report partner = tsl_cost_report_make(problem, rung->strategy, &rung->config, device);
  if (report->products <= 0 || !partner.has_counts || kernel->result != TSL_CASE_RIGHT ||
      rung->result != TSL_CASE_RIGHT)
    return;
  tsl_cost_report own = {.strategy = kernel->strategy, .device = device, .has_counts = true};
  own.account = count_kernel(report, problem, &partner.account);
  own.bounds = tsl_cost_counts_bounds(problem, device, &own.account);
  own.seconds = partner.seconds * tsl_cost_counts_seconds(problem, device, &own.account) /
                tsl_cost_counts_seconds(problem, device, &partner.account);
  own.measured = (tsl_cost_measured){kernel->timing.median, kernel->timing.first_quartile,
                                     kernel->timing.third_quartile};
  partner.measured =
      (tsl_cost_measured){rung->timing.median, rung->timing.first_quartile, rung->timing.third_quartile};
  const tsl_cost_comparison comparison = tsl_cost_report_compare(&own, &partner);
  tsl_text text = {0};
  tsl_cost_comparison_print(problem, &own, &comparison, &text);
  snprintf(report->partner, sizeof report->partner, "%.63s", rung->strategy->name);
  snprintf(report->why, sizeof report->why, "%.1000s", tsl_text_get(&text));
  snprintf(report->agreement, sizeof report->agreement, "%s", tsl_agreement_name(comparison.agreement));
  snprintf(report->reason, sizeof report->reason, "%s",
           comparison.reason < TSL_BOUND_COUNT ? tsl_bound_name(comparison.reason) : "");
  report->predicted_factor = comparison.predicted;
  report->measured_factor = comparison.measured;
  tsl_text_free(&text);
}
