/* Tries the ways to compute a call of Level 3 by tesela, in order. */
#include "blas/blas_level3.h"

#include "core/memory.h"

const char tsl_blas_by_plan[] = "a plan";
static const char direct[] = "tesela direct cpu";

const char *tsl_blas_level3_compute(const tsl_blas_symbol *symbol, tsl_blas_layout *layout,
                                    tesela_record *record) {
  if (tsl_blas_level3_little(layout))
    return direct;
  void *joined = tsl_blas_level3_join(layout);
  const char *who = NULL;
  if (tsl_blas_level3_solve(layout) || tsl_blas_level3_direct(symbol, layout))
    who = direct;
  else if (tsl_blas_level3_plan(symbol, layout, record))
    who = tsl_blas_by_plan;
  else if (tsl_blas_level3_blocks(symbol, layout))
    who = "tesela blocks cpu";
  tsl_free(joined);
  return who;
}
