/* Predicts a product on more devices than there are: a group of one device, repeated, with the parts, tiles
 * and links of a real group. Its sub-plans are predicted, not made. */
#include "core/memory.h"
#include "core/status.h"
#include "strategy/gemm/composite/several/several.h"

#include <math.h>
#include <stdlib.h>

enum { KNOWN_TILES = 2 * TSL_MEMBERS_MAX };

/* Predictions of tiles, which members with equal parts share. */
typedef struct predicted_tiles {
  tsl_problem problems[KNOWN_TILES];
  double seconds[KNOWN_TILES];
  int count;
} predicted_tiles;

typedef struct predicting_factory {
  tsl_subplan_factory table;
  const tsl_subplan_factory *factory;
  predicted_tiles *known;
} predicting_factory;

static double predict_tile(const predicting_factory *self, const tsl_subplan_request *request) {
  predicted_tiles *known = self->known;
  for (int i = 0; i < known->count; i++)
    if (tsl_several_same_tile(&known->problems[i], request->problem))
      return known->seconds[i];
  const double seconds = self->factory->seconds(self->factory, request);
  if (known->count < KNOWN_TILES) {
    known->problems[known->count] = *request->problem;
    known->seconds[known->count++] = seconds;
  }
  return seconds;
}

/* A sub-plan is its predicted seconds. */
static tesela_status predict_child(const tsl_subplan_factory *self, const tsl_subplan_request *request,
                                   tsl_subplan **child) {
  const double seconds = predict_tile((const predicting_factory *)self, request);
  double *made = malloc(sizeof *made);
  *child = (tsl_subplan *)made;
  if (!made || !isfinite(seconds)) {
    free(made);
    *child = NULL;
    return tsl_fail(TESELA_UNSUPPORTED, "a part cannot be predicted");
  }
  *made = seconds;
  return TESELA_OK;
}

static double predicted_seconds(const tsl_subplan *child) {
  return *(const double *)child;
}

static uint64_t no_workspace(const tsl_subplan *child) {
  (void)child;
  return 0;
}

static void free_prediction(tsl_subplan *child) {
  free(child);
}

/* Returns the seconds of the slowest member; its blocks follow each other. */
static double slowest_of_blocks(const tsl_work *work) {
  const tsl_several *self = work->state;
  double seconds[TSL_MEMBERS_MAX] = {0}, slowest = 0;
  for (int i = 0; i < self->block_count; i++) {
    double *sum = &seconds[self->blocks[i].member];
    *sum += tsl_several_block_seconds(work, i);
    slowest = fmax(slowest, *sum);
  }
  return slowest;
}

static double predict_shards(tsl_work *work, double rate) {
  tsl_several *self = work->state;
  tsl_sharding *sharding;
  double seconds = 0;
  if (tsl_sharding_even(&work->problem, work->device->member_count, &sharding) != TESELA_OK)
    return 0;
  work->sharding = sharding;
  work->config.value[SEVERAL_CUT] = SEVERAL_HOLDERS;
  for (int i = 0; i < TSL_MEMBERS_MAX * TSL_MEMBERS_MAX; i++)
    self->links.rates[i / TSL_MEMBERS_MAX][i % TSL_MEMBERS_MAX] = rate;
  if (tsl_several_build_workers(work, self) == TESELA_OK)
    seconds = slowest_of_blocks(work);
  tsl_several_release_workers(work, self);
  tsl_free(sharding);
  return seconds;
}

static double predict_parts(tsl_work *work) {
  tsl_several *self = work->state;
  return tsl_several_decide(work, self, 0) == TESELA_OK ? fmax(self->seconds, tsl_several_host_seconds(work))
                                                        : 0;
}

double tsl_several_predict(const tsl_work *built, const tsl_subplan_factory *factory, int count,
                           double rate) {
  predicted_tiles known = {.count = 0};
  predicting_factory predicting = {.table = *factory, .factory = factory, .known = &known};
  tsl_device group = *built->device;
  tsl_several self = {.count = 0};
  tsl_work work = {.strategy = built->strategy,
                   .problem = built->problem,
                   .device = &group,
                   .state = &self,
                   .subplans = &predicting.table};
  tsl_status_saved saved;
  tsl_status_save(&saved);
  predicting.table.make = predict_child;
  predicting.table.expected = predicted_seconds;
  predicting.table.workspace = no_workspace;
  predicting.table.destroy = free_prediction;
  for (int i = 0; i < count; i++)
    group.members[i] = built->device->members[0];
  group.member_count = count;
  work.config.value[SEVERAL_CUT] = built->config.value[SEVERAL_CUT];
  const double seconds = built->sharding ? predict_shards(&work, rate) : predict_parts(&work);
  tsl_status_restore(&saved);
  return seconds;
}
