#include "planner/link.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/source.h"
#include "base/status.h"
#include "device/jit_cache.h"
#include "device/lines.h"
#include "tune/roofs.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* A copy whose bytes cost nothing, and one whose start costs nothing. */
enum { SHORT = 4, LONG = 16 << 20, SHORT_REPEATS = 40, LONG_REPEATS = 6 };

static const tsl_lines file = {.file = "links", .mark = "# tesela: what it costs to reach devices\n"};

static bool is_shared(const tsl_device *device) {
  return (device->capabilities & (TSL_CAN_HOST | TSL_CAN_SHARED_MEMORY)) != 0;
}

/* --- kept --- */

typedef struct finding {
  const tsl_device *device;
  tsl_link *link; /* NULL: the core is looked for */
  double core;
} finding;

static bool read_field(const tsl_record *record, const char *key, double *out) {
  const char *value = tsl_record_get(record, key);
  return value && tsl_parse_double(value, out) && *out >= 0;
}

static void read_link(const tsl_record *record, tsl_link *link) {
  const char *date = tsl_record_get(record, "date");
  tsl_link found = {.measured = true, .open = link->open};
  if (date && strlen(date) < sizeof found.date && read_field(record, "in_seconds", &found.in.seconds) &&
      read_field(record, "in_rate", &found.in.rate) &&
      read_field(record, "out_seconds", &found.out.seconds) &&
      read_field(record, "out_rate", &found.out.rate) && read_field(record, "launch", &found.launch) &&
      found.in.rate > 0 && found.out.rate > 0) {
    read_field(record, "open", &found.open); /* lines before it was measured have none */
    snprintf(found.date, sizeof found.date, "%s", date);
    *link = found;
  }
}

static void find_one(void *argument, char *line) {
  finding *job = argument;
  tsl_record record;
  double core;
  if (tsl_record_parse(line, &record) != TESELA_OK)
    return;
  const char *key = tsl_record_get(&record, "key"), *word = tsl_record_word(&record, 0);
  if (!key || !word || strcmp(key, job->device->key) != 0)
    ;
  else if (job->link && strcmp(word, "link") == 0)
    read_link(&record, job->link);
  else if (!job->link && strcmp(word, "core") == 0 && read_field(&record, "f32", &core))
    job->core = core;
  tsl_record_free(&record);
}

static void keep(const tsl_device *device, const tsl_link *link) {
  tsl_text line = {0};
  tsl_text_add(
      &line,
      "link key=%s in_seconds=%.4g in_rate=%.4g out_seconds=%.4g out_rate=%.4g launch=%.4g open=%.4g "
      "date=%s",
      device->key, link->in.seconds, link->in.rate, link->out.seconds, link->out.rate, link->launch,
      link->open, link->date);
  if (!line.failed)
    tsl_lines_add(&file, line.data);
  tsl_text_free(&line);
}

/* A transfer and the wait for it cost about two launches, however little is moved (8 us on an H200). */
static tsl_link guess(const tsl_device *device) {
  const tsl_link_way way = {2 * device->launch_seconds,
                            device->link_bandwidth > 0 ? device->link_bandwidth : INFINITY};
  /* A context of PoCL takes 20 ms, one of a GPU's driver a third of a second. */
  return (tsl_link){
      .in = way, .out = way, .launch = device->launch_seconds, .open = device->is_cpu ? 0.02 : 0.3};
}

tsl_link tsl_link_of(const tsl_device *device) {
  tsl_status_saved saved;
  tsl_link link = {.in = {0, INFINITY}, .out = {0, INFINITY}};
  if (device->capabilities & TSL_CAN_HOST)
    return link;
  link = guess(device);
  tsl_status_save(&saved); /* lines that are none are no failure */
  tsl_lines_each(&file, find_one, &(finding){.device = device, .link = &link});
  tsl_status_restore(&saved);
  return link;
}

double tsl_link_core(const tsl_device *cpu) {
  finding job = {.device = cpu};
  tsl_status_saved saved;
  tsl_status_save(&saved);
  tsl_lines_each(&file, find_one, &job);
  tsl_status_restore(&saved);
  return job.core;
}

