/* Writes the JSON of benchmark programs. Texts come from libraries and system files; bytes that JSON forbids
 * become blanks. */
#include "core/env.h"
#include "device/cpu/cpu.h"
#include "harness.h"

#include <time.h>
#ifdef TSL_HAS_REVISION
#include <revision.h>
#else
#define TESELA_REVISION "" /* empty in a build without the tool, which defines it */
#endif

static FILE *json;
static int depth;
static bool has_elements; /* the open object or list has an element, and a comma must follow */

/* Writes a comma, a new line where an element of the outer list begins, and the key. */
static void begin_value(const char *key) {
  fprintf(json, has_elements ? "," : "");
  fprintf(json, depth <= 1 ? "\n  " : depth == 2 && !key ? "\n    " : has_elements ? " " : "");
  if (key)
    fprintf(json, "\"%s\": ", key);
  has_elements = true;
}

void json_text(const char *key, const char *text) {
  if (!json)
    return;
  begin_value(key);
  fputc('"', json);
  for (; *text; text++)
    fputc(*text < ' ' || *text > '~' || *text == '"' || *text == '\\' ? ' ' : *text, json);
  fputc('"', json);
}

void json_number(const char *key, double value) {
  if (!json)
    return;
  begin_value(key);
  fprintf(json, isfinite(value) ? "%.6g" : "null", value);
}

void json_integer(const char *key, int64_t value) {
  if (!json)
    return;
  begin_value(key);
  fprintf(json, "%" PRId64, value);
}

void json_open(const char *key, char bracket) {
  if (!json)
    return;
  begin_value(key);
  fputc(bracket, json);
  has_elements = false;
  depth++;
}

void json_close(char bracket) {
  if (!json)
    return;
  depth--;
  fprintf(json, depth <= 1 && bracket == ']' ? "\n  ]" : "%c", bracket);
  has_elements = true;
}

void json_rates(const bench_side *sides, int count, double flops) {
  json_open("flops_per_second", '{');
  for (int i = 0; i < count; i++)
    json_number(sides[i].name, flops / sides[i].least);
  json_close('}');
  json_open("mean", '{');
  for (int i = 0; i < count; i++)
    json_number(sides[i].name, flops / sides[i].mean);
  json_close('}');
  json_open("spread", '{');
  for (int i = 0; i < count; i++)
    json_number(sides[i].name, sides[i].spread);
  json_close('}');
}

const char *bench_date(char *text, size_t size) {
  const time_t now = time(NULL);
  struct tm utc;
  strftime(text, size, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
  return text;
}

const char *bench_revision(void) {
  return TESELA_REVISION;
}

void json_begin(const char *path, const char *command) {
  if (!path)
    return;
  json = fopen(path, "we");
  if (!json)
    bench_stop(path, "cannot be written");
  char date[32], label[256];
  bench_date(date, sizeof date);
  tsl_cpu_label_at("", label, sizeof label);
  fputc('{', json);
  depth = 1;
  json_text("tesela", tesela_version());
  json_text("revision", bench_revision());
  json_text("command", command);
  json_text("date", date);
  json_open("machine", '{');
  json_text("label", label);
  json_number("clock_mhz", tsl_cpu_clock_at(""));
  json_text("isa", tsl_env_get(TSL_ENV_ISA));
  json_close('}');
}

void json_end(void) {
  if (!json)
    return;
  fprintf(json, "\n}\n");
  if (fclose(json) != 0)
    bench_stop("--json", "not all could be written");
  json = NULL;
}
