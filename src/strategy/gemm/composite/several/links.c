#include "core/clock.h"
#include "core/status.h"
#include "device/cross_copy.h"
#include "device/device_open.h"
#include "strategy/gemm/composite/several/several.h"

#include <math.h>

tsl_rect tsl_several_rect(const tsl_problem *problem, int operand, const tsl_rect *c) {
  return operand == TSL_OPERAND_A   ? (tsl_rect){c->row, c->rows, 0, problem->k}
         : operand == TSL_OPERAND_B ? (tsl_rect){0, problem->k, c->col, c->cols}
                                    : *c;
}

tsl_rect tsl_several_rect_of_lines(const tsl_problem *problem, int side, int64_t first, int64_t count) {
  return side == SEVERAL_ROWS ? (tsl_rect){first, count, 0, problem->n}
                              : (tsl_rect){0, problem->m, first, count};
}

bool tsl_several_all_hold(const tsl_sharding *spread, int members) {
  unsigned seen = 0;
  for (int i = 0; i < spread->counts[TSL_OPERAND_C]; i++)
    if (spread->holds[TSL_OPERAND_C][i].at.rows > 0 && spread->holds[TSL_OPERAND_C][i].at.cols > 0)
      seen |= 1u << spread->holds[TSL_OPERAND_C][i].member;
  return seen == (1u << members) - 1;
}

static void add_traffic(const tsl_work *work, const tsl_rect *c, int member, int operand,
                        tsl_traffic *traffic) {
  const tsl_rect rect = tsl_several_rect(&work->problem, operand, c);
  const double size = (double)tsl_type(tsl_problem_shape(&work->problem, operand)->type)->size;
  for (int other = 0; other < work->device->member_count; other++) {
    const double bytes =
        other == member ? 0 : size * (double)tsl_sharding_elements(work->sharding, operand, &rect, other);
    traffic->in[other] += tsl_problem_reads(&work->problem, operand) ? bytes : 0;
    traffic->out[other] += operand == TSL_OPERAND_C ? bytes : 0;
  }
}

void tsl_several_traffic_of(const tsl_work *work, const tsl_rect *c, int member, int operand,
                            tsl_traffic *traffic) {
  *traffic = (tsl_traffic){{0}, {0}};
  add_traffic(work, c, member, operand, traffic);
}

void tsl_several_traffic(const tsl_work *work, const tsl_rect *c, int member, tsl_traffic *traffic) {
  *traffic = (tsl_traffic){{0}, {0}};
  for (int operand = 0; operand < TSL_OPERANDS; operand++)
    add_traffic(work, c, member, operand, traffic);
}

double tsl_several_link_seconds(const tsl_traffic *traffic, const tsl_several_links *links, int member,
                                double slab, double *first) {
  double in = 0, out = 0, bytes = 0;
  for (int other = 0; other < TSL_MEMBERS_MAX; other++) {
    in += traffic->in[other] > 0 ? traffic->in[other] / links->rates[other][member] : 0;
    out += traffic->out[other] > 0 ? traffic->out[other] / links->rates[member][other] : 0;
    bytes += traffic->in[other];
  }
  *first = bytes > 0 ? in * fmin(1, slab / bytes) : 0;
  return fmax(in, out);
}

enum { LARGE_BYTES = 32 << 20, SMALL_BYTES = 2 << 20 };

typedef struct link_trial {
  tsl_device_copier copier;
  tsl_stream *stream;
  tsl_copy_rect rows;
} link_trial;

/* Times the second copy; the first one prepares the link. */
static tesela_status time_copies(link_trial *job, double *seconds) {
  const tsl_device_ops *ops = job->copier.device->ops;
  double start = 0;
  for (int i = 0; i < 2; i++) {
    start = tsl_clock();
    TSL_TRY(tsl_device_copy(&job->copier, job->stream, &job->rows));
    TSL_TRY(ops->finish(job->stream));
  }
  *seconds = tsl_clock() - start;
  return TESELA_OK;
}

static tesela_status links_prepare(link_trial *job, tsl_device *from, tsl_device *target) {
  bool is_asynchronous;
  job->copier.device = target;
  TSL_TRY(tsl_device_open(from));
  TSL_TRY(tsl_device_open(target));
  TSL_TRY(tsl_device_copier_prepare(&job->copier, from, &is_asynchronous));
  const size_t bytes = is_asynchronous ? LARGE_BYTES : SMALL_BYTES;
  job->rows = (tsl_copy_rect){.from_pitch = bytes, .to_pitch = bytes, .rows = 1, .row_bytes = bytes};
  TSL_TRY(target->ops->stream_create(target, &job->stream));
  TSL_TRY(from->ops->buffer_create(from, bytes, &job->rows.from));
  return target->ops->buffer_create(target, bytes, &job->rows.to);
}

/* Returns the bandwidth of a link in bytes a second, or a common value if it cannot be measured now. */
static double measured_rate_of(tsl_device *from, tsl_device *device) {
  static const double ordinary = 10e9;
  link_trial job = {.stream = NULL};
  tsl_status_saved saved;
  double seconds = 0;
  tsl_status_save(&saved);
  const bool good =
      links_prepare(&job, from, device) == TESELA_OK && time_copies(&job, &seconds) == TESELA_OK;
  if (job.stream)
    device->ops->stream_destroy(job.stream);
  if (job.rows.from)
    from->ops->buffer_destroy(job.rows.from);
  if (job.rows.to)
    device->ops->buffer_destroy(job.rows.to);
  tsl_device_copier_end(&job.copier);
  tsl_status_restore(&saved);
  return good && seconds > 0 ? (double)job.rows.row_bytes / seconds : ordinary;
}

void tsl_several_measure(const tsl_device *group, int member, const tsl_traffic *traffic,
                         tsl_several_links *links) {
  for (int other = 0; other < group->member_count; other++) {
    double *in = &links->rates[other][member], *out = &links->rates[member][other];
    if (traffic->in[other] > 0 && *in == 0)
      *in = measured_rate_of(group->members[other], group->members[member]);
    if (traffic->out[other] > 0 && *out == 0)
      *out = measured_rate_of(group->members[member], group->members[other]);
  }
}
