#include "host/int_math.h"
#include "strategy/gemm/emulated/slices/slices.h"

const tsl_slices_pair tsl_slices_pairs[TSL_SLICES_PRODUCTS_MOST] = {{2, 2}, {1, 2}, {2, 1}, {0, 2}, {2, 0},
                                                                    {1, 1}, {0, 1}, {1, 0}, {0, 0}};

enum { DEPTH_UNIT = 16 };

int tsl_slices_count(const tsl_config *config) {
  return config->value[TSL_SLICES_PRODUCTS] == 3 ? 2 : 3;
}

int64_t tsl_slices_depth(const tsl_problem *problem) {
  return tsl_round_up(problem->k, DEPTH_UNIT);
}
