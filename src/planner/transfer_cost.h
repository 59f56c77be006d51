/* What it costs to reach a device: copies in and out, a launch and the wait for it. Measured once on a
 * machine (by tune/link.h), in some tens of milliseconds, and kept in the folder of compiled kernels by the
 * device's key, so that the choice between the processor and a device rests on what the machine does, not on
 * a datasheet. */
#ifndef TSL_PLANNER_TRANSFER_COST_H
#define TSL_PLANNER_TRANSFER_COST_H

#include "plan/plan.h"

/* A copy of b bytes takes seconds + b / rate. Where memory is shared, copies are views, and both parts count
 * nothing. */
typedef struct tsl_link_way {
  double seconds, rate;
} tsl_link_way;

typedef struct tsl_link {
  bool measured; /* else from what the device's kind says of itself */
  tsl_link_way in, out;
  double staged_in, staged_out; /* bytes a second through pinned memory, where the device has it
                                   (plan/pipeline.h); else 0 */
  double launch; /* from the call of a kernel that does nothing to the end of the wait for it */
  double open;   /* to open the device; 0 for the cpu */
  char date[24]; /* UTC, ISO 8601; "" where nothing was measured */
} tsl_link;

/* What is known of a device: measured before, or else guessed. Nothing is opened, and nothing measured. On
 * the cpu all of it is 0. A look into a small file for a device with kernels. */
tsl_link tsl_link_of(const tsl_device *device);
/* Keeps what was measured now, and sets its date. */
void tsl_link_keep(const tsl_device *device, tsl_link *link);

/* Multiply-adds of f32 in the registers of one core of the processor, as operations a second: measured once
 * on a machine, in a millisecond, and kept there, too. 0 where that was not done. What a processor says of
 * its clock, if anything, is off by half on many machines, and all models of the cpu with it. */
double tsl_link_core(const tsl_device *cpu);
void tsl_link_keep_core(const tsl_device *cpu, double rate);

/* Seconds of a run that computes so long: with copies of operands that are in host memory, and the wait.
 * Where copies overlap with computing, so it is reckoned, block by block. */
double tsl_link_seconds(const tsl_link *link, const tsl_problem *problem, const tsl_device *device,
                        tsl_text_place place, double compute);

#endif
