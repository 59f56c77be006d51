/* The panels of A and B that a rank multiplies in each step: they are on their way, and put together, while
 * those of the step before are multiplied. So there are two of each, by turns. */
#ifndef TSL_COMM_PANELS_H
#define TSL_COMM_PANELS_H

#include "comm/async_task.h"
#include "comm/comm_blocks.h"
#include "comm/job.h"

/* A panel that has arrived: in host memory, or, of a rank that multiplies on a device, in a buffer. */
typedef struct tsl_rank_panel {
  tsl_patch window;
  const void *data;            /* the operand's own memory where it lies there whole, else `memory` */
  const tesela_buffer *buffer; /* likewise, or `device_memory` */
  int64_t offset;              /* in the buffer */
  int64_t row_stride, col_stride;
  void *memory;
  tesela_buffer *device_memory;
  bool in_place;
} tsl_rank_panel;

typedef struct tsl_panels {
  const tsl_job *job;
  const tsl_process_grid *grid;
  const tsl_rank_blocks *blocks;
  const tsl_block *own;       /* NULL: this rank needs none, but others need what it holds */
  tsl_rank_panel panel[2][2]; /* that are multiplied, and that arrive, by turns; TSL_PART_A, TSL_PART_B */
  void *outgoing[2], *incoming[2];
  struct tsl_packed_window *packed; /* windows of a step that were packed already */
  /* The same for operands whose messages go from device to device. */
  tesela_buffer *lane_outgoing[2], *lane_incoming[2];
  tsl_message *parcels; /* of a step */
  int parcel_count;
  double seconds_wait, seconds_move;
} tsl_panels;

/* Whether panel->window lies whole in one piece of this rank's memory, of the kind that it multiplies in; and
 * where. */
bool tsl_panel_lies_here(const tsl_rank_part *part, int rank, bool on_device, tsl_rank_panel *panel);
/* The panel of an operand in a step. */
tsl_rank_panel *tsl_panels_at(tsl_panels *panels, int operand, int step);

/* Takes the memory for all steps. TESELA_OUT_OF_MEMORY; free it in any case. */
tesela_status tsl_panels_make(const tsl_job *job, const tsl_process_grid *grid, const tsl_rank_blocks *blocks,
                              const tsl_block *block, tsl_panels *out);
/* `is_well`: nothing has failed, and devices keep the memory for the next call. */
void tsl_panels_free(tsl_panels *panels, bool is_well);
/* Lets the messages of a step begin; at most the next step's are on their way with it. Then waits for them,
 * and has the panels, which are as they are until the step after the next. While there is work beside,
 * messages are asked about now and then, and the processor is left to that; what of the time nothing ran
 * beside is counted. `own` is what failed on this rank alone, which goes on as the others wait for its
 * messages. */
tesela_status tsl_panels_begin(tsl_panels *panels, int step, const tsl_async_task *beside);
tesela_status tsl_panels_end(tsl_panels *panels, int step, const tsl_async_task *beside,
                             tesela_status *status);

#endif
