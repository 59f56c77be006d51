#include "explain/cost_report.h"

#include "core/list_text.h"
#include "strategy/strategy_list.h"

#include <math.h>

tsl_cost_report tsl_cost_report_make(const tsl_problem *problem, const tsl_strategy *strategy,
                                     const tsl_config *config, const tsl_device *device) {
  tsl_cost_report counted = {
      .strategy = strategy, .device = device, .seconds = NAN, .measured = {NAN, NAN, NAN}};
  counted.has_counts = tsl_cost_counts_get(strategy, problem, config, device, &counted.account);
  counted.bounds = tsl_cost_counts_bounds(problem, device, &counted.account);
  if (strategy->score || strategy->splits.score)
    counted.seconds = tsl_strategy_seconds(strategy, problem, config, device, tsl_strategy_at);
  return counted;
}

static const tsl_cost_report *find_report(const tsl_cost_report *all, int count, const tsl_strategy *strategy,
                                          const tsl_device *device) {
  for (int i = 0; i < count; i++)
    if (all[i].has_counts && all[i].strategy == strategy && (!device || all[i].device == device))
      return &all[i];
  return NULL;
}

const tsl_cost_report *tsl_cost_report_partner(const tsl_cost_report *all, int count,
                                               const tsl_cost_report *counted) {
  const tsl_cost_report *found = NULL;
  for (int any_device = 0; any_device < 2 && !found; any_device++)
    for (const tsl_strategy *strategy = tsl_strategy_partner(counted->strategy); strategy && !found;
         strategy = tsl_strategy_partner(strategy))
      found = find_report(all, count, strategy, any_device ? NULL : counted->device);
  return found;
}

static const char *const agreement_names[] = {TSL_AGREEMENT_LIST(TSL_LIST_WORD)};

const char *tsl_agreement_name(tsl_agreement agreement) {
  return agreement_names[agreement];
}

bool tsl_cost_report_has_groups(const tsl_cost_report *counted) {
  return counted->account.grid.groups[0] > 0;
}

double tsl_cost_report_occupancy(const tsl_cost_report *counted) {
  enum { UNIT_ITEMS = 2048 }; /* work-items for which a GPU's unit has room */
  const tsl_cost_counts *account = &counted->account;
  const tsl_device *device = counted->device;
  const double units = fmax(1, tsl_device_is_host(device) ? device->threads : device->compute_units);
  if (!tsl_cost_report_has_groups(counted) || device->is_cpu)
    return fmin(1, account->workers / units);
  const tsl_grid *grid = &account->grid;
  const double groups = (double)grid->groups[0] * (double)grid->groups[1] * (double)grid->groups[2];
  const double items = grid->items[0] * grid->items[1] * grid->items[2];
  return fmin(1, fmin(groups, units * account->per_unit) * items / (units * UNIT_ITEMS));
}

/* Returns value / other; 1 if both are equal, also 0. */
static double ratio_or_1(double value, double other) {
  return value == other ? 1 : value / other;
}

/* Smaller differences in time are none; smaller ratios of two factors are no difference in direction. */
static const double same_time = 1.05, same_factor = 1.1;
static const double above_nominal_clock = 1.6;

/* Returns 1: faster, -1: slower, 0: no difference. */
static int direction(double factor) {
  return factor > same_time ? 1 : factor < 1 / same_time ? -1 : 0;
}

static bool factors_agree(double predicted, double measured) {
  const double ratio = fmax(measured / predicted, predicted / measured);
  return ratio <= same_factor ||
         (ratio <= TSL_AGREEMENT_FACTOR && direction(predicted) == direction(measured));
}

static tsl_agreement compare_factors(const tsl_cost_comparison *comparison) {
  const double predicted = comparison->predicted, measured = comparison->measured;
  if (isnan(predicted) || isnan(measured))
    return !isnan(predicted)  ? TSL_AGREEMENT_PREDICTED
           : !isnan(measured) ? TSL_AGREEMENT_MEASURED
                              : TSL_AGREEMENT_UNKNOWN;
  const double nearest = fmin(fmax(predicted, comparison->low), comparison->high);
  return factors_agree(predicted, measured)  ? TSL_AGREEMENT_AGREES
         : factors_agree(predicted, nearest) ? TSL_AGREEMENT_NOISE
                                             : TSL_AGREEMENT_WRONG;
}

/* Returns true if the noise alone may be the measured difference. */
static bool is_noise(const tsl_cost_comparison *comparison) {
  return comparison->low <= 1 && comparison->high >= 1;
}

