/* Small products of a group without plans: planning new shapes would take ten times as long. */
#include "api/grouped.h"

#include "core/checked.h"
#include "core/log.h"
#include "core/scratch.h"
#include "dispatch/crossovers.h"
#include "host/int_math.h"
#include "strategy/host_jobs/exceptions.h"

static bool grouped_small_is_single(const tesela_batch *batch) {
  return !batch || (batch->count == 1 && !batch->a && !batch->b && !batch->c);
}

static void grouped_small_find(tsl_small_gemm_finding *state, const tesela_gemm_desc *descs,
                               const tesela_batch *batches, int64_t count, tsl_small_gemm_group *out) {
  for (int64_t i = 0; i < count; i++) {
    tsl_small_gemm *gemm = &out->all[out->count];
    if (grouped_small_is_single(batches ? &batches[i] : NULL) &&
        tsl_small_gemm_take(state, &descs[i], gemm)) {
      gemm->number = i;
      out->count++;
    }
  }
}

int64_t tsl_grouped_find_small(tesela_context *context, const tesela_gemm_desc *descs,
                               const tesela_batch *batches, int64_t count, tsl_small_gemm_group *out) {
  tsl_small_gemm_finding finding;
  size_t bytes;
  void *block;
  tsl_status_saved saved;
  *out = (tsl_small_gemm_group){.count = 0};
  if (tsl_api_has_checks(context->checks) || tsl_log_may_want(TSL_LOG_CALLS) ||
      !tsl_size_mul((size_t)count, sizeof *out->all, &bytes))
    return 0;
  tsl_status_save(&saved);
  if (tsl_small_gemm_begin(context, &finding) == TESELA_OK && finding.cpu &&
      tsl_device_open(finding.cpu) == TESELA_OK &&
      tsl_scratch_take(bytes, "small products of a group", &block) == TESELA_OK) {
    out->cpu = finding.cpu;
    out->descs = descs;
    out->all = block;
    grouped_small_find(&finding, descs, batches, count, out);
  }
  tsl_small_gemm_end(&finding);
  tsl_status_restore(&saved);
  return out->count;
}

static __attribute__((noinline)) void settle(tsl_floats before, const tsl_call *call) {
  const tsl_problem problem = tsl_problem_gemm(call->m, call->n, call->k, call->type);
  const tsl_operands operands = {
      .c = {.host = tsl_writable(call->c.data), .row_stride = call->c.row, .col_stride = call->c.col}};
  tsl_exceptions_settle(before, &problem, &operands);
}

/* Computes a product that the direct path refuses by its plan; without memory for one by the specification,
 * so that no product fails after others are done. */
static tesela_status grouped_small_by_plan(const tsl_grouped *group, const tsl_small_gemm *gemm) {
  const tsl_call *call = &gemm->call;
  const tsl_operands operands = {.a = {.host = tsl_writable(call->a.data)},
                                 .b = {.host = tsl_writable(call->b.data)},
                                 .c = {.host = tsl_writable(call->c.data)}};
  tsl_request request;
  tsl_problem problem;
  TSL_TRY(tsl_api_gemm_request(group->context, &group->small.descs[gemm->number], &request));
  const tesela_status status = tsl_api_call(group->context, &request, NULL, NULL);
  if (status == TESELA_OK || status == TESELA_DEVICE_FAILED)
    return status;
  TSL_TRY(tsl_api_problem(&request, &problem));
  return tsl_products_by_specification(&problem, group->small.cpu, TSL_PLACE_HOST, &operands);
}

static tesela_status grouped_small_multiply(const tsl_grouped *group, const tsl_small_gemm *gemm) {
  const tsl_floats before = tsl_exceptions_begin();
  const bool is_done = tsl_dispatch(&gemm->call, group->small.cpu, NULL);
  if (tsl_floats_read() != before)
    settle(before, &gemm->call);
  return is_done ? TESELA_OK : grouped_small_by_plan(group, gemm);
}

typedef struct grouped_small_state {
  tsl_grouped *group;
  int64_t parts;
} grouped_small_state;

static void grouped_small_multiply_part(void *argument, int64_t part, int worker) {
  const grouped_small_state *run = argument;
  const int64_t count = run->group->small.count, end = tsl_partition_begin(count, run->parts, part + 1);
  (void)worker;
  for (int64_t i = tsl_partition_begin(count, run->parts, part); i < end; i++)
    tsl_grouped_note(run->group, grouped_small_multiply(run->group, &run->group->small.all[i]));
}

void tsl_grouped_run_small(tsl_grouped *group) {
  const tsl_small_gemm_group *gemms = &group->small;
  double work = 0;
  for (int64_t i = 0; i < gemms->count; i++)
    work += 2.0 * (double)(gemms->all[i].call.m * gemms->all[i].call.n * gemms->all[i].call.k);
  const tsl_team team =
      work < (double)tsl_crossovers.thread_batch ? (tsl_team){0} : tsl_device_team(gemms->cpu);
  const int threads = tsl_team_threads(team);
  grouped_small_state all = {group, threads == 1 ? 1 : tsl_crossovers_parts(gemms->count, threads)};
  tsl_team_run(team, all.parts, grouped_small_multiply_part, &all);
}
