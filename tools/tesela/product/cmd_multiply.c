/* tesela multiply: from files to a verified file. */
#include "base/status.h"
#include "cli/select.h"
#include "product/product.h"

typedef struct multiply_options {
  const char *output, *add, *device, *strategy, *expect;
  bool transpose_a, transpose_b, conjugate_a, conjugate_b, verify, quiet, json;
  tsl_scalar alpha, beta;
  tsl_number tolerance;
  const char *format;
  const char *type;
  int64_t threads, repeat;
  uint64_t memory;
} multiply_options;

static const tsl_option options[] = {
    {"output", 'o', TSL_VALUE_FILE, NULL,
     "write C here; the ending chooses the format: .npy .mtx .csv .txt; - is standard output",
     offsetof(multiply_options, output)},
    TSL_OPTION(multiply_options, transpose_a, "transpose-a", FLAG, NULL, "use the transpose of A"),
    TSL_OPTION(multiply_options, transpose_b, "transpose-b", FLAG, NULL, "use the transpose of B"),
    TSL_OPTION(multiply_options, conjugate_a, "conjugate-a", FLAG, NULL,
               "use the complex conjugate of A; with --transpose-a, A^H"),
    TSL_OPTION(multiply_options, conjugate_b, "conjugate-b", FLAG, NULL, "use the complex conjugate of B"),
    TSL_OPTION(multiply_options, alpha, "alpha", SCALAR, "1",
               "the factor of A B, such as 1.5, or 1-2i of complex products"),
    TSL_OPTION(multiply_options, add, "add", FILE, NULL, "C0, the matrix that is added"),
    TSL_OPTION(multiply_options, beta, "beta", SCALAR, NULL, "the factor of C0 (default: 1 with --add)"),
    TSL_OPTION(
        multiply_options, type, "type", TYPES, NULL,
        "compute in this type and write it, or in these: bf16:f32 (A and B, C), i8 (C in i32), "
        "u8:i8:i32 (default: f32 where both files are f32, f16 or bf16, else f64; c64 and c128 where a "
        "file is complex)"),
    TSL_OPTION(multiply_options, device, "device", DEVICE, NULL,
               "run on this device, such as cpu or opencl:0 (default: TESELA_DEVICE, else the fastest)"),
    TSL_OPTION(multiply_options, strategy, "strategy", STRATEGY, NULL,
               "use this strategy, with parameters if you like: \"tile_local tile=16\""),
    TSL_OPTION(multiply_options, threads, "threads", COUNT, NULL, "use at most so many host threads"),
    TSL_OPTION(multiply_options, verify, "verify", FLAG, NULL,
               "judge the product against sums in higher precision; a wrong one is not written"),
    TSL_OPTION(multiply_options, expect, "expect", FILE, NULL,
               "compare with the product in this file: its numbers are right, to their last printed digit"),
    TSL_OPTION_TOLERANCE(multiply_options),
    TSL_OPTION(multiply_options, repeat, "repeat", COUNT, "1",
               "multiply so many times and report the median"),
    TSL_OPTION(multiply_options, memory, "memory", BYTES, NULL,
               "stay within so many bytes, going by panels of rows (default: 80% of what is free)"),
    TSL_OPTION_FORMAT(multiply_options),
    TSL_OPTION(multiply_options, quiet, "quiet", FLAG, NULL, "print nothing when it worked"),
    TSL_OPTION_JSON(multiply_options),
    TSL_OPTIONS_END,
};

static const tsl_example examples[] = {
    {"tesela multiply a.npy b.npy -o c.npy --verify", "C = A B on the fastest device, checked, written"},
    {"tesela multiply a.npy b.mtx -o c.csv --transpose-a --alpha 1.5 --add c0.npy --beta -0.5",
     "C = 1.5 A^T B - 0.5 C0, from and to any of the formats"},
    {"tesela multiply a.npy b.npy --device opencl:0 --strategy \"tile_local tile=16\" --repeat 10",
     "one strategy on one device, timed, nothing written"},
    {"tesela multiply a.txt b.txt --expect solution.txt", "check a solution: exit code 1 when it differs"},
    {"tesela multiply a.csv b.csv --expect printed.csv --tolerance 0.01", "the same, within a hundredth"},
    {"tesela generate 300x200 -o - --format npy | tesela multiply - b.csv.gz -o c.mtx",
     "from a pipe and from a packed file"},
    {"tesela multiply huge.npy b.npy -o c.npy --memory 2GiB", "in panels of rows, within 2 GiB"},
    {NULL, NULL},
};

static tesela_status read_request(const tsl_call *call, tsl_product_request *request) {
  const multiply_options *given = call->options;
  if (given->beta.given && !given->add)
    return tsl_fail(TESELA_BAD_CALL, "--beta is the factor of C0, but no C0 is named; add --add FILE");
  *request = (tsl_product_request){
      .op = TSL_OP_GEMM,
      .a = call->words[0],
      .b = call->words[1],
      .c0 = given->add,
      .output = given->output,
      .expected = given->expect,
      .transpose_a = given->transpose_a,
      .transpose_b = given->transpose_b,
      .verify = given->verify,
      .conjugate_a = given->conjugate_a,
      .conjugate_b = given->conjugate_b,
      .alpha = {given->alpha.value[0], given->alpha.value[1]},
      .beta = {given->add && !given->beta.given ? 1 : given->beta.value[0], given->beta.value[1]},
      .tolerance = given->tolerance,
      .format = given->format,
      .device = tsl_device_or_default(given->device),
      .strategy = given->strategy,
      .memory = given->memory,
      .repeat = given->repeat,
  };
  if (given->type) {
    tsl_chosen_types chosen;
    const tesela_status status = tsl_select_type(TSL_OP_GEMM, given->type, &chosen);
    if (status != TESELA_OK)
      return tsl_fail_in(status, "--type");
    request->types = chosen.types;
  }
  return tsl_set_threads(given->threads);
}

static tesela_status run(const tsl_call *call) {
  const multiply_options *given = call->options;
  tsl_product_request request;
  TSL_TRY(read_request(call, &request));
  return tsl_product_do(call, &request, given->quiet, given->json);
}

const tsl_command tsl_command_multiply = {
    .name = "multiply",
    .what = "multiply two matrix files: C = alpha A B + beta C0",
    .arguments = "A B [-o C]",
    .details =
        "Reads .npy, Matrix Market (.mtx), .csv and .txt (\"rows columns\", then the values), each also "
        "packed with "
        "gzip; and .npz with one array. npy and mtx hold complex numbers, csv and txt do not. - is standard "
        "input, and "
        "as output standard output, which then gets nothing else. Ends with the plan that ran, where the "
        "time went, the error bound and, with --verify, the measured error: the grade is the "
        "largest error in units of u (|alpha||A||B| + |beta||C0|), u being the unit roundoff.\n"
        "An older file of the output's name is replaced when everything is right, and as it was otherwise.",
    .options = options,
    .examples = examples,
    .words_min = 2,
    .words_max = 2,
    .options_bytes = sizeof(multiply_options),
    .run = run,
};
