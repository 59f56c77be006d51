/* Store of C that stays on the ranks' devices: layers are added in the tree of comm/reduce.h, and sums are
 * copied or rounded. Bits equal the host's. Sums are scaled here only if bits may depend on the transport. */
#ifndef TSL_COMM_DEVICE_STORE_H
#define TSL_COMM_DEVICE_STORE_H

#include "comm/comm_blocks.h"
#include "comm/job.h"

/* Sets job->stores_on_device and job->travels. Collective; needs a device transport. */
tesela_status tsl_device_store_choose(tsl_job *job, const tsl_process_grid *grid);
/* Returns true if sums are scaled by alpha or beta. */
bool tsl_sums_are_scaled(const tsl_job *job);
/* Returns a tile's type: C's if nothing travels, is scaled or split along k; else the sums'. */
const tsl_type_info *tsl_tile_type(const tsl_job *job, const tsl_process_grid *grid);
/* Source of a window's numbers: device sums, or a dense message of the rank's own elements. */
typedef struct tsl_sums_source {
  const tesela_buffer *buffer;
  int64_t at;
  bool is_message;
  const tsl_type_info *tile_type;
} tsl_sums_source;
/* Enqueues the store of a window to C in the transport's stream; adds its elements to *count. */
tesela_status tsl_device_store_window(const tsl_job *job, const tsl_patch *window,
                                      const tsl_sums_source *from, int64_t *count);
/* Enqueues the addition of `slots` arrays of `count` sums into the first one. */
tesela_status tsl_device_store_add_layers(const tsl_job *job, const tesela_buffer *sums, int slots,
                                          int64_t count);

#endif
