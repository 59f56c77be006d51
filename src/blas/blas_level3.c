#include "blas/blas_level3.h"

#include "blas/blas_route.h"
#include "blas/check_args.h"

static void blas_level3_describe(tsl_blas_call *call, const tsl_blas_multiply *structured) {
  const bool update = structured->routine < TSL_BLAS_SYMM,
             symmetric = !update && structured->routine < TSL_BLAS_TRMM;
  const bool two = structured->routine == TSL_BLAS_SYR2K || structured->routine == TSL_BLAS_HER2K;
  const double n = (double)structured->n;
  call->sizes = 3;
  call->shape[0] = structured->m;
  call->shape[1] = structured->n;
  call->shape[2] = update ? structured->k : structured->side == 'L' ? structured->m : structured->n;
  call->flops = (tsl_blas_is_complex(call->symbol->type) ? 4.0 : 1.0) *
                (update      ? (two ? 2.0 : 1.0) * n * (n + 1) * (double)structured->k
                 : symmetric ? 2 * tsl_blas_level3_volume(structured)
                             : tsl_blas_level3_volume(structured));
}

/* Returns true if the reference BLAS leaves C unchanged. */
static bool blas_level3_is_idle(const tsl_blas_layout *layout) {
  const bool in_place = layout->routine >= TSL_BLAS_TRMM, update = layout->routine < TSL_BLAS_SYMM;
  return layout->work.m == 0 || layout->work.n == 0 ||
         (!in_place &&
          ((layout->work.alpha[0] == 0 && layout->work.alpha[1] == 0) || (update && layout->work.k == 0)) &&
          layout->work.beta[0] == 1 && layout->work.beta[1] == 0);
}

tsl_blas_function *tsl_blas_level3(tsl_blas_call *call, const tsl_blas_multiply *structured) {
  const tesela_type type = call->symbol->type;
  const tsl_blas_route route =
      tsl_blas_route_level3(structured->routine, call->symbol, tsl_blas_level3_volume(structured));
  if (tsl_blas_logging)
    blas_level3_describe(call, structured);
  if (route == TSL_BLAS_OTHER)
    return tsl_blas_forward(call);
  const int wrong = tsl_blas_check_level3(type, structured);
  if (wrong) {
    tsl_blas_report_argument(call->symbol, wrong, structured->order == TSL_BLAS_ROW_MAJOR, true);
    return NULL;
  }
  tsl_blas_layout layout;
  tsl_blas_lay_out(type, structured, &layout);
  if (blas_level3_is_idle(&layout))
    return NULL;
  /* The small kernel calls no BLAS function: no nesting guard without call logging. */
  if (route == TSL_BLAS_TESELA && !tsl_blas_logging && tsl_blas_level3_little(&layout))
    return NULL;
  tsl_blas_begin(call);
  if (route == TSL_BLAS_TESELA) {
    if (tsl_blas_level3_end(call, &layout))
      return NULL;
    tsl_blas_lay_out(type, structured, &layout);
  }
  tsl_blas_function *next = tsl_blas_otherwise(call, route);
  if (!next) {
    tsl_blas_level3_loops(&layout);
    tsl_blas_end(call, tsl_blas_loops_name);
  }
  return next;
}
