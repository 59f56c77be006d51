/* The check: one strategy with one config on one device, run on a case and judged. */
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
  char why[512];   /* the refusal, the failure's sentence, or what is wrong */
  char plan[512];  /* the plan's text */
  tsl_hash source; /* as work->source has it */
  double seconds;  /* of the first run, by the host's clock: no measurement, as it is the first, and copies
                      count */
} tsl_case_report;

/* Runs one strategy with one config on one device on one case, for check, explore and tune alike: operands
 * with guard bands before and behind and in every gap, C full of NaN where beta = 0, the judge, the guards,
 * equal bits over the repeats. Returns a failure only when the check itself could not be made (host memory).
 */
tesela_status tsl_check_case(const tsl_strategy *strategy, const tsl_config *config, tsl_device *device,
                             const tsl_case *what, tsl_case_report *report);

#endif
