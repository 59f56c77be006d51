/* Reports the error that the library measured, and the elements that it verified. */
#include "cli/report.h"
#include "product/product.h"

#include <math.h>

tesela_status tsl_product_measured(tsl_product *product, tesela_status status, const tesela_record *record,
                                   int64_t rows, int64_t cols) {
  tsl_product_errors *errors = &product->errors;
  if (status == TESELA_OK && record->note)
    snprintf(product->note, sizeof product->note, "%s", record->note);
  if (status != TESELA_OK && status != TESELA_WRONG_RESULT)
    return status;
  product->checksums.verified += record->verified;
  product->checksums.unverified += record->unverified;
  product->checksums.hidden = fmax(product->checksums.hidden, record->hidden_error);
  product->checksums.seconds += record->seconds_verify;
  product->seconds[TSL_STAGE_VERIFY] += record->seconds_verify;
  if (record->measured_rows == 0)
    return status;
  const bool all = record->measured_rows == rows && record->measured_cols == cols;
  errors->largest = fmax(errors->largest, record->error_measured);
  errors->seconds += record->seconds_measure;
  product->seconds[TSL_STAGE_VERIFY] += record->seconds_measure;
  errors->all = all && (errors->all || !errors->measured);
  errors->measured = true;
  if (record->measured_rows > errors->rows)
    errors->rows = record->measured_rows;
  if (record->measured_cols > errors->cols)
    errors->cols = record->measured_cols;
  product->verdict.right = product->verdict.right && status == TESELA_OK;
  return status;
}

/* Returns the unit of errors, such as |A||B|; factors alpha = 1 and beta = 0 are left out. */
static const char *unit_of(const tsl_product *product) {
  static const char *const plain[TSL_OP_COUNT] = {[TSL_OP_GEMM] = "|A||B|",
                                                  [TSL_OP_DOT] = "|x||y|",
                                                  [TSL_OP_TRANSPOSE] = "|A|",
                                                  [TSL_OP_SOLVE] = "|A||X|"};
  static const char *const scaled[TSL_OP_COUNT] = {[TSL_OP_GEMM] = "|alpha||A||B| + |beta||C0|",
                                                   [TSL_OP_DOT] = "|alpha||x||y| + |beta||s0|",
                                                   [TSL_OP_TRANSPOSE] = "|alpha||A|",
                                                   [TSL_OP_SOLVE] = "|A||X|"};
  const double *alpha = product->whole.alpha, *beta = product->whole.beta;
  const bool is_plain = alpha[0] == 1 && alpha[1] == 0 && beta[0] == 0 && beta[1] == 0;
  return (is_plain ? plain : scaled)[product->request.op];
}

void tsl_product_add_measured(const tsl_product *product, tsl_table *table) {
  const tsl_product_errors *errors = &product->errors;
  char of[96];
  if (!errors->measured)
    return;
  if (errors->all)
    snprintf(of, sizeof of, "all elements");
  else if (errors->cols == product->n)
    snprintf(of, sizeof of, "%lld rows", (long long)errors->rows);
  else
    snprintf(of, sizeof of, "%lld rows x %lld columns", (long long)errors->rows, (long long)errors->cols);
  tsl_table_add_painted(table, TSL_PAINT_FAINT, "measured");
  tsl_table_add_painted(table, product->verdict.right ? TSL_PAINT_GOOD : TSL_PAINT_BAD,
                        "largest error seen %.2g of %s in %s (bound %.2g)", errors->largest, unit_of(product),
                        of, tsl_plan_facts_bound(product->facts).bound);
}

json_t *tsl_product_json_measured(const tsl_product *product) {
  const tsl_product_errors *errors = &product->errors;
  if (!errors->measured)
    return json_null();
  return json_pack("{s:o, s:I, s:I, s:b, s:o}", "largest_error", tsl_json_real(errors->largest), "rows",
                   (json_int_t)errors->rows, "columns", (json_int_t)errors->cols, "all_elements", errors->all,
                   "seconds", tsl_json_real(errors->seconds));
}

void tsl_product_add_checksums(const tsl_product *product, tsl_table *table) {
  const tsl_product_checksums *sums = &product->checksums;
  char hidden[64] = "; no error is hidden", apart[64] = "";
  if (sums->verified + sums->unverified == 0)
    return;
  if (sums->hidden > 0)
    snprintf(hidden, sizeof hidden, "; errors up to %.2g may be hidden", sums->hidden);
  if (sums->unverified > 0)
    snprintf(apart, sizeof apart, "; %lld not, near infinity or NaN", (long long)sums->unverified);
  tsl_table_add_painted(table, TSL_PAINT_FAINT, "checksums");
  tsl_table_add_painted(table, TSL_PAINT_GOOD, "%lld elements verified%s%s", (long long)sums->verified, apart,
                        hidden);
}

json_t *tsl_product_json_checksums(const tsl_product *product) {
  const tsl_product_checksums *sums = &product->checksums;
  if (sums->verified + sums->unverified == 0)
    return json_null();
  return json_pack("{s:I, s:I, s:o, s:o}", "verified", (json_int_t)sums->verified, "unverified",
                   (json_int_t)sums->unverified, "hidden_error", tsl_json_real(sums->hidden), "seconds",
                   tsl_json_real(sums->seconds));
}
