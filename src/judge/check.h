#ifndef TSL_JUDGE_CHECK_H
#define TSL_JUDGE_CHECK_H

#include "judge/cases.h"
#include "judge/judge.h"
#include "plan/plan.h"

typedef enum tsl_case_result {
  TSL_CASE_RIGHT,
  TSL_CASE_WRONG,
  TSL_CASE_REFUSED,
  TSL_CASE_FAILED
} tsl_case_result;

typedef struct tsl_case_report {
  tsl_case_result result;
  tsl_verdict verdict;
  char why[512];   /* refusal, failure message, or description of the error */
  char plan[512];  /* text of the plan; empty when the plan was refused */
  tsl_hash source; /* hash of the kernel sources (work->source) */
  double seconds;  /* host time of the first run with copies; not a measurement */
} tsl_case_report;

/* Runs one strategy with one config on one device on one case. Operands have guard bands before, after and in
 * every gap; C is full of NaN where beta = 0. The judge and the guards check the result; repeated runs must
 * have equal bits. Fails only when the check itself is impossible (host memory). */
tesela_status tsl_check_case(const tsl_strategy *strategy, const tsl_config *config, tsl_device *device,
                             const tsl_case *tested, tsl_case_report *report);

#endif
