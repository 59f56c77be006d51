#include "comm/product.h"

#include "comm/collective_status.h"
#include "comm/comm_blocks.h"
#include "comm/device_store.h"
#include "comm/gpu_transport_patch.h"
#include "comm/panels.h"
#include "comm/reduce.h"
#include "core/clock.h"
#include "core/floats.h"
#include "core/log.h"
#include "core/memory.h"
#include "core/status.h"
#include "device/reserved_units.h"

#include <math.h>
#include <stdlib.h>

#define COUNTED_GRIDS 6
enum { TAG_SUMS = 3, GPU_BATCH_SUMS = 2 };

tesela_status tsl_ranks_product_count(const tsl_job *job, tsl_process_grid *grid) {
  tsl_rank_blocks blocks;
  tesela_status status = tsl_ranks_blocks_make(grid, &job->part[TSL_PART_C].layout, &blocks);
  if (status == TESELA_OK)
    status = tsl_ranks_blocks_count(&blocks, &job->part[TSL_PART_A].layout, &job->part[TSL_PART_B].layout,
                                    &job->part[TSL_PART_C].layout, grid);
  tsl_ranks_blocks_free(&blocks);
  return status;
}

static tsl_task grid_task_of(const tsl_job *job) {
  const tsl_rank_part *parts = job->part;
  return (tsl_task){job->m,
                    job->n,
                    job->k,
                    job->ranks->size,
                    (int64_t)parts[TSL_PART_A].type->size,
                    (int64_t)parts[TSL_PART_B].type->size,
                    (int64_t)parts[TSL_PART_C].type->size,
                    (int64_t)job->sums->size,
                    job->sums->is_complex ? 8 : 2,
                    job->memory};
}

static const tsl_links *links_of(const tsl_job *job) {
  if (job->ranks->links || !job->any_steps)
    return job->ranks->links ? job->ranks->links : &tsl_links_default;
  return tsl_links_of(job->transport    ? TSL_BETWEEN_DEVICES
                      : job->on_devices ? TSL_THROUGH_HOSTS
                                        : TSL_BETWEEN_HOSTS,
                      job->part[TSL_PART_A].type->type);
}

tsl_ranks_product_costs tsl_ranks_product_cost = {7e-4, 256, 2.5e11};

/* Chooses tiles of `lines`. Nothing hides the first tile's messages; later ones overlap products. So tiles
 * grow by the ratio of compute time to message time. */
static int choose_tiles(const tsl_job *job, const tsl_process_grid *grid, double lines, int *growth) {
  enum { TILES = 4, GROWTH = 4 };
  const int64_t busiest = grid->words > grid->words_sent ? grid->words : grid->words_sent;
  const double messages =
      (double)busiest * (double)job->part[TSL_PART_A].type->size / links_of(job)->bytes_per_second;
  const double longer = messages > 0 ? floor(grid->seconds_compute / messages) : 1;
  double best = INFINITY;
  int tiles = 1;
  *growth = (int)fmax(1, fmin(GROWTH, longer));
  for (int count = 1, share = 1, all = 1; count <= TILES; count++, share *= *growth, all += share) {
    const double seconds = messages / all + count * tsl_ranks_product_cost.tile_seconds;
    if (seconds >= best || lines / all < tsl_ranks_product_cost.tile_lines)
      continue;
    best = seconds;
    tiles = count;
  }
  return tiles;
}

bool tsl_ranks_product_tiles(const tsl_job *job, tsl_process_grid *grid) {
  const tsl_task task = grid_task_of(job);
  const double slabs = grid->slabs, parts = (double)(grid->used / grid->depth) / slabs;
  const double cuts_m = grid->by_columns ? parts : slabs, cuts_n = grid->by_columns ? slabs : parts;
  const double rows = (double)job->m / cuts_m, cols = (double)job->n / cuts_n;
  const bool a_stays = rows * (1 - 1 / cuts_n) <= cols * (1 - 1 / cuts_m);
  int growth;
  const int tiles = choose_tiles(job, grid, a_stays ? cols : rows, &growth);
  return job->any_steps &&
         tsl_grid_in_tiles(&task, links_of(job), a_stays ? 1 : tiles, a_stays ? tiles : 1, growth, grid);
}

