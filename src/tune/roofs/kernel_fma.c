#include "core/status.h"
#include "tune/roofs/kernel_bench.h"

#include <math.h>

/* Seconds of one launch. */
static const double fma_seconds = 8e-3;

static void put_number(const tsl_kernel_bench *b, size_t index, double value) {
  if (b->type == TESELA_F64)
    ((double *)b->block)[index] = value;
  else
    ((float *)b->block)[index] = (float)value;
}

static double get_number(const tsl_kernel_bench *b, size_t index) {
  return b->type == TESELA_F64 ? ((const double *)b->block)[index] : (double)((const float *)b->block)[index];
}

/* Writes the chain's factor and summand for each lane to b->from. */
static tesela_status write_constants(tsl_kernel_bench *b, const tsl_roofs_chain *chain) {
  b->chain = chain;
  for (int lane = 0; lane < b->lanes; lane++) {
    put_number(b, (size_t)lane, chain->factor);
    put_number(b, (size_t)b->lanes + (size_t)lane, chain->summand);
  }
  return tsl_device_write(b->stream, b->from, 0, b->block, 2 * (size_t)b->lanes * tsl_type(b->type)->size);
}

static tesela_status write_starts(tsl_kernel_bench *b) {
  const int starts = b->shape.items * b->shape.chains * b->lanes;
  for (int i = 0; i < starts; i++)
    put_number(b, (size_t)i, tsl_roofs_chain_start(i));
  return tsl_device_write(b->stream, b->to, 0, b->block, (size_t)starts * tsl_type(b->type)->size);
}

static tesela_status verify_chains(tsl_kernel_bench *b) {
  size_t count;
  const int lanes = b->lanes, chains = b->shape.chains;
  TSL_TRY(tsl_kernel_bench_results(b, (size_t)lanes * tsl_type(b->type)->size, &count));
  for (size_t i = 0; i < count * (size_t)lanes; i++) {
    const int item = (int)(i / (size_t)lanes) % b->shape.items, lane = (int)(i % (size_t)lanes);
    double sum = 0;
    for (int c = 0; c < chains; c++)
      sum += tsl_roofs_chain_end(b->chain, (item * chains + c) * lanes + lane, b->rounds * b->shape.round);
    if (get_number(b, i) != sum)
      return tsl_fail(TESELA_WRONG_RESULT, "%s: multiply-adds in %s came to %.17g, not %.17g",
                      b->device->name, tsl_type(b->type)->name, get_number(b, i), sum);
  }
  return TESELA_OK;
}

static tesela_status repeat_chains(tsl_kernel_bench *b, double seconds, tsl_roof *roof) {
  double once = 0;
  b->rounds = TSL_ROOFS_ROUNDS_COUNTED;
  TSL_TRY(write_starts(b));
  TSL_TRY(write_constants(b, &tsl_roofs_counting_chain));
  TSL_TRY(tsl_kernel_bench_launch(b));
  TSL_TRY(verify_chains(b));
  TSL_TRY(write_constants(b, &tsl_roofs_periodic_chain));
  while (once * b->shape.launches < fma_seconds / 2 && b->rounds < TSL_ROOFS_ROUNDS_MAX) {
    b->rounds *= 2;
    TSL_TRY(tsl_kernel_bench_run(b, &once));
  }
  const double items = (double)b->grid.groups[0] * b->shape.items;
  const double work = 2 * items * b->lanes * b->shape.chains * b->shape.round * (double)b->rounds;
  TSL_TRY(tsl_roofs_repeat(tsl_kernel_bench_run, b, work, seconds, roof));
  return verify_chains(b);
}

tesela_status tsl_kernel_bench_fma(tsl_kernel_bench *b, tesela_type type, double seconds, tsl_roof *roof) {
  const size_t size = tsl_type(type)->size;
  const uint64_t groups = 2 * (uint64_t)b->shape.groups_per_unit * (uint64_t)b->device->compute_units;
  tsl_module *module;
  tesela_status status;
  b->type = type;
  b->lanes = b->shape.lanes_f32 * (int)(sizeof(float)) / (int)size;
  const size_t vector = (size_t)b->lanes * size, starts = (size_t)(b->shape.items * b->shape.chains) * vector;
  TSL_GO(tsl_kernel_bench_build(b, "tune/roofs/roofs_fma.cl", "roofs/fma", type, b->lanes, &module));
  TSL_GO(b->ops->buffer_create(b->device, 2 * vector, &b->from));
  TSL_GO(b->ops->buffer_create(b->device, starts, &b->to));
  TSL_GO(tsl_kernel_bench_allocate_results(
      b, groups > (uint64_t)b->shape.chains ? groups : (uint64_t)b->shape.chains, vector));
  const tsl_argument arguments[] = {TSL_ARG_BUFFER(b->from), TSL_ARG_BUFFER(b->to),
                                    TSL_ARG_BUFFER(b->results), TSL_ARG_VALUE(b->rounds)};
  TSL_GO(tsl_kernel_bench_choose(b, module, "tsl_roofs_fma", groups, arguments, 4));
  status = repeat_chains(b, seconds, roof);
out:
  if (b->stream && status != TESELA_OK)
    (void)b->ops->finish(b->stream);
  tsl_kernel_bench_free(b);
  return status;
}
