/* C that stays on the ranks' devices: where each rank computes what it has of C itself, and nothing is scaled or added, the sums are copied or
 * rounded to where C lies there, and nothing of it passes through host memory. The bits are those of the other way. */
#ifndef TSL_COMM_SETTLE_H
#define TSL_COMM_SETTLE_H

#include "comm/blocks.h"
#include "comm/job.h"

/* All ranks, which have a lane: sets job->settles. */
tesela_status tsl_settle_choose(tsl_job *job, const tsl_rank_grid *grid);
/* What a tile is made in: C's type itself, where it stays and sums are not cut; else that of the sums. */
const tsl_type_info *tsl_settle_made(const tsl_job *job, const tsl_rank_grid *grid);
/* A window, as this rank's device has it, to where the rank has C: in order of the lane's stream. */
tesela_status tsl_settle_store(const tsl_job *job, const tsl_patch *window, const tesela_buffer *sums,
                               const tsl_type_info *made);

#endif
