/* Loop 4 is cut into parts, each with a dense C of its own in whole vectors. Sums are added in the order of
 * the parts. */
#include "core/pool.h"
#include "core/scratch.h"
#include "core/status.h"
#include "strategy/gemm/host/host_packed/blocking.h"

typedef struct split_k_launch {
  const tsl_packed_job *job;
  unsigned char *sums, *copies;
  int64_t sum_row, sum_bytes; /* row stride of a part's C in elements, and its bytes */
  int64_t a_bytes, b_bytes;   /* bytes of a worker's packed A and packed B */
  bool is_alone;              /* a single thread computes all parts, and prefetches the next part's B */
} split_k_launch;

static tsl_packed_job split_k_job_of_part(const split_k_launch *run, int64_t index) {
  const tsl_packed_job *whole = run->job;
  const int64_t panels = tsl_ceil_div_or_one(whole->views.k, whole->kc),
                first = tsl_partition_begin(panels, whole->split_k, index) * whole->kc,
                end = tsl_partition_begin(panels, whole->split_k, index + 1) * whole->kc;
  tsl_packed_job part = *whole;
  part.schedule = TSL_PACKED_ROWS;
  part.views.k = tsl_min(end, whole->views.k) - first;
  part.ahead = run->is_alone ? whole->views.k - first - part.views.k : 0;
  part.views.a.at = part.views.a.at + first * part.views.a.col_stride * part.size;
  part.views.b.at = part.views.b.at + first * part.views.b.row_stride * part.size;
  if (part.views.a.packed)
    part.views.a.packed = (const unsigned char *)part.views.a.packed + first * part.views.m * part.size;
  if (part.views.b.packed) {
    const int64_t lanes = tsl_packed_lanes(part.kernels);
    part.views.b.packed = (const unsigned char *)part.views.b.packed +
                          first * tsl_ceil_div_or_one(part.views.n, lanes) * lanes * part.size;
  }
  part.views.c =
      (tsl_view){.at = run->sums + index * run->sum_bytes, .row_stride = run->sum_row, .col_stride = 1};
  part.views.c.triangle = whole->views.c.triangle;
  part.masks_c = false;
  part.alpha[0] = 1;
  part.alpha[1] = part.beta[0] = part.beta[1] = 0;
  return part;
}

static void split_k_multiply_part(void *argument, int64_t index, int worker) {
  const split_k_launch *run = argument;
  const tsl_packed_job part = split_k_job_of_part(run, index);
  unsigned char *copies = run->copies + worker * (run->a_bytes + run->b_bytes);
  tsl_packed_stream_a_alone(&part, copies, copies + run->a_bytes);
}

static void split_k_add_row(void *argument, int64_t index, int worker) {
  const split_k_launch *run = argument;
  const tsl_packed_job *job = run->job;
  const tsl_packed_span span = tsl_packed_span_of_row(job, index);
  (void)worker;
  job->kernels->add_split_k(
      run->sums + (index * run->sum_row + span.first) * job->size, job->split_k, run->sum_bytes / job->size,
      span.end - span.first,
      job->views.c.at + (index * job->views.c.row_stride + span.first * job->views.c.col_stride) * job->size,
      job->views.c.col_stride, job->alpha, job->beta);
  tsl_packed_clear_diagonal(job, index);
}

tsl_packed_sharing tsl_packed_share_split_k(const tsl_packed_job *job, int64_t threads) {
  /* Parts differ by at most a panel, and an idle thread takes the next part; longer parts come first. */
  enum { WORKERS_MOST = 64 };
  const int64_t panels = tsl_ceil_div_or_one(job->views.k, job->kc),
                workers = tsl_min(threads, tsl_min(job->split_k, WORKERS_MOST));
  int64_t taken[WORKERS_MOST] = {0}, busiest = 0;
  for (int64_t part = 0; part < job->split_k; part++) {
    int64_t next = 0;
    for (int64_t i = 1; i < workers; i++)
      next = taken[i] < taken[next] ? i : next;
    taken[next] +=
        tsl_partition_begin(panels, job->split_k, part + 1) - tsl_partition_begin(panels, job->split_k, part);
    busiest = tsl_max(busiest, taken[next]);
  }
  return (tsl_packed_sharing){.waits = 2, .uneven = (double)(busiest * threads) / (double)panels};
}

tesela_status tsl_packed_run_split_k(const tsl_packed_job *job, tsl_team team) {
  const int64_t threads = tsl_team_threads(team), lanes = tsl_packed_lanes(job->kernels);
  split_k_launch run = {
      .job = job, .sum_row = tsl_ceil_div_or_one(job->views.n, lanes) * lanes, .is_alone = threads == 1};
  run.sum_bytes = tsl_packed_bytes(job, job->views.m * run.sum_row);
  run.a_bytes = tsl_packed_bytes(job, tsl_packed_width_of_a(job, job->mr) * job->kc);
  run.b_bytes = tsl_packed_bytes(job, tsl_packed_width_of_b(job, job->views.n) * job->kc);
  const int64_t bytes = job->split_k * run.sum_bytes + threads * (run.a_bytes + run.b_bytes);
  void *memory;
  TSL_TRY(tsl_scratch_take((size_t)bytes, "sums of parts", &memory));
  run.sums = memory;
  run.copies = run.sums + job->split_k * run.sum_bytes;
  if (threads == 1) {
    for (int64_t i = 0; i < job->split_k; i++)
      split_k_multiply_part(&run, i, 0);
    for (int64_t i = 0; i < job->views.m; i++)
      split_k_add_row(&run, i, 0);
  } else {
    tsl_team_run(team, job->split_k, split_k_multiply_part, &run);
    tsl_team_run(team, job->views.m, split_k_add_row, &run);
  }
  tsl_scratch_give(memory);
  return TESELA_OK;
}
