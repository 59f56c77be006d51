/* tesela multiply: from files to a verified file. */
#include "base/status.h"
#include "cli/ranks.h"
#include "cli/select.h"
#include "product/together.h"

typedef struct multiply_options {
  tsl_product_options shared;
  bool transpose_a, transpose_b, conjugate_a, conjugate_b;
  const char *type;
} multiply_options;

static const tsl_option options[] = {
    {"output", 'o', TSL_VALUE_FILE, NULL,
     "write C here; the ending chooses the format: .npy .mtx .csv .txt; - is standard output",
     offsetof(multiply_options, shared.output)},
    TSL_OPTION(multiply_options, transpose_a, "transpose-a", FLAG, NULL, "use the transpose of A"),
    TSL_OPTION(multiply_options, transpose_b, "transpose-b", FLAG, NULL, "use the transpose of B"),
    TSL_OPTION(multiply_options, conjugate_a, "conjugate-a", FLAG, NULL,
               "use the complex conjugate of A; with --transpose-a, A^H"),
    TSL_OPTION(multiply_options, conjugate_b, "conjugate-b", FLAG, NULL, "use the complex conjugate of B"),
    TSL_OPTION_SHARED(multiply_options, alpha, "alpha", SCALAR, "1",
                      "the factor of A B, such as 1.5, or 1-2i of complex products"),
    TSL_OPTION_SHARED(multiply_options, add, "add", FILE, NULL, "C0, the matrix that is added"),
    TSL_OPTION_SHARED(multiply_options, beta, "beta", SCALAR, NULL,
                      "the factor of C0 (default: 1 with --add)"),
    TSL_OPTION(
        multiply_options, type, "type", TYPES, NULL,
        "compute in this type and write it, or in these: bf16:f32 (A and B, C), i8 (C in i32), "
        "u8:i8:i32 (default: f32 where both files are f32, f16 or bf16, else f64; c64 and c128 where a "
        "file is complex)"),
    TSL_OPTION_DEVICE(multiply_options),
    TSL_OPTION_SHARED(multiply_options, strategy, "strategy", STRATEGY, NULL,
                      "use this strategy, with parameters if you like: \"tile_local tile=16\""),
    TSL_OPTIONS_OF_ASKING(multiply_options),
    TSL_OPTION_THREADS(multiply_options),
    TSL_OPTION_SHARED(multiply_options, verify, "verify", FLAG, NULL,
                      "judge the product against sums in higher precision; a wrong one is not written"),
    TSL_OPTION_SHARED(
        multiply_options, expect, "expect", FILE, NULL,
        "compare with the product in this file: its numbers are right, to their last printed digit"),
    TSL_OPTION_TOLERANCE(multiply_options),
    TSL_OPTION_SHARED(multiply_options, repeat, "repeat", COUNT, "1",
                      "multiply so many times and report the median"),
    TSL_OPTION_SHARED(
        multiply_options, memory, "memory", BYTES, NULL,
        "stay within so many bytes, going by panels of rows, or by blocks (default: 80% of what is free)"),
    TSL_OPTION_RESUME(multiply_options),
    TSL_OPTIONS_OF_PRINTING(multiply_options),
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
    {"tesela multiply huge.npy vast.npy -o c.npy --memory 2GiB --resume",
     "files larger than memory, within 2 GiB, going on where an interrupted run stopped"},
    {"mpirun -n 4 tesela multiply huge.npy vast.npy -o c.npy",
     "by four processes, of one machine or of many, each with a part of the matrices"},
    {NULL, NULL},
};

static tesela_status read_types(const char *text, tsl_types *types) {
  tsl_chosen_types chosen;
  if (!text)
    return TESELA_OK;
  const tesela_status status = tsl_select_type(TSL_OP_GEMM, text, &chosen);
  if (status != TESELA_OK)
    return tsl_fail_in(status, "--type");
  *types = chosen.types;
  return TESELA_OK;
}

static tesela_status run(const tsl_call *call) {
  const multiply_options *given = call->options;
  tsl_product_request request;
  TSL_TRY(tsl_product_ask(TSL_OP_GEMM, call, &given->shared, &request));
  TSL_TRY(read_types(given->type, &request.types));
  request.transpose_a = given->transpose_a;
  request.transpose_b = given->transpose_b;
  request.conjugate_a = given->conjugate_a;
  request.conjugate_b = given->conjugate_b;
  return tsl_ranks_started() ? tsl_product_together(call, &request, &given->shared)
                             : tsl_product_do(call, &request, &given->shared);
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
        "Processes that mpirun or srun started multiply together by libtesela_mpi: each reads its part of "
        "the "
        "inputs, judges its part of C and writes it into one .npy file.\n"
        "An older file of the output's name is replaced when everything is right, and as it was otherwise.",
    .options = options,
    .examples = examples,
    .words_min = 2,
    .words_max = 2,
    .options_bytes = sizeof(multiply_options),
    .together = true,
    .run = run,
};
