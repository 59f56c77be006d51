#include "inventory/select.h"

#include "core/env.h"
#include "core/status.h"
#include "core/suggest.h"
#include "planner/planner.h"

#include <string.h>

static tesela_status select_read_device(const char *entry, void *list, void *devices) {
  tsl_device_list *out = list;
  TSL_TRY(tsl_select_check_room(out->count));
  return tsl_devices_find(devices, entry, &out->items[out->count++]);
}

tesela_status tsl_select_devices(tsl_devices *devices, const char *text, tsl_device_list *out) {
  *out = (tsl_device_list){.count = 0};
  if (!tsl_selects_all_devices(text))
    return tsl_select_each(text ? text : tsl_env_get(TSL_ENV_DEVICE), select_read_device, out, devices);
  tsl_device *device;
  for (int i = 0; out->count < TSL_SELECT_MAX && (device = tsl_devices_at(devices, i)) != NULL; i++)
    out->items[out->count++] = device;
  return out->count > 0 ? TESELA_OK : tsl_fail(TESELA_NO_DEVICE, "there is no device at all");
}

static bool select_is_of(const tsl_strategy *strategy, tsl_op op) {
  return op == TSL_OP_COUNT || strategy->op == op;
}

static tesela_status select_unknown_strategy(tsl_op op, const char *name) {
  const char *const kind = op == TSL_OP_COUNT ? "" : tsl_op_name(op), *const blank = *kind ? " " : "";
  char suggestion[TSL_SUGGESTION_BYTES];
  tsl_text all = {0};
  const tsl_strategy *strategy;
  for (int i = 0; (strategy = tsl_strategy_at(i)) != NULL; i++)
    if (select_is_of(strategy, op))
      tsl_text_add(&all, "%s%s", all.length ? ", " : "", strategy->name);
  const bool is_near = *tsl_suggest(name, tsl_text_get(&all), suggestion) != '\0';
  const tesela_status status =
      tsl_fail(TESELA_BAD_CALL, "there is no %s%sstrategy \"%s\"%s%s", kind, blank, name,
               is_near ? suggestion : "; there are ", is_near ? "" : tsl_text_get(&all));
  tsl_text_free(&all);
  return status;
}

/* Returns a strategy by name: of `op`, or if `op` is TSL_OP_COUNT of the first operation that has
 * one. */
static const tsl_strategy *find_strategy(tsl_op op, const char *name) {
  const tsl_strategy *found = NULL;
  for (int i = 0; i < TSL_OP_COUNT && !found; i++)
    if (op == TSL_OP_COUNT || op == (tsl_op)i)
      found = tsl_strategy_find((tsl_op)i, name);
  return found;
}

/* Reads "tile_local" or "gemm tile_local". */
static tesela_status select_read_name(const tsl_record *record, tsl_op among, const char *entry,
                                      const tsl_strategy **strategy) {
  const char *first = tsl_record_word(record, 0), *second = tsl_record_word(record, 1);
  const tsl_op named = first && second ? tsl_select_op(first) : TSL_OP_COUNT;
  const char *name = named != TSL_OP_COUNT ? second : first;
  if (named != TSL_OP_COUNT && among != TSL_OP_COUNT && named != among)
    return tsl_fail(TESELA_BAD_CALL, "strategy \"%s\" is a %s, this is about %s", entry, first,
                    tsl_op_name(among));
  const tsl_op op = named != TSL_OP_COUNT ? named : among;
  *strategy = name ? find_strategy(op, name) : NULL;
  return *strategy ? TESELA_OK : select_unknown_strategy(op, name ? name : entry);
}

static tesela_status select_unknown_parameter(const tsl_strategy *strategy, const char *key) {
  char suggestion[TSL_SUGGESTION_BYTES];
  tsl_text names = {0};
  for (int i = 0; i < tsl_strategy_params(strategy); i++)
    tsl_text_add(&names, "%s%s", i ? ", " : "", strategy->params[i].name);
  tsl_suggest(key, tsl_text_get(&names), suggestion);
  tsl_text_free(&names);
  return tsl_fail(TESELA_BAD_CALL, "%s has no parameter \"%s\"%s", strategy->name, key,
                  *suggestion ? suggestion : "; tesela strategies lists them");
}

/* Checks that every key is a parameter of the strategy. */
static tesela_status select_check_keys(const tsl_record *record, const tsl_strategy *strategy) {
  for (int i = 0; i < record->count; i++) {
    const char *key = record->fields[i].key;
    bool known = !key;
    for (int p = 0; key && p < tsl_strategy_params(strategy); p++)
      known |= strcmp(strategy->params[p].name, key) == 0;
    if (!known)
      return select_unknown_parameter(strategy, key);
  }
  return TESELA_OK;
}

/* Reads "tile_local tile=16", with or without the operation before it. */
static tesela_status select_read_strategy(const char *entry, void *list, void *op) {
  tsl_strategy_list *out = list;
  tsl_record record = {0};
  TSL_TRY(tsl_select_check_room(out->count));
  tesela_status status = tsl_record_parse(entry, &record);
  if (status != TESELA_OK)
    return tsl_fail_in(status == TESELA_OUT_OF_MEMORY ? status : TESELA_BAD_CALL, "strategy \"%s\"", entry);
  tsl_chosen_strategy *chosen = &out->items[out->count];
  TSL_GO(select_read_name(&record, *(tsl_op *)op, entry, &chosen->strategy));
  TSL_GO(select_check_keys(&record, chosen->strategy));
  chosen->config = tsl_strategy_defaults(chosen->strategy);
  TSL_GO(tsl_config_parse(chosen->strategy, &record, &chosen->config, &chosen->given));
  out->count++;
out:
  tsl_record_free(&record);
  return status;
}

static bool is_listed(const tsl_strategy_list *list, const tsl_strategy *strategy) {
  for (int i = 0; i < list->count; i++)
    if (list->items[i].strategy == strategy)
      return true;
  return false;
}

tesela_status tsl_select_strategies(tsl_op op, const char *text, bool peers, tsl_strategy_list *out) {
  const tsl_strategy *strategy;
  *out = (tsl_strategy_list){.count = 0};
  if (text)
    TSL_TRY(tsl_select_each(text, select_read_strategy, out, &op));
  else
    peers |= tsl_planner_vendors();
  for (int i = 0; out->count < TSL_SELECT_MAX && (strategy = tsl_strategy_at(i)) != NULL; i++)
    if (select_is_of(strategy, op) && (strategy->vendor.load ? peers : !text) && !is_listed(out, strategy))
      out->items[out->count++] = (tsl_chosen_strategy){strategy, tsl_strategy_defaults(strategy), 0};
  return TESELA_OK;
}
