/* Operands packed once for many runs: the copies that all schedules make, of all panels, in the order of panels. */
#include "base/pool.h"
#include "strategy/gemm/host_packed/job.h"

size_t tsl_packed_form_bytes(const tsl_packed_job *job, bool is_a) {
  if (is_a)
    return job->copies_a ? (size_t)(job->m * job->k * job->size) : 0;
  return job->copies_b ? (size_t)(tsl_packed_width_of_b(job, job->n) * job->k * job->size) : 0;
}

typedef struct forming {
  const tsl_packed_job *job;
  bool is_a;
  unsigned char *to;
} forming;

/* Slivers are cut within the blocks of rows that the schedule takes. */
static void form_panel(void *argument, int64_t index, int worker) {
  const forming *of = argument;
  const tsl_packed_job *job = of->job;
  const int64_t step = index * job->depth, depth = tsl_packed_least(job->depth, job->k - step),
                rows = job->schedule == TSL_PACKED_PANELS ? job->rows : job->m;
  (void)worker;
  if (!of->is_a) {
    const tsl_packed_block block = {0, job->m, 0, job->n, step, depth};
    tsl_packed_copy_strips(job, &block, 0, tsl_packed_strips(job, &block),
                           of->to + step * tsl_packed_width_of_b(job, job->n) * job->size);
    return;
  }
  for (int64_t row = 0; row < job->m; row += rows) {
    const tsl_packed_block block = {row, tsl_packed_least(rows, job->m - row), 0, job->n, step, depth};
    tsl_packed_copy_slivers(job, &block, 0, tsl_packed_slivers(job, &block),
                            of->to + (step * job->m + row * depth) * job->size);
  }
}

void tsl_packed_make_form(const tsl_packed_job *job, bool is_a, void *to, tsl_team team) {
  forming of = {.job = job, .is_a = is_a, .to = to};
  tsl_team_run(team, tsl_packed_count(job->k, job->depth), form_panel, &of);
}
