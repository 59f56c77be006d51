#include "core/scratch.h"
#include "core/status.h"
#include "strategy/gemm/host/host_packed/blocking.h"

static const struct {
  tesela_status (*run)(const tsl_packed_job *, tsl_team);
  tsl_packed_sharing (*share)(const tsl_packed_job *, int64_t);
} schedules[] = {
    [TSL_PACKED_PANELS] = {tsl_packed_run_panels, tsl_packed_share_panels},
    [TSL_PACKED_ROWS] = {tsl_packed_run_stationary, tsl_packed_share_stationary},
    [TSL_PACKED_COLUMNS] = {tsl_packed_run_stationary, tsl_packed_share_stationary},
    [TSL_PACKED_SPLIT_K] = {tsl_packed_run_split_k, tsl_packed_share_split_k},
};

/* Computes a product in place if its panels cannot be packed in time. Slices of the general factor (C), which
 * no other slice needs, are packed whole before they are overwritten. */
static tesela_status run_in_place(const tsl_packed_job *job, tsl_team team) {
  enum { SLICE_BYTES = 32 << 20 };
  const bool holds_a = job->views.a.structure == TESELA_GENERAL;
  const int64_t lines = holds_a ? job->views.m : job->views.n,
                line_bytes = tsl_max(job->views.k, 1) * job->size, unit = holds_a ? job->mr : job->nr,
                slice =
                    tsl_min(tsl_max(SLICE_BYTES / line_bytes / unit, 1) * unit, tsl_round_up(lines, unit));
  tsl_packed_job part = *job;
  void *form;
  part.views.in_place = false;
  *(holds_a ? &part.views.m : &part.views.n) = slice;
  TSL_TRY(tsl_scratch_take(tsl_packed_form_bytes(&part, holds_a), "a copy of C", &form));
  tesela_status status = TESELA_OK;
  for (int64_t line = 0; line < lines && status == TESELA_OK; line += slice) {
    const tsl_view *c = &job->views.c;
    const int64_t count = tsl_min(slice, lines - line);
    tsl_view *held = holds_a ? &part.views.a : &part.views.b;
    *(holds_a ? &part.views.m : &part.views.n) = count;
    part.views.c.at = c->at + line * (holds_a ? c->row_stride : c->col_stride) * job->size;
    held->at = part.views.c.at;
    held->packed = NULL;
    tsl_packed_make_form(&part, holds_a, form, team);
    held->packed = form;
    status = schedules[part.schedule].run(&part, team);
  }
  tsl_scratch_give(form);
  return status;
}

static bool needs_copy(const tsl_packed_job *job, int64_t threads) {
  if (!job->views.in_place || tsl_packed_copies_first(job))
    return false;
  return job->schedule != TSL_PACKED_PANELS || !tsl_packed_panels_in_place(job, threads);
}

/* Returns true if strips of C in both directions occupy threads better than an operand that stays, and makes
 * their job. A strip of few rows takes longer to pack B than to multiply it. */
static bool needs_strips(const tsl_packed_job *job, int64_t threads, tsl_packed_job *strips) {
  enum { FEWEST_ROWS = 32 };
  static const double gain = 1.2;
  if (threads == 1 || (job->schedule != TSL_PACKED_ROWS && job->schedule != TSL_PACKED_COLUMNS))
    return false;
  const double uneven = tsl_packed_share_stationary(job, threads).uneven;
  if (uneven <= gain) /* strips are at best even */
    return false;
  *strips = *job;
  strips->copies_b = true;
  tsl_packed_set_schedule(strips, TSL_PACKED_PANELS);
  return tsl_packed_has_strips(strips, threads) &&
         job->views.m >= FEWEST_ROWS * tsl_packed_cut_strips(strips, threads).down &&
         uneven > gain * tsl_packed_share_strips(strips, threads).uneven;
}

tesela_status tsl_packed_run(const tsl_packed_job *job, tsl_team team) {
  tsl_packed_job strips;
  if (needs_strips(job, tsl_team_threads(team), &strips))
    return tsl_packed_run_strips(&strips, team);
  return needs_copy(job, tsl_team_threads(team)) ? run_in_place(job, team)
                                                 : schedules[job->schedule].run(job, team);
}

tsl_packed_sharing tsl_packed_share(const tsl_packed_job *job, int64_t threads) {
  tsl_packed_job strips;
  return needs_strips(job, threads, &strips) ? tsl_packed_share_strips(&strips, threads)
                                             : schedules[job->schedule].share(job, threads);
}
