/* tesela dot: the dot product of two vector files. */
#include "base/status.h"
#include "cli/select.h"
#include "product/product.h"

typedef struct dot_options {
  const char *output, *add, *device, *strategy, *expect;
  bool verify, quiet, json;
  tsl_scalar alpha, beta;
  tsl_number tolerance;
  const char *format;
  tesela_type type;
  int64_t threads, repeat;
  uint64_t memory;
} dot_options;

static const tsl_option options[] = {
    {"output", 'o', TSL_VALUE_FILE, NULL,
     "write the number here, as a matrix of one element: .npy .mtx .csv .txt; - is standard output",
     offsetof(dot_options, output)},
    TSL_OPTION(dot_options, alpha, "alpha", SCALAR, "1", "the factor of x . y"),
    TSL_OPTION(dot_options, add, "add", FILE, NULL, "s0, the number that is added, in a file of one element"),
    TSL_OPTION(dot_options, beta, "beta", SCALAR, NULL, "the factor of s0 (default: 1 with --add)"),
    TSL_OPTION(dot_options, type, "type", TYPE, NULL,
               "compute in this type (default: f32 where both files are f32, f16 or bf16, else f64; c64 and "
               "c128 where a "
               "file is complex)"),
    TSL_OPTION(dot_options, device, "device", DEVICE, NULL,
               "run on this device, such as cpu or opencl:0 (default: TESELA_DEVICE, else the fastest)"),
    TSL_OPTION(dot_options, strategy, "strategy", STRATEGY, NULL,
               "use this strategy: exact, fixed_tree, \"block_tree groups=64\""),
    TSL_OPTION(dot_options, threads, "threads", COUNT, NULL, "use at most so many host threads"),
    TSL_OPTION(dot_options, verify, "verify", FLAG, NULL,
               "judge the result against a sum in higher precision; a wrong one is not written"),
    TSL_OPTION(dot_options, expect, "expect", FILE, NULL,
               "compare with the number in this file: it is right, to its last printed digit"),
    TSL_OPTION_TOLERANCE(dot_options),
    TSL_OPTION(dot_options, repeat, "repeat", COUNT, "1", "add up so many times and report the median"),
    TSL_OPTION(dot_options, memory, "memory", BYTES, NULL,
               "refuse to take more memory than this (default: 80% of what is free)"),
    TSL_OPTION_FORMAT(dot_options),
    TSL_OPTION(dot_options, quiet, "quiet", FLAG, NULL, "print nothing when it worked"),
    TSL_OPTION_JSON(dot_options),
    TSL_OPTIONS_END,
};

static const tsl_example examples[] = {
    {"tesela dot x.npy y.npy --verify", "x . y on the fastest device, checked"},
    {"tesela dot x.npy y.npy --strategy exact", "the exact sum, rounded once, whatever cancels"},
    {"tesela dot x.csv y.csv --device opencl:0 --strategy \"block_tree groups=32 group=256\" --repeat 10",
     "the two-stage tree, timed"},
    {NULL, NULL},
};

static tesela_status run(const tsl_call *call) {
  const dot_options *given = call->options;
  if (given->beta.given && !given->add)
    return tsl_fail(TESELA_BAD_CALL, "--beta is the factor of s0, but no s0 is named; add --add FILE");
  const tsl_product_request request = {
      .op = TSL_OP_DOT,
      .a = call->words[0],
      .b = call->words[1],
      .c0 = given->add,
      .output = given->output,
      .expected = given->expect,
      .verify = given->verify,
      .alpha = {given->alpha.value[0], given->alpha.value[1]},
      .beta = {given->add && !given->beta.given ? 1 : given->beta.value[0], given->beta.value[1]},
      .tolerance = given->tolerance,
      .format = given->format,
      .types = {given->type, given->type, tsl_result_type(TSL_OP_DOT, given->type)},
      .device = tsl_device_or_default(given->device),
      .strategy = given->strategy,
      .memory = given->memory,
      .repeat = given->repeat,
  };
  TSL_TRY(tsl_set_threads(given->threads));
  return tsl_product_do(call, &request, given->quiet, given->json);
}

const tsl_command tsl_command_dot = {
    .name = "dot",
    .what = "the dot product of two vector files: s = alpha x . y + beta s0",
    .arguments = "X Y",
    .details =
        "A vector is a matrix of one row or one column, in .npy, Matrix Market (.mtx), .csv or .txt, also "
        "packed "
        "with gzip, or - for standard input. Both are held in memory; complex ones are not conjugated. "
        "Prints the result with all its digits, the plan that ran, where the time went, the "
        "error bound and, with "
        "--verify, the measured error.",
    .options = options,
    .examples = examples,
    .words_min = 2,
    .words_max = 2,
    .options_bytes = sizeof(dot_options),
    .run = run,
};
