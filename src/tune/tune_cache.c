#include "core/reserve.h"
#include "core/safe_open.h"
#include "core/status.h"
#include "tune/tune.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const result_names[] = {[TSL_CASE_RIGHT] = "right",
                                           [TSL_CASE_WRONG] = "wrong",
                                           [TSL_CASE_REFUSED] = "refused",
                                           [TSL_CASE_FAILED] = "failed"};
enum { RESULTS = sizeof result_names / sizeof *result_names };

/* Parses "right 0.0012 gemm ..."; false: another format. Changes the line. */
static bool parse_line(char *line, tsl_tune_stored *out) {
  char *rest = NULL;
  const char *result = strtok_r(line, " ", &rest), *predicted = strtok_r(NULL, " ", &rest);
  int found = 0;
  while (result && found < RESULTS && strcmp(result_names[found], result) != 0)
    found++;
  if (!predicted || found == RESULTS || !tsl_parse_double(predicted, &out->predicted) ||
      !(out->predicted >= 0))
    return false;
  out->result = (tsl_case_result)found;
  return tsl_wisdom_parse(rest, &out->record) == TESELA_OK && !out->record.stale[0];
}

static tesela_status append_item(tsl_tune_cache *cache, const tsl_tune_stored *stored) {
  TSL_TRY(
      tsl_list_reserve(&cache->items, cache->count, &cache->capacity, sizeof *cache->items, "measurements"));
  cache->items[cache->count++] = *stored;
  return TESELA_OK;
}

tesela_status tsl_tune_cache_read(const char *path, bool optional, tsl_tune_cache *cache) {
  tsl_text text = {0};
  char *rest = NULL;
  tesela_status status;
  memset(cache, 0, sizeof *cache);
  TSL_GO(tsl_wisdom_read(path, optional, &text));
  for (char *line = text.data ? strtok_r(text.data, "\n", &rest) : NULL; line;
       line = strtok_r(NULL, "\n", &rest)) {
    tsl_tune_stored stored;
    if (parse_line(line, &stored))
      TSL_GO(append_item(cache, &stored));
    else
      cache->passed_over++;
  }
  if (cache->count > 0)
    cache->like = cache->items[0].record;
out:
  tsl_text_free(&text);
  return status;
}

void tsl_tune_cache_free(tsl_tune_cache *cache) {
  free(cache->items);
  memset(cache, 0, sizeof *cache);
}

static bool is_for_cache(const tsl_tune_cache *cache, const tsl_wisdom_record *record) {
  return record->units == cache->like.units && strcmp(record->key, cache->like.key) == 0 &&
         memcmp(&record->problem, &cache->like.problem, sizeof record->problem) == 0;
}

const tsl_tune_stored *tsl_tune_cache_find(const tsl_tune_cache *cache, const tsl_strategy *strategy,
                                           const tsl_config *config) {
  for (int i = cache->count - 1; i >= 0; i--) {
    const tsl_wisdom_record *record = &cache->items[i].record;
    if (record->strategy == strategy && memcmp(&record->config, config, sizeof *config) == 0 &&
        is_for_cache(cache, record))
      return &cache->items[i];
  }
  return NULL;
}

tesela_status tsl_tune_cache_write(const char *path, const tsl_tune_stored *stored) {
  tsl_text text = {0};
  tesela_status status = TESELA_OK;
  tsl_text_add(&text, "%s %.6g ", result_names[stored->result], stored->predicted);
  tsl_wisdom_print(&stored->record, &text);
  tsl_text_add(&text, "\n");
  TSL_GO(tsl_text_status(&text));
  const char *why = NULL;
  const int file = tsl_trusted_file(AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND, 0644, &why);
  if (file < 0)
    status = tsl_fail(TESELA_IO_FAILED, "%s: %s", path, why);
  else if (write(file, text.data, text.length) != (ssize_t)text.length)
    status = tsl_fail(TESELA_IO_FAILED, "%s: %s", path, strerror(errno));
  if (file >= 0)
    close(file);
out:
  tsl_text_free(&text);
  return status;
}

tesela_status tsl_tune_cache_add_to_space(const tsl_tune_cache *cache, tsl_space *space) {
  for (int i = 0; i < cache->count; i++) {
    const tsl_tune_stored *stored = &cache->items[i];
    const tsl_space_point point = {stored->record.strategy, stored->record.config, stored->predicted};
    if (is_for_cache(cache, &stored->record) && tsl_space_find(space, point.strategy, &point.config) < 0)
      TSL_TRY(tsl_space_add_point(space, &point));
  }
  return TESELA_OK;
}

tesela_status tsl_tune_by_cache(void *argument, const tsl_space *space, const int *points, int count,
                                double limit, tsl_tune_result *results) {
  const tsl_tune_cache *cache = argument;
  (void)limit;
  for (int i = 0; i < count; i++) {
    const tsl_space_point *point = &space->points[points[i]];
    const tsl_tune_stored *stored = tsl_tune_cache_find(cache, point->strategy, &point->config);
    if (!stored)
      return tsl_fail(TESELA_BAD_INPUT, "a config of %s was not measured", point->strategy->name);
    results[i] = (tsl_tune_result){
        .result = stored->result, .seconds = stored->record.seconds, .spread = stored->record.spread};
  }
  return TESELA_OK;
}
