/* What host strategies share around their loops: how operands of a run become views, and a job that build() prepares for
 * operands with the strides that the problem has. A run may bring others (a packed copy's): then the job is made again for
 * these. */
#ifndef TSL_STRATEGY_PREPARED_H
#define TSL_STRATEGY_PREPARED_H

#include "base/memory.h"
#include "host/view.h"
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

/* The problem on operands with these strides. */
static inline tsl_views tsl_views_as_given(const tsl_problem *problem, const tsl_operands *strides) {
  const tsl_operand *a = &strides->a, *b = &strides->b, *c = &strides->c;
  return (tsl_views){.m = problem->m,
                     .n = problem->n,
                     .k = tsl_problem_reads(problem, TSL_OPERAND_A) ? problem->k : 0,
                     .a = {.row_stride = a->row_stride, .col_stride = a->col_stride},
                     .b = {.row_stride = b->row_stride, .col_stride = b->col_stride},
                     .c = {.row_stride = c->row_stride, .col_stride = c->col_stride},
                     .conjugates_a = problem->conjugate_a,
                     .conjugates_b = problem->conjugate_b};
}

/* The same, oriented (host/view.h); and bound to a run's operands with the same strides. */
static inline tsl_views tsl_views_of(const tsl_problem *problem, const tsl_operands *strides) {
  tsl_views views = tsl_views_as_given(problem, strides);
  tsl_views_orient(&views);
  return views;
}
static inline void tsl_views_bind_operands(tsl_views *views, const tsl_operands *operands, int64_t size,
                                           int64_t c_size) {
  tsl_views_bind(views, &(tsl_view){.at = operands->a.host, .packed = operands->a.packed},
                 &(tsl_view){.at = operands->b.host, .packed = operands->b.packed}, operands->c.host, size,
                 c_size);
}

/* release() of a state that is one block. */
static inline void tsl_release_block(tsl_work *work) {
  tsl_free(work->state);
  work->state = NULL;
}

#endif
