#include "explain/explain.h"

#include "core/clock.h"
#include "core/log.h"
#include "core/memory.h"
#include "core/status.h"
#include "dispatch/direct_rule.h"
#include "planner/row_order.h"
#include "strategy/gemm/composite/several/several.h"
#include "tune/link.h"

#include <math.h>
#include <stdlib.h>

static uint64_t operand_bytes(const tsl_problem *problem) {
  const tsl_shape *shapes[] = {&problem->a, &problem->b, &problem->c};
  uint64_t bytes = 0;
  for (int i = 0; i < 3; i++)
    bytes += (uint64_t)tsl_shape_extent(shapes[i]) * tsl_type(shapes[i]->type)->size;
  return bytes;
}

/* Gets the first candidate, unless it is refused. */
static tesela_status find_first_candidate(const tsl_problem *problem, const tsl_choice *choice,
                                          tsl_candidate *first) {
  tsl_candidate *list;
  int count;
  TSL_TRY(tsl_planner_list(problem, choice, &list, &count));
  if (count > 0 && !list[0].refusal[0])
    *first = list[0];
  free(list);
  return TESELA_OK;
}

/* Finds the plan for a single run, in which start-up counts. */
static tesela_status find_choice_for_one_run(const tsl_choice *choice, tsl_explanation *found) {
  tsl_choice once = *choice;
  once.runs = 1;
  return find_first_candidate(&found->problem, &once, &found->once);
}

/* Finds the order of sums for bits=rows, and the faster choice that it may exclude. */
static tesela_status find_free_choice(const tsl_choice *choice, tsl_explanation *found) {
  tsl_problem problem = found->problem;
  tsl_choice on_device = *choice;
  if (problem.ask.bits != TSL_REPRODUCIBILITY_ROWS || !found->plan)
    return TESELA_OK;
  found->row_order = tsl_row_order_of(&problem, found->plan->work.device).name;
  on_device.device = found->plan->work.device->name;
  on_device.strategy = NULL;
  problem.ask.bits = TSL_REPRODUCIBILITY_ANY;
  return find_first_candidate(&problem, &on_device, &found->free_choice);
}

/* Measures missing transfer costs and finds the crossovers, if there is a choice of devices. */
static tesela_status measure_links_and_crossover(const tsl_choice *choice, tsl_explanation *found) {
  tsl_device *device;
  found->devices = choice->devices;
  if (found->problem.op != TSL_OP_GEMM || !tsl_choice_any_device(choice) ||
      !tsl_devices_at(choice->devices, 1))
    return TESELA_OK;
  for (int i = 0; (device = tsl_devices_at(choice->devices, i)); i++) {
    tsl_link link = tsl_link_of(device);
    const bool is_cpu = tsl_device_is_host(device);
    if (!(is_cpu ? tsl_link_core(device) > 0 : link.measured) &&
        (is_cpu ? tsl_tune_core(device) : tsl_tune_link(device, &link)) != TESELA_OK)
      /* the device's candidates report the reason */
      tsl_log(TSL_LOG_PLAN, "%s", tesela_last_error());
  }
  TSL_TRY(find_choice_for_one_run(choice, found));
  return tsl_crossover_find(&found->problem, choice, &found->crossover);
}

/* Predicts the plan on groups of devices like its first one, with links as the first two have. */
static void predict_scaling(const tsl_choice *choice, tsl_explanation *found) {
  const tsl_subplan_factory children = tsl_planner_subplans(choice);
  tsl_subplan_info share;
  if (!found->plan || found->plan->work.device->member_count == 0 || !found->plan->work.state)
    return;
  if (tsl_plan_share(found->plan, 0, &share) && share.link_count > 0)
    found->link_rate = share.links[0].rate;
  for (int devices = 1; devices <= TSL_MEMBERS_MAX; devices *= 2) {
    found->scaling[found->scaling_count].seconds =
        tsl_several_predict(&found->plan->work, &children, devices, found->link_rate);
    found->scaling[found->scaling_count++].devices = devices;
  }
}

/* Counts the cost of the usable candidates, which come first. Predictions exclude the copies. */
static tesela_status count_costs_of_usable(tsl_explanation *found) {
  void *block;
  while (found->usable_count < found->count && !found->candidates[found->usable_count].refusal[0])
    found->usable_count++;
  TSL_TRY(tsl_alloc((size_t)found->usable_count * sizeof *found->counted, "accounts", &block));
  found->counted = block;
  for (int i = 0; i < found->usable_count; i++) {
    const tsl_candidate *candidate = &found->candidates[i];
    found->counted[i] =
        tsl_cost_report_make(&found->problem, candidate->strategy, &candidate->config, candidate->device);
    found->counted[i].seconds = candidate->resident;
  }
  return TESELA_OK;
}

