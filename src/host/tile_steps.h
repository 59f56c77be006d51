/* Four steps of k with contiguous elements of a. */
#define STEP_AT 0
#include "host/tile_step.h"
#undef STEP_AT
#define STEP_AT 1
#include "host/tile_step.h"
#undef STEP_AT
#define STEP_AT 2
#include "host/tile_step.h"
#undef STEP_AT
#define STEP_AT 3
#include "host/tile_step.h"
#undef STEP_AT
TSL_UNROLL for (int i = 0; i < POINTERS; i++) a[i] += 4 * COMPONENTS * sizeof(REAL);
