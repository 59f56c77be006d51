#include "core/status.h"
#include "core/suggest.h"
#include "planner/planner.h"
#include "strategy/params.h"
#include "strategy/strategy_list.h"

#include <string.h>

static tesela_status planner_request_unknown_strategy(tsl_op op, const char *name) {
  char suggestion[TSL_SUGGESTION_BYTES];
  tsl_text names = {0};
  for (int i = 0; tsl_strategy_at(i); i++)
    if (tsl_strategy_at(i)->op == op)
      tsl_text_add(&names, "%s%s", names.length ? ", " : "", tsl_strategy_at(i)->name);
  const tesela_status status =
      tsl_fail(TESELA_BAD_INPUT, "'%s' is not a strategy for %s: there are %s%s", name, tsl_op_name(op),
               tsl_text_get(&names), tsl_suggest(name, tsl_text_get(&names), suggestion));
  tsl_text_free(&names);
  return status;
}

static tesela_status planner_request_unknown_parameter(const tsl_strategy *strategy, const char *key) {
  tsl_text names = {0};
  for (int i = 0; i < tsl_strategy_params(strategy); i++)
    tsl_text_add(&names, "%s%s", i ? ", " : ": it has ", strategy->params[i].name);
  const tesela_status status = tsl_fail(TESELA_BAD_INPUT, "%s has no parameter '%s'%s", strategy->name, key,
                                        names.length ? tsl_text_get(&names) : ": it has none");
  tsl_text_free(&names);
  return status;
}

static tesela_status planner_request_check_keys(const tsl_strategy *strategy, const tsl_record *record) {
  for (int i = 0; i < record->count; i++) {
    const char *key = record->fields[i].key;
    bool known = !key;
    for (int p = 0; p < tsl_strategy_params(strategy) && !known; p++)
      known = strcmp(strategy->params[p].name, key) == 0;
    if (!known)
      return planner_request_unknown_parameter(strategy, key);
  }
  return TESELA_OK;
}

/* Reads "tile_local tile=16", with or without the operation in front. */
static tesela_status read_request(tsl_op op, const tsl_record *record, tsl_strategy_request *out) {
  const char *words[3] = {tsl_record_word(record, 0), tsl_record_word(record, 1), tsl_record_word(record, 2)};
  const int first = words[0] && words[1] && strcmp(words[0], tsl_op_name(op)) == 0;
  const char *name = words[first], *extra = words[first + 1];
  if (!name)
    return tsl_fail(TESELA_BAD_INPUT, "a strategy starts with its name, such as 'sequential'");
  if (extra)
    return tsl_fail(TESELA_BAD_INPUT, "'%s' is not allowed after '%s': only 'key=value' is", extra, name);
  out->strategy = tsl_strategy_find(op, name);
  if (!out->strategy)
    return planner_request_unknown_strategy(op, name);
  TSL_TRY(planner_request_check_keys(out->strategy, record));
  out->config = tsl_strategy_defaults(out->strategy);
  return tsl_config_parse(out->strategy, record, &out->config, &out->given);
}

tesela_status tsl_planner_request(tsl_op op, const char *text, tsl_strategy_request *out) {
  tsl_record record;
  *out = (tsl_strategy_request){0};
  if (!text)
    return TESELA_OK;
  tesela_status status = tsl_record_parse(text, &record);
  if (status == TESELA_OK) {
    status = read_request(op, &record, out);
    tsl_record_free(&record);
  }
  return status == TESELA_OK ? status : tsl_fail_in(status, "strategy '%s'", text);
}
