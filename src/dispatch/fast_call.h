/* Shortcut for plain host addresses, since a full check may take longer than a product. */
#ifndef TSL_DISPATCH_FAST_CALL_H
#define TSL_DISPATCH_FAST_CALL_H

#include "strategy/host_jobs/exceptions.h"
#include "strategy/strategy.h"

typedef struct tsl_fast_call {
  tsl_fast_kernel *run; /* NULL: there is no shortcut */
  const void *state;
  uintptr_t unaligned; /* bits that must be 0 in every address */
  /* Bytes: A or B certainly overlaps C if its address minus C's, plus `from`, is below `span`. */
  uintptr_t from[TSL_OPERAND_C], span[TSL_OPERAND_C];
} tsl_fast_call;

/* Returns true if the shortcut accepts these addresses; else the full path reports the error. */
static inline bool tsl_fast_call_supports(const tsl_fast_call *direct, const void *a, const void *b,
                                          const void *c) {
  const uintptr_t a_at = (uintptr_t)a, b_at = (uintptr_t)b, c_at = (uintptr_t)c;
  return a && b && c && ((a_at | b_at | c_at) & direct->unaligned) == 0 &&
         a_at - c_at + direct->from[TSL_OPERAND_A] >= direct->span[TSL_OPERAND_A] &&
         b_at - c_at + direct->from[TSL_OPERAND_B] >= direct->span[TSL_OPERAND_B];
}

/* Runs the shortcut and handles floating-point exceptions; `problem` has C's strides. */
static inline tesela_status tsl_fast_call_run(const tsl_fast_call *direct, const tsl_problem *problem,
                                              const void *a, const void *b, void *c) {
  const tsl_floats before = tsl_exceptions_begin();
  const tesela_status status = direct->run(direct->state, a, b, c);
  if (tsl_floats_read() != before) {
    const tsl_operands operands = {
        .c = {.host = c, .row_stride = problem->c.row_stride, .col_stride = problem->c.col_stride}};
    tsl_exceptions_settle(before, problem, &operands);
  }
  return status;
}

#endif
