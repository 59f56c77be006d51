/* tesela explain: what would run, what that needs, and why not something else. */
#include "api/api.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/status.h"
#include "cli/select.h"
#include "cli/terms.h"
#include "cli/tool.h"
#include "explain/explanation.h"
#include "explain/trace.h"
#include "tune/link.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const tsl_option options[] = {
    TSL_OPTION(tsl_explain_options, type, "type", TYPE, "f32", "type of the elements"),
    TSL_OPTION(tsl_explain_options, device, "device", DEVICE, NULL,
               "only this device (default: TESELA_DEVICE, else all)"),
    TSL_OPTION(tsl_explain_options, strategy, "strategy", STRATEGY, NULL, "only this strategy"),
    TSL_OPTION(tsl_explain_options, transpose_a, "transpose-a", FLAG, NULL, "A is stored transposed"),
    TSL_OPTION(tsl_explain_options, transpose_b, "transpose-b", FLAG, NULL, "B is stored transposed"),
    TSL_OPTION(tsl_explain_options, alpha, "alpha", NUMBER, "1", "the factor of A B"),
    TSL_OPTION(tsl_explain_options, beta, "beta", NUMBER, "0", "the factor of C0"),
    TSL_OPTION(tsl_explain_options, resident, "resident", FLAG, NULL,
               "the operands are in the device's memory already, so that nothing is copied"),
    TSL_OPTION(tsl_explain_options, trace, "trace", FLAG, NULL,
               "draw who loads what at which step, for --strategy and at most 16 x 16 x 16"),
    TSL_OPTION_JSON(tsl_explain_options),
    TSL_OPTIONS_END,
};

static const tsl_example examples[] = {
    {"tesela explain 1000 300 700", "for C (1000 x 300) = A (1000 x 700) B (700 x 300)"},
    {"tesela explain 4096 4096 4096 --type f64 --device cuda", "for one device only"},
    {"tesela explain 8 8 8 --strategy \"tile_local tile=4\" --trace", "a tile, step by step"},
    {NULL, NULL},
};

static tesela_status read_problem(const tsl_call *call, tsl_problem *problem) {
  const tsl_explain_options *given = call->options;
  int64_t sizes[3];
  for (int i = 0; i < 3; i++)
    if (!tsl_parse_i64(call->words[i], &sizes[i]) || sizes[i] < 0)
      return tsl_fail(TESELA_BAD_CALL, "%s: \"%s\" is not a size, a whole number from 0 up",
                      (const char *[]){"M", "N", "K"}[i], call->words[i]);
  TSL_TRY(tsl_terms_check_type(TSL_OP_GEMM, given->type));
  const double alpha[2] = {given->alpha.value}, beta[2] = {given->beta.value};
  const tsl_request request = {.op = TSL_OP_GEMM,
                               .m = sizes[0],
                               .n = sizes[1],
                               .k = sizes[2],
                               .sizes = {"M", "N", "K"},
                               .matrices = {{.transpose = given->transpose_a, .type = given->type},
                                            {.transpose = given->transpose_b, .type = given->type}},
                               .fields = {"A", "B", "C"},
                               .alpha = alpha,
                               .beta = beta};
  TSL_TRY(tsl_api_problem(&request, problem));
  return tsl_problem_check(problem);
}

static uint64_t operand_bytes(const tsl_problem *problem) {
  const tsl_shape *shapes[] = {&problem->a, &problem->b, &problem->c};
  uint64_t bytes = 0;
  for (int i = 0; i < 3; i++)
    bytes += (uint64_t)tsl_shape_extent(shapes[i]) * tsl_type(shapes[i]->type)->size;
  return bytes;
}

static tesela_status find_once(const tsl_choice *choice, tsl_explanation *found) {
  tsl_choice once = *choice;
  tsl_candidate *list;
  int count;
  once.runs = 1;
  TSL_TRY(tsl_planner_list(&found->problem, &once, &list, &count));
  if (count > 0 && !list[0].refusal[0])
    found->once = list[0];
  free(list);
  return TESELA_OK;
}

/* Where there is a choice of devices: what it costs to reach them, measured where nobody did, and where it turns. */
static tesela_status weigh(const tsl_choice *choice, tsl_explanation *found) {
  tsl_device *device;
  found->devices = choice->devices;
  if (strcmp(choice->device, "auto") != 0 || !tsl_devices_at(choice->devices, 1))
    return TESELA_OK;
  for (int i = 0; (device = tsl_devices_at(choice->devices, i)); i++) {
    tsl_link link = tsl_link_of(device);
    const bool is_cpu = (device->capabilities & TSL_CAN_HOST) != 0;
    if (!(is_cpu ? tsl_link_core(device) > 0 : link.measured) &&
        (is_cpu ? tsl_tune_core(device) : tsl_tune_link(device, &link)) != TESELA_OK)
      tsl_log(TSL_LOG_PLAN, "%s", tesela_last_error()); /* candidates on it say why it cannot be used */
  }
  TSL_TRY(find_once(choice, found));
  return tsl_crossover_find(&found->problem, choice, &found->crossover);
}

