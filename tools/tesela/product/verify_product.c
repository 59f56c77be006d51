/* Judges the result of a plan for a part of a product. */
#include "core/status.h"
#include "product/product.h"

#include <math.h>
#include <string.h>

const char *tsl_product_result_name(const tsl_product *product) {
  static const char *const names[TSL_OP_COUNT] = {[TSL_OP_GEMM] = "product",
                                                  [TSL_OP_DOT] = "dot product",
                                                  [TSL_OP_TRANSPOSE] = "transpose",
                                                  [TSL_OP_SOLVE] = "solution"};
  return names[product->request.op];
}

/* Adds a part's verdict to the verdict on the whole. Rows and columns are indices in the file. */
static void add_verdict(tsl_verdict *all, const tsl_verdict *part, const tsl_product_verdict *judged) {
  if (all->checked == 0 || part->error_ratio > all->error_ratio || !part->right) {
    all->row = judged->row + part->row;
    all->col = judged->col + part->col;
  }
  all->right = part->right;
  all->error = fmax(all->error, part->error);
  all->error_ratio = fmax(all->error_ratio, part->error_ratio);
  all->grade = fmax(all->grade, part->grade);
  all->checked += judged->is_part && part->right ? 0 : part->checked;
  all->wrong += part->wrong;
  memcpy(all->why, part->why, sizeof all->why);
}

tesela_status tsl_product_judge(tsl_product *product, const tsl_product_verdict *judged) {
  tsl_verdict verdict;
  TSL_TRY(tsl_verify(judged->plan, judged->a, judged->b, judged->before, &judged->last, judged->c, &verdict));
  return tsl_product_add_verdict(product, &verdict, judged);
}

tesela_status tsl_product_add_verdict(tsl_product *product, const tsl_verdict *verdict,
                                      const tsl_product_verdict *judged) {
  const char *name = tsl_product_result_name(product);
  add_verdict(&product->verdict, verdict, judged);
  if (verdict->right)
    return TESELA_OK;
  if (judged->row == 0 && judged->col == 0)
    return tsl_fail(TESELA_WRONG_RESULT, "the %s is wrong: %s", name, verdict->why);
  if (judged->col == 0)
    return tsl_fail(TESELA_WRONG_RESULT, "the %s is wrong in its rows from %lld: there, %s", name,
                    (long long)judged->row, verdict->why);
  return tsl_fail(TESELA_WRONG_RESULT, "the %s is wrong in its block at row %lld, column %lld: there, %s",
                  name, (long long)judged->row, (long long)judged->col, verdict->why);
}
