#include "strategy/gemm/composite/several/several.h"

#include "core/log.h"
#include "core/memory.h"
#include "core/status.h"
#include "problem/structure.h"

typedef struct several_launch {
  const tsl_work *work;
  const tsl_operands *operands;
  tsl_several_part *part;
  tesela_status status;
  tsl_status_saved failure;
  void *sums;    /* dense C of a part of the terms; NULL: C itself */
  void *saved_c; /* saved contents of C's part, row by row; NULL: not saved */
} several_launch;

static tsl_operand operand_from_element(const tsl_operand *whole, int64_t elements, tesela_type type) {
  tsl_operand part = *whole;
  part.host = whole->host ? (unsigned char *)whole->host + elements * (int64_t)tsl_type(type)->size : NULL;
  return part;
}

/* Returns the operands of a part. C is its partial sums, if it has any. */
static tsl_operands several_operands_of(const several_launch *job) {
  const tsl_problem *problem = &job->work->problem;
  const int64_t cut = job->work->config.value[SEVERAL_CUT];
  const tsl_operands *all = job->operands;
  const int64_t first = job->part->first;
  tsl_operands part_operands = *all;
  if (cut != SEVERAL_COLS)
    part_operands.a = operand_from_element(
        &all->a, first * (cut == SEVERAL_ROWS ? problem->a.row_stride : problem->a.col_stride),
        problem->a.type);
  if (cut != SEVERAL_ROWS)
    part_operands.b = operand_from_element(
        &all->b, first * (cut == SEVERAL_COLS ? problem->b.col_stride : problem->b.row_stride),
        problem->b.type);
  if (job->sums)
    part_operands.c = (tsl_operand){.host = job->sums, .row_stride = problem->n, .col_stride = 1};
  else if (cut != SEVERAL_TERMS)
    part_operands.c = operand_from_element(
        &all->c, first * (cut == SEVERAL_ROWS ? problem->c.row_stride : problem->c.col_stride),
        problem->c.type);
  part_operands.scratch = NULL;
  return part_operands;
}

/* Returns the call's team for a processor; for other devices threads that copy operands. */
static tsl_team several_team_of(const several_launch *job) {
  const tsl_several_part *part = job->part;
  if (part->pool)
    return tsl_pool_team(part->pool, 0);
  return tsl_device_is_host(part->device) ? job->operands->team : (tsl_team){0};
}

static void several_run_child(several_launch *job, tsl_subplan *child, tsl_team team) {
  tsl_operands part_operands = several_operands_of(job);
  part_operands.team = team;
  job->status = job->work->subplans->run(child, &part_operands);
  if (job->status != TESELA_OK)
    tsl_status_save(&job->failure);
}

static void *several_run_part(void *argument) {
  several_launch *job = argument;
  tsl_subplan *replacement = atomic_load(&job->part->replacement);
  several_run_child(job, replacement ? replacement : job->part->child,
                    replacement ? (tsl_team){0} : several_team_of(job));
  return NULL;
}

typedef struct c_backup {
  const several_launch *job;
  unsigned char *packed;
  bool restores;
} c_backup;

static void copy_row_of_c(void *argument, int64_t row, int worker) {
  const c_backup *backup = argument;
  const tsl_problem *problem = &backup->job->part->problem;
  const tsl_type_info *type = tsl_type(problem->c.type);
  const tsl_operands part_operands = several_operands_of(backup->job);
  const int64_t size = (int64_t)type->size, step = problem->c.col_stride;
  unsigned char *packed = backup->packed + row * problem->n * size,
                *host = (unsigned char *)part_operands.c.host + row * problem->c.row_stride * size;
  (void)worker;
  if (backup->restores)
    tsl_type_convert(problem->c.type, packed, 1, problem->c.type, host, step, (size_t)problem->n);
  else
    tsl_type_convert(problem->c.type, host, step, problem->c.type, packed, 1, (size_t)problem->n);
}

/* Saves C's part before a run that may fail. Saves nothing if beta is 0 or memory is short. */
static void save_c(several_launch *job) {
  const tsl_problem *problem = &job->part->problem;
  const tsl_subplan *replacement = atomic_load(&job->part->replacement);
  size_t elements, bytes;
  tsl_status_saved saved;
  if (!tsl_problem_reads(problem, TSL_OPERAND_C) || replacement || tsl_device_is_host(job->part->device) ||
      !tsl_size_mul((size_t)problem->m, (size_t)problem->n, &elements) ||
      !tsl_size_mul(elements, tsl_type(problem->c.type)->size, &bytes))
    return;
  tsl_status_save(&saved);
  if (bytes < tsl_memory_available() / 2 && tsl_alloc(bytes, "what C held", &job->saved_c) == TESELA_OK)
    tsl_team_run(tsl_device_host_team(job->part->device), problem->m, copy_row_of_c,
                 &(c_backup){job, job->saved_c, false});
  tsl_status_restore(&saved);
}

/* Restores C's part; returns true if it has its contents of before the run. */
static bool restore_c(const several_launch *job) {
  if (job->status != TESELA_DEVICE_FAILED || !tsl_problem_reads(&job->part->problem, TSL_OPERAND_C))
    return true;
  if (job->saved_c)
    tsl_team_run(tsl_device_host_team(job->part->device), job->part->problem.m, copy_row_of_c,
                 &(c_backup){job, job->saved_c, true});
  return job->saved_c != NULL;
}

