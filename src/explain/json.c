#include "explain/explain.h"
#include "problem/structure.h"
#include "strategy/params.h"

#include <math.h>

/* Writes `account` and the comparison with the partner. */
static void write_json_costs(const tsl_explanation *found, int index, tsl_json *json) {
  const tsl_cost_report *counted =
      index < found->usable_count ? &found->counted[index] : &(tsl_cost_report){.has_counts = false};
  const tsl_cost_comparison comparison = tsl_cost_report_compare(
      counted,
      counted->has_counts ? tsl_cost_report_partner(found->counted, found->usable_count, counted) : NULL);
  tsl_json_add(json, "account:");
  tsl_cost_report_json(&found->problem, counted, json);
  tsl_cost_comparison_json(&found->problem, counted, &comparison, json);
}

static void write_json_candidates(const tsl_explanation *found, tsl_json *json) {
  const tsl_problem *problem = &found->problem;
  const tsl_candidate *best = tsl_explain_chosen(found);
  for (int i = 0; i < found->count; i++) {
    const tsl_candidate *candidate = &found->candidates[i];
    tsl_text config = {0};
    tsl_config_print(candidate->strategy, &candidate->config, &config);
    tsl_json_add(json,
                 "{strategy:s, config:t, peer:o, device:s, chosen:b, predicted_seconds:r, doubt:r, "
                 "predicted_by:s, error_bound:r, bits:s, refusal:o",
                 candidate->strategy->name, &config,
                 tsl_strategy_peer(candidate->strategy, candidate->device), candidate->device->name,
                 candidate == best, candidate->seconds, candidate->doubt, tsl_basis_name(candidate->basis),
                 tsl_strategy_error_bound(candidate->strategy, problem, &candidate->config),
                 tsl_numeric_requirements_bits_word(tsl_explain_bits(found, candidate)), candidate->refusal);
    write_json_costs(found, i, json);
    tsl_json_add(json, "}");
  }
}

static void write_json_subplans(const tsl_plan *plan, tsl_json *json) {
  tsl_subplan_info share;
  for (int i = 0; plan && tsl_plan_share(plan, i, &share); i++) {
    tsl_json_add(json, "{device:s, plan:s, row:l, rows:l, col:l, cols:l, depth:l, count:l", share.device,
                 share.plan, share.row, share.rows, share.col, share.cols, share.depth,
                 share.count > 0 ? share.count : 1);
    tsl_json_add(json, "predicted_seconds:r, in_bytes:r, out_bytes:r, links:[",
                 share.seconds > 0 ? share.seconds : NAN, share.in_bytes, share.out_bytes);
    for (int l = 0; l < share.link_count; l++)
      tsl_json_add(json, "{device:s, in_bytes:r, out_bytes:r, bytes_per_second:r}", share.links[l].device,
                   share.links[l].in_bytes, share.links[l].out_bytes, share.links[l].rate);
    tsl_json_add(json, "]}");
  }
}

static void write_json_scaling(const tsl_explanation *found, tsl_json *json) {
  for (int i = 0; i < found->scaling_count; i++)
    tsl_json_add(json, "{devices:l, predicted_seconds:r, of_linear:r, bytes_per_second:r}",
                 (int64_t)found->scaling[i].devices,
                 found->scaling[i].seconds > 0 ? found->scaling[i].seconds : NAN,
                 tsl_explain_of_linear(found, i), found->link_rate > 0 ? found->link_rate : NAN);
}

static void write_json_links(const tsl_explanation *found, tsl_json *json) {
  const tsl_device *device;
  for (int i = 0; found->crossover.count > 0 && (device = tsl_devices_at(found->devices, i)); i++) {
    const tsl_link link = tsl_link_of(device);
    tsl_json_add(json,
                 "{device:s, measured:b, in_seconds:r, in_bytes_per_second:r, out_seconds:r, "
                 "out_bytes_per_second:r, staged_in_bytes_per_second:r, staged_out_bytes_per_second:r, "
                 "launch_seconds:r, date:s}",
                 device->name, link.measured, link.in.seconds, link.in.rate, link.out.seconds, link.out.rate,
                 link.staged_in, link.staged_out, link.launch, link.date);
  }
}

void tsl_explain_json(const tsl_explanation *found, tsl_text *out) {
  const tsl_problem *problem = &found->problem;
  const tsl_plan *plan = found->plan;
  const tsl_candidate *best = tsl_explain_chosen(found);
  tsl_json *json = &(tsl_json){.out = out};
  tsl_text structures[3] = {{0}}; /* empty for a general operand that is used completely */
  for (int operand = 0; operand < 3; operand++)
    tsl_structure_print(tsl_problem_shape(problem, operand)->structure,
                        tsl_problem_shape(problem, operand)->triangle, &structures[operand]);
  tsl_json_add(json, "{a_is:t, b_is:t, c_is:t, in_place:b", &structures[0], &structures[1], &structures[2],
               problem->in_place);
  tsl_json_add(json, "bias:o, activation:o, scale_a:o, scale_b:o, shares:[",
               tsl_along_name(problem->bias_axis), tsl_activation_name(problem->activation),
               tsl_scaling_name(problem->scaling_a), tsl_scaling_name(problem->scaling_b));
  write_json_subplans(plan, json);
  tsl_json_add(json, "], scaling:[");
  write_json_scaling(found, json);
  tsl_json_add(json, "], links:[");
  write_json_links(found, json);
  tsl_json_add(json, "], crossover:[");
  for (int i = 0; i < found->crossover.count; i++)
    tsl_json_add(json, "{from:l, device:s}", found->crossover.parts[i].from,
                 found->crossover.parts[i].device->name);
  tsl_json_add(json, "], m:l, n:l, k:l, type:s, alpha:r, beta:r, plan:s, error_bound:r, predicted_seconds:r",
               problem->m, problem->n, problem->k, tsl_type(problem->c.type)->name, problem->alpha[0],
               problem->beta[0], plan ? plan->text : NULL, plan ? tsl_plan_error_bound(plan) : NAN,
               best ? plan->expected : NAN);
  tsl_json_add(json, "host_bytes:l, host_bytes_available:l", found->host_bytes, found->host_available);
  if (plan)
    tsl_json_add(json,
                 "device_bytes:l, first_call:{seconds:r, compiler_seconds:r, self_test_seconds:r, "
                 "self_tested:b}",
                 tsl_plan_bytes(plan), found->plan_seconds, plan->work.build_seconds, plan->self_test_seconds,
                 plan->was_tried);
  else
    tsl_json_add(json, "device_bytes:n, first_call:n");
  tsl_json_add(json, "candidates:[");
  write_json_candidates(found, json);
  tsl_json_add(json, "]}");
}
