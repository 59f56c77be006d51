#include "comm/panels.h"

#include "comm/gpu_transport_patch.h"
#include "core/clock.h"
#include "core/memory.h"
#include "core/status.h"

#include <stdlib.h>
#include <time.h>

/* Message to each rank that needs the window. */
typedef struct tsl_packed_window {
  tsl_patch window;
  size_t at; /* offset in the outgoing buffer */
  int64_t count;
} tsl_packed_window;

static int panels_tag_of(int operand) {
  return 1 + operand;
}

static tsl_patch window_of(const tsl_panels *p, int operand, const tsl_block *block, tsl_step step) {
  const tsl_order order = p->job->part[operand].order;
  return operand == TSL_PART_A ? tsl_window_a(p->grid, block, step, order)
                               : tsl_window_b(p->grid, block, step, order);
}

/* Returns true if a step needs another panel than the step before. Equal on all ranks. */
static bool panel_changes(const tsl_panels *p, int operand, int step) {
  const tsl_process_grid *grid = p->grid;
  return grid->panels > 1 || step == 0 ||
         (operand == TSL_PART_A ? step % grid->tiles_n == 0 : grid->tiles_n > 1);
}

tsl_rank_panel *tsl_panels_at(tsl_panels *panels, int operand, int step) {
  const tsl_process_grid *grid = panels->grid;
  const int before = grid->panels > 1        ? step /* panel changes before the step */
                     : operand == TSL_PART_A ? step / grid->tiles_n
                                             : (grid->tiles_n > 1 ? step : 0);
  return &panels->panel[before % 2][operand];
}

bool tsl_panel_find_in_operand(const tsl_rank_part *part, int rank, bool on_device, tsl_rank_panel *panel) {
  if (on_device && !part->mirror.buffer)
    return false;
  for (int64_t i = 0; i < tsl_layout_patch_count(&part->layout, rank); i++) {
    const tsl_patch held = tsl_layout_patch(&part->layout, rank, i);
    tsl_spans_intersect rows = {.a = &held.rows, .b = &panel->window.rows},
                        cols = {.a = &held.cols, .b = &panel->window.cols};
    if (!tsl_spans_intersect_next(&rows) || !tsl_spans_intersect_next(&cols) ||
        rows.length != panel->window.rows.last - panel->window.rows.first ||
        cols.length != panel->window.cols.last - panel->window.cols.first)
      continue;
    const int64_t at = held.offset + rows.in_a * held.row_stride + cols.in_a * held.col_stride;
    panel->data = on_device ? NULL : (const char *)part->data + at * (int64_t)part->type->size;
    panel->buffer = on_device ? part->mirror.buffer : NULL;
    panel->offset = on_device ? part->mirror.at + at : 0;
    panel->row_stride = held.row_stride;
    panel->col_stride = held.col_stride;
    return true;
  }
  return false;
}

/* Sets the panel's window, and its address if the operand's own memory contains it all (in_place). */
static void locate_panel(const tsl_panels *p, int operand, tsl_step step, tsl_rank_panel *panel) {
  panel->window = window_of(p, operand, p->block, step);
  panel->in_place = tsl_panel_find_in_operand(&p->job->part[operand], p->job->ranks->rank,
                                              tsl_multiplies_on_device(&p->job->rank_device), panel);
}

/* Begins to receive the parts of a panel from their owners, or queues these messages between devices.
 * *offset: bytes of the incoming buffer in use. */
static tesela_status begin_receives(tsl_panels *p, int operand, int step, size_t *offset) {
  tsl_ranks *ranks = p->job->ranks;
  const tsl_rank_part *part = &p->job->part[operand];
  tsl_rank_panel panel;
  locate_panel(p, operand, tsl_step_at(p->grid, step), &panel);
  for (int from = 0; from < ranks->size && !panel.in_place; from++) {
    if (from == ranks->rank)
      continue;
    const size_t bytes =
        (size_t)tsl_layout_count_owned_in_patch(&part->layout, from, &panel.window) * part->type->size;
    if (bytes > 0 && part->between_devices)
      p->gpu_messages[p->gpu_message_count++] =
          (tsl_message){from, false, p->gpu_incoming[step % 2], *offset, bytes};
    else if (bytes > 0)
      TSL_TRY(ranks->ops->receive(ranks, step % 2, from, panels_tag_of(operand),
                                  (char *)p->incoming[step % 2] + *offset, bytes));
    *offset += bytes;
  }
  return TESELA_OK;
}