/* Returns true if the strategy counts the amounts of a limit. Few count the causes of waiting. */
static bool is_counted(const tsl_cost_counts *account, tsl_bound bound) {
  return bound == TSL_BOUND_ADDITIONS  ? account->sums > 0
         : bound == TSL_BOUND_LINES    ? account->touched > 0
         : bound == TSL_BOUND_FLIGHT   ? account->waits > 0
         : bound == TSL_BOUND_LOADS    ? account->loads > 0
         : bound == TSL_BOUND_BARRIERS ? account->loads > 0
                                       : true;
}

/* Returns the seconds by which a limit explains that the run is faster or slower (`sign`) than its partner.
 * Returns 0 where a strategy does not count the limit, or the measured runs refute it. */
static double explained_seconds(const tsl_cost_report *counted, const tsl_cost_report *partner,
                                tsl_bound bound, bool measured, double sign) {
  const double own = measured ? counted->measured.seconds : counted->seconds,
               other = measured ? partner->measured.seconds : partner->seconds;
  const double mine = counted->bounds.seconds[bound], its = partner->bounds.seconds[bound];
  const double slack = counted->device->is_cpu || partner->device->is_cpu ? above_nominal_clock : same_time;
  return is_counted(&counted->account, bound) && is_counted(&partner->account, bound) &&
                 mine <= slack * own && its <= slack * other
             ? sign * (its - mine)
             : 0;
}

/* Returns the longest limit of the slower run if it makes a quarter of the difference. Else returns the limit
 * that makes the largest part, if that is a quarter or more. */
static tsl_bound find_reason(const tsl_cost_report *counted, const tsl_cost_comparison *comparison) {
  const tsl_cost_report *partner = comparison->partner;
  const bool measured = comparison->agreement == TSL_AGREEMENT_AGREES;
  const double own = measured ? counted->measured.seconds : counted->seconds,
               other = measured ? partner->measured.seconds : partner->seconds;
  const double sign = direction(measured ? comparison->measured : comparison->predicted);
  const tsl_bound longest = (sign > 0 ? partner : counted)->bounds.first;
  double most = 0.25 * fabs(other - own);
  tsl_bound reason = TSL_BOUND_COUNT;
  if (sign == 0 || (measured && is_noise(comparison)))
    return TSL_BOUND_COUNT;
  if (explained_seconds(counted, partner, longest, measured, sign) >= most)
    return longest;
  for (int i = 0; i < TSL_BOUND_COUNT; i++) {
    const double explained = explained_seconds(counted, partner, (tsl_bound)i, measured, sign);
    if (explained >= most) {
      most = explained;
      reason = (tsl_bound)i;
    }
  }
  return reason;
}

tsl_cost_comparison tsl_cost_report_compare(const tsl_cost_report *counted, const tsl_cost_report *partner) {
  tsl_cost_comparison made = {partner, NAN, NAN, NAN, NAN, TSL_AGREEMENT_UNKNOWN, TSL_BOUND_COUNT};
  if (!partner || !counted->has_counts)
    return made;
  const tsl_cost_measured *own = &counted->measured, *other = &partner->measured;
  const double predicted = partner->seconds / counted->seconds;
  made.predicted = isfinite(predicted) && predicted > 0 ? predicted : NAN;
  made.measured = other->seconds / own->seconds;
  made.low = other->first_quartile / own->third_quartile;
  made.high = other->third_quartile / own->first_quartile;
  made.agreement = compare_factors(&made);
  if (made.agreement == TSL_AGREEMENT_PREDICTED || made.agreement == TSL_AGREEMENT_AGREES)
    made.reason = find_reason(counted, &made);
  return made;
}

static double cost_report_local_bytes(const tsl_cost_report *counted) {
  return counted->account.local.read + counted->account.local.written;
}

static double cost_report_global_bytes(const tsl_cost_report *counted) {
  return counted->account.global.read + counted->account.global.written;
}

static const char *partner_name(const tsl_cost_report *counted, const tsl_cost_report *partner) {
  return partner->strategy == counted->strategy ? "the fastest" : partner->strategy->name;
}

static const char *worker_name(const tsl_cost_report *counted) {
  return tsl_cost_report_has_groups(counted) ? "compute units"
         : counted->account.workers == 1     ? "thread"
                                             : "threads";
}

