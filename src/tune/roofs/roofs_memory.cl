/* Maximum rate of a device's memory, for copies and reads. Used by tune/roofs only.
 *
 *   memory      | chunk 0           | chunk 1           | ...     group g takes chunks g, g + groups, ...
 *   chunk       | step 0 | step 1 | ...                           steps in sequence
 *   step        | v0 of items 0 1 2 ... | v1 of items 0 1 2 ... | ...     FLIGHT vectors of each item
 *
 * An item starts all FLIGHT loads of a step before it uses the first, to hide the latency. Parameters:
 * TSL_PARAM_ITEMS per group, TSL_PARAM_LANES per vector, TSL_PARAM_FLIGHT vectors per step. Limits: whole
 * chunks; f32. */
#include "dialect.h"

#define VECTOR TSL_VECTOR(TSL_REAL, TSL_PARAM_LANES)
#define STEP (TSL_PARAM_ITEMS * TSL_PARAM_FLIGHT * TSL_PARAM_LANES)

/* Equal to the struct in tune/roofs/kernel_bench.h. */
typedef struct tsl_roofs_arguments {
  TSL_INDEX chunks, steps; /* steps: per chunk */
  TSL_INDEX mask;          /* numbers are integers from 0 to mask */
} tsl_roofs_arguments;

/* Returns the offset of this item's vector i in a step. */
TSL_FUNCTION int tsl_roofs_at(int i) {
  return (i * TSL_PARAM_ITEMS + TSL_ITEM(0)) * TSL_PARAM_LANES;
}

/* Returns number `index`: unpredictable, with exact sums. Equal to tune/roofs/bench.h's. */
TSL_FUNCTION int tsl_roofs_number(TSL_INDEX index, TSL_INDEX mask) {
  unsigned stirred = (unsigned)index * 0x9E3779B1u;
  stirred = (stirred ^ stirred >> 15) * 0x85EBCA77u;
  return (int)(stirred >> 12 & (unsigned)mask);
}

/* Writes the numbers. sums[item of the grid]: the item's sum. */
TSL_KERNEL(TSL_PARAM_ITEMS, 1, 1)
tsl_roofs_fill(TSL_GLOBAL TSL_REAL *TSL_RESTRICT dst, TSL_GLOBAL TSL_INDEX *TSL_RESTRICT sums,
               const tsl_roofs_arguments args) {
  TSL_INDEX sum = 0;
  for (TSL_INDEX chunk = TSL_GROUP(0); chunk < args.chunks; chunk += TSL_GROUPS(0)) {
    const TSL_INDEX end = (chunk + 1) * args.steps * STEP;
    for (TSL_INDEX i = chunk * args.steps * STEP + TSL_ITEM(0); i < end; i += TSL_PARAM_ITEMS) {
      const int number = tsl_roofs_number(i, args.mask);
      dst[i] = (TSL_REAL)number;
      sum += number;
    }
  }
  sums[TSL_GLOBAL_ITEM(0)] = sum;
}

TSL_KERNEL(TSL_PARAM_ITEMS, 1, 1)
tsl_roofs_copy(TSL_GLOBAL const TSL_REAL *TSL_RESTRICT from, TSL_GLOBAL TSL_REAL *TSL_RESTRICT dst,
               const tsl_roofs_arguments args) {
  for (TSL_INDEX chunk = TSL_GROUP(0); chunk < args.chunks; chunk += TSL_GROUPS(0))
    for (TSL_INDEX step = 0; step < args.steps; step++) {
      const TSL_INDEX start = (chunk * args.steps + step) * STEP;
      VECTOR flight[TSL_PARAM_FLIGHT];
      TSL_UNROLL
      for (int i = 0; i < TSL_PARAM_FLIGHT; i++)
        flight[i] = TSL_LOAD_ALIGNED(TSL_REAL, TSL_PARAM_LANES, from + start + tsl_roofs_at(i));
      TSL_UNROLL
      for (int i = 0; i < TSL_PARAM_FLIGHT; i++)
        TSL_STORE_ALIGNED(TSL_REAL, TSL_PARAM_LANES, dst + start + tsl_roofs_at(i), flight[i]);
    }
}

/* Copies one vector per item: GPU groups start in order, close in memory, while persistent groups drift
 * apart. On an H200 4.29 TB/s, against 3.8 to 4.0 TB/s (docs/lab/roofs.md). */
