/* C that stays on the ranks' devices: the sums come from where they are made, those of several layers are
 * added up in the tree of comm/reduce.h, and they are copied or rounded to where C lies, sums of f32 also
 * scaled. Nothing of it passes through host memory, and where each rank computes what it has of C, nothing
 * travels either. The bits are those of the other way, but where something is scaled; which is done where
 * bits may depend on the way (any_steps). */
#ifndef TSL_COMM_DEVICE_STORE_H
#define TSL_COMM_DEVICE_STORE_H

#include "comm/comm_blocks.h"
#include "comm/job.h"

/* All ranks, which have a lane: sets job->settles and job->travels. */
tesela_status tsl_settle_choose(tsl_job *job, const tsl_process_grid *grid);
/* Whether sums are scaled at the end. */
bool tsl_settle_scales(const tsl_job *job);
/* What a tile is made in: C's type itself, where nothing travels or is scaled, and sums are not cut; else
 * that of the sums. */
const tsl_type_info *tsl_settle_made(const tsl_job *job, const tsl_process_grid *grid);
/* Numbers of type `made` for a window: as a rank's device has them, or a message of those that this rank has,
 * from element `at` on. */
typedef struct tsl_device_store {
  const tesela_buffer *buffer;
  int64_t at;
  bool is_message;
  const tsl_type_info *made;
} tsl_device_store;
/* To where the rank has C: in order of the lane's stream. Adds the number of elements to *count. */
tesela_status tsl_settle_store(const tsl_job *job, const tsl_patch *window, const tsl_device_store *from,
                               int64_t *count);
/* Adds `slots` arrays of `count` sums in a buffer into the first one, likewise. */
tesela_status tsl_settle_add(const tsl_job *job, const tesela_buffer *sums, int slots, int64_t count);

#endif
