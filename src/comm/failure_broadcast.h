/* Broadcast of a failure while ranks wait for messages outside of MPI (comm/gpu_transport.h). Ranks form a
 * binary tree. A failure is sent at once; success goes up, and down after all ranks. So all ranks agree. */
#ifndef TSL_COMM_FAILURE_BROADCAST_H
#define TSL_COMM_FAILURE_BROADCAST_H

#include "comm/comm.h"

#include <stdbool.h>

enum { TSL_FAILURE_BROADCAST_NEIGHBOURS = 3 };

typedef struct tsl_failure_broadcast {
  tsl_ranks *ranks;
  int neighbour[TSL_FAILURE_BROADCAST_NEIGHBOURS], count;
  int32_t received[TSL_FAILURE_BROADCAST_NEIGHBOURS]; /* message of each neighbour; 0: success */
  bool has_received[TSL_FAILURE_BROADCAST_NEIGHBOURS], has_sent[TSL_FAILURE_BROADCAST_NEIGHBOURS];
  bool is_raised; /* this rank knows of a failure on some rank */
} tsl_failure_broadcast;

/* Reserves memory for all broadcasts of these ranks, once. TESELA_OUT_OF_MEMORY. */
tesela_status tsl_failure_broadcast_reserve(tsl_ranks *ranks);

/* Begins a broadcast. Collective. The struct must not move until tsl_failure_broadcast_end(). The functions
 * fail only if the ranks' own messages fail, without remedy (comm/comm.h). */
tesela_status tsl_failure_broadcast_start(tsl_failure_broadcast *alarm, tsl_ranks *ranks);
/* Reports a failure of this rank to all ranks. */
tesela_status tsl_failure_broadcast_raise(tsl_failure_broadcast *alarm);
/* Sets *raised to whether any rank reported a failure so far. Call it while waiting. */
tesela_status tsl_failure_broadcast_poll(tsl_failure_broadcast *alarm, bool *raised);
/* Waits for all ranks to call it. Sets *raised to whether any reported a failure. */
tesela_status tsl_failure_broadcast_end(tsl_failure_broadcast *alarm, bool *raised);

#endif
