#include "explain/device_counters.h"

#include "core/status.h"
#include "lab/lab.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tesela/tesela.h>

static const char child_variable[] = "TESELA_COUNTED_RUN";

static const struct {
  const char *key, *text;
} names[] = {
#define TSL_DEVICE_COUNTER_NAME(name, key, text) [TSL_DEVICE_COUNTER_##name] = {#key, text},
    TSL_DEVICE_COUNTER_LIST(TSL_DEVICE_COUNTER_NAME)
#undef TSL_DEVICE_COUNTER_NAME
};

/* Metrics of ncu, each with the counter that it adds to. An instruction of a warp counts 32 items; a sector
 * has 32 bytes. */
static const struct {
  const char *metric;
  tsl_device_counter counter;
  double weight;
} metrics[] = {
    {"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", TSL_DEVICE_COUNTER_MULTIPLY_ADDS, 1},
    {"smsp__sass_thread_inst_executed_op_dfma_pred_on.sum", TSL_DEVICE_COUNTER_MULTIPLY_ADDS, 1},
    {"smsp__inst_executed_op_global_ld.sum", TSL_DEVICE_COUNTER_GLOBAL_LOADS, 32},
    {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", TSL_DEVICE_COUNTER_GLOBAL_BYTES, 32},
    {"smsp__inst_executed_op_shared_ld.sum", TSL_DEVICE_COUNTER_LOCAL_LOADS, 32},
    {"l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", TSL_DEVICE_COUNTER_LOCAL_WAVES, 1},
    {"lts__t_sectors_op_read.sum", TSL_DEVICE_COUNTER_LAST_CACHE_BYTES, 32},
    {"dram__bytes_read.sum", TSL_DEVICE_COUNTER_MEMORY_BYTES, 1},
};
enum { METRICS = sizeof metrics / sizeof *metrics, LINE_WORDS = 20, FIELDS_MAX = 64 };

bool tsl_device_counters_is_child(void) {
  return getenv(child_variable) != NULL;
}

/* --- the run under ncu --- */

tesela_status tsl_device_counters_run(const tsl_explain_options *options, const tsl_problem *problem) {
  const size_t sizes[] = {(size_t)(problem->m * problem->k), (size_t)(problem->k * problem->n),
                          (size_t)(problem->m * problem->n)};
  const size_t bytes = tsl_type(problem->c.type)->size;
  tesela_context *context = NULL;
  void *operands[3] = {NULL};
  tesela_status status;
  TSL_GO(tesela_context_create(NULL, &context));
  for (int i = 0; i < 3; i++) {
    operands[i] = calloc(sizes[i] + 1, bytes);
    if (!operands[i])
      TSL_GO(tsl_fail(TESELA_OUT_OF_MEMORY, "no memory for the operands of a counted run"));
    for (size_t at = 0; i < 2 && at < sizes[i]; at++)
      if (problem->c.type == TESELA_F64)
        ((double *)operands[i])[at] = 1;
      else if (problem->c.type == TESELA_F32)
        ((float *)operands[i])[at] = 1;
  }
  const tesela_gemm_desc desc = {
      .m = problem->m,
      .n = problem->n,
      .k = problem->k,
      .a = {.data = operands[0], .type = options->type, .transpose = options->transpose_a},
      .b = {.data = operands[1], .type = options->type, .transpose = options->transpose_b},
      .c = {.data = operands[2]},
      .options = {.device = options->device, .strategy = options->strategy}};
  status = tesela_gemm(context, &desc, NULL);
out:
  for (int i = 0; i < 3; i++)
    free(operands[i]);
  tesela_context_destroy(context);
  return status;
}

/* --- the output of ncu --- */

/* Splits a line of CSV in place; returns its number of fields. Fields may be in quotes. */
static int split_line(char *line, char *fields[FIELDS_MAX]) {
  int count = 0;
  char *from = line;
  while (count < FIELDS_MAX) {
    const bool is_quoted = *from == '"';
    char *to = from += is_quoted;
    fields[count++] = to;
    for (; *from && (is_quoted ? *from != '"' || from[1] == '"' : *from != ','); from++) {
      from += is_quoted && *from == '"'; /* a doubled quote */
      *to++ = *from;
    }
    from += is_quoted && *from == '"';
    const bool ends = *from != ',';
    *to = '\0';
    if (ends)
      break;
    from++;
  }
  return count;
}

static int find_field(char *const fields[FIELDS_MAX], int count, const char *name) {
  for (int i = 0; i < count; i++)
    if (strcmp(fields[i], name) == 0)
      return i;
  return -1;
}

/* Reads "1,234,567.5"; false: no number, such as n/a. */
static bool read_value(const char *text, double *value) {
  char digits[64];
  size_t length = 0;
  for (; *text && length < sizeof digits - 1; text++)
    if (*text != ',')
      digits[length++] = *text;
  digits[length] = '\0';
  return tsl_parse_double(digits, value);
}

static void add_metric(const char *metric, double value, tsl_device_counts *counts) {
  for (int i = 0; i < METRICS; i++)
    if (strcmp(metrics[i].metric, metric) == 0) {
      double *sum = &counts->value[metrics[i].counter];
      *sum = (isnan(*sum) ? 0 : *sum) + metrics[i].weight * value;
    }
}

/* Returns the text after the end of a line, which becomes a string of its own. */
static char *cut_line(char *line) {
  char *end = line + strcspn(line, "\r\n");
  char *next = end + strspn(end, "\r\n");
  *end = '\0';
  return next;
}

void tsl_device_counters_parse(const char *csv, tsl_device_counts *counts) {
  const char *header = strstr(csv, "\"ID\"");
  char *copy = header ? strdup(header) : NULL, *fields[FIELDS_MAX], last[32] = "";
  *counts = (tsl_device_counts){.kernels = 0};
  for (int i = 0; i < TSL_DEVICE_COUNTERS; i++)
    counts->value[i] = NAN;
  if (!copy) {
    snprintf(counts->why, sizeof counts->why, "ncu printed no table");
    return;
  }
  char *line = copy, *next = cut_line(line);
  int count = split_line(line, fields);
  const int id = find_field(fields, count, "ID"), name = find_field(fields, count, "Metric Name"),
            value = find_field(fields, count, "Metric Value");
  for (line = next; *line && name >= 0 && value >= 0; line = next) {
    double number;
    next = cut_line(line);
    count = split_line(line, fields);
    if (count <= id || count <= name || count <= value)
      continue;
    counts->kernels += strcmp(last, fields[id]) != 0;
    snprintf(last, sizeof last, "%.31s", fields[id]);
    if (read_value(fields[value], &number))
      add_metric(fields[name], number, counts);
  }
  if (counts->kernels == 0)
    snprintf(counts->why, sizeof counts->why, "ncu counted no kernel");
  free(copy);
}

/* Keeps the first line in which ncu reports an error. */
static void explain_failure(const char *output, int code, tsl_device_counts *counts) {
  const char *error = strstr(output, "==ERROR==");
  if (code == 127)
    snprintf(counts->why, sizeof counts->why, "ncu (NVIDIA Nsight Compute) is not on the PATH");
  else if (error)
    snprintf(counts->why, sizeof counts->why, "ncu: %.*s", (int)strcspn(error + 10, "\r\n"), error + 10);
  else if (code != 0)
    snprintf(counts->why, sizeof counts->why, "ncu ended with code %d", code);
}

void tsl_device_counters_read(const tsl_command_call *call, const tsl_device *device,
                              tsl_device_counts *counts) {
  static const double seconds = 120;
  char list[1024] = "";
  const char *words[LINE_WORDS + 12] = {
      "ncu",       "--csv", "--print-units", "base", "--clock-control", "none",
      "--metrics", list,    "/proc/self/exe"};
  tsl_text output = {0};
  int code = 0, count = 9;
  *counts = (tsl_device_counts){.kernels = 0};
  if (!(device->capabilities & TSL_CAN_CUDA)) {
    snprintf(
        counts->why, sizeof counts->why,
        "ncu counts CUDA devices; tesela explore counts the processor's events where the system has them");
    return;
  }
  for (int i = 0; i < METRICS; i++)
    snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i ? "," : "", metrics[i].metric);
  for (int i = 0; i < call->line_count && i < LINE_WORDS; i++)
    words[count++] = call->line[i];
  char path[4096];
  words[8] = realpath("/proc/self/exe", path) ? path : "tesela";
  setenv(child_variable, "1", 1);
  setenv("TESELA_SELFTEST", "0", 1); /* no kernels but the run's */
  setenv("TESELA_STAGING", "0", 1);
  const tesela_status status = tsl_lab_command(words, seconds, &output, &code);
  unsetenv(child_variable);
  if (status == TESELA_OK)
    tsl_device_counters_parse(tsl_text_get(&output), counts);
  if (status != TESELA_OK || counts->why[0])
    explain_failure(tsl_text_get(&output), status == TESELA_OK ? code : 127, counts);
  tsl_text_free(&output);
}