/* Reduces panels between devices: each reads and writes the sums once more. */
static void reduce_panels(const tsl_job *job, tsl_process_grid *grid) {
  const tsl_task task = grid_task_of(job);
  const double operations = task.operations * (double)job->m * (double)job->n * (double)job->k / grid->used,
               panels = operations / tsl_ranks_product_cost.panel_operations;
  if (job->transport && job->any_steps && panels < grid->panels)
    tsl_grid_in_panels(&task, links_of(job), panels > 1 ? (int)panels : 1, grid);
}

/* Returns the extra seconds of messages between devices: sums travel unhidden after the products. */
static double extra_gpu_seconds(const tsl_job *job, const tsl_links *links, const tsl_process_grid *grid) {
  const double tiles = (double)grid->tiles_m * grid->tiles_n;
  const double messages = grid->used == 1 ? 2.0 * grid->panels : 0,
               of_sums = grid->words_of_c > 0 ? 2 * tiles : 0;
  return (messages + of_sums) * links->seconds_per_message +
         (double)grid->words_of_c * (double)job->sums->size / links->bytes_per_second;
}

tesela_status tsl_ranks_product_plan(const tsl_job *job, tsl_process_grid *out) {
  TSL_DEFAULT_FLOATS; /* all ranks choose one grid in any floating-point mode */
  const tsl_rank_part *parts = job->part;
  const tsl_task task = grid_task_of(job);
  const tsl_links *links = links_of(job);
  tsl_process_grid list[COUNTED_GRIDS + 1];
  int count = tsl_grid_list(&task, links, list, COUNTED_GRIDS);
  if (tsl_ranks_blocks_as_c(&parts[TSL_PART_C].layout, &task, &list[count]) &&
      tsl_grid_complete(&task, links, &list[count]))
    count++;
  if (count == 0)
    return tsl_fail(
        TESELA_OUT_OF_MEMORY, "%lld bytes a rank are too few for a product of %lld x %lld x %lld on %d ranks",
        (long long)job->memory, (long long)job->m, (long long)job->n, (long long)job->k, job->ranks->size);
  int best = 0;
  for (int i = 0; i < count; i++) {
    TSL_TRY(tsl_ranks_product_count(job, &list[i]));
    reduce_panels(job, &list[i]);
    tsl_grid_time(&task, links, &list[i]);
    if (job->transport)
      list[i].seconds += extra_gpu_seconds(job, links, &list[i]);
    if (list[i].seconds < list[best].seconds)
      best = i;
  }
  *out = list[best];
  return TESELA_OK;
}

typedef struct product {
  const tsl_job *job;
  const tsl_process_grid *grid;
  tsl_rank_blocks blocks;
  tsl_panels panels;
  const tsl_block *block;                      /* NULL: none */
  const tsl_type_info *tile_type;              /* type of the sums */
  void *tile_sums;                             /* in host memory */
  tesela_buffer *device_sums;                  /* of the tile */
  void *outgoing_sums;                         /* messages to the owners */
  void *slots;                                 /* own elements of C in a tile, one slot per layer */
  tesela_buffer *device_packed, *device_slots; /* if sums travel between devices */
  tsl_message *gpu_messages;
  int gpu_message_count;
  bool c_is_written;
  double tile_bound; /* error bound of the tile's sums so far */
  tesela_mpi_record *record;
} product;

static tsl_patch own_window(const product *p, tsl_step step) {
  return tsl_window_c(p->grid, p->block, step, p->job->part[TSL_PART_C].order);
}

/* Returns a tile's window of C of a layer's block, which is equal in all layers. */
static tsl_patch layer_window(const product *p, int index_in_layer, tsl_step step) {
  return tsl_window_c(p->grid, &p->blocks.list[index_in_layer], step, p->job->part[TSL_PART_C].order);
}

