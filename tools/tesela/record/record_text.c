#include "record/record.h"

#include "cli/report.h"
#include "core/text.h"

#include <math.h>
#include <string.h>

enum { PRODUCTS_SHOWN = 20 };

static double real_of(const json_t *object, const char *key) {
  const json_t *value = json_object_get(object, key);
  return json_is_number(value) ? json_number_value(value) : NAN;
}

static const char *text_of(const json_t *object, const char *key) {
  const char *text = json_string_value(json_object_get(object, key));
  return text ? text : "";
}

/* Returns "12.3 %", or "-" for a share that is not known. */
static const char *format_share(double share, char *buffer, size_t size) {
  snprintf(buffer, size, "%.1f %%", 100 * share);
  return isnan(share) ? "-" : buffer;
}

/* Appends "300 x 200 x 17..32". */
static void add_sizes(const json_t *product, tsl_text *out) {
  const json_t *least = json_object_get(product, "least"), *most = json_object_get(product, "most");
  for (size_t i = 0; i < json_array_size(most); i++) {
    const long long low = (long long)json_integer_value(json_array_get(least, i)),
                    high = (long long)json_integer_value(json_array_get(most, i));
    tsl_text_add(out, i ? " x " : "");
    if (low != high)
      tsl_text_add(out, "%lld..", low);
    tsl_text_add(out, "%lld", high);
  }
}

static void add_product(const json_t *product, size_t number, tsl_table *table) {
  char seconds[32], share[32], rate[32];
  tsl_text sizes = {0};
  add_sizes(product, &sizes);
  tsl_table_add(table, "%zu", number);
  tsl_table_add(table, "%s", text_of(product, "routine"));
  tsl_table_add(table, "%s", tsl_text_get(&sizes));
  tsl_table_add(table, "%s", text_of(product, "layout"));
  tsl_table_add(table, "%lld", (long long)json_integer_value(json_object_get(product, "calls")));
  tsl_table_add(table, "%s", tsl_format_seconds(real_of(product, "seconds"), seconds, sizeof seconds));
  tsl_table_add(table, "%s", format_share(real_of(product, "share"), share, sizeof share));
  tsl_table_add(table, "%s", tsl_format_flops(real_of(product, "flops_per_second"), rate, sizeof rate));
  tsl_table_add(table, "%s", text_of(product, "computed_by"));
  tsl_table_add(table, "%s", text_of(product, "why"));
  tsl_text_free(&sizes);
}

static void add_products(const json_t *run, bool colour, int width, tsl_text *out) {
  const json_t *products = json_object_get(run, "products");
  const size_t count = json_array_size(products);
  tsl_table table = {0};
  TSL_TABLE_COLUMNS(&table, ">", "routine", "sizes", "layout", ">calls", ">time", ">share", ">rate",
                    "~computed by", "~why");
  for (size_t i = 0; i < count && i < PRODUCTS_SHOWN; i++)
    add_product(json_array_get(products, i), i + 1, &table);
  tsl_table_text(&table, 0, width, colour, out);
  if (count > PRODUCTS_SHOWN)
    tsl_text_add(out, "and %zu with less time\n", count - PRODUCTS_SHOWN);
  tsl_table_free(&table);
}

/* Appends "measured 1.84 times as fast, 2.1 s less". */
static void add_gain(const json_t *advice, tsl_text *out) {
  const json_t *trial = json_object_get(advice, "trial");
  const double saved = real_of(advice, "saved_seconds"), most = real_of(advice, "most_gain"),
               error = real_of(trial, "error");
  char seconds[32];
  if (json_is_object(trial))
    tsl_text_add(out, "measured %.3g times as fast, %s less", real_of(trial, "gain"),
                 tsl_format_seconds(saved, seconds, sizeof seconds));
  else if (!isnan(most))
    tsl_text_add(out, "at most %.3g times as fast, %s less", most,
                 tsl_format_seconds(saved, seconds, sizeof seconds));
  else
    tsl_text_add(out, "gain not known: --trial measures it");
  if (!isnan(error))
    tsl_text_add(out, "; error %.1e of the largest element for random numbers", error);
}

static void add_advice(const json_t *run, int width, tsl_text *out) {
  const json_t *list = json_object_get(run, "advice");
  tsl_text_add(out, "\nadvice\n");
  if (json_array_size(list) == 0)
    tsl_text_add(out, "  none\n");
  for (size_t i = 0; i < json_array_size(list); i++) {
    const json_t *advice = json_array_get(list, i);
    tsl_text line = {0};
    tsl_text_add(&line, "product %lld: %s (",
                 1 + (long long)json_integer_value(json_object_get(advice, "product")),
                 text_of(advice, "text"));
    add_gain(advice, &line);
    tsl_text_add(&line, ")");
    tsl_text_add(out, "  ");
    tsl_text_add_wrapped(out, tsl_text_get(&line), 2, 4, width);
    tsl_text_add(out, "\n");
    tsl_text_free(&line);
  }
}

void tsl_record_text(const json_t *run, bool colour, int width, tsl_text *out) {
  char seconds[32], inside[32], outside[32];
  const json_t *notes = json_object_get(run, "notes");
  tsl_text_add(out, "%s\n%s, %s in %lld calls, %s of the time outside\n\n", text_of(run, "program"),
               tsl_format_seconds(real_of(run, "seconds"), seconds, sizeof seconds),
               tsl_format_seconds(real_of(run, "call_seconds"), inside, sizeof inside),
               (long long)json_integer_value(json_object_get(run, "calls")),
               format_share(real_of(run, "rest_share"), outside, sizeof outside));
  add_products(run, colour, width, out);
  add_advice(run, width, out);
  for (size_t i = 0; i < json_array_size(notes); i++) {
    tsl_text_add(out, i ? "  " : "\nnotes\n  ");
    const char *note = json_string_value(json_array_get(notes, i));
    tsl_text_add_wrapped(out, note ? note : "", 2, 4, width);
    tsl_text_add(out, "\n");
  }
}
