#include "blas/blas_batch.h"

#include "blas/blas_context.h"
#include "blas/blas_gemm.h"
#include "blas/blas_route.h"
#include "blas/check_args.h"
#include "dispatch/crossovers.h"

tsl_blas_function *tsl_blas_batch(tsl_blas_call *call, const tsl_blas_multiply *first, int64_t count) {
  if (!tsl_blas_host_function(call->symbol) || tsl_blas_route_batch(call->symbol, first) != TSL_BLAS_OTHER)
    return NULL;
  tsl_blas_describe(call, first);
  call->flops *= (double)count;
  tsl_blas_note_count(count);
  return tsl_blas_forward(call);
}

/* Returns true if the C matrices ascend without repetition; others must not run in parallel. */
static bool blas_batch_are_apart(const tesela_batch *batch) {
  if (!batch->c)
    return batch->c_stride != 0;
  for (int64_t i = 1; i < batch->count; i++)
    if ((uintptr_t)batch->c[i] <= (uintptr_t)batch->c[i - 1])
      return false;
  return true;
}

bool tsl_blas_is_ours(tsl_blas_call *call, const tsl_blas_multiply *product) {
  const tesela_type type = call->symbol->type;
  return !tsl_blas_lacks(TSL_BLAS_GEMM, type, type) &&
         tsl_blas_route_batch(call->symbol, product) == TSL_BLAS_TESELA && !tsl_blas_check_gemm(product) &&
         product->m != 0 && product->n != 0;
}

static bool is_worth_it(const tsl_blas_multiply *product, const tesela_batch *batch) {
  return batch->count >= tsl_crossovers.batch_count ||
         (batch->count > 1 &&
          2 * tsl_blas_volume(product) * (double)batch->count >= (double)tsl_crossovers.thread_batch);
}

bool tsl_blas_end_batch(tsl_blas_call *call, tesela_status status, const tesela_record *record, bool reads) {
  /* Some products may be done and their old C lost; in all other cases every C is unchanged or not read. */
  const bool lost = status == TESELA_DEVICE_FAILED && reads;
  if (lost)
    tsl_blas_report_failure(call->symbol, tesela_last_error());
  if (status == TESELA_OK)
    tsl_blas_end_plan(call, record);
  else
    tsl_blas_end(call, NULL); /* single calls are counted by themselves */
  return status == TESELA_OK || lost;
}

bool tsl_blas_uniform_batch(tsl_blas_call *call, const tsl_blas_multiply *product,
                            const tesela_batch *batch) {
  const tesela_type type = call->symbol->type;
  if (!is_worth_it(product, batch) || !blas_batch_are_apart(batch) || !tsl_blas_is_ours(call, product))
    return false;
  const tsl_call work = tsl_blas_work_of(type, product);
  tsl_blas_desc_storage storage;
  tsl_blas_to_desc(&work, &storage);
  tesela_record record;
  if (tsl_blas_logging) {
    tsl_blas_describe(call, product);
    call->flops *= (double)batch->count;
    tsl_blas_note_count(batch->count);
  }
  tsl_blas_begin(call);
  const tesela_status status = tsl_blas_run_batch(&storage.desc, batch, tsl_blas_record(call, &record));
  return tsl_blas_end_batch(call, status, &record, storage.beta[0] != 0 || storage.beta[1] != 0);
}