static int64_t count_owned_in_tile(const product *p, tsl_step step) {
  int64_t owned = 0;
  for (int i = 0; i < p->blocks.layer_ranks; i++) {
    const tsl_patch window = layer_window(p, i, step);
    owned += tsl_layout_count_owned_in_patch(&p->job->part[TSL_PART_C].layout, p->job->ranks->rank, &window);
  }
  return owned;
}

/* Makes the blocks, and allocates all memory of the product. TESELA_OUT_OF_MEMORY. */
static tesela_status product_prepare(product *p) {
  const tsl_job *job = p->job;
  const tsl_process_grid *grid = p->grid;
  TSL_TRY(tsl_ranks_blocks_make(grid, &job->part[TSL_PART_C].layout, &p->blocks));
  const int block_index = p->blocks.block_of_rank[job->ranks->rank];
  p->block = block_index < 0 ? NULL : &p->blocks.list[block_index];
  int64_t tile = 0, owned = 0;
  for (int i = 0; i < grid->tiles_m * grid->tiles_n; i++) {
    const tsl_step step = tsl_step_at(grid, i * grid->panels);
    const tsl_patch window = p->block ? own_window(p, step) : (tsl_patch){0};
    const int64_t elements = p->block ? tsl_patch_total(&window) : 0, here = count_owned_in_tile(p, step);
    tile = elements > tile ? elements : tile;
    owned = here > owned ? here : owned;
  }
  const size_t size = job->sums->size;
  TSL_TRY(tsl_alloc(job->stores_on_device ? 0 : (size_t)tile * size, "the sums of a block", &p->tile_sums));
  if (tsl_multiplies_on_device(&job->rank_device) && tile > 0)
    TSL_TRY(tsl_api_buffer_take(job->context, job->rank_device.device, (size_t)tile * p->tile_type->size,
                                &p->device_sums));
  const bool between_devices = job->part[TSL_PART_C].between_devices;
  if (job->stores_on_device && !job->travels)
    return tsl_panels_make(job, grid, &p->blocks, p->block, &p->panels);
  const size_t slots = (size_t)owned * size * (size_t)grid->depth;
  TSL_TRY(tsl_alloc(between_devices ? 0 : (size_t)tile * size, "sums on their way", &p->outgoing_sums));
  TSL_TRY(tsl_alloc(job->stores_on_device ? 0 : slots, "sums of C", &p->slots));
  if (between_devices) {
    p->gpu_messages = malloc((size_t)(grid->used + job->ranks->size) * sizeof *p->gpu_messages);
    if (!p->gpu_messages)
      return tsl_fail(TESELA_OUT_OF_MEMORY, "out of memory for the messages of %d ranks", job->ranks->size);
    TSL_TRY(
        tsl_api_buffer_take(job->context, job->rank_device.device, (size_t)tile * size, &p->device_packed));
    TSL_TRY(tsl_api_buffer_take(job->context, job->rank_device.device, slots, &p->device_slots));
  }
  TSL_TRY(job->ranks->ops->reserve(job->ranks, TSL_BATCH_SUMS, grid->used + job->ranks->size));
  return tsl_panels_make(job, grid, &p->blocks, p->block, &p->panels);
}

static void product_release(product *p, bool pools_buffers) {
  tsl_panels_free(&p->panels, pools_buffers);
  tsl_ranks_blocks_free(&p->blocks);
  tsl_free(p->tile_sums);
  tsl_free(p->outgoing_sums);
  tsl_free(p->slots);
  tsl_api_buffer_give(p->device_sums, pools_buffers);
  tsl_api_buffer_give(p->device_packed, pools_buffers);
  tsl_api_buffer_give(p->device_slots, pools_buffers);
  free(p->gpu_messages);
}

/* Sets *c and returns true if a tile can be computed in C itself; never the first, so that C stays valid. */
static bool is_computed_in_c(const product *p, int number, tsl_rank_panel *c) {
  const tsl_job *job = p->job;
  if (number == 0 || !job->stores_on_device || job->travels || p->grid->panels > 1 ||
      p->tile_type != job->part[TSL_PART_C].type || tsl_sums_are_scaled(job))
    return false;
  c->window = own_window(p, tsl_step_at(p->grid, number));
  return tsl_panel_find_in_operand(&job->part[TSL_PART_C], job->ranks->rank, true, c);
}

