#include "page/page_data.h"

#include "cli/language.h"
#include "explore/report.h"
#include "inventory/report.h"
#include "inventory/strategy_page.h"
#include "strategy/strategy_list.h"

#include <math.h>
#include <string.h>

/* Returns true for C0 and C1 control characters and for DEL, but not for line ends and tabs. */
static bool is_control(const char *text) {
  const unsigned char first = (unsigned char)text[0], second = (unsigned char)text[1];
  if (first == '\n' || first == '\t')
    return false;
  return first < 0x20 || first == 0x7f || (first == 0xc2 && second < 0xa0);
}

void tsl_page_clean(const char *text, tsl_text *out) {
  while (*text) {
    const size_t bytes = is_control(text) ? 0 : tsl_utf8_bytes(text);
    if (bytes > 0)
      tsl_text_add_bytes(out, text, bytes);
    else
      tsl_text_add(out, "\xef\xbf\xbd");
    text += bytes > 0 ? bytes : 1;
  }
}

const char *tsl_page_heading(const tsl_exploration *all) {
  static const char *const names[] = {[TSL_OP_GEMM] = N_("Matrix multiplication"),
                                      [TSL_OP_DOT] = N_("Dot products"),
                                      [TSL_OP_TRANSPOSE] = N_("Transposes"),
                                      [TSL_OP_SOLVE] = N_("Triangular solves")};
  return names[all->op];
}

/* Returns the text as JSON and frees it. */
static json_t *page_string(tsl_text *text) {
  tsl_text clean = {0};
  tsl_page_clean(tsl_text_get(text), &clean);
  json_t *const value = text->failed || clean.failed ? NULL : json_string(tsl_text_get(&clean));
  tsl_text_free(text);
  tsl_text_free(&clean);
  return value;
}

static json_t *page_types(const tsl_exploration *all) {
  json_t *list = json_array();
  for (int t = 0; t < all->types.count; t++)
    json_array_append_new(list, json_string(all->types.items[t].name));
  return list;
}

static json_t *page_sizes(const tsl_exploration *all) {
  json_t *list = json_array();
  for (int n = 0; n < all->sizes.count; n++) {
    const tsl_size *size = &all->sizes.items[n];
    tsl_text name = {0};
    tsl_explore_add_size(all, n, &name);
    json_array_append_new(list, json_pack("{s:I, s:I, s:I, s:o}", "m", (json_int_t)size->m, "n",
                                          (json_int_t)size->n, "k", (json_int_t)size->k, "name",
                                          page_string(&name)));
  }
  return list;
}

/* Returns the strategies in the exploration's order, with the parameters that the user gave. */
static json_t *page_strategies(const tsl_exploration *all) {
  json_t *list = json_array();
  for (int s = 0; s < all->strategies.count; s++) {
    const tsl_chosen_strategy *chosen = &all->strategies.items[s];
    json_t *given = json_object();
    tsl_text label = {0}, peer = {0};
    for (int p = 0; p < tsl_strategy_params(chosen->strategy); p++)
      if (chosen->given & 1u << p)
        json_object_set_new(given, chosen->strategy->params[p].name,
                            json_integer((json_int_t)chosen->config.value[p]));
    tsl_explore_add_strategy(all, s, &label);
    tsl_explore_add_peer(all, s, &peer);
    json_array_append_new(list,
                          json_pack("{s:s, s:o, s:o, s:o, s:b, s:b}", "name", chosen->strategy->name, "label",
                                    page_string(&label), "given", given, "peer", page_string(&peer), "host",
                                    (chosen->strategy->needs & TSL_CAN_HOST) != 0, "vendor",
                                    chosen->strategy->vendor.load != NULL));
  }
  return list;
}

/* Returns true if the strategy has a time and an idea; libraries of vendors have none. */
static bool has_idea(const tsl_exploration *all, const tsl_strategy *strategy) {
  for (int i = 0; !strategy->vendor.load && i < all->point_count; i++)
    if (all->points[i].entry.strategy == strategy && !isnan(all->points[i].entry.timing.median))
      return true;
  return false;
}

