/* Cost of reaching a device: copies in and out, a launch and the wait for it. It is measured once on a
 * machine (tune/link.h), in some tens of milliseconds, and stored in the folder of compiled kernels by the
 * device's key. So the choice between processor and device rests on measurements, not on a datasheet. */
#ifndef TSL_PLANNER_TRANSFER_COST_H
#define TSL_PLANNER_TRANSFER_COST_H

#include "plan/plan.h"

/* Cost of copies in one direction: b bytes take seconds + b / rate. Shared memory costs nothing. */
typedef struct tsl_link_way {
  double seconds, rate;
} tsl_link_way;

typedef struct tsl_link {
  bool measured; /* false: the values are estimates of the device's kind */
  tsl_link_way in, out;
  /* bytes per second through pinned memory, if the device supports it (plan/pipeline.h); else 0 */
  double staged_in, staged_out;
  double launch; /* seconds from the call of an empty kernel to the end of the wait for it */
  double open;   /* seconds to open the device; 0 for the cpu */
  char date[24]; /* UTC, ISO 8601; "": not measured */
} tsl_link;

/* Returns the stored or estimated costs of a device; all 0 for the cpu. Opens and measures nothing. For
 * a device with kernels it reads a small file. */
tsl_link tsl_link_of(const tsl_device *device);
/* Stores measured costs and sets their date. */
void tsl_link_keep(const tsl_device *device, tsl_link *link);

/* Returns the measured f32 speed of one processor core in registers, in operations per second; 0: not
 * measured. It is measured once on a machine, in a millisecond. A processor's stated clock is wrong by
 * half on many machines, and all models of the cpu with it. */
double tsl_link_core(const tsl_device *cpu);
/* Stores the measured speed of a core. */
void tsl_link_keep_core(const tsl_device *cpu, double rate);

/* Returns the seconds of a run whose computation takes `compute`: with copies of operands in host
 * memory, and the wait. Overlapped copies are simulated block by block. */
double tsl_link_seconds(const tsl_link *link, const tsl_problem *problem, const tsl_device *device,
                        tsl_text_place place, double compute);

#endif
