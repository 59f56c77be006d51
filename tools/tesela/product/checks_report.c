/* Prints the results of --verify and --expect. */
#include "cli/report.h"
#include "product/product.h"

#include <stdio.h>

/* Appends the bound that decided. */
static void add_decider(const tsl_product *product, tsl_text *out) {
  const tsl_difference *difference = &product->difference;
  const tsl_decider decider = tsl_product_decider(product);
  if (decider == TSL_DECIDED_BY_TOLERANCE)
    tsl_text_add(out, "compared within --tolerance %.3g", product->request.tolerance.value);
  else if (decider == TSL_DECIDED_BY_ROUNDING)
    tsl_text_add(out, "compared within what rounding explains");
  else if (difference->count > 0)
    tsl_text_add(out, "compared to the last printed digit");
  else
    tsl_text_add(out, "%lld elements were compared to the last printed digit, the others within rounding",
                 (long long)difference->by_print);
}

/* Adds whether the result agrees with the expected file, and by which bound. */
static void add_expected(const tsl_product *product, tsl_table *table) {
  const tsl_difference *difference = &product->difference;
  const bool same = difference->count == 0;
  char error[32];
  tsl_text by = {0};
  tsl_table_add_painted(table, TSL_PAINT_FAINT, "expected");
  add_decider(product, &by);
  tsl_table_add_painted(table, same ? TSL_PAINT_GOOD : TSL_PAINT_BAD, "%s %s, largest difference %s; %s",
                        same ? "agrees with" : "DIFFERS from", product->expected.path,
                        tsl_format_number(difference->error, error, sizeof error), tsl_text_get(&by));
  if (same && difference->weak > 0)
    tsl_table_add_pair(table, "",
                       "%lld of %lld elements are no larger than their rounding errors may be: they agree "
                       "with any value; --tolerance is stricter",
                       (long long)difference->weak, (long long)(product->m * product->n));
  tsl_text_free(&by);
}

static void add_verified(const tsl_product *product, tsl_table *table) {
  const tsl_verdict *verdict = &product->verdict;
  const long long checked = verdict->checked, all = product->m * product->n;
  char error[32], share[32], grade[32], count[96];
  if (!verdict->right)
    snprintf(count, sizeof count, "WRONG: %lld of %lld elements%s", (long long)verdict->wrong, checked,
             checked == all ? "" : " checked");
  else if (checked == all)
    snprintf(count, sizeof count, "right: all %lld elements", all);
  else
    snprintf(count, sizeof count, "right: %lld of %lld elements checked", checked, all);
  tsl_table_add_painted(table, TSL_PAINT_FAINT, "verified");
  tsl_table_add_painted(table, verdict->right ? TSL_PAINT_GOOD : TSL_PAINT_BAD,
                        "%s, largest error %s, %s of its bound, grade %s u", count,
                        tsl_format_number(verdict->error, error, sizeof error),
                        tsl_format_number(verdict->error_ratio, share, sizeof share),
                        tsl_format_number(verdict->grade, grade, sizeof grade));
}

void tsl_product_add_checks(const tsl_product *product, tsl_table *table) {
  if (product->request.verify)
    add_verified(product, table);
  if (product->expected.reader)
    add_expected(product, table);
}

json_t *tsl_product_json_verified(const tsl_product *product) {
  return product->request.verify ? tsl_json_verdict(&product->verdict) : json_null();
}

json_t *tsl_product_json_expected(const tsl_product *product) {
  const tsl_difference *difference = &product->difference;
  if (!product->expected.reader)
    return json_null();
  const bool complex = tsl_type(product->type)->is_complex || tsl_type(product->expected.type)->is_complex;
  const tsl_option_number *tolerance = &product->request.tolerance;
  json_t *object = json_pack(
      "{s:s, s:b, s:I, s:o, s:s, s:o, s:I, s:I}", "file", product->expected.path, "agrees",
      difference->count == 0, "elements_that_differ", (json_int_t)difference->count, "largest_difference",
      tsl_json_real(difference->error), "decided_by", tsl_decider_name(tsl_product_decider(product)),
      "tolerance", tolerance->given ? tsl_json_real(tolerance->value) : json_null(),
      "elements_by_printed_digits", (json_int_t)difference->by_print, "elements_that_prove_nothing",
      (json_int_t)difference->weak);
  if (object && difference->count > 0)
    json_object_update_new(
        object,
        json_pack(
            "{s:I, s:I, s:o, s:o, s:o, s:o, s:o}", "row", (json_int_t)difference->row, "column",
            (json_int_t)difference->col, "computed", tsl_json_scalar(complex, difference->computed),
            "expected", tsl_json_scalar(complex, difference->expected), "bound",
            tsl_json_real(tolerance->given ? tolerance->value : difference->rounding + difference->printed),
            "bound_of_rounding", tsl_json_real(difference->rounding), "bound_of_printed_digits",
            tsl_json_real(difference->printed)));
  return object;
}