/* Packs this rank's elements of a window, between devices by enqueued copies, and counts them. */
static tesela_status pack_window(const tsl_panels *p, const tsl_rank_part *part, int step,
                                 tsl_packed_window *packed) {
  const int rank = p->job->ranks->rank;
  const size_t size = part->type->size;
  const tsl_gpu_copy_side from = {part->mirror.buffer, (size_t)part->mirror.at * size, false};
  for (int64_t i = 0; i < tsl_layout_patch_count(&part->layout, rank); i++) {
    const tsl_patch held = tsl_layout_patch(&part->layout, rank, i);
    const size_t at = packed->at + (size_t)packed->count * size;
    const tsl_gpu_copy_side to = {p->gpu_outgoing[step % 2], at, true};
    if (part->between_devices)
      TSL_TRY(tsl_gpu_transport_copy_patch(p->job->transport, &held, &from, &packed->window, &to, part->order,
                                           size, &packed->count));
    else
      packed->count += tsl_patch_pack(&held, part->data, &packed->window, part->order, size,
                                      (char *)p->outgoing[step % 2] + at);
  }
  return TESELA_OK;
}

/* Packs each distinct window once and sends it to all ranks that need it, or queues these messages between
 * devices. *offset: bytes of the outgoing buffer in use. `only_counts`: advances *offset, and does no more.
 */
static tesela_status send_windows(tsl_panels *p, int operand, int step, bool only_counts, size_t *offset) {
  tsl_ranks *ranks = p->job->ranks;
  const tsl_rank_part *part = &p->job->part[operand];
  int packed_count = 0;
  for (int block_index = 0; block_index < p->grid->used; block_index++) {
    const int destination = p->blocks->rank_of_block[block_index];
    if (destination == ranks->rank)
      continue;
    const tsl_patch window = window_of(p, operand, &p->blocks->list[block_index], tsl_step_at(p->grid, step));
    int i = packed_count - 1;
    while (i >= 0 && !tsl_windows_are_equal(&p->packed[i].window, &window))
      i--;
    const bool is_new = i < 0;
    tsl_packed_window *packed = &p->packed[is_new ? packed_count++ : i];
    if (is_new) {
      *packed = (tsl_packed_window){window, *offset, 0};
      if (only_counts)
        packed->count = tsl_layout_count_owned_in_patch(&part->layout, ranks->rank, &window);
      else
        TSL_TRY(pack_window(p, part, step, packed));
    }
    const size_t bytes = (size_t)packed->count * part->type->size;
    *offset += is_new ? bytes : 0;
    if (only_counts || bytes == 0)
      continue;
    if (part->between_devices)
      p->gpu_messages[p->gpu_message_count++] =
          (tsl_message){destination, true, p->gpu_outgoing[step % 2], packed->at, bytes};
    else
      TSL_TRY(ranks->ops->send(ranks, step % 2, destination, panels_tag_of(operand),
                               (char *)p->outgoing[step % 2] + packed->at, bytes));
  }
  return TESELA_OK;
}

static void point_to_own_memory(const tsl_panels *p, tsl_rank_panel *panel) {
  panel->data = tsl_multiplies_on_device(&p->job->rank_device) ? NULL : panel->memory;
  panel->buffer = panel->device_memory;
  panel->offset = 0;
  panel->row_stride = panel->window.row_stride;
  panel->col_stride = panel->window.col_stride;
}

/* Assembles a panel of received messages, *offset bytes from the incoming buffer's start, and own elements;
 * between devices by enqueued copies. */
static tesela_status assemble(tsl_panels *p, int operand, int step, size_t *offset) {
  const tsl_rank_part *part = &p->job->part[operand];
  const size_t size = part->type->size;
  tsl_rank_panel *panel = tsl_panels_at(p, operand, step);
  locate_panel(p, operand, tsl_step_at(p->grid, step), panel);
  if (panel->in_place)
    return TESELA_OK;
  point_to_own_memory(p, panel);
  const tsl_gpu_copy_side to = {panel->device_memory, 0, false};
  for (int from = 0; from < p->job->ranks->size; from++)
    for (int64_t i = 0; i < tsl_layout_patch_count(&part->layout, from); i++) {
      const tsl_patch held = tsl_layout_patch(&part->layout, from, i);
      const bool is_own = from == p->job->ranks->rank;
      const tsl_gpu_copy_side side = {is_own ? part->mirror.buffer : p->gpu_incoming[step % 2],
                                      is_own ? (size_t)part->mirror.at * size : *offset, !is_own};
      int64_t count = 0;
      if (part->between_devices)
        TSL_TRY(tsl_gpu_transport_copy_patch(p->job->transport, &held, &side, &panel->window, &to,
                                             part->order, size, &count));
      else if (is_own)
        tsl_patch_copy(&held, part->data, &panel->window, panel->memory, part->order, size);
      else
        count = tsl_patch_unpack(&held, &panel->window, panel->memory, part->order, size,
                                 (const char *)p->incoming[step % 2] + *offset);
      *offset += is_own ? 0 : (size_t)count * size;
    }
  return panel->device_memory && !part->between_devices
             ? tesela_buffer_write(panel->device_memory, 0, panel->memory,
                                   (size_t)tsl_patch_total(&panel->window) * size)
             : TESELA_OK;
}