/* Appends the difference in bytes of global memory, or of main memory if that is larger. */
static void describe_bytes(const tsl_cost_report *counted, const tsl_cost_report *partner, tsl_text *out) {
  const double asked = cost_report_global_bytes(counted) / cost_report_global_bytes(partner),
               memory = counted->account.memory / partner->account.memory;
  const char *name = partner_name(counted, partner);
  if (fabs(log(memory)) > fabs(log(asked)))
    tsl_text_add(out, "main memory moves %.3g times the bytes of %s", memory, name);
  else if (asked > same_time || asked < 1 / same_time)
    tsl_text_add(out, "it moves %.3g times the bytes of %s from and to global memory and its caches", asked,
                 name);
  else
    tsl_text_add(out, "%.3g %s load and store, of %s %.3g", counted->account.workers, worker_name(counted),
                 name, partner->account.workers);
}

/* Returns the sums that all items in flight add to at the same time. */
static double count_sums(const tsl_cost_report *counted) {
  return counted->account.sums * counted->account.workers;
}

/* Appends the sums at a time of both, and the clocks of an addition where they differ. */
static void describe_additions(const tsl_cost_report *counted, const tsl_cost_report *partner,
                               tsl_text *out) {
  static const double usual = 4;
  const tsl_cost_counts *own = &counted->account, *other = &partner->account;
  const char *name = partner_name(counted, partner);
  tsl_text_add(
      out,
      "an addition starts after the previous one of the same sum; it has %.3g sums at a time, %s has "
      "%.3g",
      count_sums(counted), name, count_sums(partner));
  if (own->addition_clocks != other->addition_clocks)
    tsl_text_add(out, "; an addition takes %.3g clocks, in %s %.3g clocks",
                 own->addition_clocks > 0 ? own->addition_clocks : usual, name,
                 other->addition_clocks > 0 ? other->addition_clocks : usual);
}

/* Appends what makes the difference in one limit. */
static void describe_reason(const tsl_cost_report *counted, const tsl_cost_report *partner, tsl_bound reason,
                            tsl_text *out) {
  const tsl_cost_counts *own = &counted->account, *other = &partner->account;
  const char *name = partner_name(counted, partner);
  switch (reason) {
  case TSL_BOUND_ARITHMETIC:
    if (own->workers != other->workers)
      tsl_text_add(out, "it keeps %.3g %s busy, %s %.3g", own->workers, worker_name(counted), name,
                   other->workers);
    else
      tsl_text_add(out, "it computes %.3g times the multiply-adds of %s, padding included",
                   own->computed / other->computed, name);
    break;
  case TSL_BOUND_GLOBAL:
    describe_bytes(counted, partner, out);
    break;
  case TSL_BOUND_LOCAL:
    tsl_text_add(out, "it moves %.3g bytes of local memory or copies for each multiply-add, %s %.3g",
                 cost_report_local_bytes(counted) / own->useful, name,
                 cost_report_local_bytes(partner) / other->useful);
    break;
  case TSL_BOUND_ADDITIONS:
    describe_additions(counted, partner, out);
    break;
  case TSL_BOUND_LOADS:
    tsl_text_add(out, "it has %.3g load instructions for each multiply-add, %s has %.3g",
                 own->loads / own->useful, name, other->loads / other->useful);
    if (own->load_clocks != other->load_clocks)
      tsl_text_add(out, "; the elements of %s vectors are loaded one by one",
                   own->load_clocks > other->load_clocks ? "its" : "the partner's");
    break;
  case TSL_BOUND_LINES:
    tsl_text_add(out,
                 "for each multiply-add it fetches %.3g bytes in whole %s and uses %.3g; %s fetches %.3g and "
                 "uses %.3g",
                 own->touched / own->useful, counted->device->is_cpu ? "cache lines" : "segments",
                 own->needed / own->useful, name, other->touched / other->useful,
                 other->needed / other->useful);
    break;
  case TSL_BOUND_FLIGHT:
    tsl_text_add(out,
                 "it has %.3g work-items, which fill %.2g%% of the device; %s has %.3g work-items; fewer "
                 "work-items hide less of the waits for memory",
                 own->items, 100 * tsl_cost_report_occupancy(counted), name, other->items);
    break;
  case TSL_BOUND_BARRIERS:
    tsl_text_add(out, "it has %.3g barriers, %s has %.3g%s", own->barriers, name, other->barriers,
                 counted->device->is_cpu ? "; at each barrier a processor stores and loads the variables of "
                                           "each work-item"
                                         : "");
    break;
  case TSL_BOUND_LAUNCH:
    tsl_text_add(out, "it launches %d kernels, %s launches %d", own->launches, name, other->launches);
    break;
  case TSL_BOUND_COUNT:
    tsl_text_add(out, "no counted limit explains it");
  }
}

