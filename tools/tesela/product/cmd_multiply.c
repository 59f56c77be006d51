/* tesela multiply: from files to a verified file. */
#include "cli/ranks.h"
#include "cli/select.h"
#include "core/status.h"
#include "product/mpi_product.h"

typedef struct multiply_options {
  tsl_product_options shared;
  bool transpose_a, transpose_b, conjugate_a, conjugate_b, symmetric, hermitian;
  tsl_option_structure a_is, b_is;
  const char *type, *bias, *scale_a, *scale_b;
  tesela_bias_axis bias_axis;
  tesela_activation activation;
} multiply_options;

static const tsl_option options[] = {
    {"output", 'o', TSL_VALUE_FILE, NULL,
     "write C here; the ending selects the format: .npy .mtx .csv .txt; - is standard output",
     offsetof(multiply_options, shared.output)},
    TSL_OPTION(multiply_options, transpose_a, "transpose-a", FLAG, NULL, "use the transpose of A"),
    TSL_OPTION(multiply_options, transpose_b, "transpose-b", FLAG, NULL, "use the transpose of B"),
    TSL_OPTION(multiply_options, conjugate_a, "conjugate-a", FLAG, NULL,
               "use the complex conjugate of A; with --transpose-a, A^H"),
    TSL_OPTION(multiply_options, conjugate_b, "conjugate-b", FLAG, NULL, "use the complex conjugate of B"),
    TSL_OPTION(multiply_options, a_is, "a-is", STRUCTURE, NULL,
               "structure of A, such as triangular_lower; the file holds one triangle, other elements are "
               "not read: symmetric_lower, hermitian_upper, triangular_lower, unit_upper (triangular, with a "
               "diagonal of ones), ..."),
    TSL_OPTION(multiply_options, b_is, "b-is", STRUCTURE, NULL, "structure of B; as --a-is"),
    TSL_OPTION(multiply_options, symmetric, "symmetric", FLAG, NULL,
               "A A^T of one file, in half the time; with --transpose-a, A^T A. Only the lower triangle of "
               "C0 is read"),
    TSL_OPTION(multiply_options, hermitian, "hermitian", FLAG, NULL,
               "A A^H of one file, in half the time; with --transpose-a, A^H A. Only the lower triangle of "
               "C0 is read"),
    TSL_OPTION_SHARED(multiply_options, alpha, "alpha", SCALAR, "1", "factor of A B, such as 1.5 or 1-2i"),
    TSL_OPTION_SHARED(multiply_options, add, "add", FILE, NULL, "add this matrix, C0"),
    TSL_OPTION_SHARED(multiply_options, beta, "beta", SCALAR, NULL, "factor of C0; 1 with --add"),
    TSL_OPTION(multiply_options, bias, "bias", FILE, NULL,
               "add this vector to each row of C; the vector has one number for each column"),
    TSL_OPTION(multiply_options, bias_axis, "bias-along", ALONG, NULL,
               "direction of the bias, row or column (default: row); a column is added to each column of C"),
    TSL_OPTION(multiply_options, activation, "activation", ACTIVATION, NULL,
               "apply relu, gelu or gelu_tanh to each element; gelu is x (1 + erf(x / sqrt(2))) / 2, and "
               "gelu_tanh approximates gelu. The activation is applied last"),
    TSL_OPTION(multiply_options, scale_a, "scale-a", FILE, NULL,
               "scale of quantised A, a number or a file; the file has one number, or one for each row by "
               "which the row was divided"),
    TSL_OPTION(multiply_options, scale_b, "scale-b", FILE, NULL,
               "scale of quantised B, a number or a file; the file has one number, or one for each column. "
               "With --scale-a or --scale-b the product of i8 files, or with --type i8, is f32"),
    TSL_OPTION(multiply_options, type, "type", TYPES, NULL,
               "compute in this type and write it; the default is f32 if both files are f32, f16 or bf16, "
               "c64 or c128 if a file is complex, otherwise f64. Several types: bf16:f32 (A and B, C), i8 (C "
               "in i32), u8:i8:i32"),
    TSL_OPTION_DEVICE(multiply_options),
    TSL_OPTION_SHARED(
        multiply_options, strategy, "strategy", STRATEGY, NULL,
        "use this strategy, such as \"tile_local tile=16\"; or exclude some: \"not residue_int8, exact\""),
    TSL_OPTIONS_OF_ASKING(multiply_options),
    TSL_OPTION_CHECKSUMS(multiply_options),
    TSL_OPTION_THREADS(multiply_options),
    TSL_OPTION_SHARED(multiply_options, copies, "copies", TEXT, NULL,
                      "explicit: never use zero copy; copies the operands to an OpenCL device, also where it "
                      "shares this machine's memory (default: auto, TESELA_COPIES)"),
    TSL_OPTION_SHARED(multiply_options, verify, "verify", FLAG, NULL,
                      "check C against sums in higher precision; a wrong C is not written"),
    TSL_OPTION_SHARED(
        multiply_options, expect, "expect", FILE, NULL,
        "compare with the product in this file; its numbers are exact up to their last printed digit"),
    TSL_OPTION_TOLERANCE(multiply_options),
    TSL_OPTION_SHARED(multiply_options, repeat, "repeat", COUNT, "1",
                      "multiply this many times and report the median"),
    TSL_OPTION_SHARED(
        multiply_options, memory, "memory", BYTES, NULL,
        "use at most this much memory (default: 80% of free memory); larger products go by panels of rows or "
        "by blocks. Under mpirun the limit is for each process, which holds its parts of the matrices whole"),
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
    {"tesela multiply --symmetric a.npy -o c.npy --transpose-a",
     "A^T A: one triangle computed, both written"},
    {"tesela multiply l.npy b.npy -o c.npy --a-is triangular_lower",
     "elements above A's diagonal are not read"},
    {"tesela multiply x.npy w.npy -o y.npy --bias b.npy --activation gelu",
     "a layer of a neural network: y = gelu(x w + b)"},
    {"tesela multiply x.npy w.npy -o y.npy --type i8 --scale-a 0.02 --scale-b w_scales.npy --bias b.npy",
     "a layer of 8-bit integers: y = 0.02 (x w) diag(scales) + b, in f32"},
    {"mpirun -n 4 tesela multiply huge.npy vast.npy -o c.npy",
     "by four processes, of one machine or of many, each with a part of the matrices"},
    {NULL, NULL},
};