static tesela_matrix panel_matrix(const tsl_rank_panel *panel, const tsl_rank_part *part) {
  return (tesela_matrix){.data = panel->data,
                         .buffer = panel->buffer,
                         .offset = panel->offset,
                         .row_stride = panel->row_stride,
                         .col_stride = panel->col_stride,
                         .type = part->type->type,
                         .conjugate = part->conjugate};
}

/* Multiplies step `number`'s panels and adds the product to the tile's sums; the first panel overwrites. */
static tesela_status product_multiply(product *p, int number) {
  const tsl_job *job = p->job;
  const tsl_rank_panel *a = tsl_panels_at(&p->panels, TSL_PART_A, number),
                       *b = tsl_panels_at(&p->panels, TSL_PART_B, number);
  const tsl_step step = tsl_step_at(p->grid, number);
  const tsl_patch c = own_window(p, step);
  tsl_rank_panel there;
  const bool in_c = is_computed_in_c(p, number, &there);
  static const double one[2] = {1, 0}, zero[2] = {0, 0};
  const tesela_gemm_desc desc = {
      .m = tsl_dim_total(&c.rows),
      .n = tsl_dim_total(&c.cols),
      .k = tsl_dim_total(&a->window.cols),
      .a = panel_matrix(a, &job->part[TSL_PART_A]),
      .b = panel_matrix(b, &job->part[TSL_PART_B]),
      .c = {.data = tsl_multiplies_on_device(&job->rank_device) ? NULL : p->tile_sums,
            .buffer = in_c ? tsl_writable(there.buffer) : p->device_sums,
            .offset = in_c ? there.offset : 0,
            .row_stride = in_c ? there.row_stride : c.row_stride,
            .col_stride = in_c ? there.col_stride : c.col_stride,
            .type = p->tile_type->type},
      .beta = step.panel == 0 ? zero : one,
      .options.device = job->device,
      .options.strategy = job->strategy,
      .options.reproducibility = job->bits,
  };
  tesela_record record = {0};
  /* Persistent blocks on all multiprocessors would make messages wait until their end. */
  tsl_reserve_units(job->transport && number + 1 < tsl_steps(p->grid) ? tsl_gpu_transport_units : 0);
  const tesela_status status = tesela_gemm(job->context, &desc, &record);
  tsl_reserve_units(0);
  TSL_TRY(status);
  p->tile_bound = record.error_bound + (step.panel == 0 ? 0 : p->tile_bound);
  p->record->error_bound = fmax(p->record->error_bound, p->tile_bound);
  p->record->flushed_below = fmax(p->record->flushed_below, record.flushed_below);
  p->record->seconds_compute += record.seconds;
  return TESELA_OK;
}

typedef struct step_work {
  product *p;
  int number;
} step_work;

static tesela_status multiply_step(void *argument) {
  const step_work *work = argument;
  return product_multiply(work->p, work->number);
}

static bool is_step_worth_thread(product *p, int number) {
  const tsl_rank_panel *a = tsl_panels_at(&p->panels, TSL_PART_A, number),
                       *b = tsl_panels_at(&p->panels, TSL_PART_B, number);
  return (double)tsl_dim_total(&a->window.rows) * (double)tsl_dim_total(&a->window.cols) *
             (double)tsl_dim_total(&b->window.cols) >
         1e6;
}

/* Completes step `number`'s panels, if that step exists, and begins the messages of the next step. */
static tesela_status prepare_step(product *p, int number, const tsl_async_task *task, tesela_status *status) {
  const int steps = tsl_steps(p->grid);
  if (number < steps)
    TSL_TRY(tsl_panels_end(&p->panels, number, task, status));
  return number + 1 < steps ? tsl_panels_begin(&p->panels, number + 1, task) : TESELA_OK;
}

