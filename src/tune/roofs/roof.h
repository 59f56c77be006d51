#ifndef TSL_TUNE_ROOFS_ROOF_H
#define TSL_TUNE_ROOFS_ROOF_H

#include "device/device.h"

typedef enum tsl_roof_name {
  TSL_ROOF_COPY,    /* memory copied, bytes read and written a second */
  TSL_ROOF_READ,    /* memory read, bytes a second */
  TSL_ROOF_LEVEL1,  /* first-level caches read, bytes a second */
  TSL_ROOF_LEVEL2,  /* second-level caches read, bytes a second */
  TSL_ROOF_LEVEL3,  /* last cache read, bytes a second */
  TSL_ROOF_LOCAL,   /* local memory read, bytes a second */
  TSL_ROOF_FMA_F32, /* fused multiply-adds in f32, operations a second */
  TSL_ROOF_FMA_F64, /* fused multiply-adds in f64, operations a second */
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
