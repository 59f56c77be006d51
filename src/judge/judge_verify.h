/* Verification of the whole result of a run by checksums (judge/checksum.h). A segment of a row that fails is
 * judged element by element, unless the run read C. So no right result fails. */
#ifndef TSL_JUDGE_JUDGE_VERIFY_H
#define TSL_JUDGE_JUDGE_VERIFY_H

#include "core/floats.h"
#include "plan/plan.h"

/* Returns why a run's result cannot be verified; NULL: it can be. */
const char *tsl_verify_refuse(const tsl_plan *plan, const tsl_operands *operands);

typedef struct tsl_verification tsl_verification;

typedef struct tsl_verified {
  int64_t elements, unchecked; /* elements of C that were verified, and were not: with infinity or NaN */
  double hidden;               /* largest absolute error that can be overlooked */
  int64_t row, col, cols;      /* wrong elements, in one row; cols 0: none */
  double seconds_in_run;       /* seconds of the verification inside of a run with the hook */
  int repaired;                /* wrong tiles that were computed again */
  double error_bound;          /* of the strategy that computed these; 0: none */
  char note[640];              /* sentence about the repair */
} tsl_verified;

/* Starts a verification before a run. Operands of tsl_plan_run(), of one product, must stay until
 * tsl_verify_end(). repairs: wrong tiles are computed again where that is possible,
 * for which C is copied if the run reads it. TESELA_UNSUPPORTED with the reason: the product cannot be
 * verified. Free with tsl_verify_free(). */
tesela_status tsl_verify_begin(const tsl_plan *plan, const tsl_operands *operands, bool repairs,
                               tsl_verification **verification);
/* Returns the hook for the run (tsl_plan_run_beside()), which then includes the device's part of the
 * verification; NULL: none. reads_memory: C is read after the run, also where the run could sum its elements
 * before it stores them. */
const tsl_concurrent_hook *tsl_verify_hook(tsl_verification *verification, bool reads_memory);
/* Sums C, if the run reads it, before a run without the hook. */
tesela_status tsl_verify_ready(tsl_verification *verification);
/* Ends the verification after the run, and repairs. TESELA_WRONG_RESULT names the wrong element, or the wrong
 * part of a row; *verified is set in that case, too. */
tesela_status tsl_verify_end(tsl_verification *verification, tsl_verified *verified);
/* Returns true if the run can be repeated, because it did not read C. */
bool tsl_verify_can_repeat(const tsl_verification *verification);
/* Frees a verification at any stage. NULL is allowed. */
void tsl_verify_free(tsl_verification *verification);

#endif
