#include "comm/device_store.h"

#include "comm/collective_status.h"
#include "comm/gpu_transport_patch.h"
#include "core/status.h"

/* Returns true if this rank owns exactly the part of the tile that it computes. */
static bool computes_own_part(const tsl_job *job, const tsl_process_grid *grid, const tsl_rank_blocks *blocks,
                              tsl_step step) {
  const tsl_rank_part *c = &job->part[TSL_PART_C];
  const int rank = job->ranks->rank, block_index = blocks->block_of_rank[rank];
  for (int within = 0; within < blocks->layer_ranks; within++) {
    const tsl_patch window = tsl_window_c(grid, &blocks->list[within], step, c->order);
    const int64_t held = tsl_layout_count_owned_in_patch(&c->layout, rank, &window),
                  computed = within == block_index ? tsl_patch_total(&window) : 0;
    if (held != computed)
      return false;
  }
  return true;
}

/* Kinds of store, ascending by preference; all ranks use the minimum of their kinds. */
enum { ON_HOST, ON_DEVICE_AFTER_MESSAGES, ON_DEVICE_IN_PLACE };

bool tsl_sums_are_scaled(const tsl_job *job) {
  return job->alpha[0] != 1 || job->alpha[1] != 0 || job->beta[0] != 0 || job->beta[1] != 0;
}

/* Returns the best kind of store that this rank supports. */
static int best_store_kind(const tsl_job *job, const tsl_process_grid *grid, const tsl_rank_blocks *blocks) {
  const tsl_rank_part *c = &job->part[TSL_PART_C];
  const int rank = job->ranks->rank;
  /* Devices scale f32 sums with other roundings than the host. */
  const bool rounds =
      job->sums->type == TESELA_F32 && tsl_gpu_transport_can_round(job->transport, c->type->type);
  bool fits = c->between_devices &&
              (grid->depth == 1 || tsl_gpu_transport_can_add(job->transport, job->sums->type)) &&
              (tsl_sums_are_scaled(job) ? rounds && job->any_steps : rounds || c->type == job->sums);
  if (tsl_layout_count_owned(&c->layout, rank) > 0)
    fits = fits && c->mirror.buffer && tsl_gpu_transport_has_buffer(job->transport, c->mirror.buffer);
  for (int64_t i = 0; i < tsl_layout_patch_count(&c->layout, rank); i++) {
    const tsl_patch held = tsl_layout_patch(&c->layout, rank, i);
    fits = fits && tsl_gpu_transport_can_copy(&held, c->order, c->type->size);
  }
  bool outcome = grid->depth == 1;
  for (int tile = 0; tile < grid->tiles_m * grid->tiles_n && outcome; tile++)
    outcome = computes_own_part(job, grid, blocks, tsl_step_at(grid, tile * grid->panels));
  return !fits ? ON_HOST : outcome ? ON_DEVICE_IN_PLACE : ON_DEVICE_AFTER_MESSAGES;
}

tesela_status tsl_device_store_choose(tsl_job *job, const tsl_process_grid *grid) {
  tsl_rank_blocks blocks;
  double least = 0;
  const tesela_status status = tsl_ranks_blocks_make(grid, &job->part[TSL_PART_C].layout, &blocks);
  const int outcome = status == TESELA_OK ? best_store_kind(job, grid, &blocks) : ON_HOST;
  tsl_ranks_blocks_free(&blocks);
  TSL_TRY(tsl_agree(job->ranks, status));
  TSL_TRY(job->ranks->ops->least(job->ranks, outcome, &least));
  job->stores_on_device = least > ON_HOST;
  job->travels = least < ON_DEVICE_IN_PLACE;
  return TESELA_OK;
}

typedef struct round_job {
  const tsl_job *job;
  const tsl_sums_source *from;
  int64_t at; /* index of the first element in the message */
  tesela_status status;
} round_job;

/* Enqueues the rounded store of a block, unless an earlier block failed. */
static void enqueue_round_block(void *user, const tsl_common_block *block) {
  round_job *r = user;
  const tsl_rank_part *c = &r->job->part[TSL_PART_C];
  const bool is_message = r->from->is_message;
  const tsl_api_rounded_sum sum = {.from = r->from->buffer,
                                   .to = c->mirror.buffer,
                                   .type = c->type->type,
                                   .alpha = r->job->alpha[0],
                                   .beta = r->job->beta[0],
                                   .rows = block->lines,
                                   .cols = block->length,
                                   .from_offset =
                                       is_message ? r->at + block->before : r->from->at + block->a_at,
                                   .from_row_stride = is_message ? block->length : block->a_line,
                                   .from_col_stride = is_message ? 1 : block->a_step,
                                   .to_offset = c->mirror.at + block->b_at,
                                   .to_row_stride = block->b_line,
                                   .to_col_stride = block->b_step};
  if (r->status == TESELA_OK)
    r->status = tsl_gpu_transport_round(r->job->transport, &sum);
}

const tsl_type_info *tsl_tile_type(const tsl_job *job, const tsl_process_grid *grid) {
  return job->stores_on_device && !job->travels && grid->panels == 1 && !tsl_sums_are_scaled(job)
             ? job->part[TSL_PART_C].type
             : job->sums;
}

tesela_status tsl_device_store_window(const tsl_job *job, const tsl_patch *window,
                                      const tsl_sums_source *from, int64_t *count) {
  const tsl_rank_part *c = &job->part[TSL_PART_C];
  const int rank = job->ranks->rank;
  const int64_t first = *count;
  for (int64_t i = 0; i < tsl_layout_patch_count(&c->layout, rank); i++) {
    const tsl_patch held = tsl_layout_patch(&c->layout, rank, i);
    const int64_t at = from->at + (from->is_message ? *count - first : 0);
    const tsl_gpu_copy_side side = {from->buffer, (size_t)at * from->tile_type->size, from->is_message},
                            to = {c->mirror.buffer, (size_t)c->mirror.at * c->type->size, false};
    round_job r = {job, from, at, TESELA_OK};
    if (c->type == from->tile_type && !tsl_sums_are_scaled(job))
      TSL_TRY(tsl_gpu_transport_copy_patch(job->transport, window, &side, &held, &to, c->order, c->type->size,
                                           count));
    else
      *count += tsl_patch_walk(window, &held, c->order, enqueue_round_block, &r);
    TSL_TRY(r.status);
  }
  return TESELA_OK;
}

tesela_status tsl_device_store_add_layers(const tsl_job *job, const tesela_buffer *sums, int slots,
                                          int64_t count) {
  for (int step = 1; step < slots; step *= 2)
    for (int slot = 0; slot + step < slots; slot += 2 * step)
      TSL_TRY(tsl_gpu_transport_add(job->transport, &(tsl_api_adding){.buffer = sums,
                                                                      .type = job->sums->type,
                                                                      .to = slot * count,
                                                                      .from = (slot + step) * count,
                                                                      .count = count}));
  return TESELA_OK;
}
