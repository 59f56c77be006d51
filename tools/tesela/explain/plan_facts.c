#include "explain/plan_facts.h"

#include "api/api.h"
#include "core/memory.h"
#include "core/status.h"

#include <stdlib.h>

struct tsl_plan_facts {
  char *text;
  tsl_problem problem;
  tsl_cost_report counted;
  tsl_plan_bound bound;
};

static tsl_plan_bound plan_facts_bound_of(const tsl_plan *plan) {
  const tsl_accuracy accuracy = tsl_plan_accuracy(plan);
  return (tsl_plan_bound){.factor = accuracy.factor,
                          .bound = tsl_plan_error_bound(plan),
                          .flushes = accuracy.flush_threshold,
                          .rounded = accuracy.is_correctly_rounded};
}

tesela_status tsl_plan_facts_of(const tesela_plan *plan_in, tsl_plan_facts **facts) {
  const tsl_plan *plan = plan_in->plan;
  const tsl_work *work = &plan->work;
  tsl_text text = {0};
  void *block;
  *facts = NULL;
  TSL_TRY(tsl_alloc_zeroed(sizeof **facts, "the facts of a report", &block));
  tsl_plan_facts *made = block;
  tsl_text_add(&text, "%s", plan->text);
  const tesela_status status = tsl_text_status(&text);
  made->text = tsl_text_take(&text);
  made->problem = work->problem;
  made->counted = tsl_cost_report_make(&work->problem, work->strategy, &work->config, work->device);
  made->bound = plan_facts_bound_of(plan);
  if (status != TESELA_OK) {
    tsl_plan_facts_free(made);
    return status;
  }
  *facts = made;
  return TESELA_OK;
}

void tsl_plan_facts_free(tsl_plan_facts *facts) {
  if (!facts)
    return;
  free(facts->text);
  tsl_free(facts);
}

bool tsl_plan_copies_on_host(const tesela_plan *plan) {
  const tsl_device *device = plan->plan->work.device;
  return device->is_cpu && !(device->capabilities & TSL_CAN_HOST);
}

uint64_t tsl_plan_extra_host_bytes(const tesela_plan *plan) {
  const tsl_work *work = &plan->plan->work;
  return tsl_strategy_host_bytes(work->strategy, &work->problem, &work->config, work->device);
}

int64_t tsl_plan_part_of_k(const tesela_plan *whole, int64_t m, int64_t n, int64_t index, int64_t most) {
  const tsl_work *work = &whole->plan->work;
  tsl_problem room;
  return work->strategy->k_split.steps
             ? work->strategy->k_split.steps(tsl_problem_without_epilogue(&work->problem, &room),
                                             &work->config, work->device, m, n, index, most)
             : 0;
}

tsl_plan_bound tsl_plan_facts_bound(const tsl_plan_facts *facts) {
  return facts->bound;
}

void tsl_plan_facts_add_device(const tsl_plan_facts *facts, tsl_table *table) {
  const tsl_device *device = facts->counted.device;
  const char *peer = tsl_strategy_peer(facts->counted.strategy, device);
  tsl_table_add_pair(table, "plan", "%s", facts->text);
  tsl_table_add_pair(table, "device", "%s, %s", device->label, device->platform);
  if (*peer)
    tsl_table_add_pair(table, "peer", "%s", peer);
}

void tsl_plan_facts_add_account(const tsl_plan_facts *facts, tsl_table *table) {
  tsl_counted_add_pairs(&facts->problem, &facts->counted, table);
}

void tsl_plan_facts_json_device(const tsl_plan_facts *facts, json_t *object) {
  const tsl_cost_report *counted = &facts->counted;
  json_object_set_new(object, "plan", json_string(facts->text));
  json_object_set_new(object, "peer", tsl_json_peer(counted->strategy, counted->device));
  json_object_set_new(object, "device", tsl_json_device(counted->device, false));
}

json_t *tsl_plan_facts_json_account(const tsl_plan_facts *facts) {
  tsl_text text = {0};
  tsl_cost_report_json(&facts->problem, &facts->counted, &(tsl_json){.out = &text});
  return tsl_json_parse(&text);
}

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
