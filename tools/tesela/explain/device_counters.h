/* Counters of a CUDA device and a strategy's counts, read by NVIDIA's program ncu (Nsight Compute). */
#ifndef TSL_TOOL_EXPLAIN_DEVICE_COUNTERS_H
#define TSL_TOOL_EXPLAIN_DEVICE_COUNTERS_H

#include "cli/report.h"
#include "explain/cost_report.h"
#include "explain/options.h"

/* X(NAME, key, text) */
#define TSL_DEVICE_COUNTER_LIST(X)                                                                           \
  X(MULTIPLY_ADDS, multiply_adds, "multiply-adds of f32 and f64")                                            \
  X(GLOBAL_LOADS, global_loads, "numbers loaded from global memory")                                         \
  X(GLOBAL_BYTES, global_bytes, "bytes of global memory touched by loads")                                   \
  X(LOCAL_LOADS, local_loads, "numbers loaded from local memory")                                            \
  X(LOCAL_WAVES, local_waves, "turns of local memory")                                                       \
  X(LAST_CACHE_BYTES, last_cache_bytes, "bytes read from the last cache")                                    \
  X(MEMORY_BYTES, memory_bytes, "bytes read from device memory")

typedef enum tsl_device_counter {
#define TSL_DEVICE_COUNTER_MEMBER(name, key, text) TSL_DEVICE_COUNTER_##name,
  TSL_DEVICE_COUNTER_LIST(TSL_DEVICE_COUNTER_MEMBER)
#undef TSL_DEVICE_COUNTER_MEMBER
      TSL_DEVICE_COUNTERS
} tsl_device_counter;

typedef struct tsl_device_counts {
  double value[TSL_DEVICE_COUNTERS]; /* sums over the kernels of one run; NaN: not counted */
  int kernels;                       /* launches that ncu saw */
  char why[256];                     /* why there are no counts; "": there are */
} tsl_device_counts;

/* Returns true in the process that tsl_device_counters_read() starts. */
bool tsl_device_counters_is_child(void);
/* Computes the product of the command once, on operands of ones. */
tesela_status tsl_device_counters_run(const tsl_explain_options *options, const tsl_problem *problem);
/* Starts this command again under ncu and reads its counters. `counts->why` tells why there are none. */
void tsl_device_counters_read(const tsl_command_call *call, const tsl_device *device,
                              tsl_device_counts *counts);
/* Reads the CSV of ncu, which may follow other lines. */
void tsl_device_counters_parse(const char *csv, tsl_device_counts *counts);
/* Adds a row for each counter: the strategy's count, and the device's. */
void tsl_device_counters_table(const tsl_problem *problem, const tsl_cost_report *counted,
                               const tsl_device_counts *counts, tsl_table *table);
/* Returns the counts as an object; null for counters that are not counted. */
json_t *tsl_device_counters_json(const tsl_device_counts *counts);

#endif
