#include "unit/hopper.h"

tsl_device hopper(void) {
  tsl_device device = graphics;
  device.capabilities |= TSL_CAN_CUDA | TSL_CAN_MMA | TSL_CAN_WGMMA;
  device.local_bytes_inside = 227 << 10;
  return device;
}

tsl_problem problem_of(int64_t m, int64_t n, int64_t k, tesela_type ab, tesela_type c) {
  tsl_problem problem = tsl_problem_gemm(m, n, k, c);
  problem.a.type = problem.b.type = ab;
  return problem;
}
