/* Operands of a run. */
#ifndef TSL_STRATEGY_OPERANDS_H
#define TSL_STRATEGY_OPERANDS_H

#include "core/pool.h"
#include "device/device.h"
#include "problem/sharding.h"
#include "strategy/run_hints.h"

/* One operand of a run. Strides have any sign and size; a packed copy's differ from the problem's. */
typedef struct tsl_operand {
  void *host; /* element (0, 0) in host memory; NULL: the operand is in `buffer` */
  tsl_buffer *buffer;
  int64_t offset; /* element (0, 0), in elements from the start of the buffer */
  int64_t row_stride, col_stride;
  /* result of prepack.pack() for this work, used instead of all other members; NULL: none */
  const void *packed;
  /* in a batch: distance in elements from one product's operand to the next, of any sign */
  int64_t batch_step;
  /* shards of a sharded operand, in the order of work->sharding, used instead of all other members */
  const tsl_shard_buffer *shards;
} tsl_operand;
typedef struct tsl_operands {
  union {
    struct {
      tsl_operand a, b, c;
      tsl_operand bias; /* used where the problem has a bias; step 0: one bias for all products of a batch */
      /* used where the problem has scales; step 0: one scale for all products of a batch */
      tsl_operand scale_a, scale_b;
    };
    tsl_operand at[TSL_ALL_OPERANDS]; /* index: TSL_OPERAND_A etc. */
  };
  tsl_operand sums;           /* accumulators of a problem with scales, read by the epilogue only */
  tsl_buffer *scratch;        /* device memory of scratch() bytes; NULL where that is 0, and on the cpu */
  const tsl_run_hints *hints; /* of the strategy whose sub-plan runs; NULL: none */
  tsl_team team;              /* threads that the run may use, on the cpu; zero: only the calling thread */
} tsl_operands;

#endif
