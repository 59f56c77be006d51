/* Runs a job as a whole or in parts of k, where C gives threads too few pieces. Each part has a dense C of
 * its own, and the sums of parts are added in order. The parts depend on the product alone, so any number of
 * threads gives equal bits. */
#include "core/scratch.h"
#include "core/status.h"
#include "host/int_math.h"
#include "strategy/gemm/host/host_skinny/host_skinny_job.h"

/* Lines of a part's C lie as the walk stores these: along `few` in TSL_SKINNY_COLUMNS, else along `many`. */
typedef struct split_launch {
  const tsl_skinny_job *job;
  const char *large, *thin;
  char *sums, *c;
  int64_t lines, reals, line, step; /* lines of C, reals of a line; strides of C in reals */
  int64_t tasks;                    /* that add lines */
  tesela_status status[TSL_SKINNY_PARTS_MAX];
} split_launch;

static void split_part(void *argument, int64_t index, int worker) {
  split_launch *run = argument;
  const tsl_skinny_job *job = run->job;
  const int64_t size = job->size, pair = job->is_complex && job->walk == TSL_SKINNY_COLUMNS ? 2 : 1,
                steps = job->depth / pair, first = tsl_partition_begin(steps, job->parts, index),
                end = tsl_partition_begin(steps, job->parts, index + 1);
  const bool by_columns = job->walk == TSL_SKINNY_COLUMNS;
  const int64_t thin_step = job->is_complex ? 2 * job->complex.thin_along : job->thin_along;
  tsl_skinny_job part = *job;
  (void)worker;
  part.depth = part.panel = (end - first) * pair;
  part.alpha = part.complex.alpha[0] = 1;
  part.beta = part.complex.alpha[1] = part.complex.beta[0] = part.complex.beta[1] = 0;
  *(by_columns ? &part.c_few : &part.c_many) = job->is_complex ? 2 : 1;
  *(by_columns ? &part.c_many : &part.c_few) = run->reals;
  if (job->is_complex)
    part.thin_across = part.depth;
  tsl_skinny_set_lines(&part, job->lines.prefetches);
  run->status[index] = tsl_skinny_run_whole(
      &part, (tsl_team){0}, run->large + first * pair * job->along * size,
      run->thin + first * thin_step * size, run->sums + index * run->lines * run->reals * size);
}

/* Adds the parts of a line of C, and stores the line. */
static void add_line(const split_launch *run, int64_t index) {
  const tsl_skinny_job *job = run->job;
  char *const sums = run->sums + index * run->reals * job->size, *c = run->c + index * run->line * job->size;
  for (int64_t part = 1; part < job->parts; part++)
    job->kernels->finish(sums + part * run->lines * run->reals * job->size, 1, run->reals, 1, 1, sums, 1);
  if (job->is_complex)
    job->kernels->finish_complex(sums, NULL, 1, 2, run->reals / 2, job->complex.alpha, job->complex.beta, c,
                                 run->step);
  else
    job->kernels->finish(sums, 1, run->reals, job->alpha, job->beta, c, run->step);
}

static void add_lines(void *argument, int64_t index, int worker) {
  const split_launch *run = argument;
  const int64_t end = tsl_partition_begin(run->lines, run->tasks, index + 1);
  (void)worker;
  for (int64_t line = tsl_partition_begin(run->lines, run->tasks, index); line < end; line++)
    add_line(run, line);
}

static tesela_status run_split(const tsl_skinny_job *job, tsl_team team, const char *large, const char *thin,
                               char *c) {
  enum { TASK_REALS = 16 << 10 }; /* fewer are added while threads wake */
  const bool by_columns = job->walk == TSL_SKINNY_COLUMNS;
  const int64_t few = job->is_complex ? job->few / 2 : job->few, parts = job->parts;
  split_launch run = {.job = job, .large = large, .thin = thin, .c = c};
  void *memory;
  run.lines = by_columns ? job->many : few;
  run.reals = by_columns ? job->few : job->many;
  run.line = by_columns ? job->c_many : job->c_few;
  run.step = by_columns ? job->c_few : job->c_many;
  TSL_TRY(tsl_scratch_take((size_t)(parts * run.lines * run.reals * job->size), "sums of parts", &memory));
  run.sums = memory;
  tsl_team_run(team, parts, split_part, &run);
  tesela_status status = TESELA_OK;
  for (int64_t part = 0; part < parts && status == TESELA_OK; part++)
    status = run.status[part];
  run.tasks = tsl_min(run.lines, 1 + parts * run.lines * run.reals / TASK_REALS);
  if (status == TESELA_OK)
    tsl_team_run(team, run.tasks, add_lines, &run);
  tsl_scratch_give(memory);
  return status;
}

tesela_status tsl_skinny_job_run(const tsl_skinny_job *job, tsl_team team, const void *a, const void *b,
                                 void *c) {
  static const double zero;
  const tsl_team crew = job->alone ? (tsl_team){0} : team;
  const char *const large = job->is_swapped ? a : b, *thin = job->is_swapped ? b : a;
  if (job->depth > 0 || job->is_complex)
    return (job->parts > 1 ? run_split : tsl_skinny_run_whole)(job, crew, large, thin, c);
  for (int64_t i = 0; i < job->few; i++) /* beta C */
    job->kernels->finish(&zero, 0, job->many, 1, job->beta, (char *)c + i * job->c_few * job->size,
                         job->c_many);
  return TESELA_OK;
}
