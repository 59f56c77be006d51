/* What host strategies share that prepare a job in build() for operands with the strides that the problem has. A run may
 * bring others (a packed copy's): then the job is made again for these. */
#ifndef TSL_STRATEGY_PREPARED_H
#define TSL_STRATEGY_PREPARED_H

#include "base/memory.h"
#include "strategy/strategy.h"

/* Operands that lie nowhere, with the problem's strides. */
static inline tsl_operands tsl_strides_of(const tsl_problem *problem) {
  return (tsl_operands){.a = {.row_stride = problem->a.row_stride, .col_stride = problem->a.col_stride},
                        .b = {.row_stride = problem->b.row_stride, .col_stride = problem->b.col_stride},
                        .c = {.row_stride = problem->c.row_stride, .col_stride = problem->c.col_stride}};
}

static inline bool tsl_operand_lies_alike(const tsl_operand *one, const tsl_operand *other) {
  return one->row_stride == other->row_stride && one->col_stride == other->col_stride;
}
static inline bool tsl_operands_lie_alike(const tsl_operands *some, const tsl_operands *others) {
  return tsl_operand_lies_alike(&some->a, &others->a) && tsl_operand_lies_alike(&some->b, &others->b) &&
         tsl_operand_lies_alike(&some->c, &others->c);
}

/* release() of a state that is one block. */
static inline void tsl_release_block(tsl_work *work) {
  tsl_free(work->state);
  work->state = NULL;
}

#endif
