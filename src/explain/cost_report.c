#include "explain/cost_report.h"

#include "strategy/strategy_list.h"

#include <math.h>

tsl_cost_report tsl_cost_report_make(const tsl_problem *problem, const tsl_strategy *strategy,
                                     const tsl_config *config, const tsl_device *device) {
  tsl_cost_report counted = {.strategy = strategy, .device = device, .seconds = NAN};
  if (strategy->score || strategy->splits.score)
    counted.seconds = tsl_strategy_seconds(strategy, problem, config, device, tsl_strategy_at);
  counted.has_counts = tsl_cost_counts_get(strategy, problem, config, device, &counted.account);
  counted.bounds = tsl_cost_counts_bounds(problem, device, &counted.account, counted.seconds);
  return counted;
}

static bool is_lower_rung(const tsl_strategy *strategy, const tsl_strategy *other) {
  return tsl_strategy_rung(strategy) < tsl_strategy_rung(other);
}

const tsl_cost_report *tsl_cost_report_rung_below(const tsl_cost_report *all, int count,
                                                  const tsl_cost_report *counted) {
  const tsl_cost_report *below = NULL;
  for (int i = 0; i < count; i++)
    if (all[i].has_counts && all[i].device == counted->device &&
        is_lower_rung(all[i].strategy, counted->strategy) &&
        (!below || is_lower_rung(below->strategy, all[i].strategy)))
      below = &all[i];
  return below;
}

bool tsl_cost_report_has_groups(const tsl_cost_report *counted) {
  return counted->account.grid.groups[0] > 0;
}

double tsl_cost_report_occupancy(const tsl_cost_report *counted) {
  enum { UNIT_ITEMS = 2048 }; /* work-items for which a GPU's unit has room */
  const tsl_cost_counts *account = &counted->account;
  const tsl_device *device = counted->device;
  const double units = fmax(1, device->capabilities & TSL_CAN_HOST ? device->threads : device->compute_units);
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

static double padding_fraction(const tsl_cost_report *counted) {
  return counted->account.computed > 0 ? 1 - fmin(1, counted->account.useful / counted->account.computed) : 0;
}

static double cost_report_local_bytes(const tsl_cost_report *counted) {
  return counted->account.local.read + counted->account.local.written;
}

/* Appends the reason why a rung is slower than the rung below: the first that applies. */
static void describe_slowdown(const tsl_problem *problem, const tsl_cost_report *counted,
                              const tsl_cost_report *below, tsl_text *out) {
  const char *name = below->strategy->name;
  if (counted->device->is_cpu && tsl_cost_report_has_groups(counted) &&
      cost_report_local_bytes(counted) > cost_report_local_bytes(below))
    tsl_text_add(out,
                 "%s is a processor whose local memory is ordinary memory: copies to it save nothing, and at "
                 "each barrier the work-items' variables leave the registers",
                 counted->device->name);
  else if (!counted->device->is_cpu &&
           tsl_cost_report_occupancy(counted) < 0.7 * tsl_cost_report_occupancy(below))
    tsl_text_add(
        out,
        "%.3g work-items, where %s has %.3g, fill %.2g%% of the device, too few to hide waits for memory",
        counted->account.items, name, below->account.items, 100 * tsl_cost_report_occupancy(counted));
  else if (padding_fraction(counted) > 0.1 + padding_fraction(below))
    tsl_text_add(out, "%.0f%% of its multiply-adds multiply padding (zeros at the edges of tiles)",
                 100 * padding_fraction(counted));
  else if (counted->account.workers < below->account.workers)
    tsl_text_add(out, "it keeps %.3g %s busy, %s %.3g", counted->account.workers,
                 tsl_cost_report_has_groups(counted) ? "compute units"
                 : counted->account.workers == 1     ? "thread"
                                                     : "threads",
                 name, below->account.workers);
  else if (counted->account.launches > below->account.launches)
    tsl_text_add(out, "its copies need %d more launches, which cost more than they save here",
                 counted->account.launches - below->account.launches);
  else if (tsl_cost_counts_words(problem, &counted->account).global >
           1.2 * tsl_cost_counts_words(problem, &below->account).global)
    tsl_text_add(out, "its tiles fit this shape badly, so each loaded number is used less often");
  else
    tsl_text_add(out, "its limit is %s (%s)", tsl_bound_name(counted->bounds.first),
                 tsl_bound_what(counted->bounds.first));
}

/* Appends the loads per operation of the rung below, and the differences. */
static void describe_loads(const tsl_problem *problem, const tsl_cost_report *counted,
                           const tsl_cost_report *below, tsl_text *out) {
  const bool has_groups = tsl_cost_report_has_groups(counted);
  const tsl_words words = tsl_cost_counts_words(problem, &counted->account),
                  words_below = tsl_cost_counts_words(problem, &below->account);
  const double fewer = ratio_or_1(words_below.global, words.global),
               memory = ratio_or_1(counted->account.memory, below->account.memory);
  tsl_text_add(out, "; %s loads %.3g", below->strategy->name, words_below.global);
  if (fewer > 1.05)
    tsl_text_add(out, ", %.3g times as many", fewer);
  if (words.local > 0 && words_below.local == 0)
    tsl_text_add(out, "; it loads %.3g more %s", words.local,
                 has_groups ? "from local memory" : "from copies in its caches");
  if (words.local == 0 && words_below.local > 0 && has_groups)
    tsl_text_add(out, "; it keeps sums in registers, so it needs no local memory and no barriers");
  if (memory < 0.95)
    tsl_text_add(out, "; main memory moves %.3g of the bytes", memory);
  if (counted->account.workers > below->account.workers && !has_groups)
    tsl_text_add(out, "; %.3g threads instead of %.3g", counted->account.workers, below->account.workers);
}

void tsl_cost_report_compare(const tsl_problem *problem, const tsl_cost_report *counted,
                             const tsl_cost_report *below, tsl_text *out) {
  if (!counted->has_counts)
    return;
  tsl_text_add(out, "%sloads %.3g numbers %s", below ? "" : "the lowest rung here; ",
               tsl_cost_counts_words(problem, &counted->account).global,
               problem->op == TSL_OP_TRANSPOSE ? "for each element" : "for each multiply-add");
  if (!below)
    return;
  describe_loads(problem, counted, below, out);
  const double faster = below->seconds / counted->seconds;
  if (!isfinite(faster))
    return;
  if (faster > 1.05)
    tsl_text_add(out, "; predicted %.3g times as fast", faster);
  else if (faster < 0.95)
    tsl_text_add(out, "; predicted %.3g times slower: ", 1 / faster);
  else
    tsl_text_add(out, "; predicted no faster: ");
  if (faster <= 1.05)
    describe_slowdown(problem, counted, below, out);
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
  tsl_json_add(json, "workers:r, occupancy:r, launches:d, bound:s, seconds:{", account->workers,
               tsl_cost_report_occupancy(counted), account->launches, tsl_bound_name(counted->bounds.first));
  for (int i = 0; i < TSL_BOUND_COUNT; i++)
    tsl_json_add(json, "*:r", tsl_bound_name((tsl_bound)i), counted->bounds.seconds[i]);
  tsl_json_add(json, "}}");
}