/* Multiplies a tile's panels during the next messages. *status gets this rank's failure; messages go on. */
static tesela_status product_run_tile(product *p, int tile, tesela_status *status) {
  const int first = tile * p->grid->panels, end = first + p->grid->panels;
  for (int number = first; number < end; number++) {
    const bool is_own = p->block && *status == TESELA_OK;
    step_work work = {p, number};
    tsl_async_task task = {0};
    if (is_own && number + 1 < tsl_steps(p->grid) && is_step_worth_thread(p, number))
      tsl_async_task_start(&task, multiply_step, &work);
    else if (is_own)
      *status = product_multiply(p, number);
    const tesela_status messages = prepare_step(p, number + 1, &task, status);
    const tesela_status multiplied = tsl_async_task_join(&task);
    if (messages != TESELA_OK)
      return messages;
    *status = multiplied != TESELA_OK ? multiplied : *status;
  }
  return TESELA_OK;
}

/* Copies a tile's sums to host memory, if needed there. */
static tesela_status copy_sums_to_host(product *p, int tile) {
  const tsl_rank_part *part = &p->job->part[TSL_PART_C];
  if (!p->device_sums || p->job->stores_on_device)
    return TESELA_OK;
  const tsl_patch c = own_window(p, tsl_step_at(p->grid, tile * p->grid->panels));
  if (part->between_devices &&
      (p->grid->depth > 1 || tsl_layout_count_owned_in_patch(&part->layout, p->job->ranks->rank, &c) == 0))
    return TESELA_OK;
  return tesela_buffer_read(p->device_sums, 0, p->tile_sums,
                            (size_t)tsl_patch_total(&c) * p->job->sums->size);
}

/* Begins to send or to receive sums, or queues a message between devices; `offset`: bytes in its buffer. */
static tesela_status begin_message(product *p, bool is_send, int other, size_t offset, size_t bytes) {
  tsl_ranks *ranks = p->job->ranks;
  if (p->job->part[TSL_PART_C].between_devices) {
    p->gpu_messages[p->gpu_message_count++] =
        (tsl_message){other, is_send, is_send ? p->device_packed : p->device_slots, offset, bytes};
    return TESELA_OK;
  }
  return is_send
             ? ranks->ops->send(ranks, TSL_BATCH_SUMS, other, TAG_SUMS, (char *)p->outgoing_sums + offset,
                                bytes)
             : ranks->ops->receive(ranks, TSL_BATCH_SUMS, other, TAG_SUMS, (char *)p->slots + offset, bytes);
}

/* Begins to receive this rank's elements of the tile from all layers. */
static tesela_status receive_sums(product *p, tsl_step step, int64_t owned) {
  const tsl_ranks *ranks = p->job->ranks;
  const size_t size = p->job->sums->size;
  int64_t before = 0;
  for (int within = 0; within < p->blocks.layer_ranks; within++) {
    const tsl_patch window = layer_window(p, within, step);
    const int64_t count =
        tsl_layout_count_owned_in_patch(&p->job->part[TSL_PART_C].layout, ranks->rank, &window);
    for (int layer = 0; layer < p->grid->depth && count > 0; layer++) {
      const int from = p->blocks.rank_of_block[layer * p->blocks.layer_ranks + within];
      if (from != ranks->rank)
        TSL_TRY(begin_message(p, false, from, (size_t)(layer * owned + before) * size, (size_t)count * size));
    }
    before += count;
  }
  return TESELA_OK;
}

/* `at` bytes after the begin of `outgoing_sums` or `slots`. */
typedef struct message_position {
  bool in_slots;
  size_t at;
} message_position;

/* Packs a rank's part of a window of C as a message. */
static tesela_status pack_for_owner(const product *p, const tsl_patch *window, int rank,
                                    message_position target, int64_t *count) {
  const tsl_rank_part *c = &p->job->part[TSL_PART_C];
  const size_t size = p->job->sums->size;
  char *message = (char *)(target.in_slots ? p->slots : p->outgoing_sums) + target.at;
  const tsl_gpu_copy_side from = {p->device_sums, 0, false};
  *count = 0;
  for (int64_t i = 0; i < tsl_layout_patch_count(&c->layout, rank); i++) {
    const tsl_patch held = tsl_layout_patch(&c->layout, rank, i);
    const tsl_gpu_copy_side there = {target.in_slots ? p->device_slots : p->device_packed,
                                     target.at + (size_t)*count * size, true};
    if (c->between_devices)
      TSL_TRY(tsl_gpu_transport_copy_patch(p->job->transport, window, &from, &held, &there, c->order, size,
                                           count));
    else
      *count += tsl_patch_pack(window, p->tile_sums, &held, c->order, size, message + (size_t)*count * size);
  }
  return TESELA_OK;
}

