/* The caller's thread copies panels to free buffers and enqueues slabs. With staging (device/staging.h) three
 * streams overlap; otherwise copies and kernels alternate. */
#include "strategy/gemm/composite/streamed/streamed.h"

#include "core/memory.h"
#include "core/status.h"
#include "device/memory_pool.h"
#include "device/staging.h"
#include "problem/structure.h"

enum { PANELS = 2, TILES = 2 };

typedef struct ring {
  tsl_buffer *buffers[PANELS];
  tsl_event *free[PANELS]; /* event after the last read of the buffer; NULL without staging */
  bool free_is_recorded[PANELS];
  int64_t lines[PANELS], slabs[PANELS]; /* position of the panel in the buffer; -1: none */
  int oldest;
} ring;

typedef struct streamed_launch {
  const tsl_work *work;
  tsl_streamed *self;
  const tsl_operands *operands;
  const tsl_device_ops *ops;
  tsl_device *device;
  tsl_staging *staging; /* NULL: not available */
  tsl_stager stager;
  tsl_overlapped_readback out; /* copy of the previous tile, or of the tile before that */
  tsl_stream *stream;          /* stream of the kernels */
  ring rings[TSL_OPERAND_C];
  tsl_buffer *tiles[TILES], *scratch;
  tsl_event *done[TILES];
  void *block; /* buffer that gathers a panel without staging */
  size_t block_bytes;
  bool c_is_written;
} streamed_launch;

static tesela_status allocate_buffers(streamed_launch *job) {
  const tsl_streamed_tiling *t = &job->self->tiling;
  const tsl_problem *problem = &job->work->problem;
  const int64_t a = t->rows * t->depth * (int64_t)tsl_type(problem->a.type)->size,
                b = t->depth * t->cols * (int64_t)tsl_type(problem->b.type)->size,
                c = t->rows * t->cols * (int64_t)tsl_type(problem->c.type)->size;
  for (int i = 0; i < t->panels && tsl_problem_reads(problem, TSL_OPERAND_A); i++) {
    TSL_TRY(tsl_pooled_buffer_get(job->device, (size_t)a, &job->rings[TSL_OPERAND_A].buffers[i]));
    TSL_TRY(tsl_pooled_buffer_get(job->device, (size_t)b, &job->rings[TSL_OPERAND_B].buffers[i]));
  }
  for (int i = 0; i < t->tiles; i++)
    TSL_TRY(tsl_pooled_buffer_get(job->device, (size_t)c, &job->tiles[i]));
  if (job->self->workspace > 0)
    TSL_TRY(tsl_pooled_buffer_get(job->device, (size_t)job->self->workspace, &job->scratch));
  return TESELA_OK;
}

/* Takes the staging buffers; without pinned memory the run continues without staging. */
static tesela_status streamed_take_staging(streamed_launch *job) {
  tsl_staging_sizes sizes;
  tsl_status_saved saved;
  int mark = 0;
  if (!tsl_staging_sizes_of(job->device, &sizes))
    return TESELA_OK;
  tsl_status_save(&saved);
  if (tsl_staging_take(job->device, sizes.slot, &job->staging) != TESELA_OK)
    job->staging = NULL;
  tsl_status_restore(&saved);
  job->stager.staging = job->staging;
  for (int operand = 0; job->staging && operand < TSL_OPERAND_C; operand++)
    for (int i = 0; i < PANELS; i++)
      TSL_TRY(tsl_staging_mark(job->staging, mark++, &job->rings[operand].free[i]));
  for (int i = 0; job->staging && i < TILES; i++)
    TSL_TRY(tsl_staging_mark(job->staging, mark++, &job->done[i]));
  return TESELA_OK;
}

static tesela_status acquire_resources(streamed_launch *job) {
  for (int operand = 0; operand < TSL_OPERAND_C; operand++)
    for (int i = 0; i < PANELS; i++)
      job->rings[operand].lines[i] = job->rings[operand].slabs[i] = -1;
  TSL_TRY(job->ops->stream_create(job->device, &job->stream));
  TSL_TRY(streamed_take_staging(job));
  return allocate_buffers(job);
}

