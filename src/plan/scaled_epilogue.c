#include "plan/scaled_epilogue.h"

#include "core/scratch.h"
#include "core/status.h"
#include "host/int_math.h"
#include "strategy/epilogue/strategy_epilogue.h"
#include "strategy/strategy_list.h"

/* Bytes of a sum (f32 or i32); side of a tile of C. */
enum { SIZE = 4, TILE = 32 };

/* Returns the operand of separate sums: dense, batch after batch. */
static tsl_operand separate_sums_operand(const tsl_problem *sums, void *host, tsl_buffer *buffer,
                                         int64_t offset) {
  return (tsl_operand){.host = host,
                       .buffer = buffer,
                       .offset = offset,
                       .row_stride = sums->c.row_stride,
                       .col_stride = sums->c.col_stride,
                       .batch_step = sums->m * sums->n};
}

static tesela_status run_on_device(const tsl_plan *plan, const tsl_operands *used, tsl_stream *stream) {
  const tsl_work *whole = &plan->work, *sums = &plan->sums;
  tsl_operands product = *used, last = *used;
  last.sums = used->c;
  if (tsl_problem_needs_separate_sums(&whole->problem))
    last.sums = separate_sums_operand(
        &sums->problem, NULL, used->scratch,
        (int64_t)(tsl_strategy_sums_at(whole->strategy, &whole->problem, &whole->config, whole->device) /
                  SIZE));
  product.c = last.sums;
  TSL_TRY(sums->strategy->run(sums, &product, stream));
  return tsl_finish_on_device(whole, plan->finish, &last, stream);
}

static tesela_status scaled_epilogue_run_on_host(const tsl_plan *plan, const tsl_operands *used) {
  const tsl_problem *whole = &plan->work.problem, *sums = &plan->sums.problem;
  tsl_operands product = *used, last = *used;
  void *separate_sums = NULL;
  last.sums = used->c;
  if (tsl_problem_needs_separate_sums(whole)) {
    const uint64_t bytes = tsl_problem_sums_bytes(whole);
    if (bytes > SIZE_MAX)
      return tsl_fail(TESELA_OUT_OF_MEMORY, "the unscaled sums exceed the address space");
    TSL_TRY(tsl_scratch_take((size_t)bytes, "sums that are to be scaled", &separate_sums));
    last.sums = separate_sums_operand(sums, separate_sums, NULL, 0);
  }
  product.c = last.sums;
  const tesela_status status = plan->sums.strategy->run(&plan->sums, &product, NULL);
  if (last.team.threads == 0)
    last.team = tsl_device_host_team(plan->work.device);
  if (status == TESELA_OK)
    tsl_finish_on_host(whole, &last);
  tsl_scratch_give(separate_sums);
  return status;
}

typedef struct scaled_epilogue_tile {
  int64_t product, row, col; /* index in the batch; first row and column in C */
} scaled_epilogue_tile;

/* Returns an operand moved to the tile along rows, columns or both. */
static tsl_operand scaled_epilogue_operand_at(const tsl_operand *operand, tesela_type type,
                                              const scaled_epilogue_tile *tile, bool rows, bool cols) {
  const tsl_type_info *info = tsl_type(type); /* NULL: the problem lacks the operand */
  tsl_operand moved = *operand;
  const int64_t elements = tile->product * operand->batch_step +
                           (rows ? tile->row * operand->row_stride : 0) +
                           (cols ? tile->col * operand->col_stride : 0);
  if (info && moved.host)
    moved.host = (unsigned char *)moved.host + elements * (int64_t)info->size;
  return moved;
}

/* Computes the sums of at most TILE x TILE elements of C on the stack, then the elements. */
static tesela_status scaled_epilogue_run_tile(const tsl_work *whole, const tsl_operands *used,
                                              const scaled_epilogue_tile *tile) {
  const tsl_problem *problem = &whole->problem;
  float sums[TILE * TILE]; /* f32 or i32 */
  tsl_problem part = *problem;
  part.batch = 0;
  part.m = part.a.rows = part.c.rows = tsl_min(problem->m - tile->row, TILE);
  part.n = part.b.cols = part.c.cols = tsl_min(problem->n - tile->col, TILE);
  tsl_work tile_work = *whole;
  tile_work.problem = tsl_problem_drop_epilogue(&part);
  tsl_operands last = {.a = scaled_epilogue_operand_at(&used->a, problem->a.type, tile, true, false),
                       .b = scaled_epilogue_operand_at(&used->b, problem->b.type, tile, false, true),
                       .c = scaled_epilogue_operand_at(&used->c, problem->c.type, tile, true, true),
                       .bias = scaled_epilogue_operand_at(&used->bias, problem->bias.type, tile, true, true),
                       .scale_a = scaled_epilogue_operand_at(&used->scale_a, TESELA_F32, tile, true, true),
                       .scale_b = scaled_epilogue_operand_at(&used->scale_b, TESELA_F32, tile, true, true),
                       .sums = {.host = sums, .row_stride = TILE, .col_stride = 1}};
  tsl_operands product = last;
  product.c = last.sums;
  TSL_TRY(tile_work.strategy->run(&tile_work, &product, NULL));
  tsl_finish_on_host(&part, &last);
  return TESELA_OK;
}

static tesela_status run_by_tiles(const tsl_work *whole, const tsl_operands *used) {
  const tsl_problem *problem = &whole->problem;
  scaled_epilogue_tile tile;
  for (tile.product = 0; tile.product < tsl_problem_batch(problem); tile.product++)
    for (tile.row = 0; tile.row < problem->m; tile.row += TILE)
      for (tile.col = 0; tile.col < problem->n; tile.col += TILE)
        TSL_TRY(scaled_epilogue_run_tile(whole, used, &tile));
  return TESELA_OK;
}

tesela_status tsl_scaled_run(const tsl_plan *plan, const tsl_operands *used, tsl_stream *stream) {
  const tsl_work *whole = &plan->work;
  return plan->finish ? run_on_device(plan, used, stream)
         : whole->strategy == tsl_strategy_specification(whole->problem.op)
             ? run_by_tiles(whole, used)
             : scaled_epilogue_run_on_host(plan, used);
}
