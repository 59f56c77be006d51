#include "check/checking.h"

#include "core/clock.h"
#include "core/status.h"
#include "inventory/select.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double quiet_budget = 20; /* seconds for random cases when nothing is said */

/* Counts the standard cases of each operation. Returns the largest count. */
static int64_t count_standard(tsl_checking *job) {
  tsl_case unused;
  int most = 0;
  for (int op = 0; op < TSL_OP_COUNT; op++) {
    int *count = &job->counts[op];
    while (job->ops[op] && tsl_case_standard((tsl_op)op, *count, TESELA_F32, &unused))
      ++*count;
    most = *count > most ? *count : most;
  }
  return most;
}

static bool have_common_divisor(int a, int b) {
  while (b != 0) {
    const int remainder = a % b;
    a = b;
    b = remainder;
  }
  return a != 1;
}

/* Returns the index of the standard case that is checked as number `turn`. Every case has one turn. The order
 * is spread over the list, whose first cases are empty products, so a short budget still tries all kinds. */
static int64_t in_turn(int count, int64_t turn) {
  int step = (int)(0.618 * count) + 1;
  if (turn >= count)
    return turn; /* past the end */
  while (have_common_divisor(step, count))
    step++;
  return (count / 2 + turn * step) % count;
}

static bool same_types(const tsl_types *a, const tsl_types *b) {
  return a->a == b->a && a->b == b->b && a->c == b->c;
}

/* Returns true if the options select these types. A word without a colon selects by the type of A. */
static bool is_wanted(const tsl_check_options *options, const tsl_type_list *list, const tsl_types *types) {
  for (int i = 0; i < list->count; i++) {
    const tsl_chosen_types *wanted = &list->items[i];
    if (strchr(options->types, ':') ? same_types(&wanted->types, types) : wanted->types.a == types->a)
      return true;
  }
  return list->count == 0;
}

static void checking_add_types(tsl_checking *job, const tsl_strategy *strategy, const tsl_type_list *wanted) {
  tsl_types types;
  for (int i = 0; tsl_strategy_types(strategy, i, &types); i++) {
    int known = 0;
    while (known < job->type_count && !same_types(&job->types[known], &types))
      known++;
    if (known == job->type_count && known < TSL_CHECK_TYPES_MAX && is_wanted(job->given, wanted, &types))
      job->types[job->type_count++] = types;
  }
}

tesela_status tsl_checking_choose(tsl_checking *job, const tsl_strategy_list *strategies) {
  tsl_type_list wanted = {.count = 0};
  if (job->given->types)
    TSL_TRY(tsl_select_types(TSL_OP_GEMM, job->given->types, &wanted));
  for (int i = 0; i < strategies->count; i++) {
    job->ops[strategies->items[i].strategy->op] = true;
    checking_add_types(job, strategies->items[i].strategy, &wanted);
  }
  return TESELA_OK;
}

/* One case of an operation for every type, pair and config. Operations with fewer standard cases end earlier.
 */
static tesela_status checking_check_op(tsl_checking *job, tsl_op op, bool random, int64_t index) {
  for (int t = 0; t < job->type_count; t++) {
    tsl_check_entry entry = {.random = random, .index = index, .seed = (uint64_t)job->given->seed};
    entry.types = job->types[t];
    if (random)
      tsl_case_random(op, entry.seed, (uint64_t)index, entry.types.c, &entry.what);
    else if (!tsl_case_standard(op, (int)index, entry.types.c, &entry.what))
      return TESELA_OK;
    tsl_case_set_types(&entry.what, &entry.types);
    entry.what.problem.ask = job->ask;
    TSL_TRY(tsl_check_list_run(&job->list, &entry));
  }
  return TESELA_OK;
}

static tesela_status check_index(tsl_checking *job, bool random, int64_t index) {
  if (!random && index >= job->standard_count)
    return tsl_fail(TESELA_BAD_CALL, "--case: there is no standard case %lld; the last is %lld",
                    (long long)index, (long long)job->standard_count - 1);
  for (int op = 0; op < TSL_OP_COUNT; op++)
    if (job->ops[op])
      TSL_TRY(checking_check_op(job, (tsl_op)op, random, index));
  return TESELA_OK;
}

