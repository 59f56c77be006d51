/* Speed of the slabs' strategy, if it depends on the tiling by a workspace limit (resources.shrinkable). */
#include "strategy/gemm/composite/streamed/streamed.h"
#include "strategy/params.h"
#include "strategy/support.h"

#include <math.h>

enum { TILE_SIDE_MIN = 512 }; /* of tiles for which a model is evaluated */

/* Devices allocate whole pages, some of 2 MiB; hence 1 % more. */
uint64_t tsl_tiling_workspace_bytes(const tsl_device *device, const tsl_streamed_tiling *tiling) {
  const double memory = (double)tsl_device_memory(device), room = memory - 1.01 * (double)tiling->bytes;
  return room > 0 ? (uint64_t)room : 0;
}

/* Makes the problem of a whole slab with strides on the device; returns false if its size overflows. */
static bool make_slab_problem(const tsl_problem *whole, const tsl_streamed_tiling *t, tsl_problem *slab) {
  const int64_t sizes[TSL_OPERANDS][2] = {{t->rows, t->depth}, {t->depth, t->cols}, {t->rows, t->cols}};
  tsl_shape *shapes[TSL_OPERANDS] = {&slab->a, &slab->b, &slab->c};
  *slab = tsl_problem_drop_epilogue(whole);
  slab->m = t->rows;
  slab->n = t->cols;
  slab->k = t->depth;
  for (int operand = 0; operand < TSL_OPERANDS; operand++) {
    tsl_transfer transfer;
    shapes[operand]->rows = sizes[operand][0];
    shapes[operand]->cols = sizes[operand][1];
    if (!tsl_transfer_plan(shapes[operand], &transfer))
      return false;
    *shapes[operand] = transfer.packed;
  }
  if (t->slabs > 1) {
    slab->beta[0] = 1;
    slab->beta[1] = 0;
  }
  return true;
}

/* Predicts a slab's seconds with `room` bytes of workspace; infinity: refused, or not accurate enough. */
static double predict_seconds(const tsl_strategy *strategy, const tsl_problem *whole, const tsl_problem *slab,
                              int64_t slabs, const tsl_device *device, uint64_t room) {
  tsl_config config = tsl_strategy_defaults(strategy);
  if (tsl_strategy_refuse(strategy, slab, &config, device))
    return INFINITY;
  const tsl_accuracy promised = tsl_strategy_error_model(strategy, slab, &config),
                     most = tsl_accuracy_of_one_part(whole, slab, slabs);
  return promised.factor <= most.factor && promised.flush_threshold <= most.flush_threshold &&
                 tsl_strategy_fit_workspace(strategy, slab, device, room, &config)
             ? strategy->score(slab, &config, device)
             : INFINITY;
}

static bool has_workspace_model(const tsl_strategy *strategy, const tsl_problem *problem) {
  return strategy->op == problem->op && strategy->resources.shrinkable.max > 0 && strategy->score &&
         !strategy->vendor.load && !strategy->splits.parts;
}

const tsl_strategy *tsl_streamed_slab_strategy(const tsl_problem *problem, const tsl_device *device,
                                               tsl_all_strategies *list) {
  tsl_streamed_tiling whole = {.m = problem->m,
                               .n = problem->n,
                               .k = problem->k,
                               .rows = problem->m,
                               .cols = problem->n,
                               .depth = problem->k,
                               .slabs = 1};
  const tsl_strategy *strategy, *best = NULL;
  tsl_problem slab;
  double least = INFINITY;
  if (!tsl_problem_reads(problem, TSL_OPERAND_A) || !make_slab_problem(problem, &whole, &slab))
    return NULL;
  for (int i = 0; list && (strategy = list(i)) != NULL; i++) {
    const double seconds = has_workspace_model(strategy, problem)
                               ? predict_seconds(strategy, problem, &slab, 1, device, UINT64_MAX)
                               : INFINITY;
    if (seconds < least) {
      least = seconds;
      best = strategy;
    }
  }
  return best;
}

double tsl_streamed_slab_seconds(const tsl_strategy *strategy, const tsl_problem *problem,
                                 const tsl_device *device, const tsl_streamed_tiling *tiling) {
  tsl_problem slab;
  return tiling->rows >= TILE_SIDE_MIN && tiling->cols >= TILE_SIDE_MIN &&
                 make_slab_problem(problem, tiling, &slab)
             ? predict_seconds(strategy, problem, &slab, tiling->slabs, device,
                               tsl_tiling_workspace_bytes(device, tiling))
             : INFINITY;
}
