#include "planner/transfer_cost.h"

#include "core/status.h"
#include "device/fact_file.h"
#include "plan/block_grid.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static const tsl_fact_lines file = {.file = "links", .mark = "# tesela: what it costs to reach devices\n"};

static bool transfer_cost_is_shared(const tsl_device *device) {
  return (device->capabilities & (TSL_CAN_HOST | TSL_CAN_SHARED_MEMORY)) != 0;
}

typedef struct transfer_cost_finding {
  const tsl_device *device;
  tsl_link *link; /* NULL: only the core's speed is read */
  double core;    /* f32 operations per second of a core */
} transfer_cost_finding;

/* Reads a number; false: the key is missing or its value is negative or no number. */
static bool read_field(const tsl_record *record, const char *key, double *out) {
  const char *value = tsl_record_get(record, key);
  return value && tsl_parse_double(value, out) && *out >= 0;
}

/* Replaces *link by the record's costs, if these are complete. */
static void read_link(const tsl_record *record, tsl_link *link) {
  const char *date = tsl_record_get(record, "date");
  tsl_link found = {.measured = true, .open = link->open};
  if (date && strlen(date) < sizeof found.date && read_field(record, "in_seconds", &found.in.seconds) &&
      read_field(record, "in_rate", &found.in.rate) &&
      read_field(record, "out_seconds", &found.out.seconds) &&
      read_field(record, "out_rate", &found.out.rate) && read_field(record, "launch", &found.launch) &&
      found.in.rate > 0 && found.out.rate > 0) {
    read_field(record, "open", &found.open); /* missing in old lines */
    read_field(record, "staged_in", &found.staged_in);
    read_field(record, "staged_out", &found.staged_out);
    snprintf(found.date, sizeof found.date, "%s", date);
    *link = found;
  }
}

