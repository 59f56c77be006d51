/* Loops for the cpu's roofs. Copies use non-temporal stores, so that lines are not read before. */
#include "tune/roofs/roofs_loops.h"

#include "host/simd.h"

enum { IN_FLIGHT = 8 };

static void copy(const float *from, float *dst, size_t count) {
  const vector_f32 *in = (const vector_f32 *)from;
  vector_f32 *out = (vector_f32 *)dst;
  for (const vector_f32 *end = in + count / LANES_f32; in < end; in += IN_FLIGHT, out += IN_FLIGHT) {
    vector_f32 flight[IN_FLIGHT];
    for (int i = 0; i < IN_FLIGHT; i++)
      flight[i] = in[i];
    for (int i = 0; i < IN_FLIGHT; i++)
      store_nontemporal_f32((float *)(out + i), flight[i]);
  }
  fence();
}

/* Returns the sum of the numbers, read `times` times; each lane's sum is exact (bench.h), and the total in
 * double. */
static double read(const float *from, size_t count, int times) {
  vector_f32 sum[IN_FLIGHT] = {{0}};
  for (int time = 0; time < times; time++) {
    const vector_f32 *in = (const vector_f32 *)from;
    for (const vector_f32 *end = in + count / LANES_f32; in < end; in += IN_FLIGHT)
      for (int i = 0; i < IN_FLIGHT; i++)
        sum[i] += in[i];
  }
  double total = 0;
  for (int i = 0; i < IN_FLIGHT; i++)
    for (int lane = 0; lane < LANES_f32; lane++)
      total += sum[i][lane];
  return total;
}

#define REAL float
#define SUFFIX _f32
#include "tune/roofs/kernels/fma_kernel.h"
#undef REAL
#undef SUFFIX
#define REAL double
#define SUFFIX _f64
#include "tune/roofs/kernels/fma_kernel.h"

const tsl_roofs_loops TSL_ISA_NAME(tsl_roofs_loops) = {copy, read, chains_f32, chains_f64, VECTOR_BYTES};
