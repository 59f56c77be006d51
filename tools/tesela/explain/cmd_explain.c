/* tesela explain: what would run, what that needs, and why not something else. */
#include "api/api.h"
#include "base/env.h"
#include "base/status.h"
#include "cli/select.h"
#include "cli/terms.h"
#include "explain/options.h"
#include "explain/ranks.h"
#include "explain/trace.h"

static const tsl_option options[] = {
    TSL_OPTION(tsl_explain_options, type, "type", TYPE, "f32", "type of the elements"),
    TSL_OPTION(tsl_explain_options, device, "device", DEVICE, NULL,
               "only this device (default: TESELA_DEVICE, else all)"),
    TSL_OPTION(tsl_explain_options, strategy, "strategy", STRATEGY, NULL, "only this strategy"),
    TSL_OPTION(tsl_explain_options, accuracy, "accuracy", ACCURACY, NULL,
               "what the result is to guarantee: default, a number such as 1e-5 (of |A||B|), tf32, bf16, "
               "f32, f64, exact (default: TESELA_ACCURACY)"),
    TSL_OPTION(tsl_explain_options, bits, "bits", BITS, NULL,
               "when the same bits are to come again: any, run, threads, devices (default: TESELA_BITS)"),
    TSL_OPTION(tsl_explain_options, transpose_a, "transpose-a", FLAG, NULL, "A is stored transposed"),
    TSL_OPTION(tsl_explain_options, transpose_b, "transpose-b", FLAG, NULL, "B is stored transposed"),
    TSL_OPTION(tsl_explain_options, alpha, "alpha", NUMBER, "1", "the factor of A B"),
    TSL_OPTION(tsl_explain_options, beta, "beta", NUMBER, "0", "the factor of C0"),
    TSL_OPTION(tsl_explain_options, resident, "resident", FLAG, NULL,
               "the operands are in the device's memory already, so that nothing is copied"),
    TSL_OPTION(tsl_explain_options, trace, "trace", FLAG, NULL,
               "draw who loads what at which step, for --strategy and at most 16 x 16 x 16"),
    TSL_OPTION(tsl_explain_options, ranks, "ranks", COUNT, NULL,
               "by so many ranks of a cluster: the grid, what travels, and how long that takes"),
    TSL_OPTION(tsl_explain_options, memory, "memory", BYTES, NULL,
               "with --ranks: what a rank may take beside its operands (default: half of what is free here)"),
    TSL_OPTION(tsl_explain_options, link, "link", BYTES, NULL,
               "with --ranks: bytes a second to and from a rank (default: 2.5 GB/s)"),
    TSL_OPTION(tsl_explain_options, gflops, "gflops", NUMBER, "200", "with --ranks: what a rank computes"),
    TSL_OPTION_JSON(tsl_explain_options),
    TSL_OPTIONS_END,
};

static const tsl_example examples[] = {
    {"tesela explain 1000 300 700", "for C (1000 x 300) = A (1000 x 700) B (700 x 300)"},
    {"tesela explain 4096 4096 4096 --type f64 --device cuda", "for one device only"},
    {"tesela explain 8 8 8 --strategy \"tile_local tile=4\" --trace", "a tile, step by step"},
    {"tesela explain 65536 65536 65536 --type f64 --ranks 1024 --memory 64GiB", "on a cluster"},
    {NULL, NULL},
};

static const char *asked(const char *given, tsl_env otherwise) {
  return given ? given : tsl_env_get(otherwise);
}

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
  TSL_TRY(tsl_ask_parse_accuracy(asked(given->accuracy, TSL_ENV_ACCURACY), &problem->ask));
  TSL_TRY(tsl_ask_parse_bits(asked(given->bits, TSL_ENV_BITS), &problem->ask));
  return tsl_problem_check(problem);
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

/* The candidates alone are listed. */
static tesela_status trace(const tsl_problem *problem, const tsl_choice *choice) {
  tsl_explanation found = {.problem = *problem};
  tesela_status status = tsl_planner_list(problem, choice, &found.candidates, &found.count);
  if (status == TESELA_OK)
    status = print_trace(&found);
  tsl_explanation_free(&found);
  return status;
}

static tesela_status explain(const tsl_call *call, const tsl_problem *problem, const tsl_choice *choice) {
  const tsl_explain_options *given = call->options;
  tsl_explanation found;
  tesela_status status = tsl_explain_find(problem, choice, &found);
  if (status == TESELA_OK)
    status = given->json ? tsl_print_json(call, tsl_explain_json(&found)) : tsl_explain_text(&found, given);
  if (status == TESELA_OK && found.planned != TESELA_OK)
    status = tsl_fail(found.planned, "%s", tsl_text_get(&found.failure));
  tsl_explanation_free(&found);
  return status;
}

static tesela_status run(const tsl_call *call) {
  const tsl_explain_options *given = call->options;
  tsl_problem problem;
  tsl_devices *devices = NULL;
  tsl_wisdom *wisdom = NULL;
  tesela_status status = TESELA_OK;
  TSL_GO(read_problem(call, &problem));
  if (given->ranks > 0)
    return tsl_explain_ranks(call, &problem);
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
  status = given->trace ? trace(&problem, &choice) : explain(call, &problem, &choice);
out:
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