TSL_KERNEL(TSL_PARAM_ITEMS, 1, 1)
tsl_roofs_copy_once(TSL_GLOBAL const TSL_REAL *TSL_RESTRICT from, TSL_GLOBAL TSL_REAL *TSL_RESTRICT dst,
                    const tsl_roofs_arguments args) {
  const TSL_INDEX count = args.chunks * args.steps * STEP;
  const TSL_INDEX further = (TSL_INDEX)TSL_GROUPS(0) * TSL_PARAM_ITEMS * TSL_PARAM_LANES;
  for (TSL_INDEX i = TSL_GLOBAL_ITEM(0) * TSL_PARAM_LANES; i < count; i += further)
    TSL_STORE_ALIGNED(TSL_REAL, TSL_PARAM_LANES, dst + i,
                      TSL_LOAD_ALIGNED(TSL_REAL, TSL_PARAM_LANES, from + i));
}

/* Counts wrong numbers; different[item of the grid]. */
TSL_KERNEL(TSL_PARAM_ITEMS, 1, 1)
tsl_roofs_compare(TSL_GLOBAL const TSL_REAL *TSL_RESTRICT copied,
                  TSL_GLOBAL TSL_INDEX *TSL_RESTRICT different, const tsl_roofs_arguments args) {
  TSL_INDEX count = 0;
  for (TSL_INDEX chunk = TSL_GROUP(0); chunk < args.chunks; chunk += TSL_GROUPS(0)) {
    const TSL_INDEX end = (chunk + 1) * args.steps * STEP;
    for (TSL_INDEX i = chunk * args.steps * STEP + TSL_ITEM(0); i < end; i += TSL_PARAM_ITEMS)
      count += copied[i] != (TSL_REAL)tsl_roofs_number(i, args.mask);
  }
  different[TSL_GLOBAL_ITEM(0)] = count;
}

/* Reads the memory. sums[item of the grid]: vector with each lane's sum. */
TSL_KERNEL(TSL_PARAM_ITEMS, 1, 1)
tsl_roofs_read(TSL_GLOBAL const TSL_REAL *TSL_RESTRICT from, TSL_GLOBAL TSL_REAL *TSL_RESTRICT sums,
               const tsl_roofs_arguments args) {
  VECTOR sum[TSL_PARAM_FLIGHT];
  TSL_UNROLL
  for (int i = 0; i < TSL_PARAM_FLIGHT; i++)
    sum[i] = TSL_SPLAT(TSL_REAL, TSL_PARAM_LANES, (TSL_REAL)0);
  for (TSL_INDEX chunk = TSL_GROUP(0); chunk < args.chunks; chunk += TSL_GROUPS(0))
    for (TSL_INDEX step = 0; step < args.steps; step++) {
      const TSL_INDEX start = (chunk * args.steps + step) * STEP;
      VECTOR flight[TSL_PARAM_FLIGHT];
      TSL_UNROLL
      for (int i = 0; i < TSL_PARAM_FLIGHT; i++)
        flight[i] = TSL_LOAD_ALIGNED(TSL_REAL, TSL_PARAM_LANES, from + start + tsl_roofs_at(i));
      TSL_UNROLL
      for (int i = 0; i < TSL_PARAM_FLIGHT; i++)
        sum[i] = sum[i] + flight[i];
    }
  TSL_UNROLL
  for (int i = 1; i < TSL_PARAM_FLIGHT; i++)
    sum[0] = sum[0] + sum[i];
  TSL_STORE_ALIGNED(TSL_REAL, TSL_PARAM_LANES, sums + TSL_GLOBAL_ITEM(0) * TSL_PARAM_LANES, sum[0]);
}

/* Reads local memory: adjacent items read adjacent vectors, each step the next one. sums[item of the grid]:
 * vector with `steps` in each lane. */
TSL_KERNEL(TSL_PARAM_ITEMS, 1, 1)
tsl_roofs_local(TSL_GLOBAL TSL_REAL *TSL_RESTRICT sums, const TSL_INDEX steps) {
  TSL_LOCAL_LINES TSL_REAL array[TSL_PARAM_ITEMS * TSL_PARAM_LANES];
  VECTOR sum = TSL_SPLAT(TSL_REAL, TSL_PARAM_LANES, (TSL_REAL)0);
  int at = TSL_ITEM(0) * TSL_PARAM_LANES;
  for (int i = 0; i < TSL_PARAM_LANES; i++)
    array[at + i] = 1;
  TSL_BARRIER();
  for (TSL_INDEX step = 0; step < steps; step++) {
    sum = sum + TSL_LOCAL_LOAD(TSL_REAL, TSL_PARAM_LANES, array + at);
    at = at + TSL_PARAM_LANES < TSL_PARAM_ITEMS * TSL_PARAM_LANES ? at + TSL_PARAM_LANES : 0;
  }
  TSL_STORE_ALIGNED(TSL_REAL, TSL_PARAM_LANES, sums + TSL_GLOBAL_ITEM(0) * TSL_PARAM_LANES, sum);
}
