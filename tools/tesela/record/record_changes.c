/* Differences between two recordings of a program: products belong together by routine, type, sizes and
 * layout; the library that computed may differ. */
#include "record/record.h"

#include "cli/report.h"
#include "core/text.h"

#include <math.h>
#include <string.h>

static const char *const same_keys[] = {"routine", "type", "least", "most", "layout", "leading_dimensions",
                                        "beta",    "count"};

static bool belongs(const json_t *a, const json_t *b) {
  for (size_t i = 0; i < sizeof same_keys / sizeof *same_keys; i++) {
    const json_t *x = json_object_get(a, same_keys[i]), *y = json_object_get(b, same_keys[i]);
    if ((x == NULL) != (y == NULL) || (x && !json_equal(x, y)))
      return false;
  }
  return true;
}

/* Sums of the products that belong to one. */
typedef struct changes_side {
  double seconds, calls;
  const char *who;
} changes_side;

static changes_side side_of(const json_t *run, const json_t *like) {
  changes_side side = {.seconds = 0};
  double heaviest = -1;
  size_t i;
  json_t *product;
  json_array_foreach(json_object_get(run, "products"), i, product) {
    const double seconds = json_number_value(json_object_get(product, "seconds"));
    if (!belongs(product, like))
      continue;
    side.seconds += seconds;
    side.calls += json_number_value(json_object_get(product, "calls"));
    if (seconds > heaviest) {
      heaviest = seconds;
      side.who = json_string_value(json_object_get(product, "computed_by"));
    }
  }
  return side;
}

static json_t *change_json(const json_t *product, const changes_side *before, const changes_side *after) {
  json_t *change = json_object();
  for (size_t i = 0; i < sizeof same_keys / sizeof *same_keys; i++) {
    json_t *value = json_object_get(product, same_keys[i]);
    if (value)
      json_object_set(change, same_keys[i], value);
  }
  json_object_set_new(change, "outcome",
                      json_string(!before->who                       ? "new"
                                  : !after->who                      ? "gone"
                                  : after->seconds < before->seconds ? "less time"
                                                                     : "more time"));
  json_object_set_new(change, "calls_before", tsl_json_real(before->calls));
  json_object_set_new(change, "calls", tsl_json_real(after->calls));
  json_object_set_new(change, "seconds_before", tsl_json_real(before->seconds));
  json_object_set_new(change, "seconds", tsl_json_real(after->seconds));
  json_object_set_new(change, "computed_by_before", before->who ? json_string(before->who) : json_null());
  json_object_set_new(change, "computed_by", after->who ? json_string(after->who) : json_null());
  return change;
}

static double weight_of(const json_t *change) {
  return fabs(json_number_value(json_object_get(change, "seconds")) -
              json_number_value(json_object_get(change, "seconds_before")));
}

/* Inserts the change, the largest difference of seconds first. */
static void insert_change(json_t *list, json_t *change) {
  size_t at = 0;
  while (at < json_array_size(list) && weight_of(json_array_get(list, at)) >= weight_of(change))
    at++;
  json_array_insert_new(list, at, change);
}

static bool is_listed(const json_t *list, const json_t *product) {
  size_t i;
  json_t *change;
  json_array_foreach(list, i, change) if (belongs(change, product)) return true;
  return false;
}

static void add_changes(const json_t *from, const json_t *before, const json_t *after, json_t *list) {
  size_t i;
  json_t *product;
  json_array_foreach(json_object_get(from, "products"), i, product) {
    const changes_side old = side_of(before, product), new = side_of(after, product);
    if (!is_listed(list, product))
      insert_change(list, change_json(product, &old, &new));
  }
}

json_t *tsl_record_changes(const json_t *before, const json_t *after) {
  static const char *const totals[] = {"seconds", "call_seconds", "calls"};
  json_t *list = json_array(), *changes = json_object();
  add_changes(after, before, after, list);
  add_changes(before, before, after, list);
  for (size_t i = 0; i < sizeof totals / sizeof *totals; i++) {
    char name[32] = "";
    strcat(strcpy(name, totals[i]), "_before");
    json_object_set(changes, name, json_object_get(before, totals[i]));
    json_object_set(changes, totals[i], json_object_get(after, totals[i]));
  }
  json_object_set_new(changes, "changes", list);
  return changes;
}

static double number_of(const json_t *object, const char *key) {
  return json_number_value(json_object_get(object, key));
}

/* Returns the text of both if they differ: "libopenblas.so.0 -> tesela host_packed cpu". */
static void add_libraries(const json_t *change, tsl_table *table) {
  const char *before = json_string_value(json_object_get(change, "computed_by_before")),
             *after = json_string_value(json_object_get(change, "computed_by"));
  if (before && after && strcmp(before, after) != 0)
    tsl_table_add(table, "%s (was %s)", after, before);
  else
    tsl_table_add(table, "%s", after ? after : before ? before : "");
}

static void add_change(const json_t *change, tsl_table *table) {
  const json_t *most = json_object_get(change, "most");
  const char *routine = json_string_value(json_object_get(change, "routine"));
  char before[32], after[32];
  tsl_text sizes = {0};
  for (size_t i = 0; i < json_array_size(most); i++)
    tsl_text_add(&sizes, "%s%lld", i ? " x " : "", (long long)json_integer_value(json_array_get(most, i)));
  tsl_table_add(table, "%s", json_string_value(json_object_get(change, "outcome")));
  tsl_table_add(table, "%s", routine ? routine : "");
  tsl_table_add(table, "%s", tsl_text_get(&sizes));
  tsl_table_add(table, "%.0f", number_of(change, "calls_before"));
  tsl_table_add(table, "%.0f", number_of(change, "calls"));
  tsl_table_add(table, "%s", tsl_format_seconds(number_of(change, "seconds_before"), before, sizeof before));
  tsl_table_add(table, "%s", tsl_format_seconds(number_of(change, "seconds"), after, sizeof after));
  add_libraries(change, table);
  tsl_text_free(&sizes);
}

void tsl_record_changes_text(const json_t *changes, bool colour, int width, tsl_text *out) {
  char texts[4][32];
  tsl_table table = {0};
  size_t i;
  json_t *change;
  tsl_text_add(out, "run %s, was %s; in calls %s, was %s\n\n",
               tsl_format_seconds(number_of(changes, "seconds"), texts[0], sizeof texts[0]),
               tsl_format_seconds(number_of(changes, "seconds_before"), texts[1], sizeof texts[1]),
               tsl_format_seconds(number_of(changes, "call_seconds"), texts[2], sizeof texts[2]),
               tsl_format_seconds(number_of(changes, "call_seconds_before"), texts[3], sizeof texts[3]));
  TSL_TABLE_COLUMNS(&table, "", "routine", "sizes", ">calls, old", ">new", ">time, old", ">new",
                    "~computed by");
  json_array_foreach(json_object_get(changes, "changes"), i, change) add_change(change, &table);
  tsl_table_text(&table, 0, width, colour, out);
  tsl_table_free(&table);
}
