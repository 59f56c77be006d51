#include "explain/counted_pairs.h"

/* Adds the counts of a strategy that runs as sub-plans. */
static void add_pieces(const tsl_problem *problem, const tsl_cost_report *counted, tsl_table *table) {
  const double whole = (double)problem->m * (double)problem->n * (double)problem->k;
  tsl_table_add_pair(
      table, "groups",
      "its pieces', in %d launches with copies; %.3g multiply-adds, %.3g%% of a general product's",
      counted->account.launches, counted->account.computed,
      whole > 0 ? 100 * counted->account.computed / whole : 100);
}

static void counted_pairs_add_groups(const tsl_cost_report *counted, tsl_table *table) {
  const tsl_cost_counts *account = &counted->account;
  tsl_text groups = {0}, range = {0};
  tsl_cost_report_groups(counted, &groups);
  tsl_cost_report_range(counted, &range);
  if (tsl_cost_report_has_groups(counted))
    tsl_table_add_pair(
        table, "groups",
        "%s items, an NDRange of %s; %.0f of %.0f items (%.3g%%) lie outside of C and are idle; "
        "occupancy %.3g%%%s%s",
        tsl_text_get(&groups), tsl_text_get(&range), account->wasted, account->items,
        100 * account->wasted / account->items, 100 * tsl_cost_report_occupancy(counted),
        account->filled_by ? ", limited by " : "", account->filled_by ? account->filled_by : "");
  else
    tsl_table_add_pair(table, "groups", "none: %s of the host", tsl_text_get(&groups));
  table->failed |= groups.failed || range.failed;
  tsl_text_free(&groups);
  tsl_text_free(&range);
}

void tsl_counted_add_pairs(const tsl_problem *problem, const tsl_cost_report *counted, tsl_table *table) {
  const tsl_cost_counts *account = &counted->account;
  char global[32], local[32], memory[32], intensity[32];
  if (!counted->has_counts)
    return;
  if (!tsl_cost_report_has_groups(counted) && !(counted->device->capabilities & TSL_CAN_HOST))
    add_pieces(problem, counted, table);
  else
    counted_pairs_add_groups(counted, table);
  const double asked = account->global.read + account->global.written,
               near = account->local.read + account->local.written;
  tsl_table_add_pair(
      table, "moves",
      "%s of global memory or its caches (%s operations a byte), %s %s, %s of main memory; limit: %s",
      tsl_format_bytes((uint64_t)asked, global, sizeof global),
      tsl_format_number(tsl_cost_counts_intensity(problem, account), intensity, sizeof intensity),
      tsl_format_bytes((uint64_t)near, local, sizeof local),
      tsl_cost_report_has_groups(counted) ? "of local memory" : "inside of the core's caches",
      tsl_format_bytes((uint64_t)account->memory, memory, sizeof memory),
      tsl_bound_name(counted->bounds.first));
}
