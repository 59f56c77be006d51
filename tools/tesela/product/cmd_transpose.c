/* tesela transpose: from a file to the transposed file. */
#include "cli/select.h"
#include "core/status.h"
#include "product/product.h"

typedef struct transpose_options {
  tsl_product_options shared; /* the shared options, except alpha, which is real here */
  tsl_option_number factor;
  bool in_place;
  tesela_type type;
} transpose_options;

static const tsl_option options[] = {
    {"output", 'o', TSL_VALUE_FILE, NULL,
     "write B here; the ending selects the format: .npy .mtx .csv .txt; - is standard output",
     offsetof(transpose_options, shared.output)},
    TSL_OPTION(transpose_options, factor, "alpha", NUMBER, "1", "factor of A^T; f32 and f64 only"),
    TSL_OPTION(transpose_options, in_place, "in-place", FLAG, NULL,
               "transpose a square matrix in its own memory"),
    TSL_OPTION(transpose_options, type, "type", TYPE, NULL,
               "convert to this type first; the default is the file's type"),
    TSL_OPTION_DEVICE(transpose_options),
    TSL_OPTION_SHARED(transpose_options, strategy, "strategy", STRATEGY, NULL,
                      "use this strategy, such as element, tile_local or vector"),
    TSL_OPTIONS_OF_ASKING(transpose_options),
    TSL_OPTION_THREADS(transpose_options),
    TSL_OPTION_SHARED(transpose_options, verify, "verify", FLAG, NULL,
                      "compare every element; a wrong transpose is not written"),
    TSL_OPTION_SHARED(transpose_options, expect, "expect", FILE, NULL,
                      "compare with the matrix in this file"),
    TSL_OPTION_TOLERANCE(transpose_options),
    TSL_OPTION_SHARED(transpose_options, repeat, "repeat", COUNT, "1",
                      "transpose this many times and report the median"),
    TSL_OPTION_SHARED(transpose_options, memory, "memory", BYTES, NULL,
                      "use at most this much memory (default: 80% of free memory); larger matrices go by "
                      "panels of rows or by blocks"),
    TSL_OPTION_RESUME(transpose_options),
    TSL_OPTIONS_OF_PRINTING(transpose_options),
    TSL_OPTIONS_END,
};

static const tsl_example examples[] = {
    {"tesela transpose a.npy -o b.npy", "B = A^T, every bit kept, in the file's type"},
    {"tesela transpose a.npy --in-place --device cpu --repeat 10 --verify",
     "in place, timed, nothing written"},
    {"tesela transpose huge.npy -o c.npy --memory 2GiB --resume",
     "a file larger than memory, within 2 GiB, going on where an interrupted run stopped"},
    {"tesela transpose a.csv -o b.mtx --alpha 0.5", "scaled, into another format"},
    {NULL, NULL},
};

static tesela_status transpose_run(const tsl_command_call *call) {
  const transpose_options *given = call->options;
  tsl_product_request request;
  TSL_TRY(tsl_product_ask(TSL_OP_TRANSPOSE, call, &given->shared, &request));
  request.alpha[0] = given->factor.value;
  request.in_place = given->in_place;
  request.types = (tsl_types){given->type, given->type, tsl_result_type(TSL_OP_TRANSPOSE, given->type)};
  return tsl_product_do(call, &request, &given->shared);
}

const tsl_command tsl_command_transpose = {
    .name = "transpose",
    .what = "transpose a matrix file: B = alpha A^T",
    .arguments = "A [-o B]",
    .details =
        "Reads .npy, Matrix Market (.mtx), .csv and .txt, of every type. Ends with the plan that ran and "
        "where the time "
        "went.\n"
        "An older file of the output's name is replaced when everything is right, and as it was otherwise.",
    .options = options,
    .examples = examples,
    .words_min = 1,
    .words_max = 1,
    .options_bytes = sizeof(transpose_options),
    .run = transpose_run,
};