/* Releases all resources after pending work has ended. Keeps a failure's message; ignores later failures. */
static void release_all(streamed_launch *job, tesela_status status) {
  tsl_status_saved saved;
  tsl_status_save(&saved);
  if (job->staging) {
    (void)job->ops->finish(job->staging->in);
    (void)job->ops->finish(job->staging->out);
  }
  if (job->stream)
    (void)job->ops->finish(job->stream);
  if (job->staging)
    tsl_staging_give(job->staging, status == TESELA_OK);
  for (int operand = 0; operand < TSL_OPERAND_C; operand++)
    for (int i = 0; i < PANELS; i++)
      tsl_pooled_buffer_give(job->rings[operand].buffers[i]);
  for (int i = 0; i < TILES; i++)
    tsl_pooled_buffer_give(job->tiles[i]);
  tsl_pooled_buffer_give(job->scratch);
  if (status != TESELA_OK)
    (void)tsl_pooled_buffers_destroy(job->device); /* memory in use has an unknown state */
  if (job->stream)
    job->ops->stream_destroy(job->stream);
  tsl_free(job->block);
  tsl_status_restore(&saved);
}

static tsl_transfer_path path_of_part(const streamed_launch *job, const tsl_streamed_kind *kind, int operand,
                                      int64_t row, int64_t col, tsl_buffer *buffer) {
  const tsl_shape *shape = &kind->shapes[operand];
  return (tsl_transfer_path){.shape = shape,
                             .transfer = &kind->transfers[operand],
                             .host = (unsigned char *)job->operands->at[operand].host +
                                     tsl_shape_offset(shape, row, col),
                             .buffer = buffer};
}

static tesela_status streamed_gather_block(streamed_launch *job, const tsl_transfer *transfer) {
  if (!tsl_transfer_needs_block(transfer, job->device) || job->block_bytes >= transfer->bytes)
    return TESELA_OK;
  tsl_free(job->block);
  job->block = NULL;
  job->block_bytes = 0;
  TSL_TRY(tsl_alloc(transfer->bytes, "gathering a panel", &job->block));
  job->block_bytes = transfer->bytes;
  return TESELA_OK;
}

static tesela_status copy_in(streamed_launch *job, const tsl_transfer_path *path) {
  static const tsl_operand_series single = {1, 0};
  const tsl_copy_part all = {0, path->shape->rows, 0, path->shape->cols};
  if (job->staging)
    return tsl_staged_copy_to_device(&job->stager, path, &all);
  TSL_TRY(streamed_gather_block(job, path->transfer));
  return tsl_transfer_in(path->shape, path->transfer, single, path->host, path->buffer, job->stream,
                         job->block);
}

/* Finds the buffer of a panel; copies the panel to the oldest buffer if none holds it. */
static tesela_status bring_panel(streamed_launch *job, const tsl_streamed_kind *kind, int operand,
                                 int64_t line, int64_t slab, int *data) {
  ring *panels = &job->rings[operand];
  const tsl_streamed_tiling *t = &job->self->tiling;
  for (*data = 0; *data < t->panels; ++*data)
    if (panels->lines[*data] == line && panels->slabs[*data] == slab)
      return TESELA_OK;
  *data = panels->oldest;
  panels->oldest = (panels->oldest + 1) % t->panels;
  if (panels->free_is_recorded[*data])
    TSL_TRY(job->ops->stream_wait(job->staging->in, panels->free[*data]));
  const tsl_transfer_path path =
      operand == TSL_OPERAND_A
          ? path_of_part(job, kind, operand, line * t->rows, slab * t->depth, panels->buffers[*data])
          : path_of_part(job, kind, operand, slab * t->depth, line * t->cols, panels->buffers[*data]);
  panels->lines[*data] = panels->slabs[*data] = -1;
  TSL_TRY(copy_in(job, &path));
  panels->lines[*data] = line;
  panels->slabs[*data] = slab;
  return TESELA_OK;
}