/* Appends the counted loads of both, "loads 1 number for each multiply-add; row loads 2, 2 times as many". */
static void compare_loads(const tsl_problem *problem, const tsl_cost_report *counted,
                          const tsl_cost_comparison *comparison, tsl_text *out) {
  const tsl_cost_report *partner = comparison->partner;
  const bool has_groups = tsl_cost_report_has_groups(counted);
  const tsl_words words = tsl_cost_counts_words(problem, &counted->account);
  tsl_text_add(out, "loads %.3g numbers %s", words.global,
               problem->op == TSL_OP_TRANSPOSE ? "for each element" : "for each multiply-add");
  if (!partner)
    return;
  const tsl_words others = tsl_cost_counts_words(problem, &partner->account);
  const double fewer = ratio_or_1(others.global, words.global),
               memory = ratio_or_1(counted->account.memory, partner->account.memory);
  tsl_text_add(out, "; %s%s%s loads %.3g", partner_name(counted, partner),
               partner->device == counted->device ? "" : " on ",
               partner->device == counted->device ? "" : partner->device->name, others.global);
  if (fewer > same_time)
    tsl_text_add(out, ", %.3g times as many", fewer);
  if (words.local > 0 && others.local == 0)
    tsl_text_add(out, "; it loads %.3g more %s", words.local,
                 has_groups ? "from local memory" : "from copies in its caches");
  if (words.local == 0 && others.local > 0 && has_groups && tsl_cost_report_has_groups(partner))
    tsl_text_add(out, "; it keeps sums in registers, so it needs no local memory and no barriers");
  if (memory < 1 / same_time)
    tsl_text_add(out, "; main memory moves %.3g of the bytes", memory);
  if (counted->account.workers > partner->account.workers && !has_groups)
    tsl_text_add(out, "; %.3g threads instead of %.3g", counted->account.workers, partner->account.workers);
}

/* Appends "1.9 times as fast", "1.5 times slower" or "no faster". */
static void add_factor(double factor, tsl_text *out) {
  if (factor > same_time)
    tsl_text_add(out, "%.3g times as fast", factor);
  else if (factor < 1 / same_time)
    tsl_text_add(out, "%.3g times slower", 1 / factor);
  else
    tsl_text_add(out, "no faster");
}

void tsl_cost_comparison_factors(const tsl_cost_report *counted, const tsl_cost_comparison *comparison,
                                 tsl_text *out) {
  switch (comparison->agreement) {
  case TSL_AGREEMENT_UNKNOWN:
    return;
  case TSL_AGREEMENT_WRONG:
    tsl_text_add(out, "the model is wrong here: it expected %.3g, measured %.3g", comparison->predicted,
                 comparison->measured);
    return;
  case TSL_AGREEMENT_NOISE:
    tsl_text_add(out, "too noisy to compare: measured %.3g (%.3g to %.3g), predicted %.3g",
                 comparison->measured, comparison->low, comparison->high, comparison->predicted);
    return;
  case TSL_AGREEMENT_MEASURED:
    tsl_text_add(out, "measured ");
    add_factor(comparison->measured, out);
    tsl_text_add(out, ", not predicted");
    return;
  case TSL_AGREEMENT_PREDICTED:
    tsl_text_add(out, "predicted ");
    add_factor(comparison->predicted, out);
    break;
  case TSL_AGREEMENT_AGREES:
    tsl_text_add(out, "measured ");
    add_factor(comparison->measured, out);
    tsl_text_add(out, ", predicted %.3g", comparison->predicted);
  }
  const bool measured = comparison->agreement == TSL_AGREEMENT_AGREES;
  if (direction(measured ? comparison->measured : comparison->predicted) == 0)
    return;
  if (measured && is_noise(comparison)) {
    tsl_text_add(out, ", a difference within the noise");
    return;
  }
  tsl_text_add(out, ": ");
  describe_reason(counted, comparison->partner, comparison->reason, out);
}

void tsl_cost_comparison_print(const tsl_problem *problem, const tsl_cost_report *counted,
                               const tsl_cost_comparison *comparison, tsl_text *out) {
  if (!counted->has_counts)
    return;
  compare_loads(problem, counted, comparison, out);
  if (comparison->agreement != TSL_AGREEMENT_UNKNOWN)
    tsl_text_add(out, "; ");
  tsl_cost_comparison_factors(counted, comparison, out);
}

