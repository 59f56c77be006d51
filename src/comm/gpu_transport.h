/* The lane of a communicator's devices: messages that go from a rank's GPU to another's by NCCL, and not
 * through host memory. It is made once for a communicator and its ranks' devices, where each rank has a GPU
 * of its own and NCCL is there; ranks agree that they have it, or that none does. Agreements and what is
 * small stay the ranks' own messages (comm/comm.h).
 *
 * A call's copies and messages are in order of one stream of the rank's device, beside the streams of its
 * products: what a product reads has been waited for by the host, and what it wrote was finished before. Each
 * message goes from one rank to one other, and nothing is added on the way.
 *
 * Failures: the first one on a rank is kept, and raises the alarm (comm/failure_broadcast.h); from then on
 * the lane does nothing there, and says that all went well, so that the rank goes on to where all agree. A
 * rank that hears the alarm ends its messages and does likewise. What is returned by the functions of a call
 * is the failure of the ranks' own messages, for which there is no remedy. */
#ifndef TSL_COMM_GPU_TRANSPORT_H
#define TSL_COMM_GPU_TRANSPORT_H

#include "api/device_p2p.h"
#include "comm/comm.h"
#include "comm/rank_memory.h"

#include <stdbool.h>

typedef struct tsl_lane tsl_lane;

/* Messages that are waited for together. */
enum { TSL_LANE_BATCHES = 3 };

/* Called by all ranks, for the places of all, which may all be devices: the lane, which is made where it is
 * not there yet; NULL where messages pass through host memory. Why, is logged on rank 0. What fails is the
 * ranks' own messages. */
tesela_status tsl_lane_find(tsl_ranks *ranks, const tsl_rank_place *place, tsl_lane **lane, bool *on_devices);
/* How it is called: "NCCL 2.27.3". */
const char *tsl_lane_name(const tsl_lane *lane);
/* With the ranks that have it. NULL is allowed. */
void tsl_lane_free(tsl_lane *lane);

/* Multiprocessors of a device that messages may need while something else runs there. */
extern const int tsl_lane_units;

/* --- a call: start (on each rank by itself), arm (all ranks, where all have started), end (all that are
 * armed), stop --- */

/* Takes a stream and marks. TESELA_OUT_OF_MEMORY, TESELA_DEVICE_FAILED. */
tesela_status tsl_lane_start(tsl_lane *lane, tesela_context *context);
tesela_status tsl_lane_arm(tsl_lane *lane);
/* Waits for all ranks to come here: before they wait for each other by other means, deaf to the alarm. */
tesela_status tsl_lane_meet(tsl_lane *lane);
/* Waits for what is under way. Where it failed on any rank, this communicator has none from now on. */
tesela_status tsl_lane_end(tsl_lane *lane);
/* Frees what start took, which is used by nothing any more. */
void tsl_lane_stop(tsl_lane *lane);

/* Whether a buffer is of the context that the call was started with: between start and stop. */
bool tsl_lane_reaches(const tsl_lane *lane, const tesela_buffer *buffer);

/* Copies rows of bytes in order of the stream. */
tesela_status tsl_lane_copy(tsl_lane *lane, const tsl_api_rows *rows);

/* Whether numbers of f32 can be rounded to a type there; and has it done, in order of the stream. */
bool tsl_lane_rounds(const tsl_lane *lane, tesela_type type);
tesela_status tsl_lane_round(tsl_lane *lane, const tsl_api_rounding *rounding);

/* Whether sums of a type can be added there, likewise; and has it done. */
bool tsl_lane_adds(const tsl_lane *lane, tesela_type type);
tesela_status tsl_lane_add(tsl_lane *lane, const tsl_api_adding *adding);

/* A message of a group. */
typedef struct tsl_message {
  int other; /* rank */
  bool is_send;
  const tesela_buffer *buffer; /* that of one that is received is written */
  size_t offset, bytes;
} tsl_message;
/* Sends and receives them together, in order of the stream. Between two ranks those of a direction meet in
 * their order. */
tesela_status tsl_lane_exchange(tsl_lane *lane, const tsl_message *parcels, int count);
/* Marks the end of a batch in the stream; waits for the last mark of it. */
tesela_status tsl_lane_mark(tsl_lane *lane, int batch);
tesela_status tsl_lane_wait(tsl_lane *lane, int batch);
/* The first failure on this rank, with its sentence. */
tesela_status tsl_lane_status(const tsl_lane *lane);

#endif
