#include "explain/explain.h"
#include "explain/explain_values.h"
#include "strategy/structure.h"

#include <math.h>

static json_t *json_link(const tsl_device *device) {
  const tsl_link link = tsl_link_of(device);
  return json_pack(
      "{s:s, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s}", "device", device->name, "measured", link.measured,
      "in_seconds", tsl_json_real(link.in.seconds), "in_bytes_per_second", tsl_json_real(link.in.rate),
      "out_seconds", tsl_json_real(link.out.seconds), "out_bytes_per_second", tsl_json_real(link.out.rate),
      "staged_in_bytes_per_second", tsl_json_real(link.staged_in), "staged_out_bytes_per_second",
      tsl_json_real(link.staged_out), "launch_seconds", tsl_json_real(link.launch), "date", link.date);
}

/* Returns the members `account`, `below` and `comparison`. */
static json_t *json_reasons(const tsl_explanation *found, int index) {
  const tsl_counted *counted = index < found->able ? &found->counted[index] : NULL;
  if (!counted || !counted->told)
    return json_pack("{s:n, s:n, s:n}", "account", "below", "comparison");
  const tsl_counted *below = tsl_counted_below(found->counted, found->able, counted);
  tsl_text text = {0};
  tsl_counted_compare(&found->problem, counted, below, &text);
  json_t *object =
      json_pack("{s:o, s:s?, s:s}", "account", tsl_json_counted(&found->problem, counted), "below",
                below ? below->strategy->name : NULL, "comparison", tsl_text_get(&text));
  tsl_text_free(&text);
  return object;
}

static json_t *json_share_links(const tsl_subplan_info *share) {
  json_t *list = json_array();
  for (int i = 0; i < share->link_count; i++)
    json_array_append_new(list, json_pack("{s:s, s:o, s:o, s:o}", "device", share->links[i].device,
                                          "in_bytes", tsl_json_real(share->links[i].in_bytes), "out_bytes",
                                          tsl_json_real(share->links[i].out_bytes), "bytes_per_second",
                                          tsl_json_real(share->links[i].rate)));
  return list;
}

static json_t *json_shares(const tsl_plan *plan) {
  json_t *list = json_array();
  tsl_subplan_info share;
  for (int i = 0; plan && tsl_plan_share(plan, i, &share); i++)
    json_array_append_new(list,
                          json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:o}", "device",
                                    share.device, "plan", share.plan, "row", (json_int_t)share.row, "rows",
                                    (json_int_t)share.rows, "col", (json_int_t)share.col, "cols",
                                    (json_int_t)share.cols, "depth", (json_int_t)share.depth, "count",
                                    (json_int_t)(share.count > 0 ? share.count : 1), "predicted_seconds",
                                    share.seconds > 0 ? tsl_json_real(share.seconds) : json_null(),
                                    "in_bytes", tsl_json_real(share.in_bytes), "out_bytes",
                                    tsl_json_real(share.out_bytes), "links", json_share_links(&share)));
  return list;
}

/* Returns "symmetric_lower"; null for a general operand that is used completely. */
static json_t *json_structure(const tsl_problem *problem, int operand) {
  const tsl_shape *shape = tsl_problem_shape(problem, operand);
  tsl_text word = {0};
  tsl_structure_print(shape->structure, shape->triangle, &word);
  json_t *object = word.length > 0 ? json_string(tsl_text_get(&word)) : json_null();
  tsl_text_free(&word);
  return object;
}

static json_t *json_word_or_null(const char *word) {
  return *word ? json_string(word) : json_null();
}

json_t *tsl_explain_json(const tsl_explanation *found) {
  const tsl_problem *problem = &found->problem;
  const tsl_candidate *best = tsl_explain_chosen(found);
  json_t *list = json_array();
  for (int i = 0; i < found->count; i++) {
    const tsl_candidate *candidate = &found->candidates[i];
    const tsl_accuracy promised = tsl_strategy_error_model(candidate->strategy, problem, &candidate->config);
    tsl_text text = {0};
    tsl_config_print(candidate->strategy, &candidate->config, &text);
    json_t *counted = json_pack(
        "{s:s, s:s, s:o, s:s, s:b, s:o, s:o, s:s, s:o, s:s, s:o}", "strategy", candidate->strategy->name,
        "config", tsl_text_get(&text), "peer", tsl_json_peer(candidate->strategy, candidate->device),
        "device", candidate->device->name, "chosen", candidate == best, "predicted_seconds",
        tsl_json_real(candidate->seconds), "doubt", tsl_json_real(candidate->doubt), "predicted_by",
        tsl_basis_name(candidate->basis), "error_bound",
        tsl_json_real(tsl_strategy_error_bound(candidate->strategy, problem, &candidate->config)), "bits",
        tsl_numeric_requirements_bits_word(tsl_accuracy_bits(&promised)), "refusal",
        candidate->refusal[0] ? json_string(candidate->refusal) : json_null());
    json_object_update_new(counted, json_reasons(found, i));
    json_array_append_new(list, counted);
    tsl_text_free(&text);
  }
  json_t *plan = json_null(), *bound = json_null(), *bytes = json_null(), *first = json_null();
  if (found->plan) {
    plan = json_string(found->plan->text);
    bound = tsl_json_real(tsl_plan_error_bound(found->plan));
    bytes = json_integer((json_int_t)tsl_plan_bytes(found->plan));
    first = json_pack("{s:o, s:o, s:o, s:b}", "seconds", tsl_json_real(found->plan_seconds),
                      "compiler_seconds", tsl_json_real(found->plan->work.build_seconds), "self_test_seconds",
                      tsl_json_real(found->plan->self_test_seconds), "self_tested", found->plan->was_tried);
  }
  json_t *links = json_array(), *crossover = json_array();
  const tsl_device *device;
  for (int i = 0; found->crossover.count > 0 && (device = tsl_devices_at(found->devices, i)); i++)
    json_array_append_new(links, json_link(device));
  for (int i = 0; i < found->crossover.count; i++)
    json_array_append_new(crossover,
                          json_pack("{s:I, s:s}", "from", (json_int_t)found->crossover.parts[i].from,
                                    "device", found->crossover.parts[i].device->name));
  return json_pack(
      "{s:o, s:o, s:o, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:I, s:I, s:s, s:o, s:o, s:o, s:o, "
      "s:o, s:I, s:I, s:o, s:o, "
      "s:o}",
      "a_is", json_structure(problem, TSL_OPERAND_A), "b_is", json_structure(problem, TSL_OPERAND_B), "c_is",
      json_structure(problem, TSL_OPERAND_C), "in_place", problem->in_place, "bias",
      json_word_or_null(tsl_along_name(problem->bias_axis)), "activation",
      json_word_or_null(tsl_activation_name(problem->activation)), "scale_a",
      json_word_or_null(tsl_scaling_name(problem->scaling_a)), "scale_b",
      json_word_or_null(tsl_scaling_name(problem->scaling_b)), "shares", json_shares(found->plan), "links",
      links, "crossover", crossover, "m", (json_int_t)problem->m, "n", (json_int_t)problem->n, "k",
      (json_int_t)problem->k, "type", tsl_type(problem->c.type)->name, "alpha",
      tsl_json_real(problem->alpha[0]), "beta", tsl_json_real(problem->beta[0]), "plan", plan, "error_bound",
      bound, "predicted_seconds", tsl_json_real(best ? best->seconds : INFINITY), "host_bytes",
      (json_int_t)found->host_bytes, "host_bytes_available", (json_int_t)found->host_available,
      "device_bytes", bytes, "first_call", first, "candidates", list);
}