static bool time_is_over(const tsl_checking *job) {
  return tsl_clock() >= job->end;
}

/* Each pair with one config in its first type: with a budget, breadth comes first, since every config is a
 * compilation. */
static tesela_status check_pairs(tsl_checking *job) {
  for (int i = 0; i < job->list.pair_count; i++) {
    tsl_check_pair *pair = &job->list.pairs[i];
    const tsl_op op = pair->chosen->strategy->op;
    tsl_check_entry entry = {.index = in_turn(job->counts[op], 0), .seed = (uint64_t)job->given->seed};
    tsl_progress_at(job->progress, "one case each", (double)i / (double)job->list.pair_count);
    for (int t = 0; t < job->type_count && pair->computed == 0; t++) {
      entry.types = job->types[t];
      if (!tsl_case_standard(op, (int)entry.index, entry.types.c, &entry.what))
        continue;
      tsl_case_set_types(&entry.what, &entry.types);
      entry.what.problem.ask = job->ask;
      if (tsl_check_takes(pair, &entry))
        TSL_TRY(tsl_check_list_try(&job->list, pair, &entry));
    }
  }
  return TESELA_OK;
}

static tesela_status check_standard(tsl_checking *job) {
  for (int64_t i = 0; i < job->standard_count; i++) {
    if (time_is_over(job))
      return TESELA_OK;
    tsl_progress_at(job->progress, "standard cases", (double)i / (double)job->standard_count);
    for (int op = 0; op < TSL_OP_COUNT; op++)
      if (job->ops[op])
        TSL_TRY(checking_check_op(job, (tsl_op)op, false, in_turn(job->counts[op], i)));
    job->standard_done += !job->list.over;
  }
  return TESELA_OK;
}

static tesela_status check_random(tsl_checking *job) {
  const int64_t most = job->given->cases ? job->given->cases : INT64_MAX;
  if (!job->given->cases && !job->given->budget)
    job->end = job->list.end = tsl_clock() + quiet_budget;
  const double begin = tsl_clock();
  for (int64_t i = 0; i < most && !time_is_over(job); i++) {
    const double by_time = (tsl_clock() - begin) / (job->end - begin), by_count = (double)i / (double)most;
    tsl_progress_at(job->progress, "random cases", fmax(by_time, by_count));
    TSL_TRY(check_index(job, true, i));
    job->random_done += !job->list.over;
  }
  return TESELA_OK;
}

static tesela_status check_only(tsl_checking *job) {
  static const char *const kinds[] = {"standard:", "random:"};
  for (int i = 0; i < 2; i++) {
    const size_t length = strlen(kinds[i]);
    int64_t index;
    if (strncmp(job->given->only, kinds[i], length) == 0 &&
        tsl_parse_i64(job->given->only + length, &index) && index >= 0 && index < INT32_MAX)
      return check_index(job, i == 1, index);
  }
  return tsl_fail(TESELA_BAD_CALL, "--case: \"%s\" is neither standard:N nor random:N", job->given->only);
}

/* Returns true if any strategy may run on any device. */
static bool any_pair(const tsl_check_list *list) {
  for (int i = 0; i < list->pair_count; i++)
    if (!*list->pairs[i].missing)
      return true;
  return false;
}

tesela_status tsl_checking_run(tsl_checking *job) {
  job->start = tsl_clock();
  job->end = job->given->budget > 0 ? job->start + job->given->budget : INFINITY;
  job->list.end = job->end;
  job->standard_count = count_standard(job);
  if (!any_pair(&job->list))
    return TESELA_OK;
  if (job->given->only)
    return check_only(job);
  if (job->given->budget > 0)
    TSL_TRY(check_pairs(job));
  TSL_TRY(check_standard(job));
  return check_random(job);
}
