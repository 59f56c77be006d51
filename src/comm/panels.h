/* Panels of A and B that a rank multiplies in each step. The next panels arrive during the product
 * of the current panels, so there are two sets of buffers, used alternately. */
#ifndef TSL_COMM_PANELS_H
#define TSL_COMM_PANELS_H

#include "comm/async_task.h"
#include "comm/comm_blocks.h"
#include "comm/job.h"

/* Panel that has arrived: in host memory, or in a buffer if the rank multiplies on a device. */
typedef struct tsl_rank_panel {
  tsl_patch window;
  const void *data;            /* the operand's own memory if it holds the whole panel, else `memory` */
  const tesela_buffer *buffer; /* the operand's buffer if it holds the whole panel, else `device_memory` */
  int64_t offset;              /* offset in the buffer, in elements */
  int64_t row_stride, col_stride;
  void *memory;
  tesela_buffer *device_memory;
  bool in_place;
} tsl_rank_panel;

typedef struct tsl_panels {
  const tsl_job *job;
  const tsl_process_grid *grid;
  const tsl_rank_blocks *blocks;
  const tsl_block *block;     /* NULL: this rank multiplies nothing, but sends panels to others */
  tsl_rank_panel panel[2][2]; /* [step parity][TSL_PART_A or TSL_PART_B] */
  void *outgoing[2], *incoming[2];
  struct tsl_packed_window *packed; /* windows packed in the current step */
  /* Messages between devices: like `outgoing` and `incoming`. */
  tesela_buffer *lane_outgoing[2], *lane_incoming[2];
  tsl_message *parcels; /* messages of the current step */
  int parcel_count;
  double seconds_wait, seconds_move;
} tsl_panels;

/* Returns true and sets the panel's place if panel->window lies in one patch of this rank's memory.
 * The memory must be on the device if `on_device`. */
bool tsl_panel_lies_here(const tsl_rank_part *part, int rank, bool on_device, tsl_rank_panel *panel);
tsl_rank_panel *tsl_panels_at(tsl_panels *panels, int operand, int step);

/* Allocates the memory for all steps. TESELA_OUT_OF_MEMORY. The caller frees *out even after a
 * failure. */
tesela_status tsl_panels_make(const tsl_job *job, const tsl_process_grid *grid, const tsl_rank_blocks *blocks,
                              const tsl_block *block, tsl_panels *out);
/* Frees all memory. If `is_well`, no call failed, and the device buffers are cached for the next
 * call. */
void tsl_panels_free(tsl_panels *panels, bool is_well);
/* Begins the messages of a step. At most the messages of two successive steps are under way. */
tesela_status tsl_panels_begin(tsl_panels *panels, int step, const tsl_async_task *task);
/* Waits for the messages of a step and assembles its panels. They stay valid until tsl_panels_end()
 * of the second next step. While `task` runs, the wait polls and sleeps. Only the
 * time without a running task is counted. *status receives a failure of this rank alone; the rank
 * goes on, because others wait for its messages. */
tesela_status tsl_panels_end(tsl_panels *panels, int step, const tsl_async_task *task, tesela_status *status);

#endif