tesela_status tsl_explain_find(const tsl_problem *problem, const tsl_choice *choice, tsl_explanation *found) {
  *found = (tsl_explanation){.problem = *problem, .resident = choice->place != TSL_PLACE_HOST};
  TSL_TRY(measure_links_and_crossover(choice, found));
  TSL_TRY(tsl_planner_list(problem, choice, &found->candidates, &found->count));
  found->plan_seconds = tsl_clock();
  found->plan_status = tsl_planner_take(problem, choice, found->candidates, found->count, &found->plan);
  found->plan_seconds = tsl_clock() - found->plan_seconds;
  tsl_text_add(&found->failure, "%s", found->plan_status == TESELA_OK ? "" : tesela_last_error());
  predict_scaling(choice, found);
  TSL_TRY(find_free_choice(choice, found));
  tsl_direct_explain(problem, choice, &found->crossover_decided);
  TSL_TRY(count_costs_of_usable(found));
  found->host_bytes = operand_bytes(problem) + (found->plan ? tsl_plan_host_bytes(found->plan) : 0);
  found->host_available = tsl_memory_available();
  return tsl_text_status(&found->failure);
}

void tsl_explanation_free(tsl_explanation *found) {
  free(found->candidates);
  tsl_free(found->counted);
  tsl_text_free(&found->failure);
  tsl_text_free(&found->crossover_decided);
  tsl_plan_destroy(found->plan);
  *found = (tsl_explanation){.count = 0};
}

const tsl_candidate *tsl_explain_chosen(const tsl_explanation *found) {
  for (int i = 0; found->plan && i < found->count; i++)
    if (found->candidates[i].strategy == found->plan->work.strategy &&
        found->candidates[i].device == found->plan->work.device)
      return &found->candidates[i];
  return NULL;
}

double tsl_explain_of_linear(const tsl_explanation *found, int index) {
  const double one = found->scaling[0].seconds, seconds = found->scaling[index].seconds;
  return one > 0 && seconds > 0 ? one / seconds / found->scaling[index].devices : NAN;
}

tsl_reproducibility tsl_explain_bits(const tsl_explanation *found, const tsl_candidate *candidate) {
  const tsl_accuracy promised =
      tsl_strategy_error_model(candidate->strategy, &found->problem, &candidate->config);
  const tsl_reproducibility bits = tsl_accuracy_bits(&promised), asked = found->problem.ask.bits;
  return asked == TSL_REPRODUCIBILITY_ROWS && bits < asked && !candidate->refusal[0] ? asked : bits;
}

static void set_square_shape(const tsl_shape *like, int64_t n, tsl_shape *shape) {
  const bool by_cols = like->row_stride == 1 && like->col_stride != 1;
  *shape = (tsl_shape){.type = like->type,
                       .rows = n,
                       .cols = n,
                       .row_stride = by_cols ? 1 : n,
                       .col_stride = by_cols ? n : 1,
                       .structure = like->structure,
                       .triangle = like->triangle};
}

/* Finds the device that a square product of this size runs on; NULL: none. */
static tesela_status find_device_for_size(const tsl_problem *like, const tsl_choice *choice, int64_t n,
                                          const tsl_device **device) {
  tsl_problem square = *like;
  tsl_candidate *list;
  int count;
  square.m = square.n = square.k = n;
  set_square_shape(&like->a, n, &square.a);
  set_square_shape(&like->b, n, &square.b);
  set_square_shape(&like->c, n, &square.c);
  tsl_problem_add_bias(&square, like->bias_axis, like->bias.type, 1);
  tsl_problem_add_scale(&square, TSL_OPERAND_SCALE_A, like->scaling_a, 1);
  tsl_problem_add_scale(&square, TSL_OPERAND_SCALE_B, like->scaling_b, 1);
  TSL_TRY(tsl_planner_list(&square, choice, &list, &count));
  *device = count > 0 && !list[0].refusal[0] ? list[0].device : NULL;
  free(list);
  return TESELA_OK;
}

/* Narrows the smallest size that runs on `device` (`high`; `low` does not) to an eighth of its value. */
static tesela_status narrow_crossover(const tsl_problem *like, const tsl_choice *choice, int64_t low,
                                      int64_t *high, const tsl_device *device) {
  while (*high - low > *high / 8) {
    const int64_t middle = low + (*high - low) / 2;
    const tsl_device *found;
    TSL_TRY(find_device_for_size(like, choice, middle, &found));
    if (found == device)
      *high = middle;
    else
      low = middle;
  }
  return TESELA_OK;
}

tesela_status tsl_crossover_find(const tsl_problem *like, const tsl_choice *choice, tsl_crossover *out) {
  const tsl_device *last = NULL;
  *out = (tsl_crossover){.count = 0};
  for (int64_t n = TSL_CROSSOVER_MIN; n <= TSL_CROSSOVER_MAX; n *= 2) {
    const tsl_device *device;
    TSL_TRY(find_device_for_size(like, choice, n, &device));
    if (!device || device == last || out->count == TSL_CROSSOVER_PARTS)
      continue;
    int64_t from = n;
    if (last)
      TSL_TRY(narrow_crossover(like, choice, n / 2, &from, device));
    out->parts[out->count++] = (tsl_crossover_part){from, device};
    last = device;
  }
  return TESELA_OK;
}

void tsl_crossover_print(const tsl_crossover *found, tsl_text *out) {
  for (int i = 0; i < found->count; i++)
    if (i == 0)
      tsl_text_add(out, "%s", found->parts[i].device->name);
    else
      tsl_text_add(out, ", from %lld on %s", (long long)found->parts[i].from, found->parts[i].device->name);
}