/* Returns the transfer of a tile to the host; *tile gets its rectangle. */
static tsl_transfer_path path_out(const streamed_launch *job, int64_t index, tsl_copy_part *tile) {
  int64_t i, j;
  tsl_tiling_tile_position(&job->self->tiling, index, &i, &j);
  *tile = tsl_tiling_tile_rect(&job->self->tiling, i, j);
  return path_of_part(job, tsl_streamed_kind_of(job->self, i, j, 0), TSL_OPERAND_C, tile->row, tile->col,
                      job->tiles[index % job->self->tiling.tiles]);
}

/* Copies a tile out on the kernels' stream, without staging. */
static tesela_status copy_out_now(streamed_launch *job, int64_t index) {
  static const tsl_operand_series single = {1, 0};
  tsl_copy_part tile;
  const tsl_transfer_path path = path_out(job, index, &tile);
  TSL_TRY(streamed_gather_block(job, path.transfer));
  job->c_is_written = true; /* assumed from here on */
  return tsl_transfer_out(path.shape, path.transfer, single, path.host, path.buffer, job->stream, job->block);
}

/* Begins to copy part `part_index` of `parts` of a tile's rows out, once the tile is computed. */
static tesela_status begin_copy_of_part(streamed_launch *job, int64_t index, int64_t part_index,
                                        int64_t parts) {
  tsl_copy_part tile;
  const tsl_transfer_path path = path_out(job, index, &tile);
  const int64_t rows = tile.rows / parts + (tile.rows % parts != 0), first = part_index * rows;
  const int64_t left = first < tile.rows ? tile.rows - first : 0;
  const tsl_pending_readback part = {{first, left < rows ? left : rows, 0, tile.cols},
                                     job->done[index % job->self->tiling.tiles]};
  return tsl_overlapped_readback_begin(&job->out, &job->stager, &path, &part);
}

/* Waits for the outgoing copy; notes whether C was written. */
static tesela_status finish_outgoing(streamed_launch *job) {
  const tesela_status status = tsl_overlapped_readback_finish(&job->out);
  job->c_is_written |= job->out.wrote_host;
  return status;
}

/* Begins the outgoing copy during a slab's incoming panels: a part of the previous tile. With one slab it is
 * the tile before that, whose buffer this tile reuses. */
static tesela_status begin_outgoing(streamed_launch *job, int64_t index, int64_t slab) {
  const int64_t slabs = job->self->tiling.slabs;
  job->out = (tsl_overlapped_readback){.stager = NULL};
  if (slabs == 1)
    return index > 1 ? begin_copy_of_part(job, index - 2, 0, 1) : TESELA_OK;
  return index > 0 && slab > 0 ? begin_copy_of_part(job, index - 1, slab - 1, slabs - 1) : TESELA_OK;
}

static tesela_status record_read(streamed_launch *job, tsl_event *event, bool *is_recorded) {
  if (!job->staging)
    return TESELA_OK;
  TSL_TRY(job->ops->event_record(job->stream, event));
  *is_recorded = true;
  return TESELA_OK;
}

static tesela_status bring_panels(streamed_launch *job, int64_t i, int64_t j, int64_t slab,
                                  int index[TSL_OPERAND_C]) {
  const tsl_streamed_kind *kind = tsl_streamed_kind_of(job->self, i, j, slab);
  index[TSL_OPERAND_A] = index[TSL_OPERAND_B] = 0;
  if (!tsl_problem_reads(&job->work->problem, TSL_OPERAND_A))
    return TESELA_OK;
  TSL_TRY(bring_panel(job, kind, TSL_OPERAND_A, i, slab, &index[TSL_OPERAND_A]));
  return bring_panel(job, kind, TSL_OPERAND_B, j, slab, &index[TSL_OPERAND_B]);
}

