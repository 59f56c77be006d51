#include "api/fast_path.h"

#include "core/status.h"
#include "core/text.h"
#include "device/fact_file.h"

#include <string.h>
#include <time.h>

static const tsl_fact_lines file = {.file = "blas", .mark = "# tesela: how fast other BLAS are beside it\n"};

typedef struct measurement_query {
  const tsl_device *device;
  const char *name;
  double *value;
  bool found;
} measurement_query;

static bool has_field(const tsl_record *record, const char *key, const char *value) {
  const char *field = tsl_record_get(record, key);
  return field && strcmp(field, value) == 0;
}

/* Takes the value of a line with the query's device and name; ignores other lines. */
static void match_measurement(void *argument, char *line) {
  measurement_query *job = argument;
  tsl_record record;
  double value;
  if (tsl_record_parse(line, &record) != TESELA_OK)
    return;
  const char *text = tsl_record_get(&record, "value");
  if (has_field(&record, "key", job->device->key) && has_field(&record, "name", job->name) && text &&
      tsl_parse_double(text, &value) && value >= 0) {
    *job->value = value;
    job->found = true;
  }
  tsl_record_free(&record);
}

bool tsl_api_measurement_get(const tsl_device *device, const char *name, double *value) {
  measurement_query job = {.device = device, .name = name, .value = value};
  tsl_status_saved saved;
  tsl_status_save(&saved); /* invalid lines are not errors */
  tsl_lines_each(&file, match_measurement, &job);
  tsl_status_restore(&saved);
  return job.found;
}

void tsl_api_keep(const tsl_device *device, const char *name, double value) {
  const time_t now = time(NULL);
  tsl_text line = {0};
  struct tm utc;
  char date[24];
  strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
  tsl_text_add(&line, "measured key=%s name=%s value=%.4g date=%s", device->key, name, value, date);
  if (!line.failed)
    tsl_lines_add(&file, line.data);
  tsl_text_free(&line);
}
