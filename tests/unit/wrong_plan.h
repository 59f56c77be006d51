/* Plans whose runs are wrong: an element of C differs after a run, or one of A or B during it. */
#ifndef TSL_TESTS_WRONG_PLAN_H
#define TSL_TESTS_WRONG_PLAN_H

#include "api/api.h"

typedef struct planted_fault {
  const tsl_shape *shape; /* of the caller's operand */
  int operand;            /* TSL_OPERAND_A, ... */
  int64_t row, col;
  int bit;    /* bit that is flipped; -1: `off` is added to the real part */
  double off; /* difference */
  int left;   /* runs that will be wrong */
} planted_fault;
extern planted_fault planted;

/* `run` of the plan's strategy, which wrong_run() calls. */
extern tesela_status (*right_run)(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream);
tesela_status wrong_run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream);

typedef struct wrong_plan {
  tesela_plan *plan;
  tsl_strategy strategy;
} wrong_plan;

/* Makes a plan for operands in host memory. The caller destroys wrong->plan. */
void make_wrong_plan(tesela_context *context, const tesela_gemm_desc *desc, wrong_plan *wrong);
/* Runs it with the operands of the description. */
tesela_status run_wrong_plan(const wrong_plan *wrong, const tesela_gemm_desc *desc, tesela_record *record);
/* Plants a fault in the next run. */
void plant(const tsl_shape *shape, int operand, int64_t row, int64_t col, int bit, double off);

#endif
