/* A product in host memory that a test multiplies: random operands, and checks of C by the judge. */
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

/* Allocates the operands of a problem and fills them at random. */
host_product host_product_of(const tsl_problem *problem);

void host_product_free(host_product *product);

/* Returns a copy of C's memory, which host_product_restore() copies back. The caller frees it. */
void *host_product_keep(const host_product *product);
void host_product_restore(const host_product *product, const void *kept);
/* Fails the test unless C has the bits of `kept`, a copy by host_product_keep(). */
void expect_same_bits(const host_product *product, const void *kept);

/* Fails the test unless C is right within `factor` units. `before`: C before the product, a copy by
 * host_product_keep(), or NULL if the product did not read C. */
void expect_right_sums(const host_product *product, const void *before, double factor);

/* Makes the shape column-major. */
void by_columns(tsl_shape *shape);

/* Fails the test unless products with alpha = 0 or k = 0 are beta C, without a read of A or B. */
void expect_beta_c(tesela_status (*multiply)(const tsl_problem *problem, const tsl_operands *operands));

#endif
