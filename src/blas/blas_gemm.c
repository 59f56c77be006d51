#include "blas/blas_gemm.h"

#include "blas/blas_context.h"
#include "blas/blas_dispatch.h"
#include "blas/blas_route.h"
#include "blas/check_args.h"

static bool blas_gemm_is_idle(tesela_type type, const tsl_blas_multiply *product) {
  return product->m == 0 || product->n == 0 ||
         ((product->k == 0 || tsl_blas_is(type, product->alpha, 0)) && tsl_blas_is(type, product->beta, 1));
}

/* tesela decides whether another device beats the CPU, even if the host BLAS would compute on the CPU. */
static tsl_blas_place blas_gemm_place_of(tsl_blas_symbol *symbol, const tsl_blas_multiply *product) {
  if (!tsl_blas_may_go_elsewhere(symbol, product) || tsl_blas_check_gemm(product) != 0 ||
      blas_gemm_is_idle(symbol->type, product))
    return TSL_BLAS_HERE;
  const tsl_call work = tsl_blas_work_of(symbol->type, product);
  tsl_blas_desc_storage storage;
  tsl_blas_to_desc(&work, &storage);
  return tsl_blas_place_of(&storage.desc);
}

bool tsl_blas_ends_early(const tsl_blas_symbol *symbol, const tsl_blas_multiply *product, int wrong) {
  if (wrong)
    tsl_blas_report_argument(symbol, wrong, product->order == TSL_BLAS_ROW_MAJOR, true);
  return wrong || blas_gemm_is_idle(symbol->type, product);
}

/* The host BLAS checks a forwarded call. */
tsl_blas_function *tsl_blas_gemm(tsl_blas_call *call, const tsl_blas_multiply *product) {
  const tesela_type type = call->symbol->type;
  tsl_blas_route route = tsl_blas_route_gemm(call->symbol, product->m, product->n, product->k);
  const tsl_blas_place place =
      route == TSL_BLAS_LOOPS ? TSL_BLAS_HERE : blas_gemm_place_of(call->symbol, product);
  if (route == TSL_BLAS_OTHER && place == TSL_BLAS_ELSEWHERE) {
    route = TSL_BLAS_TESELA;
    tsl_blas_why("another device is expected to be faster");
  } else if (route == TSL_BLAS_OTHER && tsl_blas_is_always_forwarded(call->symbol))
    tsl_blas_dispatch_note_next(call->symbol, product);
  if (tsl_blas_logging)
    tsl_blas_describe(call, product);
  if (route == TSL_BLAS_OTHER)
    return tsl_blas_forward(call);
  if (tsl_blas_ends_early(call->symbol, product, tsl_blas_check_gemm(product)))
    return NULL;
  tsl_call work = tsl_blas_work_of(type, product);
  work.on_cpu = place == TSL_BLAS_NOT_YET;
  tesela_record record = {.plan = NULL};
  tsl_blas_begin(call);
  if (route == TSL_BLAS_TESELA && tsl_blas_by_tesela(call->symbol, &work, tsl_blas_record(call, &record))) {
    tsl_blas_end_plan(call, &record);
    return NULL;
  }
  tsl_blas_function *other = tsl_blas_otherwise(call, route);
  if (!other) {
    tsl_blas_loop_gemm(&work);
    tsl_blas_end(call, tsl_blas_loops_name);
  }
  return other;
}
