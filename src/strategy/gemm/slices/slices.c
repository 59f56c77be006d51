/* Idea: f32 products by units that multiply bf16 and add in f32: a number of 24 bits is three of 8, and the products of all nine pairs of
 * slices are exact.
 *
 *   rows of A, columns of B          slices of bf16              products of slices, added in f32          C
 *   +---+  2^e_i, 2^f_j         A = A1 + A2 + A3         A3 B3 + A2 B3 + A3 B2   products=9: all
 *   | A |  ------------->       B = B1 + B2 + B3       + A1 B3 + A3 B1 + A2 B2   products=6: from here on      --->  alpha 2^-(e_i + f_j) sum + beta C
 *   +---+  exact                                       + A1 B2 + A2 B1 + A1 B1   products=3: from here on
 *
 * Slice s is 2^-8 of the one before, so that what six products leave out is as much as two roundings, and what three do is as much as if
 * factors had 16 bits. (Henry, Tang and Heinecke, arXiv 1904.06376, have such products of bf16; NOTES.md has the bound.) The smallest products come first,
 * each a plan of whatever engine of the device multiplies bf16 fastest; C's bits are that engine's.
 * Lines are scaled by powers of two, so that nothing on the way overflows or is too small to be normal. Lines with infinities or NaN, or whose
 * numbers differ by more than 2^94, are multiplied as they are.
 *
 * What it adds to the rungs below: no unit that multiplies f32, none that multiplies bytes.
 * Parameters: products. Limits: f32; 65536 terms. */
#include "strategy/gemm/slices/slices.h"

#include "host/split.h"
#include "strategy/launch.h"

static const tsl_param params[] = {
    [TSL_SLICES_PRODUCTS] = {"products",
                             "products of slices: 9, 6, or 3 where accuracy= allows 16 bits of factors",
                             6,
                             {6, 9, 3}},
    {NULL, NULL, 0, {0}},
};

static const tsl_types types[] = {
    {TESELA_F32, TESELA_F32, TESELA_F32},
    {TESELA_TYPE_DEFAULT, TESELA_TYPE_DEFAULT, TESELA_TYPE_DEFAULT},
};

const tsl_slices_pair tsl_slices_pairs[TSL_SLICES_PRODUCTS_MOST] = {{2, 2}, {1, 2}, {2, 1}, {0, 2}, {2, 0},
                                                                    {1, 1}, {0, 1}, {1, 0}, {0, 0}};

enum { TERMS_MOST = 65536, DEPTH_UNIT = 16 };

int tsl_slices_count(const tsl_config *config) {
  return config->value[TSL_SLICES_PRODUCTS] == 3 ? 2 : 3;
}

int64_t tsl_slices_depth(const tsl_problem *problem) {
  return tsl_round_up(problem->k, DEPTH_UNIT);
}

/* That of matrix units (tsl_accuracy_of_tensor_cores), the most that an engine for bf16 has. */
double tsl_slices_factor(int64_t depth) {
  return 2.25 * (double)depth + 24 + 0x1p-22 * (double)depth;
}

/* NOTES.md: sums of all products cost 1.05 times what one costs; what is left out, of six products 2.02 u, of three 3.01 2^-16; alpha, beta C and
 * their sum. */
static tsl_accuracy accuracy(const tsl_problem *problem, const tsl_config *config) {
  const int64_t products = config->value[TSL_SLICES_PRODUCTS];
  const double left_out = products == 9 ? 0 : products == 6 ? 2.1 : 774;
  return (tsl_accuracy){.factor = 1.05 * tsl_slices_factor(tsl_slices_depth(problem)) + left_out + 4,
                        .repeats = true,
                        .cuts = products == 3};
}

static const char *refuse(const tsl_problem *problem, const tsl_config *config, const tsl_device *device) {
  (void)device;
  if (config->value[TSL_SLICES_PRODUCTS] == 3 && !tsl_ask_has_accuracy(&problem->ask))
    return "products=3: of factors 16 bits are left, which only an ask for accuracy allows";
  if (problem->k > TERMS_MOST)
    return tsl_refusal("sums of up to %d terms cannot overflow", TERMS_MOST);
  if (problem->m > INT32_MAX / 2 || problem->n > INT32_MAX / 2)
    return "lines are counted in 31 bits";
  return NULL;
}

const tsl_strategy tsl_gemm_slices = {
    .name = "slices",
    .idea =
        "f32 by three, six or nine products of bf16 slices, added in f32 by the device's own engine for bf16",
    .lifts = "the rate of units that multiply f32, where none multiplies bytes faster",
    .op = TSL_OP_GEMM,
    .version = 1,
    .needs = TSL_CAN_KERNELS | TSL_CAN_LOCAL,
    .accuracy = accuracy,
    .params = params,
    .refuse = refuse,
    .score = tsl_slices_seconds,
    .build = tsl_slices_build,
    .run = tsl_slices_run,
    .release = tsl_slices_release,
    .takes = {.types = types},
    .uses = {.scratch = tsl_slices_scratch, .account = tsl_slices_account},
};
