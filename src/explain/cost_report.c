#include "explain/cost_report.h"

#include "explain/explain_values.h"

#include <math.h>

tsl_counted tsl_count(const tsl_problem *problem, const tsl_strategy *strategy, const tsl_config *config,
                      const tsl_device *device) {
  tsl_counted counted = {.strategy = strategy, .device = device, .seconds = NAN};
  counted.told = tsl_cost_counts_get(strategy, problem, config, device, &counted.account);
  counted.bounds = tsl_cost_counts_bounds(strategy, problem, config, device, &counted.account);
  if (strategy->score)
    counted.seconds = tsl_strategy_seconds(strategy, problem, config, device);
  return counted;
}

static bool is_lower(const tsl_strategy *strategy, const tsl_strategy *other) {
  return tsl_strategy_rung(strategy) < tsl_strategy_rung(other);
}

const tsl_counted *tsl_counted_below(const tsl_counted *all, int count, const tsl_counted *counted) {
  const tsl_counted *below = NULL;
  for (int i = 0; i < count; i++)
    if (all[i].told && all[i].device == counted->device && is_lower(all[i].strategy, counted->strategy) &&
        (!below || is_lower(below->strategy, all[i].strategy)))
      below = &all[i];
  return below;
}

bool tsl_counted_has_groups(const tsl_counted *counted) {
  return counted->account.grid.groups[0] > 0;
}

double tsl_counted_occupancy(const tsl_counted *counted) {
  enum { UNIT_ITEMS = 2048 }; /* work-items for which a GPU's unit has room */
  const tsl_cost_counts *account = &counted->account;
  const tsl_device *device = counted->device;
  const double units = fmax(1, device->capabilities & TSL_CAN_HOST ? device->threads : device->compute_units);
  if (!tsl_counted_has_groups(counted) || device->is_cpu)
    return fmin(1, account->workers / units);
  const tsl_grid *grid = &account->grid;
  const double groups = (double)grid->groups[0] * (double)grid->groups[1] * (double)grid->groups[2];
  const double items = grid->items[0] * grid->items[1] * grid->items[2];
  return fmin(1, fmin(groups, units * account->per_unit) * items / (units * UNIT_ITEMS));
}

typedef struct cost_report_pair {
  const tsl_problem *problem;
  const tsl_counted *counted, *below;
} cost_report_pair;

/* Returns value / other; 1 if both are equal, also 0. */
static double cost_report_times(double value, double other) {
  return value == other ? 1 : value / other;
}

static double padding_fraction(const tsl_counted *counted) {
  return counted->account.computed > 0 ? 1 - fmin(1, counted->account.useful / counted->account.computed) : 0;
}

static double cost_report_local_bytes(const tsl_counted *counted) {
  return counted->account.local.read + counted->account.local.written;
}

static bool on_processor(const cost_report_pair *pair) {
  return pair->counted->device->is_cpu && tsl_counted_has_groups(pair->counted) &&
         cost_report_local_bytes(pair->counted) > cost_report_local_bytes(pair->below);
}
static void describe_on_processor(const cost_report_pair *pair, tsl_text *out) {
  tsl_text_add(out,
               "%s is a processor whose local memory is ordinary memory: copies to it save nothing, and at "
               "each barrier the work-items' variables leave the registers",
               pair->counted->device->name);
}

static bool has_few_items(const cost_report_pair *pair) {
  return !pair->counted->device->is_cpu &&
         tsl_counted_occupancy(pair->counted) < 0.7 * tsl_counted_occupancy(pair->below);
}
static void describe_few_items(const cost_report_pair *pair, tsl_text *out) {
  tsl_text_add(
      out, "%.3g work-items, where %s has %.3g, fill %.2g%% of the device, too few to hide waits for memory",
      pair->counted->account.items, pair->below->strategy->name, pair->below->account.items,
      100 * tsl_counted_occupancy(pair->counted));
}

static bool has_fewer_workers(const cost_report_pair *pair) {
  return pair->counted->account.workers < pair->below->account.workers;
}
static void describe_fewer_workers(const cost_report_pair *pair, tsl_text *out) {
  tsl_text_add(out, "it keeps %.3g %s busy, %s %.3g", pair->counted->account.workers,
               tsl_counted_has_groups(pair->counted) ? "compute units"
               : pair->counted->account.workers == 1 ? "thread"
                                                     : "threads",
               pair->below->strategy->name, pair->below->account.workers);
}

