#include "strategy/host_jobs/host_job.h"

#include "core/memory.h"
#include "core/status.h"

#include <math.h>

typedef struct prepared {
  _Alignas(TSL_CACHE_LINE) tsl_operands strides;
  _Alignas(TSL_CACHE_LINE) unsigned char job[]; /* jobs->size bytes */
} prepared;

double tsl_near_bytes(const tsl_device *device) {
  enum { LEVEL_2_GUESS = 512 << 10 };
  return 2 * (double)(device->level_bytes[1] ? device->level_bytes[1] : LEVEL_2_GUESS);
}

bool tsl_last_cache_is_far(const tsl_device *device) {
  enum { FAR_BYTES = 64 << 20 };
  return device->level_bytes[2] > FAR_BYTES;
}

double tsl_written_clocks(const tsl_problem *problem, const tsl_device *device) {
  const double c_bytes = (double)problem->m * (double)problem->n * (double)tsl_type(problem->c.type)->size;
  return device->capabilities & TSL_CAN_AVX512_PAIRS &&
                 tsl_problem_bytes(problem) > (double)device->level_bytes[0]
             ? c_bytes / 64 * fmax(0, 5 - (double)problem->k / 2)
             : 0;
}

double tsl_rest_speed(const tsl_device *device, double bytes) {
  return !tsl_last_cache_is_far(device) && bytes <= (double)device->level_bytes[2] / 2 ? 3.5 : 1;
}

static bool same_strides(const tsl_operand *operand, const tsl_operand *other) {
  return operand->row_stride == other->row_stride && operand->col_stride == other->col_stride;
}

tesela_status tsl_job_build(tsl_work *work) {
  const tsl_host_job_ops *jobs = work->strategy->jobs;
  void *block;
  TSL_TRY(tsl_alloc(sizeof(prepared) + jobs->size, "a plan's state", &block));
  prepared *made = block;
  made->strides = tsl_strides_of(&work->problem);
  jobs->make(&work->problem, &made->strides, &work->config, work->device, made->job);
  work->state = made;
  return TESELA_OK;
}

tesela_status tsl_job_run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream) {
  const prepared *made = work->state;
  const tsl_host_job_ops *jobs = work->strategy->jobs;
  (void)stream;
  if (same_strides(&operands->a, &made->strides.a) && same_strides(&operands->b, &made->strides.b) &&
      same_strides(&operands->c, &made->strides.c))
    return jobs->run(made->job, operands);
  _Alignas(TSL_CACHE_LINE) unsigned char job[TSL_JOB_MOST];
  jobs->make(&work->problem, operands, &work->config, work->device, job);
  return jobs->run(job, operands);
}

void tsl_job_release(tsl_work *work) {
  tsl_free(work->state);
  work->state = NULL;
}

const void *tsl_job_of(const tsl_work *work) {
  return ((const prepared *)work->state)->job;
}

size_t tsl_job_form_bytes(const tsl_work *work, int operand) {
  return work->strategy->jobs->form_bytes(tsl_job_of(work), operand);
}

void tsl_job_make_form(const tsl_work *work, int operand, const tsl_operand *from, void *dst, tsl_team team) {
  const tsl_operands operands = {.a = *from, .b = *from, .c = *from}; /* only `operand` is read */
  work->strategy->jobs->make_form(tsl_job_of(work), operand, &operands, dst, team);
}