static tesela_status streamed_multiply(streamed_launch *job, int64_t index, int64_t i, int64_t j,
                                       int64_t slab, const int position[TSL_OPERAND_C]) {
  const tsl_streamed_kind *kind = tsl_streamed_kind_of(job->self, i, j, slab);
  tsl_buffer *used[TSL_OPERAND_C];
  for (int operand = 0; operand < TSL_OPERAND_C; operand++)
    used[operand] = job->rings[operand].buffers[position[operand]];
  if (job->staging) {
    TSL_TRY(job->ops->event_record(job->staging->in, job->staging->arrived));
    TSL_TRY(job->ops->stream_wait(job->stream, job->staging->arrived));
  }
  const tsl_operands operands = {.a = {.buffer = used[TSL_OPERAND_A]},
                                 .b = {.buffer = used[TSL_OPERAND_B]},
                                 .c = {.buffer = job->tiles[index % job->self->tiling.tiles]}};
  TSL_TRY(job->work->subplans->enqueue(kind->child, &operands, job->stream, job->scratch));
  for (int operand = 0; operand < TSL_OPERAND_C; operand++)
    TSL_TRY(record_read(job, job->rings[operand].free[position[operand]],
                        &job->rings[operand].free_is_recorded[position[operand]]));
  return TESELA_OK;
}

/* Copies a tile of C in, if beta is not 0. */
static tesela_status bring_tile(streamed_launch *job, int64_t index) {
  tsl_copy_part tile;
  const tsl_transfer_path path = path_out(job, index, &tile);
  return tsl_problem_reads(&job->work->problem, TSL_OPERAND_C) ? copy_in(job, &path) : TESELA_OK;
}

static tesela_status compute_tile(streamed_launch *job, int64_t index) {
  const tsl_streamed_tiling *t = &job->self->tiling;
  bool is_recorded;
  int64_t i, j;
  int buffers[TSL_OPERAND_C];
  tsl_tiling_tile_position(t, index, &i, &j);
  for (int64_t slab = 0; slab < t->slabs; slab++) {
    if (job->staging)
      TSL_TRY(begin_outgoing(job, index, slab));
    TSL_TRY(bring_panels(job, i, j, slab, buffers));
    if (t->slabs == 1)
      TSL_TRY(finish_outgoing(job)); /* this tile reuses that tile's buffer */
    if (slab == 0)
      TSL_TRY(bring_tile(job, index));
    TSL_TRY(streamed_multiply(job, index, i, j, slab, buffers));
    TSL_TRY(finish_outgoing(job));
    if (!job->staging && slab == 0 && index > 0)
      TSL_TRY(copy_out_now(job, index - 1));
  }
  return record_read(job, job->done[index % t->tiles], &is_recorded);
}

/* Copies the last tiles out: two with staging if sums have one slab. */
static tesela_status copy_last_tiles_out(streamed_launch *job, int64_t count) {
  const int64_t left = job->self->tiling.slabs == 1 && count > 1 ? 2 : 1;
  if (!job->staging)
    return copy_out_now(job, count - 1);
  for (int64_t index = count - left; index < count; index++) {
    TSL_TRY(begin_copy_of_part(job, index, 0, 1));
    TSL_TRY(finish_outgoing(job));
  }
  return TESELA_OK;
}

static tesela_status compute_all_tiles(streamed_launch *job) {
  const tsl_streamed_tiling *t = &job->self->tiling;
  const int64_t count = t->row_tiles * t->col_tiles;
  job->stager.readback = job->staging ? &job->out : NULL;
  for (int64_t index = 0; index < count; index++)
    TSL_TRY(compute_tile(job, index));
  return copy_last_tiles_out(job, count);
}

tesela_status tsl_streamed_run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream) {
  tsl_streamed *self = work->state;
  streamed_launch job = {.work = work,
                         .self = self,
                         .operands = operands,
                         .device = work->device,
                         .ops = work->device->ops,
                         .stager.team = operands->team.threads > 0 ? operands->team
                                                                   : tsl_device_host_team(work->device)};
  (void)stream;
  pthread_mutex_lock(&self->lock);
  tesela_status status = acquire_resources(&job);
  if (status == TESELA_OK)
    status = compute_all_tiles(&job);
  job.c_is_written |= job.out.wrote_host;
  release_all(&job, status);
  pthread_mutex_unlock(&self->lock);
  return status != TESELA_OK && job.c_is_written ? TESELA_DEVICE_FAILED : status;
}
