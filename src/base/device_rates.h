/* Multiply-adds that products get on a fast GPU of today, in operations a second, by the width of a real
 * number: for choices that need no more than an order of magnitude, where nothing was measured of the very
 * device (slabs in gemm/several, grids of ranks in comm). What a strategy is expected to take is its own
 * model's.
 *
 * Of an H100 and an H200: bf16 32768 cubed takes 83 to 94 ms, 750 to 850 TFLOP/s; f32 and f64 are by residues
 * (gemm/residue_int8). */
#ifndef TSL_BASE_DEVICE_RATES_H
#define TSL_BASE_DEVICE_RATES_H

#include <tesela/tesela.h>

/* X(NAME, usual, most): what to reckon with, of products of any shape; and what hardly one exceeds. */
#define TSL_DEVICE_RATE_LIST(X) X(NARROW, 6e14, 1e15) X(SINGLE, 2e14, 2e14) X(DOUBLE, 1e14, 1e14)

typedef enum tsl_device_rate {
#define TSL_DEVICE_RATE_MEMBER(name, usual, most) TSL_DEVICE_RATE_##name,
  TSL_DEVICE_RATE_LIST(TSL_DEVICE_RATE_MEMBER)
#undef TSL_DEVICE_RATE_MEMBER
      TSL_DEVICE_RATES
} tsl_device_rate;

/* Of a factor's type. Each product of complex numbers is four. */
static inline tsl_device_rate tsl_device_rate_of(tesela_type type) {
  return type == TESELA_F64 || type == TESELA_C128  ? TSL_DEVICE_RATE_DOUBLE
         : type == TESELA_F32 || type == TESELA_C64 ? TSL_DEVICE_RATE_SINGLE
                                                    : TSL_DEVICE_RATE_NARROW;
}

#endif
