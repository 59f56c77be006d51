/* tesela dot: the dot product of two vector files. */
#include "cli/select.h"
#include "core/status.h"
#include "product/product.h"

typedef struct dot_options {
  tsl_product_options shared;
  tesela_type type;
} dot_options;

static const tsl_option options[] = {
    {"output", 'o', TSL_VALUE_FILE, NULL,
     "write the number here; the ending selects the format: .npy .mtx .csv .txt; - is standard output. The "
     "file has one element",
     offsetof(dot_options, shared.output)},
    TSL_OPTION_SHARED(dot_options, alpha, "alpha", SCALAR, "1", "factor of x . y"),
    TSL_OPTION_SHARED(dot_options, add, "add", FILE, NULL, "add s0, the number in this file"),
    TSL_OPTION_SHARED(dot_options, beta, "beta", SCALAR, NULL, "factor of s0; 1 with --add"),
    TSL_OPTION(dot_options, type, "type", TYPE, NULL,
               "compute in this type; the default is f32 if both files are f32, f16 or bf16, else f64, and "
               "c64 or c128 if a file is complex"),
    TSL_OPTION_DEVICE(dot_options),
    TSL_OPTION_SHARED(dot_options, strategy, "strategy", STRATEGY, NULL,
                      "use this strategy, such as exact, fixed_tree or \"block_tree groups=64\""),
    TSL_OPTIONS_OF_ASKING(dot_options),
    TSL_OPTION_CHECKSUMS(dot_options),
    TSL_OPTION_THREADS(dot_options),
    TSL_OPTION_SHARED(dot_options, verify, "verify", FLAG, NULL,
                      "check the result against a sum in higher precision; a wrong result is not written"),
    TSL_OPTION_SHARED(
        dot_options, expect, "expect", FILE, NULL,
        "compare with the number in this file; the number is exact up to its last printed digit"),
    TSL_OPTION_TOLERANCE(dot_options),
    TSL_OPTION_SHARED(dot_options, repeat, "repeat", COUNT, "1",
                      "compute this many times and report the median"),
    TSL_OPTION_SHARED(dot_options, memory, "memory", BYTES, NULL,
                      "fail if more memory is needed (default: 80% of free memory)"),
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

static tesela_status dot_run(const tsl_command_call *call) {
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
    .details = "A vector is a matrix of one row or one column: .npy, Matrix Market (.mtx), .csv or .txt, "
               "also packed with gzip; - is standard input. Both are held in memory; complex vectors are not "
               "conjugated. Prints the result with all digits, the plan, the time of each phase, the error "
               "bound and, with --verify, the measured error.",
    .options = options,
    .examples = examples,
    .words_min = 2,
    .words_max = 2,
    .options_bytes = sizeof(dot_options),
    .run = dot_run,
};