static bool has_more_padding(const cost_report_pair *pair) {
  return padding_fraction(pair->counted) > 0.1 + padding_fraction(pair->below);
}
static void describe_zeros(const cost_report_pair *pair, tsl_text *out) {
  tsl_text_add(out, "%.0f%% of its multiply-adds multiply padding (zeros at the edges of tiles)",
               100 * padding_fraction(pair->counted));
}

static bool has_copies(const cost_report_pair *pair) {
  return pair->counted->account.launches > pair->below->account.launches;
}
static void describe_copies(const cost_report_pair *pair, tsl_text *out) {
  tsl_text_add(out, "its copies need %d more launches, which cost more than they save here",
               pair->counted->account.launches - pair->below->account.launches);
}

static bool loads_more(const cost_report_pair *pair) {
  return tsl_cost_counts_words(pair->problem, &pair->counted->account).global >
         1.2 * tsl_cost_counts_words(pair->problem, &pair->below->account).global;
}
static void describe_more(const cost_report_pair *pair, tsl_text *out) {
  (void)pair;
  tsl_text_add(out, "its tiles fit this shape badly, so each loaded number is used less often");
}

static bool always_applies(const cost_report_pair *pair) {
  (void)pair;
  return true;
}
static void describe_bound(const cost_report_pair *pair, tsl_text *out) {
  tsl_text_add(out, "its limit is %s (%s)", tsl_bound_name(pair->counted->bounds.first),
               tsl_bound_what(pair->counted->bounds.first));
}

/* Reasons why a rung is slower than the rung below; the first that applies is used. */
static const struct {
  bool (*applies)(const cost_report_pair *pair);
  void (*describe)(const cost_report_pair *pair, tsl_text *out);
} reasons[] = {{on_processor, describe_on_processor}, {has_few_items, describe_few_items},
               {has_more_padding, describe_zeros},    {has_fewer_workers, describe_fewer_workers},
               {has_copies, describe_copies},         {loads_more, describe_more},
               {always_applies, describe_bound}};

/* Appends the loads per operation, compared with the rung below. */
static void describe_words(const cost_report_pair *pair, tsl_text *out) {
  const tsl_words counted = tsl_cost_counts_words(pair->problem, &pair->counted->account),
                  below = tsl_cost_counts_words(pair->problem, &pair->below->account);
  const double less = cost_report_times(below.global, counted.global);
  tsl_text_add(out, "loads %.3g numbers %s; %s loads %.3g", counted.global,
               pair->problem->op == TSL_OP_TRANSPOSE ? "for each element" : "for each multiply-add",
               pair->below->strategy->name, below.global);
  if (less > 1.05)
    tsl_text_add(out, ", %.3g times as many", less);
  if (counted.local > 0 && below.local == 0)
    tsl_text_add(out, "; it loads %.3g more %s", counted.local,
                 tsl_counted_has_groups(pair->counted) ? "from local memory" : "from copies in its caches");
  if (counted.local == 0 && below.local > 0 && tsl_counted_has_groups(pair->counted))
    tsl_text_add(out, "; it keeps sums in registers, so it needs no local memory and no barriers");
  const double memory = cost_report_times(pair->counted->account.memory, pair->below->account.memory);
  if (memory < 0.95)
    tsl_text_add(out, "; main memory moves %.3g of the bytes", memory);
  if (pair->counted->account.workers > pair->below->account.workers && !tsl_counted_has_groups(pair->counted))
    tsl_text_add(out, "; %.3g threads instead of %.3g", pair->counted->account.workers,
                 pair->below->account.workers);
}

void tsl_counted_compare(const tsl_problem *problem, const tsl_counted *counted, const tsl_counted *below,
                         tsl_text *out) {
  const cost_report_pair pair = {problem, counted, below};
  if (!counted->told)
    return;
  if (!below) {
    tsl_text_add(out, "the lowest rung here; loads %.3g numbers %s",
                 tsl_cost_counts_words(problem, &counted->account).global,
                 problem->op == TSL_OP_TRANSPOSE ? "for each element" : "for each multiply-add");
    return;
  }
  describe_words(&pair, out);
  const double faster = below->seconds / counted->seconds;
  if (!isfinite(faster))
    return;
  if (faster > 1.05) {
    tsl_text_add(out, "; predicted %.3g times as fast", faster);
    return;
  }
  tsl_text_add(out, "; predicted ");
  if (faster < 0.95)
    tsl_text_add(out, "%.3g times slower: ", 1 / faster);
  else
    tsl_text_add(out, "no faster: ");
  for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
    if (reasons[i].applies(&pair)) {
      reasons[i].describe(&pair, out);
      return;
    }
}