/* Sends sums to the owners of C; own elements go to a slot. */
static tesela_status send_sums(product *p, tsl_step step, int64_t owned) {
  const tsl_ranks *ranks = p->job->ranks;
  const size_t size = p->job->sums->size;
  const tsl_patch window = own_window(p, step);
  size_t at = 0;
  int64_t count;
  for (int to = 0; to < ranks->size; to++) {
    if (to == ranks->rank)
      continue;
    TSL_TRY(pack_for_owner(p, &window, to, (message_position){false, at}, &count));
    if (count > 0)
      TSL_TRY(begin_message(p, true, to, at, (size_t)count * size));
    at += (size_t)count * size;
  }
  if (p->grid->depth == 1)
    return TESELA_OK; /* own elements are stored directly */
  const int within = p->blocks.block_of_rank[ranks->rank] % p->blocks.layer_ranks;
  int64_t before = 0;
  for (int i = 0; i < within; i++) {
    const tsl_patch other = layer_window(p, i, step);
    before += tsl_layout_count_owned_in_patch(&p->job->part[TSL_PART_C].layout, ranks->rank, &other);
  }
  return pack_for_owner(p, &window, ranks->rank,
                        (message_position){true, (size_t)(p->block->layer * owned + before) * size}, &count);
}

/* Exchanges a tile's messages between devices; reads slots to host memory if sums are added there. */
static tesela_status exchange_sums(product *p, int64_t owned, tesela_status *status) {
  tsl_gpu_transport *transport = p->job->transport;
  TSL_TRY(tsl_gpu_transport_exchange(transport, p->gpu_messages, p->gpu_message_count));
  TSL_TRY(tsl_gpu_transport_mark(transport, GPU_BATCH_SUMS));
  TSL_TRY(tsl_gpu_transport_wait(transport, GPU_BATCH_SUMS));
  *status = *status == TESELA_OK ? tsl_gpu_transport_status(transport) : *status;
  if (*status == TESELA_OK && !p->job->stores_on_device && p->gpu_message_count + p->grid->depth > 1)
    *status = tesela_buffer_read(p->device_slots, 0, p->slots,
                                 (size_t)owned * p->job->sums->size * (size_t)p->grid->depth);
  return TESELA_OK;
}

/* Stores this rank's elements of C in a tile from added messages, or from its own sums. */
static void product_store(product *p, tsl_step step) {
  const tsl_job *job = p->job;
  const tsl_rank_part *c = &job->part[TSL_PART_C];
  const int rank = job->ranks->rank;
  int64_t before = 0;
  for (int within = 0; within < p->blocks.layer_ranks; within++) {
    const tsl_patch window = layer_window(p, within, step);
    const bool here = p->grid->depth == 1 && p->blocks.rank_of_block[within] == rank;
    for (int64_t i = 0; i < tsl_layout_patch_count(&c->layout, rank); i++) {
      const tsl_patch held = tsl_layout_patch(&c->layout, rank, i);
      const tsl_scaled_store scaled_store = {
          .from = job->sums,
          .to = c->type,
          .alpha = {job->alpha[0], job->alpha[1]},
          .beta = {job->beta[0], job->beta[1]},
          .sums = here ? p->tile_sums : (char *)p->slots + (size_t)before * job->sums->size,
          .is_message = !here,
          .c = c->data,
          .order = c->order};
      before += tsl_scaled_store_run(&scaled_store, &window, &held);
    }
  }
}

