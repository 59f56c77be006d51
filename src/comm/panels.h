/* Panels of A and B for each step. Two sets of buffers: the next panels arrive during a product. */
#ifndef TSL_COMM_PANELS_H
#define TSL_COMM_PANELS_H

#include "comm/comm_blocks.h"
#include "comm/job.h"
#include "core/status.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

/* Initialize with {0}: no task. */
typedef struct tsl_async_task {
  tesela_status (*work)(void *argument);
  void *argument;
  tesela_status status;
  tsl_status_saved failure;
  pthread_t thread;
  bool has_thread;
  atomic_bool has_ended;
  double ended; /* end by tsl_clock(); set before has_ended */
} tsl_async_task;

/* Starts work(argument) in a thread, or runs it in the caller's thread if no thread can be started. */
void tsl_async_task_start(tsl_async_task *task, tesela_status (*work)(void *argument), void *argument);
bool tsl_async_task_is_running(const tsl_async_task *task);
/* Returns the seconds since `from` during which no task ran. */
double tsl_async_task_exposed(const tsl_async_task *task, double from);
/* Waits for the task's end and returns its status and message; TESELA_OK if no task was started. */
tesela_status tsl_async_task_join(tsl_async_task *task);

/* Panel that has arrived, in a buffer if the rank multiplies on a device. */
typedef struct tsl_rank_panel {
  tsl_patch window;
  const void *data;            /* operand's memory if it holds the whole panel, else `memory` */
  const tesela_buffer *buffer; /* operand's buffer if it holds the whole panel, else `device_memory` */
  int64_t offset;              /* in elements */
  int64_t row_stride, col_stride;
  void *memory;
  tesela_buffer *device_memory;
  bool in_place; /* the operand's own memory is used; nothing is assembled */
} tsl_rank_panel;

typedef struct tsl_panels {
  const tsl_job *job;
  const tsl_process_grid *grid;
  const tsl_rank_blocks *blocks;
  const tsl_block *block;           /* NULL: this rank only sends panels */
  tsl_rank_panel panel[2][2];       /* [step parity][TSL_PART_A or TSL_PART_B] */
  void *outgoing[2], *incoming[2];  /* messages in host memory, by step parity */
  struct tsl_packed_window *packed; /* of the current step */
  tesela_buffer *gpu_outgoing[2], *gpu_incoming[2];
  tsl_message *gpu_messages; /* of the current step */
  int gpu_message_count;
  double seconds_wait, seconds_move; /* outside of tasks: waiting; packing and assembling */
} tsl_panels;

/* Returns true and sets the panel's address and strides if one patch of this rank, on the device if
 * `on_device`, contains the whole panel. */
bool tsl_panel_find_in_operand(const tsl_rank_part *part, int rank, bool on_device, tsl_rank_panel *panel);
tsl_rank_panel *tsl_panels_at(tsl_panels *panels, int operand, int step);

/* Allocates the memory for all steps. TESELA_OUT_OF_MEMORY. The caller frees *out even after a failure. */
tesela_status tsl_panels_make(const tsl_job *job, const tsl_process_grid *grid, const tsl_rank_blocks *blocks,
                              const tsl_block *block, tsl_panels *out);
/* Frees all memory. `pools_buffers`: keeps device buffers for later calls; false after a failed call. */
void tsl_panels_free(tsl_panels *panels, bool pools_buffers);
/* Begins a step's messages; at most two successive steps are under way. */
tesela_status tsl_panels_begin(tsl_panels *panels, int step, const tsl_async_task *task);
/* Waits for a step's messages and assembles its panels, valid until the second next tsl_panels_end(). Polls
 * while `task` runs; only other time is counted. *status gets a failure of this rank, which goes on. */
tesela_status tsl_panels_end(tsl_panels *panels, int step, const tsl_async_task *task, tesela_status *status);

#endif
