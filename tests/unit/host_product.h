/* A product in host memory that a test has multiplied: its operands are drawn, and the judge says what became
 * of C. */
#ifndef TSL_TESTS_HOST_PRODUCT_H
#define TSL_TESTS_HOST_PRODUCT_H

#include "unit/unit.h"

#include "judge/check.h"
#include "matrices.h"

typedef struct host_product {
  tsl_problem problem;
  tsl_operands operands;
  void *memory[TSL_OPERANDS];
  size_t c_bytes;
} host_product;

host_product host_product_of(const tsl_problem *problem);

void host_product_free(host_product *product);

/* Returns a copy of C's memory, which host_product_restore() copies back. The caller frees it. */
void *host_product_keep(const host_product *product);
void host_product_restore(const host_product *product, const void *kept);
void expect_same_bits(const host_product *product, const void *kept);

/* `before`: what host_product_keep() had of C, or NULL where nothing of it was read. */
void expect_right_sums(const host_product *product, const void *before, double factor);

void by_columns(tsl_shape *shape);

/* beta C alone, where neither A nor B may be looked at: alpha is 0, and k is. */
void expect_beta_c(tesela_status (*multiply)(const tsl_problem *problem, const tsl_operands *operands));

#endif