void tsl_cost_comparison_json(const tsl_problem *problem, const tsl_cost_report *counted,
                              const tsl_cost_comparison *comparison, tsl_json *json) {
  const tsl_cost_report *partner = comparison->partner;
  tsl_text text = {0};
  tsl_cost_comparison_print(problem, counted, comparison, &text);
  tsl_json_add(json,
               "partner:s, partner_device:s, predicted_factor:r, measured_factor:r, measured_low:r, "
               "measured_high:r, agreement:s, reason:s, comparison:t",
               partner ? partner->strategy->name : NULL, partner ? partner->device->name : NULL,
               comparison->predicted, comparison->measured, comparison->low, comparison->high,
               tsl_agreement_name(comparison->agreement),
               comparison->reason < TSL_BOUND_COUNT ? tsl_bound_name(comparison->reason) : NULL, &text);
}

static void append_grid_sizes(const tsl_grid *grid, bool groups, bool items, tsl_text *out) {
  const int dimensions = grid->groups[2] * (uint64_t)grid->items[2] > 1   ? 3
                         : grid->groups[1] * (uint64_t)grid->items[1] > 1 ? 2
                                                                          : 1;
  for (int d = 0; d < dimensions; d++)
    tsl_text_add(
        out, "%s%llu", d ? " x " : "",
        (unsigned long long)((groups ? grid->groups[d] : 1) * (items ? (uint64_t)grid->items[d] : 1)));
}

void tsl_cost_report_groups(const tsl_cost_report *counted, tsl_text *out) {
  const tsl_cost_counts *account = &counted->account;
  if (!tsl_cost_report_has_groups(counted)) {
    tsl_text_add(out, "%.0f thread%s", account->workers, account->workers == 1 ? "" : "s");
    return;
  }
  append_grid_sizes(&account->grid, true, false, out);
  tsl_text_add(out, " of ");
  append_grid_sizes(&account->grid, false, true, out);
}

void tsl_cost_report_range(const tsl_cost_report *counted, tsl_text *out) {
  append_grid_sizes(&counted->account.grid, true, true, out);
}

void tsl_cost_report_json(const tsl_problem *problem, const tsl_cost_report *counted, tsl_json *json) {
  const tsl_cost_counts *account = &counted->account;
  if (!counted->has_counts) {
    tsl_json_add(json, "n");
    return;
  }
  const tsl_words words = tsl_cost_counts_words(problem, account);
  tsl_json_add(json,
               "{multiply_adds:r, computed_multiply_adds:r, global_bytes_read:r, global_bytes_written:r",
               account->useful, account->computed, account->global.read, account->global.written);
  tsl_json_add(json, "local_bytes_read:r, local_bytes_written:r, memory_bytes:r", account->local.read,
               account->local.written, account->memory);
  tsl_json_add(json, "global_words:r, local_words:r, operations_per_byte:r", words.global, words.local,
               tsl_cost_counts_intensity(problem, account));
  if (tsl_cost_report_has_groups(counted)) {
    const uint64_t *groups = account->grid.groups;
    const int *items = account->grid.items;
    tsl_json_add(json, "groups:[l, l, l], items:[d, d, d], ndrange:[l, l, l], items_in_all:r, items_wasted:r",
                 groups[0], groups[1], groups[2], items[0], items[1], items[2],
                 groups[0] * (uint64_t)items[0], groups[1] * (uint64_t)items[1],
                 groups[2] * (uint64_t)items[2], account->items, account->wasted);
  } else
    tsl_json_add(json, "groups:n, items:n, ndrange:n, items_in_all:n, items_wasted:n");
  tsl_json_add(json, "touched_bytes:r, needed_bytes:r, sums:r, loads:r, waits:r, barriers:r",
               account->touched, account->needed, account->sums, account->loads, account->waits,
               account->barriers);
  tsl_json_add(json, "workers:r, occupancy:r, occupancy_limit:s, launches:d, bound:s, seconds:{",
               account->workers, tsl_cost_report_occupancy(counted), account->filled_by, account->launches,
               tsl_bound_name(counted->bounds.first));
  for (int i = 0; i < TSL_BOUND_COUNT; i++)
    tsl_json_add(json, "*:r", tsl_bound_name((tsl_bound)i), counted->bounds.seconds[i]);
  tsl_json_add(json, "}}");
}
