#include "blas/blas_level3.h"

#include "core/memory.h"

static const char by_plan[] = "a plan", direct[] = "tesela direct cpu";

const char *tsl_blas_level3_compute(const tsl_blas_symbol *symbol, tsl_blas_layout *layout,
                                    tesela_record *record) {
  if (tsl_blas_level3_little(layout))
    return direct;
  void *joined = tsl_blas_level3_join(layout);
  const char *who = NULL;
  if (tsl_blas_level3_solve(layout) || tsl_blas_level3_direct(symbol, layout))
    who = direct;
  else if (tsl_blas_level3_plan(symbol, layout, record))
    who = by_plan;
  else if (tsl_blas_level3_blocks(symbol, layout))
    who = "tesela blocks cpu";
  tsl_free(joined);
  return who;
}

bool tsl_blas_level3_end(tsl_blas_call *call, tsl_blas_layout *layout) {
  tesela_record record = {.plan = NULL};
  const char *who = tsl_blas_level3_compute(call->symbol, layout, tsl_blas_record(call, &record));
  if (who == by_plan)
    tsl_blas_end_plan(call, &record);
  else if (who)
    tsl_blas_end(call, who);
  return who != NULL;
}