/* Enqueues addition of the layers and store to C; the transport records failures. */
static tesela_status product_store_on_device(product *p, int tile, int64_t owned) {
  tsl_gpu_transport *transport = p->job->transport;
  const tsl_step step = tsl_step_at(p->grid, tile * p->grid->panels);
  tsl_rank_panel there;
  if (p->block && is_computed_in_c(p, tile, &there))
    return TESELA_OK;
  const int depth = p->grid->depth, rank = p->job->ranks->rank;
  int64_t count = 0, came = 0;
  if (owned > 0 && depth > 1)
    TSL_TRY(tsl_device_store_add_layers(p->job, p->device_slots, depth, owned));
  for (int within = 0; within < p->blocks.layer_ranks; within++) {
    const tsl_patch window = layer_window(p, within, step);
    const bool here = depth == 1 && p->blocks.rank_of_block[within] == rank;
    const tsl_sums_source from = {here ? p->device_sums : p->device_slots, here ? 0 : came, !here,
                                  p->tile_type};
    const int64_t before = count;
    if (here || p->job->travels)
      TSL_TRY(tsl_device_store_window(p->job, &window, &from, &count));
    came += count - before;
  }
  TSL_TRY(tsl_gpu_transport_mark(transport, GPU_BATCH_SUMS));
  /* No later tile overwrites the sums if all others are computed in C. */
  bool is_late = p->block && tile == 0 && p->grid->tiles_m * p->grid->tiles_n > 1;
  for (int other = 1; other < p->grid->tiles_m * p->grid->tiles_n && is_late; other++)
    is_late = is_computed_in_c(p, other, &there);
  return is_late ? TESELA_OK : tsl_gpu_transport_wait(transport, GPU_BATCH_SUMS);
}

/* Exchanges a tile's sums and stores C if no rank failed. Collective. */
static tesela_status product_finish_tile(product *p, int tile, tesela_status status) {
  p->gpu_message_count = 0;
  tsl_ranks *ranks = p->job->ranks;
  const tsl_step step = tsl_step_at(p->grid, tile * p->grid->panels);
  const double begin = tsl_clock();
  const bool travels = !p->job->stores_on_device || p->job->travels;
  /* No rank waits for another's C; agree_after_stores() reports failures at the end. */
  if (p->c_is_written && !travels)
    return status == TESELA_OK ? product_store_on_device(p, tile, 0) : TESELA_OK;
  const int64_t owned = travels ? count_owned_in_tile(p, step) : 0;
  if (travels)
    TSL_TRY(receive_sums(p, step, owned));
  if (travels && p->block)
    TSL_TRY(send_sums(p, step, owned));
  const double sent = tsl_clock();
  if (travels && p->job->part[TSL_PART_C].between_devices)
    TSL_TRY(exchange_sums(p, owned, &status));
  TSL_TRY(ranks->ops->wait(ranks, TSL_BATCH_SUMS));
  if (p->job->transport) {
    TSL_TRY(tsl_gpu_transport_barrier(p->job->transport));
    status = status == TESELA_OK ? tsl_gpu_transport_status(p->job->transport) : status;
  }
  const tesela_status all = tsl_agree(ranks, status);
  const double arrived = tsl_clock();
  if (all != TESELA_OK) {
    tsl_status_saved saved;
    tsl_status_save(&saved);
    return p->c_is_written ? tsl_fail(all, "%s; C is lost, a part of it was written", saved.sentence) : all;
  }
  p->c_is_written = true;
  if (p->job->stores_on_device) {
    TSL_TRY(product_store_on_device(p, tile, owned));
  } else {
    tsl_tree_add(p->job->sums->type, p->slots, p->grid->depth, owned);
    product_store(p, step);
  }
  p->record->seconds_wait += arrived - sent;
  p->record->seconds_move += sent - begin + tsl_clock() - arrived;
  return TESELA_OK;
}

/* Agrees on all work since the first store to C. Collective. */
static tesela_status agree_after_stores(const product *p, tesela_status status) {
  tsl_status_saved saved;
  tsl_status_save(&saved);
  TSL_TRY(tsl_gpu_transport_barrier(p->job->transport));
  tsl_status_restore(&saved);
  status = status == TESELA_OK ? tsl_gpu_transport_status(p->job->transport) : status;
  if (status != TESELA_OK) {
    tsl_status_save(&saved);
    status = tsl_fail(status, "%s; C is lost, a part of it was written", saved.sentence);
  }
  return tsl_agree(p->job->ranks, status);
}

