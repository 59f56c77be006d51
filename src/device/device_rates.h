/* Typical speeds of products on a fast GPU (H100, H200), in operations a second, by the width of the real
 * type. For choices that need an order of magnitude: slabs in gemm/several, grids of ranks in comm. */
#ifndef TSL_DEVICE_DEVICE_RATES_H
#define TSL_DEVICE_DEVICE_RATES_H

#include <tesela/tesela.h>

/* X(NAME, usual, most): speed of an average product, and a speed that hardly any product exceeds. */
#define TSL_DEVICE_RATE_LIST(X) X(NARROW, 6e14, 1e15) X(SINGLE, 2e14, 2e14) X(DOUBLE, 1e14, 1e14)

typedef enum tsl_device_rate {
#define TSL_DEVICE_RATE_MEMBER(name, usual, most) TSL_DEVICE_RATE_##name,
  TSL_DEVICE_RATE_LIST(TSL_DEVICE_RATE_MEMBER)
#undef TSL_DEVICE_RATE_MEMBER
      TSL_DEVICE_RATES
} tsl_device_rate;

/* Returns the row of a type's real width; complex products count as four real ones. */
static inline tsl_device_rate tsl_device_rate_of(tesela_type type) {
  return type == TESELA_F64 || type == TESELA_C128  ? TSL_DEVICE_RATE_DOUBLE
         : type == TESELA_F32 || type == TESELA_C64 ? TSL_DEVICE_RATE_SINGLE
                                                    : TSL_DEVICE_RATE_NARROW;
}

#endif
