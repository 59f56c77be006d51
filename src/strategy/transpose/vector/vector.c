/* Whole cache lines on both sides, through registers, past the caches, on all threads: host.c. */
#include "strategy/transpose/vector/host.h"
#include "strategy/transposing.h"

static const char *refuse(const tsl_problem *problem, const tsl_config *config, const tsl_device *device) {
  (void)config, (void)device;
  return tsl_transpose_refuse_scaling(problem);
}

static double score(const tsl_problem *problem, const tsl_config *config, const tsl_device *device) {
  (void)config;
  return tsl_transpose_seconds(problem, device, 0.85) + 2e-7;
}

static tesela_status run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream) {
  (void)stream;
  tsl_vector_on_host(&work->problem, operands, work->device);
  return TESELA_OK;
}

const tsl_strategy tsl_transpose_vector = {
    .name = "vector",
    .idea = "whole cache lines on both sides, transposed in registers",
    .lifts = "narrow accesses, and too few of them in flight",
    .op = TSL_OP_TRANSPOSE,
    .rung = 2,
    .needs = TSL_CAN_HOST,
    .version = 1,
    .accuracy = tsl_transpose_accuracy,
    .types = tsl_types_all,
    .refuse = refuse,
    .score = score,
    .run = run,
};
