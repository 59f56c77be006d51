#include "explore/sweep.h"

#include "cli/options.h"
#include "core/status.h"

#include <stdlib.h>
#include <string.h>

static tesela_status sweep_unknown_parameter(const tsl_strategy *strategy, const char *name) {
  tsl_text names = {0};
  for (int i = 0; i < tsl_strategy_params(strategy); i++)
    tsl_text_add(&names, "%s%s", i ? ", " : ": it has ", strategy->params[i].name);
  const tesela_status status = tsl_fail(TESELA_BAD_CALL, "%s has no parameter \"%s\"%s", strategy->name, name,
                                        names.length ? tsl_text_get(&names) : ": it has none");
  tsl_text_free(&names);
  return status;
}

static tesela_status read_values(const tsl_strategy *strategy, const char *name, const char *list,
                                 tsl_swept *swept) {
  tesela_status status = TESELA_OK;
  while (list && status == TESELA_OK) {
    char *piece;
    int64_t value;
    status = tsl_list_next(&list, &piece);
    if (status != TESELA_OK)
      return tsl_fail_in(status, "%s", name);
    if (!tsl_param_parse_value(strategy, swept->param, piece, &value))
      status = tsl_fail(TESELA_BAD_CALL, "%s: \"%s\" is not a whole number", name, piece);
    else if (swept->count == TSL_SELECT_MAX)
      status = tsl_fail(TESELA_BAD_CALL, "%s has more than %d values", name, TSL_SELECT_MAX);
    for (int i = 0; i < swept->count && status == TESELA_OK; i++)
      if (swept->values[i] == value)
        status = tsl_fail(TESELA_BAD_CALL, "%s has the value %s twice", name, piece);
    if (status == TESELA_OK)
      swept->values[swept->count++] = value;
    free(piece);
  }
  return status;
}

/* Reads "tile=8,16,32". */
static tesela_status read_parameter(const char *word, const tsl_chosen_strategy *chosen, tsl_sweep *sweep) {
  const char *values = strchr(word, '=');
  char name[64];
  int param = 0;
  if (!values || values - word >= (int)sizeof name)
    return tsl_fail(TESELA_BAD_CALL, "\"%s\" is not a parameter with its values; write tile=8,16,32", word);
  memcpy(name, word, (size_t)(values - word));
  name[values - word] = '\0';
  const int count = tsl_strategy_params(chosen->strategy);
  while (param < count && strcmp(chosen->strategy->params[param].name, name) != 0)
    param++;
  if (param == count)
    return sweep_unknown_parameter(chosen->strategy, name);
  bool twice = chosen->given & 1u << param;
  for (int i = 0; i < sweep->count; i++)
    twice |= sweep->params[i].param == param;
  if (twice)
    return tsl_fail(TESELA_BAD_CALL, "%s is given twice", name);
  tsl_swept *swept = &sweep->params[sweep->count++];
  swept->param = param;
  return read_values(chosen->strategy, name, values + 1, swept);
}

/* Adds every combination of values as a strategy of the exploration; the last parameter changes
 * fastest. */
static tesela_status combine(const tsl_chosen_strategy *base, tsl_exploration *all) {
  int64_t combinations = 1;
  for (int i = 0; i < all->sweep.count; i++)
    combinations *= all->sweep.params[i].count;
  if (combinations > TSL_SELECT_MAX)
    return tsl_fail(TESELA_BAD_CALL, "the values make %lld combinations, at most %d can be measured at once",
                    (long long)combinations, TSL_SELECT_MAX);
  for (int index = 0; index < (int)combinations; index++) {
    tsl_chosen_strategy *one = &all->strategies.items[all->strategies.count++];
    int rest = index;
    *one = *base;
    for (int i = all->sweep.count - 1; i >= 0; i--) {
      const tsl_swept *swept = &all->sweep.params[i];
      one->config.value[swept->param] = swept->values[rest % swept->count];
      one->given |= 1u << swept->param;
      rest /= swept->count;
    }
  }
  return TESELA_OK;
}

/* Joins the words before the first "PARAMETER=" into the strategy's text; *used is their number.
 * The first word always belongs to the strategy. */
static tesela_status sweep_read_strategy(char *const *words, int count, int *used, tsl_strategy_list *out) {
  tsl_text text = {0};
  for (*used = 0; *used < count && (*used == 0 || !strchr(words[*used], '=')); ++*used)
    tsl_text_add(&text, "%s%s", *used ? " " : "", words[*used]);
  tesela_status status = tsl_text_status(&text);
  if (status == TESELA_OK && strchr(tsl_text_get(&text), ','))
    status = tsl_fail(TESELA_BAD_CALL, "\"%s\" is not one strategy; parameters come after it: tile=8,16,32",
                      tsl_text_get(&text));
  if (status == TESELA_OK)
    status = tsl_select_strategies(TSL_OP_COUNT, tsl_text_get(&text), false, out);
  tsl_text_free(&text);
  return status;
}

tesela_status tsl_sweep_read(char *const *words, int count, tsl_exploration *all) {
  tsl_strategy_list named;
  int used;
  TSL_TRY(sweep_read_strategy(words, count, &used, &named));
  const tsl_chosen_strategy *base = &named.items[0];
  all->op = base->strategy->op;
  if (used == count)
    return tsl_fail(TESELA_BAD_CALL,
                    "nothing is swept: write a parameter of %s with values, such as tile=8,16",
                    base->strategy->name);
  for (int i = used; i < count; i++)
    TSL_TRY(read_parameter(words[i], base, &all->sweep));
  return combine(base, all);
}
