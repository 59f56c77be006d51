#ifndef TSL_TUNE_ROOFS_ROOF_H
#define TSL_TUNE_ROOFS_ROOF_H

#include "device/device.h"

/* X(NAME, name, what) */
#define TSL_ROOF_LIST(X)                                                                                     \
  X(COPY, copy, "memory copied, bytes read and written a second")                                            \
  X(READ, read, "memory read, bytes a second")                                                               \
  X(LEVEL1, level1, "first-level caches read, bytes a second")                                               \
  X(LEVEL2, level2, "second-level caches read, bytes a second")                                              \
  X(LEVEL3, level3, "last cache read, bytes a second")                                                       \
  X(LOCAL, local, "local memory read, bytes a second")                                                       \
  X(FMA_F32, fma_f32, "fused multiply-adds in f32, operations a second")                                     \
  X(FMA_F64, fma_f64, "fused multiply-adds in f64, operations a second")

typedef enum tsl_roof_name {
#define TSL_ROOF_MEMBER(name, text, what) TSL_ROOF_##name,
  TSL_ROOF_LIST(TSL_ROOF_MEMBER)
#undef TSL_ROOF_MEMBER
      TSL_ROOF_COUNT
} tsl_roof_name;

typedef struct tsl_roof {
  /* rate of the best repeat; NaN if missing, with the reason in why[]. Caches and local memory: NaN where the
   * device has none that is known */
  double rate;
  double spread; /* interquartile range of the seconds over their median */
  int repeats;
} tsl_roof;

typedef struct tsl_roofs {
  tsl_roof roof[TSL_ROOF_COUNT];
  size_t bytes;   /* bytes of each array */
  double seconds; /* duration of the measurement, with compilation */
  char why[256];  /* first reason for a missing roof; else "" */
} tsl_roofs;

#endif
