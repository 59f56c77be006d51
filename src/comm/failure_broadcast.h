/* A failure of one rank, heard by the others while they wait for messages that no longer come: for messages
 * that travel beside the ranks' own (comm/gpu_transport.h), which have no other way to tell. Ranks are a
 * binary tree, in which each sends one number to each neighbour, and hears one: at once where it has failed
 * or heard so; else to its parent when it and all below have come to the end, and to its children when all
 * ranks have. So nobody is deaf while another one may still have to hear, and all end with the same answer.
 */
#ifndef TSL_COMM_FAILURE_BROADCAST_H
#define TSL_COMM_FAILURE_BROADCAST_H

#include "comm/comm.h"

#include <stdbool.h>

/* Parent, and two children. */
enum { TSL_FAILURE_BROADCAST_NEIGHBOURS = 3 };

typedef struct tsl_failure_broadcast {
  tsl_ranks *ranks;
  int neighbour[TSL_FAILURE_BROADCAST_NEIGHBOURS], count;
  int32_t heard[TSL_FAILURE_BROADCAST_NEIGHBOURS];
  bool has_heard[TSL_FAILURE_BROADCAST_NEIGHBOURS], has_told[TSL_FAILURE_BROADCAST_NEIGHBOURS];
  bool is_raised;
} tsl_failure_broadcast;

/* Takes the memory that all alarms of these ranks need: once, by each rank for itself. TESELA_OUT_OF_MEMORY.
 */
tesela_status tsl_failure_broadcast_reserve(tsl_ranks *ranks);

/* What fails in all of these is the ranks' own messages, for which there is no remedy (comm/comm.h). Its
 * messages are not counted.
 *
 * Called by all ranks, and followed by tsl_failure_broadcast_end() on all. The struct stays where it is
 * meanwhile. */
tesela_status tsl_failure_broadcast_start(tsl_failure_broadcast *alarm, tsl_ranks *ranks);
tesela_status tsl_failure_broadcast_raise(tsl_failure_broadcast *alarm);
/* Whether it was raised, here or elsewhere; now and then, while waiting. */
tesela_status tsl_failure_broadcast_poll(tsl_failure_broadcast *alarm, bool *raised);
/* Waits for all ranks to come here: whether any of them raised it. */
tesela_status tsl_failure_broadcast_end(tsl_failure_broadcast *alarm, bool *raised);

#endif
