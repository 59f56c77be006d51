/* Writes the JSON of benchmark programs: a head with date, program and machine, and rows. Texts come from
 * libraries and system files; bytes that JSON forbids become blanks. */
#ifndef TSL_BENCH_JSON_H
#define TSL_BENCH_JSON_H

#include "core/env.h"
#include "device/cpu/cpu.h"

#include <math.h>
#include <stdio.h>
#include <tesela/tesela.h>
#include <time.h>
#ifdef TSL_HAS_REVISION
#include <revision.h>
#else
#define TESELA_REVISION "" /* empty in a build without the tool, which defines it */
#endif

static void json_text(FILE *json, const char *key, const char *text) {
  fprintf(json, "\"%s\": \"", key);
  for (; *text; text++)
    fputc(*text < ' ' || *text > '~' || *text == '"' || *text == '\\' ? ' ' : *text, json);
  fputc('"', json);
}

/* Writes a number; null if it is not finite. */
static void json_number(FILE *json, const char *key, double value) {
  if (isfinite(value))
    fprintf(json, "\"%s\": %.6g", key, value);
  else
    fprintf(json, "\"%s\": null", key);
}

/* Writes the object's first keys; the caller adds its own keys and the closing bracket. */
static void json_begin(FILE *json, const char *command) {
  const time_t now = time(NULL);
  struct tm utc;
  char date[32], label[256];
  strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
  tsl_cpu_label_at("", label, sizeof label);
  fprintf(json, "{\n  ");
  json_text(json, "tesela", tesela_version());
  fprintf(json, ", ");
  json_text(json, "revision", TESELA_REVISION);
  fprintf(json, ", ");
  json_text(json, "command", command);
  fprintf(json, ", ");
  json_text(json, "date", date);
  fprintf(json, ",\n  \"machine\": {");
  json_text(json, "label", label);
  fprintf(json, ", ");
  json_number(json, "clock_mhz", tsl_cpu_clock_at(""));
  fprintf(json, ", ");
  json_text(json, "isa", tsl_env_get(TSL_ENV_ISA));
  fprintf(json, "}");
}

#endif