/* Stores the child plan for later runs; destroys it if another run stored one first. */
static void store_replacement(const several_launch *job, tsl_subplan *child) {
  tsl_several *self = job->work->state;
  tsl_subplan *none = NULL;
  pthread_mutex_lock(&self->lock);
  const bool is_first = atomic_compare_exchange_strong(&job->part->replacement, &none, child);
  pthread_mutex_unlock(&self->lock);
  if (!is_first)
    job->work->subplans->destroy(child);
}

/* Repeats a failed part on another device with its proven strategy. */
static bool several_repeat_on(several_launch *job, const tsl_several_part *other) {
  const tsl_subplan_factory *children = job->work->subplans;
  const tsl_subplan_request request = {
      .problem = &job->part->problem,
      .device = other->device,
      .workspace_most = UINT64_MAX,
      .most = tsl_accuracy_of_one_part(&job->work->problem, &job->part->problem,
                                       tsl_several_partial_sums(&job->work->problem, &job->work->config)),
      .like = other->child};
  several_launch again = *job;
  tsl_subplan *child;
  if (!restore_c(job) || children->make(children, &request, &child) != TESELA_OK)
    return false;
  several_run_child(&again, child, (tsl_team){0});
  if (again.status != TESELA_OK) {
    children->destroy(child);
    job->status = again.status; /* C may be spoilt by this failure too */
    return false;
  }
  store_replacement(job, child);
  tsl_several_report_failure(job->work, job->part->device->name, other->device->name, job->failure.sentence);
  return true;
}

/* Repeats a failed part on the devices of other parts. TESELA_DEVICE_FAILED: C is lost. */
static tesela_status several_repair(several_launch *jobs, int count, int failed) {
  tsl_status_saved first = jobs[failed].failure;
  for (int i = 0; i < count; i++)
    if (jobs[i].status == TESELA_OK && several_repeat_on(&jobs[failed], jobs[i].part)) {
      jobs[failed].status = TESELA_OK;
      return TESELA_OK;
    }
  /* Other parts are written already, so C is lost. */
  bool is_any = false;
  for (int i = 0; i < count; i++)
    is_any |= jobs[i].status == TESELA_OK;
  tsl_status_restore(&first);
  return is_any ? TESELA_DEVICE_FAILED : jobs[failed].status;
}

/* Allocates the sums of a part of the terms; the first part is computed in C. */
static tesela_status allocate_partial_sums(several_launch *job) {
  const tsl_problem *problem = &job->part->problem;
  size_t bytes;
  if (job->work->config.value[SEVERAL_CUT] != SEVERAL_TERMS || job->part->first == 0)
    return TESELA_OK;
  if (!tsl_size_mul((size_t)problem->m, (size_t)problem->n, &bytes) ||
      !tsl_size_mul(bytes, tsl_type(problem->c.type)->size, &bytes))
    return tsl_fail(TESELA_OUT_OF_MEMORY, "sums of %s have more bytes than 64 bits count",
                    job->part->device->name);
  return tsl_alloc(bytes, "sums of a part of the terms", &job->sums);
}

typedef struct partial_sums {
  const several_launch *jobs;
  int count;
} partial_sums;

static void add_element(tesela_type type, const void *from, void *dst) {
  if (type == TESELA_F32)
    *(float *)dst += *(const float *)from;
  else if (type == TESELA_F64)
    *(double *)dst += *(const double *)from;
  else
    *(uint32_t *)dst += *(const uint32_t *)from;
}

static void several_add_row(void *argument, int64_t row, int worker) {
  const partial_sums *sums = argument;
  const tsl_problem *problem = &sums->jobs->work->problem;
  const int64_t size = (int64_t)tsl_type(problem->c.type)->size;
  (void)worker;
  for (int i = 0; i < sums->count; i++)
    for (int64_t col = 0; sums->jobs[i].sums && col < problem->n; col++)
      add_element(problem->c.type,
                  (const unsigned char *)sums->jobs[i].sums + (row * problem->n + col) * size,
                  (unsigned char *)sums->jobs->operands->c.host + tsl_shape_offset(&problem->c, row, col));
}

static void add_sums(const several_launch *jobs, int count) {
  if (jobs->work->config.value[SEVERAL_CUT] == SEVERAL_TERMS && count > 1)
    tsl_team_run(tsl_device_host_team(jobs->part->device), jobs->work->problem.m, several_add_row,
                 &(partial_sums){jobs, count});
}

/* Returns the part that the caller's thread computes: the processor's, or the last. */
static int part_of_caller(const tsl_several *self) {
  for (int i = 0; i < self->count; i++)
    if (tsl_device_is_host(self->parts[i].device))
      return i;
  return self->count - 1;
}

tesela_status tsl_several_run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream) {
  tsl_several *self = work->state;
  several_launch jobs[TSL_MEMBERS_MAX] = {{0}};
  tesela_status status = TESELA_OK;
  (void)stream;
  if (work->sharding)
    return tsl_several_run_workers(work, operands);
  for (int i = 0; i < self->count; i++) {
    jobs[i] = (several_launch){.work = work, .operands = operands, .part = &self->parts[i]};
    TSL_GO(allocate_partial_sums(&jobs[i]));
    save_c(&jobs[i]);
  }
  tsl_several_run_each(jobs, sizeof *jobs, self->count, part_of_caller(self), several_run_part);
  for (int i = 0; i < self->count; i++)
    if (jobs[i].status != TESELA_OK)
      TSL_GO(several_repair(jobs, self->count, i));
  if (self->count > 0)
    add_sums(jobs, self->count);
out:
  for (int i = 0; i < self->count; i++) {
    tsl_free(jobs[i].saved_c);
    tsl_free(jobs[i].sums);
  }
  return status;
}
