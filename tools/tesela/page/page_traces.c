#include "page/page_traces.h"

#include "explain/trace.h"

#include <string.h>

/* Returns a strategy of the exploration. */
static const tsl_strategy *traces_find(const tsl_exploration *all, const char *name) {
  int i = 0;
  while (strcmp(all->strategies.items[i].strategy->name, name) != 0)
    i++;
  return all->strategies.items[i].strategy;
}

void tsl_page_add_traces(const tsl_exploration *all, json_t *data) {
  json_t *traces = json_object(), *idea;
  tsl_text why = {0};
  size_t i;
  json_array_foreach(json_object_get(data, "ideas"), i, idea) {
    const char *name = json_string_value(json_object_get(idea, "name"));
    const tsl_rung *rung = tsl_rung_of(traces_find(all, name));
    json_t *trace = NULL;
    if (!rung)
      continue;
    if (tsl_explore_is_cut_short(all))
      tsl_text_add(&why, "%s", why.length == 0 ? "the run was cut short" : "");
    else if (tsl_trace_small(rung, &trace) == TESELA_OK)
      json_object_set_new(traces, name, trace);
    else if (why.length == 0)
      tsl_text_add(&why, "%s: %s", name, tesela_last_error());
  }
  json_object_set_new(data, "traces_why", json_string(tsl_text_get(&why)));
  tsl_text_free(&why);
  json_object_set_new(data, "traces", traces);
}
