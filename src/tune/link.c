#include "tune/link.h"

#include "core/clock.h"
#include "core/log.h"
#include "core/memory.h"
#include "core/status.h"
#include "device/jit_cache.h"
#include "device/source.h"
#include "plan/block_grid.h"
#include "tune/roofs.h"

#include <math.h>

/* Transfers in bytes dominated by latency and by bandwidth, and their repetitions. */
enum { SHORT_BYTES = 4, LONG_BYTES = 16 << 20, SHORT_REPEATS = 40, LONG_REPEATS = 6 };

typedef struct measurement {
  tsl_device *device;
  const tsl_device_ops *ops;
  tsl_stream *stream;
  tsl_buffer *buffer;
  tsl_kernel *kernel;
  unsigned char *host; /* LONG_BYTES bytes */
} measurement;

/* One timed operation, complete on return. */
typedef tesela_status timed_operation(const measurement *job, size_t bytes);

static tesela_status copy_in(const measurement *job, size_t bytes) {
  TSL_TRY(tsl_device_write(job->stream, job->buffer, 0, job->host, bytes));
  return job->ops->finish(job->stream);
}

static tesela_status link_copy_out(const measurement *job, size_t bytes) {
  return tsl_device_read(job->stream, job->buffer, 0, job->host, bytes);
}

static tesela_status link_launch(const measurement *job, size_t bytes) {
  static const tsl_grid grid = {{1, 1, 1}, {1, 1, 1}};
  const int nothing = 0;
  const tsl_argument arguments[] = {TSL_ARG_BUFFER(job->buffer), TSL_ARG_VALUE(nothing)};
  (void)bytes;
  TSL_TRY(job->ops->launch(job->stream, job->kernel, &grid, arguments, 2));
  return job->ops->finish(job->stream);
}

/* Sets *out to the minimum seconds of `repeats` runs after an uncounted one. */
static tesela_status link_min_seconds(const measurement *job, timed_operation *operation, size_t bytes,
                                      int repeats, double *out) {
  double least = INFINITY;
  for (int i = 0; i <= repeats; i++) {
    const double start = tsl_clock();
    TSL_TRY(operation(job, bytes));
    if (i > 0)
      least = fmin(least, tsl_clock() - start);
  }
  *out = least;
  return TESELA_OK;
}

static tesela_status measure_direction(const measurement *job, timed_operation *operation,
                                       tsl_link_way *out) {
  double long_copy;
  TSL_TRY(link_min_seconds(job, operation, SHORT_BYTES, SHORT_REPEATS, &out->seconds));
  TSL_TRY(link_min_seconds(job, operation, LONG_BYTES, LONG_REPEATS, &long_copy));
  out->rate = LONG_BYTES / fmax(long_copy - out->seconds, 1e-9);
  return TESELA_OK;
}

static tesela_status link_find_kernel(measurement *job) {
  const char *const folders[] = {"kernel", job->ops->dialect_folder, NULL};
  tsl_text text = {0};
  tsl_module *module;
  tesela_status status;
  TSL_GO(tsl_source_flatten("kernel/nothing.cl", folders, &text));
  TSL_GO(tsl_text_status(&text));
  TSL_GO(tsl_jit_module(job->device, &(tsl_build){.name = "tune/link", .text = text.data, .options = ""},
                        &module, NULL));
  status = job->ops->kernel_get(module, "tsl_nothing", &job->kernel);
out:
  tsl_text_free(&text);
  return status;
}

enum { STAGED_BYTES = 64 << 20, STAGED_REPEATS = 3 };

/* Times transfers of a vector in both directions with all threads, after an uncounted one. */
static tesela_status time_staged_copies(const tsl_stager *stager, const tsl_transfer_path *path,
                                        tsl_link *out) {
  const tsl_pending_readback all = {.part = {0, 1, 0, path->shape->cols}};
  const tsl_device_ops *ops = path->buffer->device->ops;
  double in = INFINITY, back = INFINITY;
  tsl_copy_result landed;
  for (int i = 0; i <= STAGED_REPEATS; i++) {
    const double start = tsl_clock();
    TSL_TRY(tsl_staged_copy_to_device(stager, path, &all.part));
    TSL_TRY(ops->finish(stager->staging->in));
    const double there = tsl_clock();
    TSL_TRY(tsl_staged_copy_to_host(stager, path, &all, 1, false, &landed));
    if (i > 0) {
      in = fmin(in, there - start);
      back = fmin(back, tsl_clock() - there);
    }
  }
  out->staged_in = STAGED_BYTES / fmax(in, 1e-9);
  out->staged_out = STAGED_BYTES / fmax(back, 1e-9);
  return TESELA_OK;
}