static tesela_status multiply_read_types(const char *text, tsl_types *types) {
  tsl_chosen_types chosen;
  if (!text)
    return TESELA_OK;
  const tesela_status status = tsl_select_type(TSL_OP_GEMM, text, &chosen);
  if (status != TESELA_OK)
    return tsl_fail_in(status, "--type");
  *types = chosen.types;
  return TESELA_OK;
}

/* Checks the words: one file is multiplied by its own transpose, two files are multiplied. */
static tesela_status multiply_check_words(const tsl_command_call *call, const multiply_options *settings) {
  const bool by_itself = settings->symmetric || settings->hermitian;
  if (settings->symmetric && settings->hermitian)
    return tsl_fail(TESELA_BAD_CALL, "--symmetric is A A^T and --hermitian is A A^H; use one option");
  if (!by_itself)
    return call->word_count == 2
               ? TESELA_OK
               : tsl_fail(TESELA_BAD_CALL, "too few arguments; write tesela multiply %s, or %s A",
                          call->command->arguments, "--symmetric");
  if (call->word_count != 1)
    return tsl_fail(TESELA_BAD_CALL,
                    "%s multiplies one file by its own transpose; write tesela multiply %s A",
                    settings->symmetric ? "--symmetric" : "--hermitian",
                    settings->symmetric ? "--symmetric" : "--hermitian");
  if (settings->transpose_b || settings->conjugate_a || settings->conjugate_b ||
      settings->a_is.structure != TESELA_GENERAL || settings->b_is.structure != TESELA_GENERAL)
    return tsl_fail(TESELA_BAD_CALL,
                    "--symmetric and --hermitian have --transpose-a, and no other such option");
  return TESELA_OK;
}

/* Fills the epilogue of the request. A bias without --bias-along is added along rows. Returns
 * TESELA_BAD_CALL for --bias-along without --bias. */
static tesela_status ask_finish(const multiply_options *settings, tsl_product_request *request) {
  if (settings->bias_axis != TESELA_NO_BIAS && !settings->bias)
    return tsl_fail(TESELA_BAD_CALL,
                    "--bias-along is how a bias is added, but none is named; add --bias FILE");
  request->bias = settings->bias;
  request->bias_axis = !settings->bias                         ? TESELA_NO_BIAS
                       : settings->bias_axis == TESELA_NO_BIAS ? TESELA_BIAS_ROW
                                                               : settings->bias_axis;
  request->activation = settings->activation;
  request->scales[0] = settings->scale_a;
  request->scales[1] = settings->scale_b;
  return TESELA_OK;
}

static tesela_status multiply_run(const tsl_command_call *call) {
  const multiply_options *given = call->options;
  tsl_product_request request;
  TSL_TRY(multiply_check_words(call, given));
  TSL_TRY(tsl_product_ask(TSL_OP_GEMM, call, &given->shared, &request));
  TSL_TRY(multiply_read_types(given->type, &request.types));
  TSL_TRY(ask_finish(given, &request));
  request.transpose_a = given->transpose_a;
  request.transpose_b = given->transpose_b;
  request.conjugate_a = given->conjugate_a;
  request.conjugate_b = given->conjugate_b;
  request.a_is = given->a_is;
  request.b_is = given->b_is;
  request.by_itself = given->symmetric || given->hermitian;
  request.hermitian = given->hermitian;
  request.conjugate_a = given->conjugate_a || (given->hermitian && given->transpose_a);
  if (tsl_ranks_started() && (request.by_itself || request.a_is.structure != TESELA_GENERAL ||
                              request.b_is.structure != TESELA_GENERAL))
    return tsl_fail(TESELA_BAD_CALL, "several processes multiply general matrices together; leave out "
                                     "--symmetric, --hermitian, --a-is and --b-is");
  return tsl_ranks_started() ? tsl_product_together(call, &request, &given->shared)
                             : tsl_product_do(call, &request, &given->shared);
}

const tsl_command tsl_command_multiply = {
    .name = "multiply",
    .what = "multiply two matrix files: C = f(alpha A B + beta C0 + bias)",
    .arguments = "A B [-o C]",
    .details = "Reads .npy, Matrix Market (.mtx), .csv and .txt (\"rows columns\", then the values), each "
               "also packed with gzip. Reads .npz with one array. npy and mtx hold complex numbers; csv and "
               "txt do not. - is standard input; as output it is standard output, which then has only the "
               "matrix.\nPrints the plan, the time of each phase, the error bound and, with --verify, the "
               "measured error. The grade is the largest error in units of u (|alpha||A||B| + |beta||C0| + "
               "|bias|); u is the unit roundoff.\nProcesses that mpirun or srun started multiply together, "
               "by libtesela_mpi. Each process reads its part of the inputs, verifies its part of C and "
               "writes it into one .npy file.\nAn older output file is replaced only if the result is right.",
    .options = options,
    .examples = examples,
    .words_min = 1,
    .words_max = 2,
    .options_bytes = sizeof(multiply_options),
    .together = true,
    .run = multiply_run,
};
