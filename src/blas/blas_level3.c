/* Level 3 beside gemm: who computes. */
#include "blas/blas_level3.h"

#include "blas/check_args.h"
#include "blas/blas_route.h"

static void blas_level3_describe(tsl_blas_call *call, const tsl_blas_structured *given) {
  const bool update = given->routine < TSL_BLAS_SYMM, symmetric = !update && given->routine < TSL_BLAS_TRMM;
  const bool two = given->routine == TSL_BLAS_SYR2K || given->routine == TSL_BLAS_HER2K;
  const double n = (double)given->n;
  call->sizes = 3;
  call->shape[0] = given->m;
  call->shape[1] = given->n;
  call->shape[2] = update ? given->k : given->side == 'L' ? given->m : given->n;
  call->flops = (tsl_blas_is_complex(call->symbol->type) ? 4.0 : 1.0) *
                (update      ? (two ? 2.0 : 1.0) * n * (n + 1) * (double)given->k
                 : symmetric ? 2 * tsl_blas_level3_volume(given)
                             : tsl_blas_level3_volume(given));
}

/* What the reference leaves as it is. */
static bool blas_level3_is_idle(const tsl_blas_layout *of) {
  const bool in_place = of->routine >= TSL_BLAS_TRMM, update = of->routine < TSL_BLAS_SYMM;
  return of->work.m == 0 || of->work.n == 0 ||
         (!in_place && ((of->alpha[0] == 0 && of->alpha[1] == 0) || (update && of->work.k == 0)) &&
          of->beta[0] == 1 && of->beta[1] == 0);
}

tsl_blas_function *tsl_blas_level3(tsl_blas_call *call, const tsl_blas_structured *given) {
  const tesela_type type = call->symbol->type;
  const tsl_blas_route route =
      tsl_blas_route_level3(given->routine, call->symbol, tsl_blas_level3_volume(given));
  if (tsl_blas_logging)
    blas_level3_describe(call, given);
  if (route == TSL_BLAS_OTHER)
    return tsl_blas_forward(call);
  const int wrong = tsl_blas_check_level3(type, given);
  if (wrong) {
    tsl_blas_report_argument(call->symbol, wrong, given->order == TSL_BLAS_ROW_MAJOR, true);
    return NULL;
  }
  tsl_blas_layout layout;
  tsl_blas_lay_out(type, given, &layout);
  if (blas_level3_is_idle(&layout))
    return NULL;
  /* Nothing in it calls, so that nobody need know that it has begun, but who listens. */
  if (route == TSL_BLAS_TESELA && !tsl_blas_logging && tsl_blas_level3_little(&layout))
    return NULL;
  tsl_blas_begin(call);
  if (route == TSL_BLAS_TESELA) {
    if (tsl_blas_level3_end(call, &layout))
      return NULL;
    tsl_blas_lay_out(type, given, &layout);
  }
  tsl_blas_function *next = tsl_blas_otherwise(call, route);
  if (!next) {
    tsl_blas_level3_loops(&layout);
    tsl_blas_end(call, tsl_blas_loops_name);
  }
  return next;
}
