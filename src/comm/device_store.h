/* Store of C that stays on the ranks' devices. Layers are added in the tree of comm/reduce.h. Sums
 * are copied or rounded to C's place; f32 sums are also scaled. Nothing passes through host memory.
 * Nothing travels if each rank computes exactly its own part of C. Bits equal the host's, except
 * after scaling. So scaling is done here only if bits may depend on the transport (any_steps). */
#ifndef TSL_COMM_DEVICE_STORE_H
#define TSL_COMM_DEVICE_STORE_H

#include "comm/comm_blocks.h"
#include "comm/job.h"

/* Sets job->settles and job->travels. Collective; the ranks have a device transport. */
tesela_status tsl_settle_choose(tsl_job *job, const tsl_process_grid *grid);
/* Returns true if sums are scaled by alpha or beta. */
bool tsl_settle_scales(const tsl_job *job);
/* Returns the type in which a tile is computed. It is C's type if nothing travels, is scaled or is
 * split along k; else the type of the sums. */
const tsl_type_info *tsl_settle_made(const tsl_job *job, const tsl_process_grid *grid);
/* Source of a window's numbers of type `made`, from element `at`: the rank's device sums, or a
 * dense message of the rank's own elements. */
typedef struct tsl_device_store {
  const tesela_buffer *buffer;
  int64_t at;
  bool is_message;
  const tsl_type_info *made;
} tsl_device_store;
/* Enqueues the store of a window to C in the transport's stream. Adds the number of elements to
 * *count. */
tesela_status tsl_settle_store(const tsl_job *job, const tsl_patch *window, const tsl_device_store *from,
                               int64_t *count);
/* Enqueues the addition of `slots` arrays of `count` sums in a buffer into the first array. */
tesela_status tsl_settle_add(const tsl_job *job, const tesela_buffer *sums, int slots, int64_t count);

#endif