/* Assembles panels in stream order after the messages: the previous product reads the buffers to its end. */
static tesela_status end_gpu_step(tsl_panels *p, int step) {
  size_t at = 0;
  for (int operand = TSL_PART_A; operand <= TSL_PART_B && p->block; operand++)
    if (p->job->part[operand].between_devices && panel_changes(p, operand, step))
      TSL_TRY(assemble(p, operand, step, &at));
  TSL_TRY(tsl_gpu_transport_mark(p->job->transport, step % 2));
  return tsl_gpu_transport_wait(p->job->transport, step % 2);
}

tesela_status tsl_panels_begin(tsl_panels *p, int step, const tsl_async_task *task) {
  const double begin = tsl_clock();
  size_t in[2] = {0, 0}, out[2] = {0, 0}; /* of messages in host memory, and between devices */
  p->gpu_message_count = 0;
  for (int operand = TSL_PART_A; operand <= TSL_PART_B && p->block; operand++)
    if (panel_changes(p, operand, step))
      TSL_TRY(begin_receives(p, operand, step, &in[p->job->part[operand].between_devices]));
  for (int operand = TSL_PART_A; operand <= TSL_PART_B; operand++)
    if (panel_changes(p, operand, step))
      TSL_TRY(send_windows(p, operand, step, false, &out[p->job->part[operand].between_devices]));
  if (p->job->transport)
    TSL_TRY(tsl_gpu_transport_exchange(p->job->transport, p->gpu_messages, p->gpu_message_count));
  p->seconds_move += tsl_async_task_exposed(task, begin);
  return TESELA_OK;
}

/* Polls while the task runs: a blocking MPI wait would occupy a processor. */
static tesela_status wait_for_panels(const tsl_panels *p, int step, const tsl_async_task *task) {
  static const struct timespec moment = {.tv_nsec = 50000};
  tsl_ranks *ranks = p->job->ranks;
  int done = 0;
  while (tsl_async_task_is_running(task)) {
    TSL_TRY(ranks->ops->progress(ranks, step % 2, &done));
    if (done)
      break;
    nanosleep(&moment, NULL);
  }
  return ranks->ops->wait(ranks, step % 2);
}

tesela_status tsl_panels_end(tsl_panels *p, int step, const tsl_async_task *task, tesela_status *status_in) {
  const double begin = tsl_clock();
  TSL_TRY(wait_for_panels(p, step, task));
  if (p->job->transport) {
    TSL_TRY(end_gpu_step(p, step));
    *status_in = *status_in == TESELA_OK ? tsl_gpu_transport_status(p->job->transport) : *status_in;
  }
  p->seconds_wait += tsl_async_task_exposed(task, begin);
  const double arrived = tsl_clock();
  size_t at = 0;
  for (int operand = TSL_PART_A; operand <= TSL_PART_B && p->block; operand++) {
    if (p->job->part[operand].between_devices || !panel_changes(p, operand, step))
      continue;
    const tesela_status status = assemble(p, operand, step, &at);
    *status_in = *status_in == TESELA_OK ? status : *status_in;
  }
  p->seconds_move += tsl_async_task_exposed(task, arrived);
  return TESELA_OK;
}

/* Maximum bytes over all steps; in[1], out[1]: messages between devices. */
typedef struct step_bytes {
  size_t panel[2], in[2], out[2];
} step_bytes;

static void raise_maximum(size_t *known, size_t bytes) {
  *known = bytes > *known ? bytes : *known;
}

/* Raises *all to the maximum bytes over all steps. */
static tesela_status panels_measure(tsl_panels *p, step_bytes *all) {
  for (int step = 0; step < tsl_steps(p->grid); step++) {
    size_t incoming[2] = {0, 0}, outgoing[2] = {0, 0};
    for (int operand = TSL_PART_A; operand <= TSL_PART_B; operand++) {
      const int between_devices = p->job->part[operand].between_devices;
      if (!panel_changes(p, operand, step))
        continue;
      tsl_rank_panel panel = {.in_place = true};
      if (p->block)
        locate_panel(p, operand, tsl_step_at(p->grid, step), &panel);
      if (!panel.in_place) {
        const size_t bytes = (size_t)tsl_patch_total(&panel.window) * p->job->part[operand].type->size;
        raise_maximum(&all->panel[operand], bytes);
        incoming[between_devices] +=
            bytes - (size_t)tsl_layout_count_owned_in_patch(&p->job->part[operand].layout,
                                                            p->job->ranks->rank, &panel.window) *
                        p->job->part[operand].type->size;
      }
      TSL_TRY(send_windows(p, operand, step, true, &outgoing[between_devices]));
    }
    for (int between_devices = 0; between_devices < 2; between_devices++) {
      raise_maximum(&all->in[between_devices], incoming[between_devices]);
      raise_maximum(&all->out[between_devices], outgoing[between_devices]);
    }
  }
  return TESELA_OK;
}