static tesela_status product_run_all(product *p) {
  tesela_status own_status = TESELA_OK;
  static const tsl_async_task nothing = {0};
  TSL_TRY(tsl_panels_begin(&p->panels, 0, &nothing));
  TSL_TRY(prepare_step(p, 0, &nothing, &own_status));
  for (int tile = 0; tile < p->grid->tiles_m * p->grid->tiles_n; tile++) {
    TSL_TRY(product_run_tile(p, tile, &own_status));
    own_status = own_status == TESELA_OK ? copy_sums_to_host(p, tile) : own_status;
    TSL_TRY(product_finish_tile(p, tile, own_status));
  }
  if (!p->job->stores_on_device)
    return TESELA_OK;
  TSL_TRY(tsl_gpu_transport_wait(p->job->transport, GPU_BATCH_SUMS));
  return agree_after_stores(p, own_status);
}

static tesela_status run_with_gpu_transport(product *p) {
  TSL_TRY(tsl_gpu_transport_arm(p->job->transport));
  const tesela_status status = product_run_all(p), ended = tsl_gpu_transport_end(p->job->transport);
  return status != TESELA_OK ? status : ended;
}

double tsl_ranks_product_roundings(const tsl_job *job, int depth) {
  /* Three roundings: alpha times sums, beta times C, addition. A complex product's bound of sqrt(5) roundings
   * fits in one more. */
  double levels = job->sums->is_complex ? 4 : 3;
  for (int step = 1; step < depth; step *= 2)
    levels++;
  return levels * job->sums->unit_roundoff +
         (job->part[TSL_PART_C].type == job->sums ? 0 : job->part[TSL_PART_C].type->unit_roundoff);
}

/* Sets the record's bounds to the maxima over all ranks plus the product's own roundings. Collective. */
static tesela_status agree_bounds(const tsl_job *job, const tsl_process_grid *grid,
                                  tesela_mpi_record *record) {
  double least = 0;
  TSL_TRY(job->ranks->ops->least(job->ranks, -record->error_bound, &least));
  record->error_bound = -least * (1 + 1e-6) + tsl_ranks_product_roundings(job, grid->depth);
  TSL_TRY(job->ranks->ops->least(job->ranks, -record->flushed_below, &least));
  /* Each panel's product may lose three numbers below the threshold per element; the record covers two in
   * all. */
  record->flushed_below = -least * (1 + 1.5 * grid->panels * grid->depth / (double)job->k);
  return TESELA_OK;
}

tesela_status tsl_ranks_product_run(const tsl_job *job, const tsl_process_grid *grid,
                                    tesela_mpi_record *record) {
  product p = {.job = job, .grid = grid, .record = record, .tile_type = tsl_tile_type(job, grid)};
  tesela_status status = tsl_agree(job->ranks, product_prepare(&p));
  if (status == TESELA_OK)
    status = job->transport ? run_with_gpu_transport(&p) : product_run_all(&p);
  if (status == TESELA_OK) {
    status = agree_bounds(job, grid, record);
    record->seconds_wait += p.panels.seconds_wait;
    record->seconds_move += p.panels.seconds_move;
  }
  product_release(&p, status == TESELA_OK);
  return status;
}

void tsl_ranks_product_scale_c_by_beta(const tsl_job *job) {
  static const double nothing[2] = {0, 0};
  const tsl_rank_part *c = &job->part[TSL_PART_C];
  const int rank = job->ranks->rank;
  for (int64_t i = 0; i < tsl_layout_patch_count(&c->layout, rank); i++) {
    const tsl_patch held = tsl_layout_patch(&c->layout, rank, i);
    const tsl_patch zeros = {.rows = held.rows, .cols = held.cols};
    const tsl_scaled_store scaled_store = {.from = job->sums,
                                           .to = c->type,
                                           .alpha = {1, 0},
                                           .beta = {job->beta[0], job->beta[1]},
                                           .sums = nothing,
                                           .c = c->data,
                                           .order = c->order};
    tsl_scaled_store_run(&scaled_store, &zeros, &held);
  }
}