static void date_now(char date[24]) {
  const time_t now = time(NULL);
  struct tm utc;
  strftime(date, 24, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
}

tesela_status tsl_link_measure_core(const tsl_device *cpu) {
  tsl_text line = {0};
  char date[24];
  double rate;
  TSL_TRY(tsl_roofs_core(cpu, &rate));
  date_now(date);
  tsl_text_add(&line, "core key=%s f32=%.4g date=%s", cpu->key, rate, date);
  if (!line.failed)
    tsl_lines_add(&file, line.data);
  tsl_text_free(&line);
  tsl_log(TSL_LOG_PLAN, "%s: a core does %.3g operations a second in its registers", cpu->name, rate);
  return TESELA_OK;
}

/* --- measured --- */

typedef struct measuring {
  tsl_device *device;
  const tsl_device_ops *ops;
  tsl_stream *stream;
  tsl_buffer *buffer;
  tsl_kernel *kernel;
  unsigned char *host;
} measuring;

typedef tesela_status step(const measuring *job, size_t bytes);

static tesela_status copy_in(const measuring *job, size_t bytes) {
  TSL_TRY(tsl_device_write(job->stream, job->buffer, 0, job->host, bytes));
  return job->ops->finish(job->stream);
}

static tesela_status copy_out(const measuring *job, size_t bytes) {
  return tsl_device_read(job->stream, job->buffer, 0, job->host, bytes);
}

static tesela_status launch(const measuring *job, size_t bytes) {
  static const tsl_grid grid = {{1, 1, 1}, {1, 1, 1}};
  const int nothing = 0;
  const tsl_argument arguments[] = {TSL_ARG_BUFFER(job->buffer), TSL_ARG_VALUE(nothing)};
  (void)bytes;
  TSL_TRY(job->ops->launch(job->stream, job->kernel, &grid, arguments, 2));
  return job->ops->finish(job->stream);
}

/* The shortest of some repeats, the first of which does not count. */
static tesela_status shortest(const measuring *job, step *one, size_t bytes, int repeats, double *out) {
  double least = INFINITY;
  for (int i = 0; i <= repeats; i++) {
    const double start = tsl_clock();
    TSL_TRY(one(job, bytes));
    if (i > 0)
      least = fmin(least, tsl_clock() - start);
  }
  *out = least;
  return TESELA_OK;
}

static tesela_status measure_way(const measuring *job, step *one, tsl_link_way *out) {
  double long_copy;
  TSL_TRY(shortest(job, one, SHORT, SHORT_REPEATS, &out->seconds));
  TSL_TRY(shortest(job, one, LONG, LONG_REPEATS, &long_copy));
  out->rate = LONG / fmax(long_copy - out->seconds, 1e-9);
  return TESELA_OK;
}

static tesela_status find_kernel(measuring *job) {
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

static tesela_status measure_all(measuring *job, tsl_link *out) {
  TSL_TRY(job->ops->stream_create(job->device, &job->stream));
  TSL_TRY(job->ops->buffer_create(job->device, LONG, &job->buffer));
  TSL_TRY(find_kernel(job));
  TSL_TRY(measure_way(job, copy_in, &out->in));
  TSL_TRY(measure_way(job, copy_out, &out->out));
  return shortest(job, launch, 0, SHORT_REPEATS, &out->launch);
}

tesela_status tsl_link_measure(tsl_device *device, tsl_link *link) {
  measuring job = {.device = device, .ops = device->ops};
  tsl_link made = {.measured = true};
  void *block;
  if (device->capabilities & TSL_CAN_HOST) {
    *link = tsl_link_of(device);
    return TESELA_OK;
  }
  const double start = tsl_clock();
  const bool was_open = tsl_device_is_open(device);
  TSL_TRY(tsl_device_open(device));
  made.open = was_open ? tsl_link_of(device).open : tsl_clock() - start;
  TSL_TRY(tsl_alloc_zeroed(LONG, "copies to measure", &block));
  job.host = block;
  const tesela_status status = measure_all(&job, &made);
  if (job.buffer)
    job.ops->buffer_destroy(job.buffer);
  if (job.stream)
    job.ops->stream_destroy(job.stream);
  tsl_free(block);
  if (status != TESELA_OK)
    return tsl_fail_in(status, "%s, measuring its link", device->name);
  date_now(made.date);
  keep(device, &made);
  tsl_log(
      TSL_LOG_PLAN,
      "%s: the way there measured in %.3g s: in %.3g s and %.3g B/s, out %.3g s and %.3g B/s, launch %.3g s",
      device->name, tsl_clock() - start, made.in.seconds, made.in.rate, made.out.seconds, made.out.rate,
      made.launch);
  *link = made;
  return TESELA_OK;
}

/* --- used --- */

double tsl_link_seconds(const tsl_link *link, const tsl_problem *problem, const tsl_device *device,
                        tsl_place place) {
  /* The models count a launch as the device's kind says; a record of a run on the device counts none. */
  double seconds = link->measured ? fmax(0, link->launch - device->launch_seconds) : 0;
  if (place == TSL_PLACE_DEVICE || is_shared(device) || !(device->link_bandwidth > 0 || link->measured))
    return seconds;
  for (int i = 0; i < TSL_OPERANDS; i++) {
    const tsl_shape *shape = tsl_problem_shape(problem, i);
    const double bytes = (double)shape->rows * (double)shape->cols * (double)tsl_type(shape->type)->size *
                         (double)tsl_problem_batch(problem);
    if (tsl_problem_reads(problem, i))
      seconds += link->in.seconds + bytes / link->in.rate;
    if (i == TSL_OPERAND_C)
      seconds += link->out.seconds + bytes / link->out.rate;
  }
  return seconds;
}
