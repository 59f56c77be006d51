/* tesela solve: a triangle and right-hand sides from files, the solution to a file. */
#include "base/status.h"
#include "cli/select.h"
#include "product/product.h"

typedef struct solve_options {
  tsl_product_options shared;
  bool upper, unit, transpose, conjugate, right;
  tesela_type type;
} solve_options;

static const tsl_option options[] = {
    {"output", 'o', TSL_VALUE_FILE, NULL,
     "write X here; the ending chooses the format: .npy .mtx .csv .txt; - is standard output",
     offsetof(solve_options, shared.output)},
    TSL_OPTION(solve_options, upper, "upper", FLAG, NULL,
               "A's upper triangle is taken, as its file has it (default: the lower one)"),
    TSL_OPTION(solve_options, unit, "unit", FLAG, NULL, "A's diagonal is ones, whatever its file has there"),
    TSL_OPTION(solve_options, transpose, "transpose", FLAG, NULL, "A^T X = alpha B"),
    TSL_OPTION(solve_options, conjugate, "conjugate", FLAG, NULL,
               "use the complex conjugate of A; with --transpose, A^H"),
    TSL_OPTION(solve_options, right, "right", FLAG, NULL, "X A = alpha B"),
    TSL_OPTION_SHARED(solve_options, alpha, "alpha", SCALAR, "1",
                      "the factor of B, such as 1.5, or 1-2i of complex ones"),
    TSL_OPTION(solve_options, type, "type", TYPE, NULL,
               "compute in this type and write it: f32, f64, c64, c128 (default: f32 where both files are "
               "f32, f16 or bf16, else f64; c64 and c128 where a file is complex)"),
    TSL_OPTION_DEVICE(solve_options),
    TSL_OPTION_SHARED(solve_options, strategy, "strategy", STRATEGY, NULL, "use this strategy: host_blocked"),
    TSL_OPTIONS_OF_GUARANTEES(solve_options),
    TSL_OPTION_THREADS(solve_options),
    TSL_OPTION_SHARED(solve_options, verify, "verify", FLAG, NULL,
                      "judge what A X differs from alpha B, in higher precision; a wrong X is not written"),
    TSL_OPTION_SHARED(solve_options, expect, "expect", FILE, NULL,
                      "compare with the solution in this file, by --tolerance"),
    TSL_OPTION_SHARED(solve_options, tolerance, "tolerance", NUMBER, NULL,
                      "with --expect: elements agree that differ by at most this"),
    TSL_OPTION_SHARED(solve_options, repeat, "repeat", COUNT, "1",
                      "solve this many times and report the median"),
    TSL_OPTION_SHARED(solve_options, memory, "memory", BYTES, NULL,
                      "refuse to take more memory than this (default: 80% of free memory)"),
    TSL_OPTIONS_OF_PRINTING(solve_options),
    TSL_OPTIONS_END,
};

static const tsl_example examples[] = {
    {"tesela solve l.npy b.npy -o x.npy --verify", "L X = B by forward substitution, checked, written"},
    {"tesela solve l.npy y.npy -o x.npy --transpose", "L^T X = Y: the other half of a Cholesky solve"},
    {"tesela solve r.csv b.csv --upper --unit --right -o x.mtx", "X R = B, R's diagonal being ones"},
    {NULL, NULL},
};

static tesela_status solve_run(const tsl_call *call) {
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
        "A is a lower triangle unless --upper says otherwise; what its file has beside the triangle is not "
        "looked at. Reads .npy, Matrix Market (.mtx), .csv and .txt, which are held in memory. Solves by "
        "substitution: each element of A X is as near to alpha B as the bound says, whatever A's condition "
        "is. A 0 on the diagonal is an error (exit code 2). Ends with the plan that ran, where the time went "
        "and, with --verify, the largest error.\n"
        "An older file of the output's name is replaced when everything is right, and as it was otherwise.",
    .options = options,
    .examples = examples,
    .words_min = 2,
    .words_max = 2,
    .options_bytes = sizeof(solve_options),
    .run = solve_run,
};