/* --- the report --- */

/* Returns the strategy's own count; NaN: none. */
static double counted_value(const tsl_problem *problem, const tsl_cost_report *counted,
                            tsl_device_counter counter) {
  const tsl_cost_counts *account = &counted->account;
  const double size = (double)tsl_type(problem->c.type)->size;
  if (!counted->has_counts)
    return NAN;
  switch (counter) {
  case TSL_DEVICE_COUNTER_MULTIPLY_ADDS:
    return account->computed;
  case TSL_DEVICE_COUNTER_GLOBAL_LOADS:
    return account->global.read / size;
  case TSL_DEVICE_COUNTER_GLOBAL_BYTES:
    return account->touched > 0 ? account->touched : NAN;
  case TSL_DEVICE_COUNTER_LOCAL_LOADS:
    return account->local.read / size;
  case TSL_DEVICE_COUNTER_MEMORY_BYTES:
    return account->memory;
  default:
    return NAN;
  }
}

void tsl_device_counters_table(const tsl_problem *problem, const tsl_cost_report *counted,
                               const tsl_device_counts *counts, tsl_table *table) {
  char model[32], device[32];
  TSL_TABLE_COLUMNS(table, "~counters of one run", ">by the model", ">by the device");
  for (int i = 0; i < TSL_DEVICE_COUNTERS; i++) {
    const double value = counted_value(problem, counted, (tsl_device_counter)i);
    tsl_table_add(table, "%s", names[i].text);
    tsl_table_add(table, "%s", tsl_format_number(value, model, sizeof model));
    tsl_table_add(table, "%s", tsl_format_number(counts->value[i], device, sizeof device));
  }
}

json_t *tsl_device_counters_json(const tsl_device_counts *counts) {
  json_t *object = json_object();
  for (int i = 0; i < TSL_DEVICE_COUNTERS; i++)
    json_object_set_new(object, names[i].key, tsl_json_real(counts->why[0] ? NAN : counts->value[i]));
  json_object_set_new(object, "kernels", json_integer(counts->kernels));
  json_object_set_new(object, "why", json_string(counts->why));
  return object;
}
