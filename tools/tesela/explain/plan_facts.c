#include "explain/plan_facts.h"

#include "api/api.h"
#include "core/memory.h"
#include "core/status.h"
#include "explain/counted_pairs.h"

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
