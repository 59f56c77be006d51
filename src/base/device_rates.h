/* Typical speeds of products on a fast GPU, in operations a second, by the width of the real type. They serve
 * choices that need only an order of magnitude, on devices without measurements: slabs in gemm/several, grids
 * of ranks in comm. Predictions of a strategy's time come from the strategy's own model.
 *
 * Measured on an H100 and an H200: bf16 32768 cubed takes 83 to 94 ms, 750 to 850 TFLOP/s. f32 and f64 are
 * products by residues (gemm/residue_int8). */
#ifndef TSL_BASE_DEVICE_RATES_H
#define TSL_BASE_DEVICE_RATES_H

#include <tesela/tesela.h>

/* X(NAME, usual, most): speed of a product of average shape, and a speed that hardly any product exceeds. */
#define TSL_DEVICE_RATE_LIST(X) X(NARROW, 6e14, 1e15) X(SINGLE, 2e14, 2e14) X(DOUBLE, 1e14, 1e14)

typedef enum tsl_device_rate {
#define TSL_DEVICE_RATE_MEMBER(name, usual, most) TSL_DEVICE_RATE_##name,
  TSL_DEVICE_RATE_LIST(TSL_DEVICE_RATE_MEMBER)
#undef TSL_DEVICE_RATE_MEMBER
      TSL_DEVICE_RATES
} tsl_device_rate;

/* Returns the rate's row for a factor's type. A complex product is four real ones. */
static inline tsl_device_rate tsl_device_rate_of(tesela_type type) {
  return type == TESELA_F64 || type == TESELA_C128  ? TSL_DEVICE_RATE_DOUBLE
         : type == TESELA_F32 || type == TESELA_C64 ? TSL_DEVICE_RATE_SINGLE
                                                    : TSL_DEVICE_RATE_NARROW;
}

#endif
