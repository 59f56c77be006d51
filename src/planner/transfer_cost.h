/* Cost of reaching a device: copies, a launch and its wait. Measured once on a machine (tune/link.h), and
 * stored in the folder of compiled kernels by the device's key. */
#ifndef TSL_PLANNER_TRANSFER_COST_H
#define TSL_PLANNER_TRANSFER_COST_H

#include "plan/plan.h"

/* Cost of copies in one direction: b bytes take seconds + b / rate. Shared memory costs nothing. */
typedef struct tsl_link_way {
  double seconds, rate;
} tsl_link_way;

typedef struct tsl_link {
  bool measured; /* false: estimates of the device's kind */
  tsl_link_way in, out;
  double staged_in, staged_out; /* bytes per second through pinned memory, if supported; else 0 */
  double launch;                /* seconds of an empty kernel's call and wait */
  double open;                  /* seconds to open the device; 0: cpu */
  char date[24];                /* UTC, ISO 8601; "": not measured */
} tsl_link;

/* Returns a device's stored or estimated costs, 0 for the cpu. Measures nothing; reads a small file. */
tsl_link tsl_link_of(const tsl_device *device);
/* Stores measured costs and sets their date. */
void tsl_link_keep(const tsl_device *device, tsl_link *link);

/* Returns the measured f32 operations per second of a core in registers; 0: not measured. A processor's
 * stated clock is often wrong by half, and all models of the cpu with it. */
double tsl_link_core(const tsl_device *cpu);
/* Stores the measured speed of a core, in operations per second. */
void tsl_link_keep_core(const tsl_device *cpu, double rate);

/* Returns a run's seconds from `compute`, the wait, and copies of host operands, simulated by blocks. The
 * work has a strategy, a problem, a config and a device, and need not be built. */
double tsl_link_seconds(const tsl_link *link, const tsl_work *work, tsl_memory_place place, double compute);

#endif
