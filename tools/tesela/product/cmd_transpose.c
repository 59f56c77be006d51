/* tesela transpose: from a file to the transposed file. */
#include "base/status.h"
#include "cli/select.h"
#include "product/product.h"

typedef struct transpose_options {
  const char *output, *device, *strategy, *expect;
  bool in_place, verify, quiet, json;
  tsl_number alpha, tolerance;
  const char *format;
  tesela_type type;
  int64_t threads, repeat;
  uint64_t memory;
} transpose_options;

static const tsl_option options[] = {
    {"output", 'o', TSL_VALUE_FILE, NULL,
     "write B here; the ending chooses the format: .npy .mtx .csv .txt; - is standard output",
     offsetof(transpose_options, output)},
    TSL_OPTION(transpose_options, alpha, "alpha", NUMBER, "1", "a factor of A^T; f32 and f64 only"),
    TSL_OPTION(transpose_options, in_place, "in-place", FLAG, NULL,
               "exchange the elements of a square in its own memory"),
    TSL_OPTION(transpose_options, type, "type", TYPE, NULL,
               "convert to this type first (default: the file's)"),
    TSL_OPTION(transpose_options, device, "device", DEVICE, NULL,
               "run on this device, such as cpu or opencl:0 (default: TESELA_DEVICE, else the fastest)"),
    TSL_OPTION(transpose_options, strategy, "strategy", STRATEGY, NULL,
               "use this strategy: element, tile_local, vector"),
    TSL_OPTION(transpose_options, threads, "threads", COUNT, NULL, "use at most so many host threads"),
    TSL_OPTION(transpose_options, verify, "verify", FLAG, NULL,
               "compare every element; a wrong transpose is not written"),
    TSL_OPTION(transpose_options, expect, "expect", FILE, NULL, "compare with the matrix in this file"),
    TSL_OPTION_TOLERANCE(transpose_options),
    TSL_OPTION(transpose_options, repeat, "repeat", COUNT, "1",
               "transpose so many times and report the median"),
    TSL_OPTION(transpose_options, memory, "memory", BYTES, NULL,
               "stay within so many bytes, going by panels of rows of B (default: 80% of what is free)"),
    TSL_OPTION_FORMAT(transpose_options),
    TSL_OPTION(transpose_options, quiet, "quiet", FLAG, NULL, "print nothing when it worked"),
    TSL_OPTION_JSON(transpose_options),
    TSL_OPTIONS_END,
};

static const tsl_example examples[] = {
    {"tesela transpose a.npy -o b.npy", "B = A^T, every bit kept, in the file's type"},
    {"tesela transpose a.npy --in-place --device cpu --repeat 10 --verify",
     "in place, timed, nothing written"},
    {"tesela transpose a.csv -o b.mtx --alpha 0.5", "scaled, into another format"},
    {NULL, NULL},
};

static tesela_status run(const tsl_call *call) {
  const transpose_options *given = call->options;
  const tsl_product_request request = {
      .op = TSL_OP_TRANSPOSE,
      .a = call->words[0],
      .output = given->output,
      .expected = given->expect,
      .in_place = given->in_place,
      .verify = given->verify,
      .alpha = {given->alpha.value, 0},
      .tolerance = given->tolerance,
      .format = given->format,
      .types = {given->type, given->type, tsl_result_type(TSL_OP_TRANSPOSE, given->type)},
      .device = tsl_device_or_default(given->device),
      .strategy = given->strategy,
      .memory = given->memory,
      .repeat = given->repeat,
  };
  TSL_TRY(tsl_set_threads(given->threads));
  return tsl_product_do(call, &request, given->quiet, given->json);
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
    .run = run,
};