/* Accounts of those that can run, which come first. Their predictions leave out the copies, which all on a device share. */
static tesela_status count(const tsl_choice *choice, tsl_explanation *found) {
  void *block;
  while (found->able < found->count && !found->candidates[found->able].refusal[0])
    found->able++;
  TSL_TRY(tsl_alloc((size_t)found->able * sizeof *found->counted, "accounts", &block));
  found->counted = block;
  for (int i = 0; i < found->able; i++) {
    const tsl_candidate *candidate = &found->candidates[i];
    const tsl_link link = tsl_link_of(candidate->device);
    found->counted[i] =
        tsl_count(&found->problem, candidate->strategy, &candidate->config, candidate->device);
    found->counted[i].seconds =
        candidate->seconds - tsl_link_seconds(&link, &found->problem, candidate->device, choice->place);
  }
  return TESELA_OK;
}

/* The drawing of what would run; or why that is refused. */
static tesela_status print_trace(const tsl_explanation *found) {
  const tsl_candidate *first = &found->candidates[0];
  tsl_text out = {0};
  if (first->refusal[0])
    return tsl_fail(TESELA_UNSUPPORTED, "%s on %s: %s", first->strategy->name, first->device->name,
                    first->refusal);
  tsl_config_print(first->strategy, &first->config, &out);
  tsl_text_add(&out, ", C %lld x %lld, %lld products each: ", (long long)found->problem.m,
               (long long)found->problem.n, (long long)found->problem.k);
  const tesela_status status = tsl_trace_draw(first->strategy, &found->problem, &first->config, &out);
  if (status == TESELA_OK)
    return tsl_print(&out);
  tsl_text_free(&out);
  return status;
}

static tesela_status run(const tsl_call *call) {
  const tsl_explain_options *given = call->options;
  tsl_explanation found = {.count = 0};
  tsl_devices *devices = NULL;
  tsl_wisdom *wisdom = NULL;
  tesela_status status = TESELA_OK, planned;
  TSL_GO(read_problem(call, &found.problem));
  if (given->trace && (!given->strategy || given->json))
    return tsl_fail(TESELA_BAD_CALL, given->json ? "--trace draws, and has no JSON"
                                                 : "--trace draws one strategy; name it with --strategy");
  TSL_GO(tsl_devices_create(&devices));
  TSL_GO(tsl_wisdom_open(&wisdom));
  const tsl_choice choice = {.devices = devices,
                             .device = tsl_device_or_default(given->device),
                             .strategy = given->strategy,
                             .place = given->resident ? TSL_PLACE_DEVICE : TSL_PLACE_HOST,
                             .wisdom = wisdom,
                             .vendors = tsl_planner_vendors()};
  found.resident = given->resident;
  if (!given->trace)
    TSL_GO(weigh(&choice, &found));
  TSL_GO(tsl_planner_list(&found.problem, &choice, &found.candidates, &found.count));
  if (given->trace) {
    status = print_trace(&found);
    goto out;
  }
  found.plan_seconds = tsl_clock();
  planned = tsl_planner_take(&found.problem, &choice, found.candidates, found.count, &found.plan);
  found.plan_seconds = tsl_clock() - found.plan_seconds;
  TSL_GO(count(&choice, &found));
  tsl_text_add(&found.failure, "%s", planned == TESELA_OK ? "" : tesela_last_error());
  found.host_bytes = operand_bytes(&found.problem);
  found.host_available = tsl_memory_available();
  status = given->json ? tsl_explain_json(call, &found) : tsl_explain_text(&found, given);
  if (status == TESELA_OK && planned != TESELA_OK)
    status = tsl_fail(planned, "%s", tsl_text_get(&found.failure));
out:
  free(found.candidates);
  tsl_free(found.counted);
  tsl_text_free(&found.failure);
  tsl_plan_destroy(found.plan);
  tsl_wisdom_close(wisdom);
  tsl_devices_destroy(devices);
  return status;
}

const tsl_command tsl_command_explain = {
    .name = "explain",
    .what = "say, without running it, which plan a product would take and why",
    .arguments = "M N K",
    .details = "The product is C (M x N) = alpha A (M x K) B (K x N) + beta C0. Predictions come from small "
               "models of "
               "each strategy on each device; tesela explore measures.",
    .options = options,
    .examples = examples,
    .words_min = 3,
    .words_max = 3,
    .options_bytes = sizeof(tsl_explain_options),
    .run = run,
};
