#include "strategy/gemm/composite/several/several.h"

#include "core/log.h"
#include "core/status.h"
#include "device/staging.h"
#include "strategy/model_constants.h"

#include <math.h>
#include <string.h>

/* Returns the unit of a part in lines: a multiple of kernels' tiles and of the operands' alignment. */
static int64_t grain_of(int64_t size, int count) {
  static const int64_t grains[] = {256, 64, 16, 1};
  int i = 0;
  while (grains[i] > 1 && size < 16 * grains[i] * count)
    i++;
  return grains[i];
}

int tsl_several_side(const tsl_problem *problem, int devices) {
  const double a = tsl_problem_operand_bytes(problem, TSL_OPERAND_A),
               b = tsl_problem_operand_bytes(problem, TSL_OPERAND_B);
  const bool rows = problem->m >= devices && (problem->n < devices || a + devices * b <= devices * a + b);
  return rows ? SEVERAL_ROWS : SEVERAL_COLS;
}

bool tsl_several_is_deep(const tsl_problem *problem) {
  enum { DEEP = 32 };
  const double a = tsl_problem_operand_bytes(problem, TSL_OPERAND_A),
               b = tsl_problem_operand_bytes(problem, TSL_OPERAND_B);
  return tsl_problem_can_accumulate_in_c(problem) &&
         fmin(a, b) >= DEEP * tsl_problem_operand_bytes(problem, TSL_OPERAND_C);
}

int64_t tsl_several_partial_sums(const tsl_problem *problem, const tsl_config *config) {
  const int64_t cut = config->value[SEVERAL_CUT];
  int64_t said = 0;
  for (int i = 0; i < TSL_MEMBERS_MAX; i++)
    said += config->value[SEVERAL_PART + i] > 0;
  if (cut != SEVERAL_TERMS && (cut != 0 || !tsl_several_is_deep(problem)))
    return 1;
  return said > 0 ? said : TSL_MEMBERS_MAX;
}

void tsl_several_distribute_lines(int64_t size, const double *rates, int count, int64_t *lines) {
  const int64_t grain = grain_of(size, count), all = (size + grain - 1) / grain;
  double sum = 0, rest[TSL_MEMBERS_MAX];
  int64_t assigned = 0;
  int last = 0;
  for (int i = 0; i < count; i++)
    sum += rates[i];
  for (int i = 0; i < count; i++) {
    const double ideal = rates[i] / sum * (double)all;
    lines[i] = (int64_t)ideal;
    rest[i] = rates[i] > 0 ? ideal - (double)lines[i] : -1;
    assigned += lines[i];
  }
  for (; assigned < all; assigned++) {
    int most = 0;
    for (int i = 1; i < count; i++)
      most = rest[i] > rest[most] ? i : most;
    lines[most]++;
    rest[most] -= 1;
  }
  for (int i = 0; i < count; i++) {
    lines[i] *= grain;
    last = lines[i] > 0 ? i : last;
  }
  lines[last] -= all * grain - size; /* the last grain may be partial */
}

tsl_problem tsl_several_problem_of_part(const tsl_problem *whole, int side, int64_t first, int64_t count) {
  tsl_problem part = tsl_problem_drop_epilogue(whole);
  if (side == SEVERAL_TERMS) {
    part.k = part.a.cols = part.b.rows = count;
    if (first > 0) {
      part.c.row_stride = part.n;
      part.c.col_stride = 1;
      memset(part.beta, 0, sizeof part.beta);
    }
  } else if (side == SEVERAL_ROWS)
    part.m = part.a.rows = part.c.rows = count;
  else
    part.n = part.b.cols = part.c.cols = count;
  return part;
}

typedef struct cut_decision {
  const tsl_work *work;
  tsl_several *self;
  int side, count;
  int64_t size;                  /* lines of the side, or terms */
  double rates[TSL_MEMBERS_MAX]; /* lines a second; 0: the member gets no part */
  int64_t lines[TSL_MEMBERS_MAX];
  double seconds;
} cut_decision;

/* Returns the seconds that transfers of distributed operands add to `compute` seconds. */
static double link_seconds(const cut_decision *job, int member, int64_t lines, double compute) {
  const tsl_work *work = job->work;
  const int64_t begin = job->size / job->count * member, most = job->size - lines;
  const tsl_rect band =
      tsl_several_rect_of_lines(&work->problem, job->side, begin < most ? begin : most, lines);
  tsl_traffic traffic;
  double first;
  if (!work->sharding)
    return 0;
  tsl_several_traffic(work, &band, member, &traffic);
  tsl_several_measure(work->device, member, &traffic, &job->self->links);
  const double copies =
      tsl_several_link_seconds(&traffic, &job->self->links, member, tsl_several_slab_bytes(work), &first);
  return fmax(copies - compute, first);
}

static double expected_seconds_of(const cut_decision *job, int member, int64_t lines) {
  const tsl_problem part = tsl_several_problem_of_part(&job->work->problem, job->side, 0, lines);
  const tsl_subplan_request request = {
      .problem = &part,
      .device = job->work->device->members[member],
      .in_buffers = job->work->sharding != NULL,
      .workspace_most = UINT64_MAX,
      .most =
          tsl_accuracy_of_one_part(&job->work->problem, &part, job->side == SEVERAL_TERMS ? job->count : 1)};
  const double seconds = job->work->subplans->seconds(job->work->subplans, &request);
  return seconds > 0 ? seconds + link_seconds(job, member, lines, seconds) : INFINITY;
}

