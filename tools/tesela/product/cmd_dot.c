/* tesela dot: the dot product of two vector files. */
#include "base/status.h"
#include "cli/select.h"
#include "product/product.h"

typedef struct dot_options {
  tsl_product_options shared;
  tesela_type type;
} dot_options;

static const tsl_option options[] = {
    {"output", 'o', TSL_VALUE_FILE, NULL,
     "write the number here, as a matrix of one element: .npy .mtx .csv .txt; - is standard output",
     offsetof(dot_options, shared.output)},
    TSL_OPTION_SHARED(dot_options, alpha, "alpha", SCALAR, "1", "the factor of x . y"),
    TSL_OPTION_SHARED(dot_options, add, "add", FILE, NULL,
                      "s0, the number that is added, in a file of one element"),
    TSL_OPTION_SHARED(dot_options, beta, "beta", SCALAR, NULL, "the factor of s0 (default: 1 with --add)"),
    TSL_OPTION(dot_options, type, "type", TYPE, NULL,
               "compute in this type (default: f32 where both files are f32, f16 or bf16, else f64; c64 and "
               "c128 where a "
               "file is complex)"),
    TSL_OPTION_DEVICE(dot_options),
    TSL_OPTION_SHARED(dot_options, strategy, "strategy", STRATEGY, NULL,
                      "use this strategy: exact, fixed_tree, \"block_tree groups=64\""),
    TSL_OPTIONS_OF_ASKING(dot_options),
    TSL_OPTION_THREADS(dot_options),
    TSL_OPTION_SHARED(dot_options, verify, "verify", FLAG, NULL,
                      "judge the result against a sum in higher precision; a wrong one is not written"),
    TSL_OPTION_SHARED(dot_options, expect, "expect", FILE, NULL,
                      "compare with the number in this file: it is right, to its last printed digit"),
    TSL_OPTION_TOLERANCE(dot_options),
    TSL_OPTION_SHARED(dot_options, repeat, "repeat", COUNT, "1",
                      "repeat the sum this many times and report the median"),
    TSL_OPTION_SHARED(dot_options, memory, "memory", BYTES, NULL,
                      "refuse to take more memory than this (default: 80% of free memory)"),
    TSL_OPTIONS_OF_PRINTING(dot_options),
    TSL_OPTIONS_END,
};

static const tsl_example examples[] = {
    {"tesela dot x.npy y.npy --verify", "x . y on the fastest device, checked"},
    {"tesela dot x.npy y.npy --strategy exact", "the exact sum, rounded once, whatever cancels"},
    {"tesela dot x.csv y.csv --device opencl:0 --strategy \"block_tree groups=32 group=256\" --repeat 10",
     "the two-stage tree, timed"},
    {NULL, NULL},
};

static tesela_status dot_run(const tsl_call *call) {
  const dot_options *given = call->options;
  tsl_product_request request;
  TSL_TRY(tsl_product_ask(TSL_OP_DOT, call, &given->shared, &request));
  request.types = (tsl_types){given->type, given->type, tsl_result_type(TSL_OP_DOT, given->type)};
  return tsl_product_do(call, &request, &given->shared);
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
    .run = dot_run,
};