static void transfer_cost_find_one(void *argument, char *line) {
  transfer_cost_finding *job = argument;
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

/* Estimates costs by the device's data. A transfer with its wait costs two launches (8 us on an H200). */
static tsl_link estimate_link(const tsl_device *device) {
  const tsl_link_way way = {2 * device->launch_seconds,
                            device->link_bandwidth > 0 ? device->link_bandwidth : INFINITY};
  /* PoCL opens in 20 ms, a GPU's driver in a third of a second */
  const double staged = tsl_staging_is_offered(device) ? tsl_staging_link_rate(device) : 0;
  return (tsl_link){.in = way,
                    .out = way,
                    .staged_in = staged,
                    .staged_out = staged,
                    .launch = device->launch_seconds,
                    .open = device->is_cpu ? 0.02 : 0.3};
}

tsl_link tsl_link_of(const tsl_device *device) {
  tsl_status_saved saved;
  tsl_link link = {.in = {0, INFINITY}, .out = {0, INFINITY}};
  if (tsl_device_is_host(device))
    return link;
  link = estimate_link(device);
  tsl_status_save(&saved); /* invalid lines are not errors */
  tsl_lines_each(&file, transfer_cost_find_one, &(transfer_cost_finding){.device = device, .link = &link});
  tsl_status_restore(&saved);
  /* A line without staged rates does not describe staged copies. */
  tsl_staging_sizes sizes;
  const bool lacks = !(link.staged_in > 0 && link.staged_out > 0);
  return lacks && tsl_staging_sizes_of(device, &sizes) ? estimate_link(device) : link;
}

double tsl_link_core(const tsl_device *cpu) {
  transfer_cost_finding job = {.device = cpu};
  tsl_status_saved saved;
  tsl_status_save(&saved);
  tsl_lines_each(&file, transfer_cost_find_one, &job);
  tsl_status_restore(&saved);
  return job.core;
}

static void date_now(char date[24]) {
  const time_t now = time(NULL);
  struct tm utc;
  strftime(date, 24, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
}

static void transfer_cost_add_line(tsl_text *line) {
  if (!line->failed)
    tsl_lines_add(&file, line->data);
  tsl_text_free(line);
}

void tsl_link_keep(const tsl_device *device, tsl_link *link) {
  tsl_text line = {0};
  date_now(link->date);
  tsl_text_add(
      &line,
      "link key=%s in_seconds=%.4g in_rate=%.4g out_seconds=%.4g out_rate=%.4g launch=%.4g open=%.4g "
      "staged_in=%.4g staged_out=%.4g date=%s",
      device->key, link->in.seconds, link->in.rate, link->out.seconds, link->out.rate, link->launch,
      link->open, link->staged_in, link->staged_out, link->date);
  transfer_cost_add_line(&line);
}

void tsl_link_keep_core(const tsl_device *cpu, double rate) {
  tsl_text line = {0};
  char date[24];
  date_now(date);
  tsl_text_add(&line, "core key=%s f32=%.4g date=%s", cpu->key, rate, date);
  transfer_cost_add_line(&line);
}

static double transfer_cost_bytes_of(const tsl_problem *problem, int operand) {
  return tsl_problem_operand_bytes(problem, operand) * (double)tsl_problem_batch(problem);
}

/* Returns the seconds of sequential copies. */
static double sequential_copy_seconds(const tsl_link *link, const tsl_problem *problem) {
  double seconds = 0;
  for (int i = 0; i < TSL_OPERANDS; i++) {
    if (tsl_problem_reads(problem, i))
      seconds += link->in.seconds + transfer_cost_bytes_of(problem, i) / link->in.rate;
    if (i == TSL_OPERAND_C)
      seconds += link->out.seconds + transfer_cost_bytes_of(problem, i) / link->out.rate;
  }
  return seconds;
}

/* Returns true if a run overlaps its copies (plan/pipeline.h); then sets *sizes. */
static bool is_overlapped(const tsl_link *link, const tsl_problem *problem, const tsl_device *device,
                          tsl_staging_sizes *sizes) {
  double bytes = transfer_cost_bytes_of(problem, TSL_OPERAND_C);
  for (int i = 0; i < TSL_OPERANDS; i++)
    bytes += tsl_problem_reads(problem, i) ? transfer_cost_bytes_of(problem, i) : 0;
  return problem->op == TSL_OP_GEMM && tsl_problem_batch(problem) == 1 && problem->m > 0 && problem->n > 0 &&
         link->staged_in > 0 && link->staged_out > 0 && tsl_staging_sizes_of(device, sizes) &&
         bytes >= sizes->least;
}

/* Simulates a run by blocks of the strategy's grid. Latency counts once for each direction. */
static double transfer_cost_overlapped(const tsl_link *link, const tsl_work *work,
                                       const tsl_staging_sizes *sizes, double compute) {
  const tsl_block_rates rates = {link->staged_in, link->staged_out, tsl_block_grid_is_duplex(work->device)};
  tsl_block_seconds each;
  const tsl_block_grid grid = tsl_block_grid_for(work, sizes, &each);
  const double model =
      each.of[0][0] > 0 ? work->strategy->score(&work->problem, &work->config, work->device) : 0;
  if (model > 0)
    for (int i = 0; i < 4; i++)
      each.of[i / 2][i % 2] *= compute / model;
  else
    each = tsl_block_seconds_even(&grid, compute);
  return link->in.seconds + tsl_block_grid_seconds(&grid, &work->problem, &rates, &each) + link->out.seconds;
}

double tsl_link_seconds(const tsl_link *link, const tsl_work *work, tsl_memory_place place, double compute) {
  const tsl_problem *problem = &work->problem;
  const tsl_device *device = work->device;
  /* Models count the kind's launch; a measured run counts none. */
  const double launch = link->measured ? fmax(0, link->launch - device->launch_seconds) : 0;
  tsl_staging_sizes sizes;
  if (!isfinite(compute) || place == TSL_PLACE_DEVICE || transfer_cost_is_shared(device) ||
      !(device->link_bandwidth > 0 || link->measured))
    return compute + launch;
  if (is_overlapped(link, problem, device, &sizes))
    return launch + transfer_cost_overlapped(link, work, &sizes, compute);
  return compute + launch + sequential_copy_seconds(link, problem);
}