static tesela_status allocate_device_buffer(const tsl_job *job, size_t bytes, tesela_buffer **buffer) {
  return bytes == 0 ? TESELA_OK : tsl_api_buffer_take(job->context, job->rank_device.device, bytes, buffer);
}

static tesela_status allocate_panel(const tsl_job *job, int operand, size_t bytes, tsl_rank_panel *panel) {
  TSL_TRY(tsl_alloc(job->part[operand].between_devices ? 0 : bytes, "a panel", &panel->memory));
  return tsl_multiplies_on_device(&job->rank_device)
             ? allocate_device_buffer(job, bytes, &panel->device_memory)
             : TESELA_OK;
}

tesela_status tsl_panels_make(const tsl_job *job, const tsl_process_grid *grid, const tsl_rank_blocks *blocks,
                              const tsl_block *block, tsl_panels *out) {
  const int messages = 2 * (grid->used + job->ranks->size);
  *out = (tsl_panels){.job = job, .grid = grid, .blocks = blocks, .block = block};
  out->packed = malloc((size_t)grid->used * sizeof *out->packed);
  if (job->transport)
    out->gpu_messages = malloc((size_t)messages * sizeof *out->gpu_messages);
  if (!out->packed || (job->transport && !out->gpu_messages))
    return tsl_fail(TESELA_OUT_OF_MEMORY, "out of memory for the messages of %d blocks", grid->used);
  step_bytes all = {{0, 0}, {0, 0}, {0, 0}};
  TSL_TRY(panels_measure(out, &all));
  for (int i = 0; i < 2; i++) {
    for (int operand = TSL_PART_A; operand <= TSL_PART_B; operand++)
      TSL_TRY(allocate_panel(job, operand, all.panel[operand], &out->panel[i][operand]));
    TSL_TRY(tsl_alloc(all.in[0], "panels that arrive", &out->incoming[i]));
    TSL_TRY(tsl_alloc(all.out[0], "panels that are sent", &out->outgoing[i]));
    TSL_TRY(allocate_device_buffer(job, all.in[1], &out->gpu_incoming[i]));
    TSL_TRY(allocate_device_buffer(job, all.out[1], &out->gpu_outgoing[i]));
    TSL_TRY(job->ranks->ops->reserve(job->ranks, i, messages));
  }
  return TESELA_OK;
}

void tsl_panels_free(tsl_panels *panels, bool pools_buffers) {
  for (int i = 0; i < 2; i++) {
    for (int operand = TSL_PART_A; operand <= TSL_PART_B; operand++) {
      tsl_free(panels->panel[i][operand].memory);
      tsl_api_buffer_give(panels->panel[i][operand].device_memory, pools_buffers);
    }
    tsl_free(panels->incoming[i]);
    tsl_free(panels->outgoing[i]);
    tsl_api_buffer_give(panels->gpu_incoming[i], pools_buffers);
    tsl_api_buffer_give(panels->gpu_outgoing[i], pools_buffers);
  }
  free(panels->gpu_messages);
  free(panels->packed);
}

static void async_task_run(tsl_async_task *task) {
  task->status = task->work(task->argument);
  if (task->status != TESELA_OK)
    tsl_status_save(&task->failure);
  task->ended = tsl_clock();
  atomic_store(&task->has_ended, true);
}

static void *async_task_run_in_thread(void *argument) {
  async_task_run(argument);
  return NULL;
}

void tsl_async_task_start(tsl_async_task *task, tesela_status (*work)(void *argument), void *argument) {
  task->work = work;
  task->argument = argument;
  task->has_thread = pthread_create(&task->thread, NULL, async_task_run_in_thread, task) == 0;
  if (!task->has_thread)
    async_task_run(task);
}

bool tsl_async_task_is_running(const tsl_async_task *task) {
  return task->work && !atomic_load(&task->has_ended);
}

double tsl_async_task_exposed(const tsl_async_task *task, double from) {
  if (tsl_async_task_is_running(task))
    return 0;
  const double since = task->work && task->ended > from ? task->ended : from;
  return tsl_clock() - since;
}

tesela_status tsl_async_task_join(tsl_async_task *task) {
  if (!task->work)
    return TESELA_OK;
  if (task->has_thread)
    pthread_join(task->thread, NULL);
  if (task->status != TESELA_OK)
    tsl_status_restore(&task->failure);
  return task->status;
}
