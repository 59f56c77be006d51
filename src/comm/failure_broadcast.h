/* Broadcast of a failure to all ranks. Needed while ranks wait for messages outside of MPI
 * (comm/gpu_transport.h), which cannot report that a rank has failed. Ranks form a binary tree.
 * Each rank sends one number to each neighbour and receives one. A failure is sent at once. Success
 * is sent to the parent after all ranks below have ended, and to the children after all ranks have
 * ended. So every rank receives a failure, and all ranks end with one answer. */
#ifndef TSL_COMM_FAILURE_BROADCAST_H
#define TSL_COMM_FAILURE_BROADCAST_H

#include "comm/comm.h"

#include <stdbool.h>

/* Parent and two children. */
enum { TSL_FAILURE_BROADCAST_NEIGHBOURS = 3 };

typedef struct tsl_failure_broadcast {
  tsl_ranks *ranks;
  int neighbour[TSL_FAILURE_BROADCAST_NEIGHBOURS], count;
  int32_t heard[TSL_FAILURE_BROADCAST_NEIGHBOURS];
  bool has_heard[TSL_FAILURE_BROADCAST_NEIGHBOURS], has_told[TSL_FAILURE_BROADCAST_NEIGHBOURS];
  bool is_raised;
} tsl_failure_broadcast;

/* Reserves the memory for all broadcasts of these ranks; once on each rank. TESELA_OUT_OF_MEMORY. */
tesela_status tsl_failure_broadcast_reserve(tsl_ranks *ranks);

/* Begins a broadcast. Collective; all ranks call tsl_failure_broadcast_end() later. The struct must
 * not move until then. The functions fail only if the ranks' own messages fail, which has no remedy
 * (comm/comm.h). The messages are not counted. */
tesela_status tsl_failure_broadcast_start(tsl_failure_broadcast *alarm, tsl_ranks *ranks);
/* Reports a failure of this rank to all ranks. */
tesela_status tsl_failure_broadcast_raise(tsl_failure_broadcast *alarm);
/* Sets *raised to whether any rank reported a failure so far. Call it now and then while waiting. */
tesela_status tsl_failure_broadcast_poll(tsl_failure_broadcast *alarm, bool *raised);
/* Waits for all ranks to call it. Sets *raised to whether any rank reported a failure. */
tesela_status tsl_failure_broadcast_end(tsl_failure_broadcast *alarm, bool *raised);

#endif
