#include "blas/blas_level3.h"

#include "blas/blas_gemm.h"
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
  tsl_blas_note_operands(call, structured,
                         structured->routine == TSL_BLAS_HERK || structured->routine == TSL_BLAS_HER2K);
}

/* Returns true if the reference BLAS leaves C unchanged. */
static bool blas_level3_is_idle(const tsl_blas_layout *layout) {
  const bool in_place = layout->routine >= TSL_BLAS_TRMM, update = layout->routine < TSL_BLAS_SYMM;
  return layout->work.m == 0 || layout->work.n == 0 ||
         (!in_place &&
          ((layout->work.alpha[0] == 0 && layout->work.alpha[1] == 0) || (update && layout->work.k == 0)) &&
          layout->work.beta[0] == 1 && layout->work.beta[1] == 0);
}

/* Computes by tesela and ends a call that has begun. Returns false on failure. */
static bool level3_end(tsl_blas_call *call, tsl_blas_layout *layout) {
  tesela_record record = {.plan = NULL};
  const char *who = tsl_blas_level3_compute(call->symbol, layout, tsl_blas_record(call, &record));
  if (who == tsl_blas_by_plan)
    tsl_blas_end_plan(call, &record);
  else if (who)
    tsl_blas_end(call, who);
  return who != NULL;
}

typedef void level3_lay_out(tesela_type type, const tsl_blas_multiply *structured, tsl_blas_layout *out);

/* Computes a checked call, or returns the host BLAS function. */
static tsl_blas_function *level3_run(tsl_blas_call *call, tsl_blas_route route,
                                     const tsl_blas_multiply *structured, level3_lay_out *lay_out,
                                     tsl_blas_layout *layout) {
  tsl_blas_begin(call);
  if (route == TSL_BLAS_TESELA && level3_end(call, layout))
    return NULL;
  tsl_blas_function *other = tsl_blas_otherwise(call, route);
  if (!other) {
    lay_out(call->symbol->type, structured, layout);
    tsl_blas_level3_loops(layout);
    tsl_blas_end(call, tsl_blas_loops_name);
  }
  return other;
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
  return level3_run(call, route, structured, tsl_blas_lay_out, &layout);
}

static void gemmt_describe(tsl_blas_call *call, const tsl_blas_multiply *product) {
  call->sizes = 3;
  call->shape[0] = call->shape[1] = product->n;
  call->shape[2] = product->k;
  call->flops = (tsl_blas_is_complex(call->symbol->type) ? 4.0 : 1.0) * (double)product->n *
                (double)(product->n + 1) * (double)product->k;
  tsl_blas_note_operands(call, product, false);
}

tsl_blas_function *tsl_blas_gemmt(tsl_blas_call *call, const tsl_blas_multiply *product) {
  const tsl_blas_route route = tsl_blas_route_level3(
      TSL_BLAS_GEMMT, call->symbol, (double)product->n * (double)product->n * (double)product->k);
  gemmt_describe(call, product);
  if (route == TSL_BLAS_OTHER)
    return tsl_blas_forward(call);
  if (tsl_blas_ends_early(call->symbol, product, tsl_blas_check_gemmt(product)))
    return NULL;
  tsl_blas_layout layout;
  tsl_blas_lay_out_gemmt(call->symbol->type, product, &layout);
  return level3_run(call, route, product, tsl_blas_lay_out_gemmt, &layout);
}