/* Computes the expected seconds of all parts; devices with equal keys and lines are predicted once. */
static void seconds_of_all(const cut_decision *job, const int64_t *lines, double *seconds) {
  for (int i = 0; i < job->count; i++) {
    const char *key = job->work->device->members[i]->key;
    int like = 0;
    while (like < i && (job->work->sharding || lines[like] != lines[i] ||
                        strcmp(job->work->device->members[like]->key, key) != 0))
      like++;
    seconds[i] = lines[i] == 0 ? 0 : like < i ? seconds[like] : expected_seconds_of(job, i, lines[i]);
  }
}

/* Distributes lines by rates, updated from the expected times: small parts cost more for each line. */
static void distribute_by_times(cut_decision *job) {
  enum { ROUNDS = 3 };
  job->seconds = INFINITY;
  for (int round = 0; round < ROUNDS; round++) {
    int64_t lines[TSL_MEMBERS_MAX];
    double slowest = 0, seconds[TSL_MEMBERS_MAX];
    tsl_several_distribute_lines(job->size, job->rates, job->count, lines);
    seconds_of_all(job, lines, seconds);
    for (int i = 0; i < job->count; i++)
      slowest = fmax(slowest, seconds[i]);
    if (!(slowest < job->seconds))
      return;
    job->seconds = slowest;
    for (int i = 0; i < job->count; i++) {
      job->lines[i] = lines[i];
      job->rates[i] = lines[i] > 0 ? (double)lines[i] / seconds[i] : job->rates[i];
    }
  }
}

/* Gives all lines to the fastest member if the other members would only delay it. */
static void try_fastest_alone(cut_decision *job, const double *alone) {
  int best = 0;
  for (int i = 1; i < job->count; i++)
    best = alone[i] < alone[best] ? i : best;
  if (!(alone[best] <= job->seconds))
    return;
  for (int i = 0; i < job->count; i++)
    job->lines[i] = i == best ? job->size : 0;
  job->seconds = alone[best];
}

/* A device's own copies are predicted for a host without other devices. */
double tsl_several_host_seconds(const tsl_work *work) {
  const int64_t *value = work->config.value;
  double seconds = 0;
  for (int i = 0; i < work->device->member_count; i++) {
    const tsl_device *member = work->device->members[i];
    const tsl_problem part =
        tsl_several_problem_of_part(&work->problem, (int)value[SEVERAL_CUT], 0, value[SEVERAL_PART + i]);
    if (value[SEVERAL_PART + i] > 0 && tsl_staging_is_offered(member))
      seconds += tsl_problem_bytes(&part) / tsl_model_constants_of(member)->several.host_copy_rate;
  }
  return seconds;
}

bool tsl_several_has_parts(const tsl_config *config) {
  for (int i = 0; i < TSL_MEMBERS_MAX; i++)
    if (config->value[SEVERAL_PART + i] > 0)
      return true;
  return false;
}

/* Distributes the lines of one side; returns false if no member can. `alone`: seconds for all lines. */
static bool decide_side(cut_decision *job, unsigned idle, double *alone) {
  const tsl_problem *problem = &job->work->problem;
  int64_t all[TSL_MEMBERS_MAX] = {0};
  bool is_any = false;
  job->size = job->side == SEVERAL_ROWS ? problem->m : job->side == SEVERAL_COLS ? problem->n : problem->k;
  for (int i = 0; i < job->count; i++)
    all[i] = job->size;
  seconds_of_all(job, all, alone);
  for (int i = 0; i < job->count; i++) {
    alone[i] = idle & 1u << i ? INFINITY : alone[i];
    job->rates[i] = isfinite(alone[i]) ? (double)job->size / alone[i] : 0;
    is_any |= isfinite(alone[i]);
  }
  if (is_any) {
    distribute_by_times(job);
    try_fastest_alone(job, alone);
  }
  return is_any;
}

/* Returns true if operands are copied to any device; otherwise saving bytes gains nothing. */
static bool any_copies(const tsl_device *group) {
  for (int i = 0; i < group->member_count; i++)
    if (!(group->members[i]->capabilities & (TSL_CAN_HOST | TSL_CAN_SHARED_MEMORY)))
      return true;
  return false;
}

static const char *name_of_side(int side) {
  return side == SEVERAL_ROWS ? "rows" : side == SEVERAL_COLS ? "columns" : "terms";
}

tesela_status tsl_several_decide(tsl_work *work, tsl_several *self, unsigned idle) {
  const tsl_device *group = work->device;
  tsl_config *config = &work->config;
  cut_decision job = {
      .work = work, .self = self, .count = group->member_count, .side = (int)config->value[SEVERAL_CUT]};
  double alone[TSL_MEMBERS_MAX];
  const bool is_open = job.side == 0;
  if (tsl_several_has_parts(config))
    return TESELA_OK;
  if (is_open)
    job.side = tsl_several_side(&work->problem, job.count);
  if (!decide_side(&job, idle, alone))
    return tsl_fail(TESELA_UNSUPPORTED, "no device of %s can compute a part of this product", group->name);
  if (is_open && !work->sharding && tsl_several_is_deep(&work->problem) && any_copies(group)) {
    cut_decision terms = {.work = work, .self = self, .count = group->member_count, .side = SEVERAL_TERMS};
    double by_terms[TSL_MEMBERS_MAX];
    if (decide_side(&terms, idle, by_terms) && terms.seconds < job.seconds)
      job = terms;
  }
  config->value[SEVERAL_CUT] = job.side;
  self->seconds = job.seconds;
  for (int i = 0; i < job.count; i++) {
    config->value[SEVERAL_PART + i] = job.lines[i];
    tsl_log(TSL_LOG_PLAN, "several: %s alone %.3g s; its part is %lld of %lld %s", group->members[i]->name,
            alone[i], (long long)job.lines[i], (long long)job.size, name_of_side(job.side));
  }
  return TESELA_OK;
}