static void add_sizes(const tsl_grid *grid, bool groups, bool items, tsl_text *out) {
  const int dimensions = grid->groups[2] * (uint64_t)grid->items[2] > 1   ? 3
                         : grid->groups[1] * (uint64_t)grid->items[1] > 1 ? 2
                                                                          : 1;
  for (int d = 0; d < dimensions; d++)
    tsl_text_add(
        out, "%s%llu", d ? " x " : "",
        (unsigned long long)((groups ? grid->groups[d] : 1) * (items ? (uint64_t)grid->items[d] : 1)));
}

void tsl_counted_groups(const tsl_counted *counted, tsl_text *out) {
  const tsl_cost_counts *account = &counted->account;
  if (!tsl_counted_has_groups(counted)) {
    tsl_text_add(out, "%.0f thread%s", account->workers, account->workers == 1 ? "" : "s");
    return;
  }
  add_sizes(&account->grid, true, false, out);
  tsl_text_add(out, " of ");
  add_sizes(&account->grid, false, true, out);
}

void tsl_counted_range(const tsl_counted *counted, tsl_text *out) {
  add_sizes(&counted->account.grid, true, true, out);
}

static json_t *json_three(const uint64_t *values) {
  json_t *list = json_array();
  for (int d = 0; d < 3; d++)
    json_array_append_new(list, json_integer((json_int_t)values[d]));
  return list;
}

static json_t *json_bounds(const tsl_bounds *bounds) {
  json_t *object = json_object();
  for (int i = 0; i < TSL_BOUND_COUNT; i++)
    json_object_set_new(object, tsl_bound_name((tsl_bound)i), tsl_json_real(bounds->seconds[i]));
  return object;
}

json_t *tsl_json_counted(const tsl_problem *problem, const tsl_counted *counted) {
  const tsl_cost_counts *account = &counted->account;
  const tsl_grid *grid = &account->grid;
  if (!counted->told)
    return json_null();
  uint64_t items[3], range[3];
  for (int d = 0; d < 3; d++) {
    items[d] = (uint64_t)grid->items[d];
    range[d] = grid->groups[d] * items[d];
  }
  const tsl_words words = tsl_cost_counts_words(problem, account);
  json_t *object = json_pack(
      "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "multiply_adds", tsl_json_real(account->useful),
      "computed_multiply_adds", tsl_json_real(account->computed), "global_bytes_read",
      tsl_json_real(account->global.read), "global_bytes_written", tsl_json_real(account->global.written),
      "local_bytes_read", tsl_json_real(account->local.read), "local_bytes_written",
      tsl_json_real(account->local.written), "memory_bytes", tsl_json_real(account->memory), "global_words",
      tsl_json_real(words.global), "local_words", tsl_json_real(words.local), "operations_per_byte",
      tsl_json_real(tsl_cost_counts_intensity(problem, account)));
  if (tsl_counted_has_groups(counted))
    json_object_update_new(object, json_pack("{s:o, s:o, s:o, s:o, s:o}", "groups", json_three(grid->groups),
                                             "items", json_three(items), "ndrange", json_three(range),
                                             "items_in_all", tsl_json_real(account->items), "items_wasted",
                                             tsl_json_real(account->wasted)));
  else
    json_object_update_new(object, json_pack("{s:n, s:n, s:n, s:n, s:n}", "groups", "items", "ndrange",
                                             "items_in_all", "items_wasted"));
  json_object_update_new(
      object, json_pack("{s:o, s:o, s:i, s:s, s:o}", "workers", tsl_json_real(account->workers), "occupancy",
                        tsl_json_real(tsl_counted_occupancy(counted)), "launches", account->launches, "bound",
                        tsl_bound_name(counted->bounds.first), "seconds", json_bounds(&counted->bounds)));
  return object;
}