static tesela_status link_measure_staging(tsl_device *device, tsl_staging *staging, tsl_link *out) {
  const tsl_problem vector = tsl_problem_transpose(1, STAGED_BYTES / 4, TESELA_F32);
  const tsl_stager stager = {.staging = staging, .team = tsl_device_host_team(device)};
  tsl_transfer_path path = {.shape = &vector.c};
  tsl_transfer transfer;
  void *block;
  if (!tsl_transfer_plan(&vector.c, &transfer))
    return tsl_fail(TESELA_INTERNAL, "%s: a copy to measure has no plan", device->name);
  path.transfer = &transfer;
  TSL_TRY(tsl_alloc_zeroed(STAGED_BYTES, "copies to measure", &block));
  path.host = block;
  tesela_status status = device->ops->buffer_create(device, STAGED_BYTES, &path.buffer);
  if (status == TESELA_OK) {
    status = time_staged_copies(&stager, &path, out);
    (void)device->ops->finish(staging->in);
    (void)device->ops->finish(staging->out);
    device->ops->buffer_destroy(path.buffer);
  }
  tsl_free(block);
  return status;
}

/* Measures copies through pinned memory; without it takes the rates of plain copies. */
static tesela_status measure_staged(tsl_device *device, tsl_link *out) {
  tsl_staging_sizes sizes;
  tsl_staging *staging;
  tsl_status_saved saved;
  if (!tsl_staging_sizes_of(device, &sizes))
    return TESELA_OK;
  tsl_status_save(&saved);
  if (tsl_staging_take(device, sizes.slot, &staging) != TESELA_OK) {
    tsl_status_restore(&saved);
    out->staged_in = out->in.rate;
    out->staged_out = out->out.rate;
    return TESELA_OK;
  }
  const tesela_status status = link_measure_staging(device, staging, out);
  tsl_staging_give(staging, status == TESELA_OK);
  return status;
}

/* Measures plain and staged copies in both directions, and a launch. */
static tesela_status measure_all(measurement *job, tsl_link *out) {
  TSL_TRY(job->ops->stream_create(job->device, &job->stream));
  TSL_TRY(job->ops->buffer_create(job->device, LONG_BYTES, &job->buffer));
  TSL_TRY(link_find_kernel(job));
  TSL_TRY(measure_direction(job, copy_in, &out->in));
  TSL_TRY(measure_direction(job, link_copy_out, &out->out));
  TSL_TRY(measure_staged(job->device, out));
  return link_min_seconds(job, link_launch, 0, SHORT_REPEATS, &out->launch);
}

tesela_status tsl_tune_link(tsl_device *device, tsl_link *link) {
  measurement job = {.device = device, .ops = device->ops};
  tsl_link made = {.measured = true};
  void *block;
  if (tsl_device_is_host(device)) {
    *link = tsl_link_of(device);
    return TESELA_OK;
  }
  const double start = tsl_clock();
  const bool was_open = tsl_device_is_open(device);
  TSL_TRY(tsl_device_open(device));
  made.open = was_open ? tsl_link_of(device).open : tsl_clock() - start;
  TSL_TRY(tsl_alloc_zeroed(LONG_BYTES, "copies to measure", &block));
  job.host = block;
  const tesela_status status = measure_all(&job, &made);
  if (job.buffer)
    job.ops->buffer_destroy(job.buffer);
  if (job.stream)
    job.ops->stream_destroy(job.stream);
  tsl_free(block);
  if (status != TESELA_OK)
    return tsl_fail_in(status, "%s, measuring its link", device->name);
  tsl_link_keep(device, &made);
  tsl_log(TSL_LOG_PLAN,
          "%s: link measured in %.3g s: in %.3g s and %.3g B/s, out %.3g s and %.3g B/s, launch %.3g s; "
          "staged, in %.3g B/s and out %.3g B/s",
          device->name, tsl_clock() - start, made.in.seconds, made.in.rate, made.out.seconds, made.out.rate,
          made.launch, made.staged_in, made.staged_out);
  *link = made;
  return TESELA_OK;
}

tesela_status tsl_tune_core(const tsl_device *cpu) {
  double rate;
  TSL_TRY(tsl_roofs_core(cpu, &rate));
  tsl_link_keep_core(cpu, rate);
  tsl_log(TSL_LOG_PLAN, "%s: a core does %.3g operations a second in its registers", cpu->name, rate);
  return TESELA_OK;
}