static json_t *page_idea(const tsl_strategy *strategy) {
  tsl_text story = {0};
  json_t *idea = json_pack("{s:s, s:i, s:s?, s:s?, s:s?}", "name", strategy->name, "rung", strategy->rung,
                           "partner", strategy->partner, "lifts", strategy->lifts, "idea", strategy->idea);
  const bool is_read = tsl_strategy_story(strategy, &story) == TESELA_OK;
  if (!is_read) {
    tsl_text_free(&story);
    tsl_text_add(&story, "Its source cannot be read: %s.", tesela_last_error());
  }
  json_object_set_new(idea, "story", page_string(&story));
  return idea;
}

static json_t *page_ideas(const tsl_exploration *all) {
  json_t *list = json_array();
  const tsl_strategy *strategy;
  for (int i = 0; (strategy = tsl_strategy_at(i)) != NULL; i++)
    if (has_idea(all, strategy))
      json_array_append_new(list, page_idea(strategy));
  return list;
}

/* Returns the reasons why points have no time, each once. */
static json_t *page_reasons(const tsl_exploration *all) {
  json_t *list = json_array();
  for (int i = 0; i < all->point_count; i++) {
    tsl_text line = {0};
    tsl_explore_add_reason(all, i, &line);
    if (line.length > 0)
      json_array_append_new(list, page_string(&line));
    else
      tsl_text_free(&line);
  }
  return list;
}

/* Returns the measured peak for a point in operations or bytes per second; NaN if unknown. Operations that
 * only read are compared with the read bandwidth. */
static double roof_of(const tsl_page *page, const tsl_point *point) {
  const tsl_measured_times *one = tsl_measured_find(page->roofs, page->all->devices.items[point->device]);
  if (!one || one->status != TESELA_OK)
    return NAN;
  if (page->all->op == TSL_OP_GEMM)
    return tsl_roofs_lowest(&one->roofs, page->all->types.items[point->type].types.c, point->flops,
                            point->bytes);
  return one->roofs.roof[page->all->op == TSL_OP_DOT ? TSL_ROOF_READ : TSL_ROOF_COPY].rate;
}

/* Adds to each entry its indices and its roof. Entries are in the order of the points. */
static void add_to_entries(const tsl_page *page, json_t *entries) {
  for (int i = 0; i < page->all->point_count; i++) {
    const tsl_point *point = &page->all->points[i];
    json_object_update_new(
        json_array_get(entries, (size_t)i),
        json_pack("{s:[i, i, i, i], s:o, s:b}", "at", point->type, point->size, point->strategy,
                  point->device, "roof", tsl_json_real(roof_of(page, point)), "left_out",
                  tsl_explore_is_left_out(page->all, point->type, point->size, point->strategy)));
  }
}

static void add_to_devices(const tsl_exploration *all, json_t *devices) {
  for (int d = 0; d < all->devices.count; d++)
    json_object_set_new(json_array_get(devices, (size_t)d), "is_cpu",
                        json_boolean(all->devices.items[d]->is_cpu));
}

json_t *tsl_page_data(const tsl_page *page) {
  const tsl_exploration *all = page->all;
  const tsl_form plain = {.width = 0};
  tsl_text command = {0}, conditions = {0}, left_out = {0};
  json_t *data = tsl_explore_json(all, page->devices, page->roofs);
  if (!data)
    return NULL;
  tsl_text_add(&command, "%s", page->command_line);
  tsl_explore_add_conditions(all, &plain, &conditions);
  tsl_explore_add_left_out(all, &left_out);
  add_to_entries(page, json_object_get(data, "entries"));
  add_to_devices(all, json_object_get(data, "devices"));
  json_t *more = json_pack(
      "{s:s, s:s, s:o, s:s, s:b, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "tesela", page->version,
      "revision", page->revision, "command_line", page_string(&command), "heading", tsl_page_heading(all),
      "by_bytes", tsl_explore_by_bytes(all->op), "is_sweep", all->sweep.count > 0, "types", page_types(all),
      "sizes", page_sizes(all), "strategies", page_strategies(all), "ideas", page_ideas(all), "reasons",
      page_reasons(all), "conditions", page_string(&conditions), "left_out_text", page_string(&left_out));
  if (more && json_object_update_new(data, more) == 0)
    return data;
  json_decref(data);
  return NULL;
}
