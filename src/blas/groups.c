/* Groups that are worth a plan go to tesela in one call; threads divide small products, without plans. */
#include "blas/blas_batch.h"

#include "blas/blas_context.h"
#include "blas/blas_dispatch.h"
#include "blas/blas_gemm.h"
#include "blas/blas_threads.h"
#include "core/pool.h"
#include "dispatch/crossovers.h"

#include <stdlib.h>
#include <string.h>

tsl_blas_group *tsl_blas_take_groups(int64_t count) {
  return count > 0 ? calloc((size_t)count, sizeof(tsl_blas_group)) : NULL;
}

static double groups_work_of(const tsl_blas_group *group) {
  return 2 * tsl_blas_volume(&group->product) * (double)group->batch.count;
}

static int groups_compare(const void *x, const void *y) {
  const uintptr_t a = *(const uintptr_t *)x, b = *(const uintptr_t *)y;
  return a < b ? -1 : a > b;
}

/* Returns false if products have one C and must not run in parallel, or without memory. */
static bool groups_are_apart(const tsl_blas_group *groups, int64_t count) {
  int64_t products = 0, at = 0;
  bool sorted = true, apart = true;
  for (int64_t g = 0; g < count; g++)
    products += groups[g].batch.count;
  uintptr_t *each = products > 0 ? malloc((size_t)products * sizeof *each) : NULL;
  if (!each)
    return false;
  for (int64_t g = 0; g < count; g++)
    for (int64_t i = 0; i < groups[g].batch.count; i++, at++) {
      each[at] = (uintptr_t)groups[g].batch.c[i];
      sorted = sorted && (at == 0 || each[at - 1] < each[at]);
    }
  if (!sorted)
    qsort(each, (size_t)products, sizeof *each, groups_compare);
  for (int64_t i = 1; i < products && !sorted; i++)
    apart = apart && each[i - 1] < each[i];
  free(each);
  return apart;
}

static bool is_worth_a_plan(const tsl_blas_group *group) {
  return group->batch.count >= tsl_crossovers.batch_count ||
         groups_work_of(group) >= (double)tsl_crossovers.group_plan;
}

/* Arguments of tsl_blas_run_grouped(); `words` owns the memory. */
typedef struct grouped_call {
  tsl_blas_desc_storage *words;
  tesela_gemm_desc *descs;
  tesela_batch *batches;
  tsl_blas_group **groups;
  int64_t count;
  bool reads; /* a product reads C */
} grouped_call;

static bool grouped_call_create(int64_t count, grouped_call *out) {
  out->words = malloc((size_t)count * (sizeof *out->words + sizeof *out->descs + sizeof *out->batches +
                                       sizeof(tsl_blas_group *)));
  if (!out->words)
    return false;
  out->descs = (tesela_gemm_desc *)(out->words + count);
  out->batches = (tesela_batch *)(out->descs + count);
  out->groups = (tsl_blas_group **)(out->batches + count);
  return true;
}

static void grouped_call_add(tesela_type type, tsl_blas_group *group, grouped_call *state) {
  const int64_t at = state->count++;
  const tsl_call work = tsl_blas_work_of(type, &group->product);
  tsl_blas_to_desc(&work, &state->words[at]);
  state->descs[at] = state->words[at].desc;
  state->batches[at] = group->batch;
  state->groups[at] = group;
  state->reads = state->reads || state->words[at].beta[0] != 0 || state->words[at].beta[1] != 0;
}

static void run_grouped_call(tsl_blas_call *call, const grouped_call *all) {
  tesela_record record;
  if (tsl_blas_logging) {
    tsl_blas_describe(call, &all->groups[0]->product);
    call->flops = 0;
    int64_t products = 0;
    for (int64_t i = 0; i < all->count; i++) {
      call->flops += groups_work_of(all->groups[i]);
      products += all->groups[i]->batch.count;
    }
    tsl_blas_note_count(products);
  }
  tsl_blas_begin(call);
  const tesela_status status =
      tsl_blas_run_grouped(all->descs, all->batches, all->count, tsl_blas_record(call, &record));
  const bool done = tsl_blas_end_batch(call, status, &record, all->reads);
  for (int64_t i = 0; i < all->count && done; i++)
    all->groups[i]->done = all->groups[i]->batch.count;
}

static void run_planned(tsl_blas_call *call, tsl_blas_group *groups, int64_t count) {
  grouped_call all = {.count = 0};
  int64_t worth = 0;
  for (int64_t g = 0; g < count; g++)
    worth += is_worth_a_plan(&groups[g]);
  if (worth == 0 || !grouped_call_create(worth, &all))
    return;
  for (int64_t g = 0; g < count; g++)
    if (is_worth_a_plan(&groups[g]) && tsl_blas_is_ours(call, &groups[g].product))
      grouped_call_add(call->symbol->type, &groups[g], &all);
  if (all.count > 0)
    run_grouped_call(call, &all);
  free(all.words);
}

typedef struct groups_sharing {
  tsl_blas_symbol *symbol;
  tsl_blas_group **groups; /* groups too small for a plan */
  int64_t count, jobs;
} groups_sharing;

static void groups_run_job(void *argument, int64_t index, int worker) {
  const groups_sharing *sharing = argument;
  const int64_t first = index * sharing->count / sharing->jobs,
                end = (index + 1) * sharing->count / sharing->jobs;
  (void)worker;
  for (int64_t g = first; g < end; g++) {
    tsl_blas_group *group = sharing->groups[g];
    tsl_blas_multiply product = group->product;
    tsl_blas_function *next = NULL;
    bool goes_on = true;
    for (int64_t i = 0; i < group->batch.count && goes_on; i++) {
      product.a = group->batch.a[i];
      product.b = group->batch.b[i];
      product.c = group->batch.c[i];
      goes_on = tsl_blas_dispatch_real(sharing->symbol, &product, &next);
      group->done += goes_on;
    }
  }
}

/* Divides groups too small for a plan among threads; not with call logging, which counts single calls. */
static void groups_run_shared(tsl_blas_call *call, tsl_blas_group *groups, int64_t count) {
  const tesela_type type = call->symbol->type;
  const tsl_team team = tsl_pool_team(tsl_pool_shared(), tsl_blas_threads());
  double work = 0;
  if (tsl_blas_logging || !tsl_blas_takes_small() || tsl_blas_is_wide(call->symbol) ||
      (type != TESELA_F32 && type != TESELA_F64) || tsl_team_threads(team) < 2)
    return;
  groups_sharing all = {.symbol = call->symbol, .groups = malloc((size_t)count * sizeof(tsl_blas_group *))};
  for (int64_t g = 0; all.groups && g < count; g++)
    if (groups[g].done == 0 && !is_worth_a_plan(&groups[g]) && tsl_blas_is_ours(call, &groups[g].product)) {
      all.groups[all.count++] = &groups[g];
      work += groups_work_of(&groups[g]);
    }
  all.jobs = tsl_crossovers_parts(all.count, tsl_team_threads(team));
  if (work >= (double)tsl_crossovers.group_threads)
    tsl_team_run(team, all.jobs, groups_run_job, &all);
  free(all.groups);
}

bool tsl_blas_run_groups(tsl_blas_call *call, tsl_blas_group *groups, int64_t count) {
  if (!groups || !groups_are_apart(groups, count))
    return false;
  run_planned(call, groups, count);
  groups_run_shared(call, groups, count);
  return true;
}
