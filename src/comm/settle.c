#include "comm/settle.h"

#include "base/status.h"
#include "comm/agree.h"
#include "comm/lane_patch.h"

/* Whether what this rank has of C in a tile is what it computes of it. */
static bool is_own(const tsl_job *job, const tsl_rank_grid *grid, const tsl_blocks *blocks, tsl_step step) {
  const tsl_part *c = &job->part[TSL_PART_C];
  const int rank = job->ranks->rank, place = blocks->place[rank];
  for (int within = 0; within < blocks->layer_ranks; within++) {
    const tsl_patch window = tsl_window_c(grid, &blocks->of[within], step, c->order);
    const int64_t held = tsl_layout_common(&c->layout, rank, &window),
                  computed = within == place ? tsl_patch_total(&window) : 0;
    if (held != computed)
      return false;
  }
  return true;
}

static bool fits(const tsl_job *job, const tsl_rank_grid *grid, const tsl_blocks *blocks) {
  const tsl_part *c = &job->part[TSL_PART_C];
  const int rank = job->ranks->rank;
  bool fits =
      c->by_lane && grid->depth == 1 && job->alpha[0] == 1 && job->alpha[1] == 0 && job->beta[0] == 0 &&
      job->beta[1] == 0 &&
      (c->type == job->sums || (job->sums->type == TESELA_F32 && tsl_lane_rounds(job->lane, c->type->type)));
  if (tsl_layout_held(&c->layout, rank) > 0)
    fits = fits && c->mirror.buffer && tsl_lane_reaches(job->lane, c->mirror.buffer);
  for (int64_t i = 0; i < tsl_layout_count(&c->layout, rank); i++) {
    const tsl_patch held = tsl_layout_patch(&c->layout, rank, i);
    fits = fits && tsl_lane_takes(&held, c->order, c->type->size);
  }
  for (int tile = 0; tile < grid->tiles_m * grid->tiles_n && fits; tile++)
    fits = is_own(job, grid, blocks, tsl_step_at(grid, tile * grid->panels));
  return fits;
}

tesela_status tsl_settle_choose(tsl_job *job, const tsl_rank_grid *grid) {
  tsl_blocks blocks;
  double least = 0;
  const tesela_status status = tsl_blocks_make(grid, &job->part[TSL_PART_C].layout, &blocks);
  const bool own = status == TESELA_OK && fits(job, grid, &blocks);
  tsl_blocks_free(&blocks);
  TSL_TRY(tsl_agree(job->ranks, status));
  TSL_TRY(job->ranks->ops->least(job->ranks, own, &least));
  job->settles = least > 0;
  return TESELA_OK;
}

typedef struct rounding {
  const tsl_job *job;
  const tsl_patch *window, *held;
  const tesela_buffer *sums;
  tesela_status status;
} rounding;

static void round_block(void *user, int64_t rows, int64_t cols, int64_t a_at, int64_t b_at, int64_t before) {
  rounding *r = user;
  const tsl_part *c = &r->job->part[TSL_PART_C];
  (void)before;
  const tsl_api_rounding block = {.from = r->sums,
                                  .to = c->mirror.buffer,
                                  .type = c->type->type,
                                  .rows = rows,
                                  .cols = cols,
                                  .from_offset = a_at,
                                  .from_row_stride = r->window->row_stride,
                                  .from_col_stride = r->window->col_stride,
                                  .to_offset = c->mirror.at + b_at,
                                  .to_row_stride = r->held->row_stride,
                                  .to_col_stride = r->held->col_stride};
  if (r->status == TESELA_OK)
    r->status = tsl_lane_round(r->job->lane, &block);
}

const tsl_type_info *tsl_settle_made(const tsl_job *job, const tsl_rank_grid *grid) {
  return job->settles && grid->panels == 1 ? job->part[TSL_PART_C].type : job->sums;
}

tesela_status tsl_settle_store(const tsl_job *job, const tsl_patch *window, const tesela_buffer *sums,
                               const tsl_type_info *made) {
  const tsl_part *c = &job->part[TSL_PART_C];
  const int rank = job->ranks->rank;
  for (int64_t i = 0; i < tsl_layout_count(&c->layout, rank); i++) {
    const tsl_patch held = tsl_layout_patch(&c->layout, rank, i);
    const tsl_lane_side from = {sums, 0, false},
                        to = {c->mirror.buffer, (size_t)c->mirror.at * c->type->size, false};
    rounding r = {job, window, &held, sums, TESELA_OK};
    int64_t count = 0;
    if (c->type == made)
      TSL_TRY(tsl_lane_patch(job->lane, window, &from, &held, &to, c->order, c->type->size, &count));
    else
      tsl_patch_walk(window, &held, c->order, round_block, &r);
    TSL_TRY(r.status);
  }
  return TESELA_OK;
}
