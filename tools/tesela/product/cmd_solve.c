/* tesela solve: a triangle and right-hand sides from files, the solution to a file. */
#include "cli/select.h"
#include "core/status.h"
#include "product/product.h"

typedef struct solve_options {
  tsl_product_options shared;
  bool upper, unit, transpose, conjugate, right;
  tesela_type type;
} solve_options;

static const tsl_option options[] = {
    {"output", 'o', TSL_VALUE_FILE, NULL,
     "write X here; the ending selects the format: .npy .mtx .csv .txt; - is standard output",
     offsetof(solve_options, shared.output)},
    TSL_OPTION(solve_options, upper, "upper", FLAG, NULL,
               "read the upper triangle of A's file; the default is the lower triangle"),
    TSL_OPTION(solve_options, unit, "unit", FLAG, NULL,
               "take A's diagonal as ones; the file's diagonal is not read"),
    TSL_OPTION(solve_options, transpose, "transpose", FLAG, NULL, "solve A^T X = alpha B"),
    TSL_OPTION(solve_options, conjugate, "conjugate", FLAG, NULL,
               "use the complex conjugate of A; with --transpose, A^H"),
    TSL_OPTION(solve_options, right, "right", FLAG, NULL, "solve X A = alpha B"),
    TSL_OPTION_SHARED(solve_options, alpha, "alpha", SCALAR, "1", "factor of B, such as 1.5 or 1-2i"),
    TSL_OPTION(solve_options, type, "type", TYPE, NULL,
               "compute in this type and write it; f32, f64, c64 or c128; the default is f32 if both files "
               "are f32, f16 or bf16, else f64, and c64 or c128 if a file is complex"),
    TSL_OPTION_DEVICE(solve_options),
    TSL_OPTION_SHARED(solve_options, strategy, "strategy", STRATEGY, NULL,
                      "use this strategy, such as host_blocked"),
    TSL_OPTIONS_OF_GUARANTEES(solve_options),
    TSL_OPTION_THREADS(solve_options),
    TSL_OPTION_SHARED(solve_options, verify, "verify", FLAG, NULL,
                      "check A X against alpha B in higher precision; a wrong X is not written"),
    TSL_OPTION_SHARED(solve_options, expect, "expect", FILE, NULL,
                      "compare with the solution in this file, within --tolerance"),
    TSL_OPTION_SHARED(solve_options, tolerance, "tolerance", NUMBER, NULL,
                      "with --expect: allow differences up to this"),
    TSL_OPTION_SHARED(solve_options, repeat, "repeat", COUNT, "1",
                      "solve this many times and report the median"),
    TSL_OPTION_SHARED(solve_options, memory, "memory", BYTES, NULL,
                      "fail if more memory is needed (default: 80% of free memory)"),
    TSL_OPTIONS_OF_PRINTING(solve_options),
    TSL_OPTIONS_END,
};

static const tsl_example examples[] = {
    {"tesela solve l.npy b.npy -o x.npy --verify", "L X = B by forward substitution, checked, written"},
    {"tesela solve l.npy y.npy -o x.npy --transpose", "L^T X = Y: the other half of a Cholesky solve"},
    {"tesela solve r.csv b.csv --upper --unit --right -o x.mtx", "X R = B, R's diagonal being ones"},
    {NULL, NULL},
};

static tesela_status solve_run(const tsl_command_call *call) {
  const solve_options *given = call->options;
  tsl_product_request request;
  TSL_TRY(tsl_product_ask(TSL_OP_SOLVE, call, &given->shared, &request));
  request.types = (tsl_types){given->type, given->type, given->type};
  request.a_is = (tsl_option_structure){given->unit ? TESELA_UNIT_TRIANGULAR : TESELA_TRIANGULAR,
                                        given->upper ? TESELA_UPPER : TESELA_LOWER};
  request.transpose_a = given->transpose;
  request.conjugate_a = given->conjugate;
  request.right = given->right;
  return tsl_product_do(call, &request, &given->shared);
}

const tsl_command tsl_command_solve = {
    .name = "solve",
    .what = "solve with a triangle: A X = alpha B, from matrix files",
    .arguments = "A B [-o X]",
    .details =
        "A is a lower triangle, or with --upper an upper triangle; other elements of its file are not read. "
        "Reads .npy, Matrix Market (.mtx), .csv and .txt, which are held in memory. Solves by substitution: "
        "each element of A X is within the bound of alpha B, whatever A's condition is. A 0 on the diagonal "
        "is an error (exit code 2). Prints the plan, the time of each phase and, with --verify, the largest "
        "error.\nAn older output file is replaced only if the result is right.",
    .options = options,
    .examples = examples,
    .words_min = 2,
    .words_max = 2,
    .options_bytes = sizeof(solve_options),
    .run = solve_run,
};
