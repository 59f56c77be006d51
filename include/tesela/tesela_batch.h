/** @file tesela_batch.h
 * @brief Many products in one call: batches of equal sizes, and groups of different ones. Part of tesela.h.
 */
#include <tesela/tesela.h> /* outside of the guard, because tesela.h includes this header */

#ifndef TESELA_TESELA_BATCH_H
#define TESELA_TESELA_BATCH_H

#ifdef __cplusplus
extern "C" {
#endif

/** Operands of a batch: `count` products that differ only in their operands. Product i, 0 <= i < count, uses
 * the matrix at a[i]. If a is NULL it uses desc.a shifted by i * a_stride elements. B and C follow the same
 * rule. Addresses are of host memory. With a, desc.a has neither data nor buffer nor packed, and no operand
 * is in a buffer. No product may write the C of another product, or an operand that another product reads. */
typedef struct tesela_batch {
  int64_t count;        /**< number of products */
  const void *const *a; /**< host address of element (0, 0) of each product's A; NULL: a_stride is used */
  const void *const *b; /**< host address of element (0, 0) of each product's B; NULL: b_stride is used */
  void *const *c;       /**< host address of element (0, 0) of each product's C; NULL: c_stride is used */
  /** elements from one product's A to the next; may be negative; 0: all products share one A */
  int64_t a_stride;
  /** elements from one product's B to the next; may be negative; 0: all products share one B */
  int64_t b_stride;
  /** elements from one product's C to the next; may be negative; not 0 if there are several products */
  int64_t c_stride;
  int64_t bias_stride; /**< elements from one product's bias to the next; 0: all products share one bias */
  /** elements from one product's scales of A to the next; 0: all products share them */
  int64_t scale_a_stride;
  /** elements from one product's scales of B to the next; 0: all products share them */
  int64_t scale_b_stride;
} tesela_batch;

/** Computes a batch of products that differ only in their operands. Product i uses desc, with the
 * operands that batch names; see tesela_batch. All operands are checked before the first product is
 * computed. record, which may be NULL, describes all products together; its plan is the batch's, or
 * that of one product. Thread-safe.
 *
 *     tesela_batch batch = {.count = 100, .a_stride = m * k, .b_stride = k * n, .c_stride = m * n};
 *     tesela_gemm_batched(context, &desc, &batch, NULL);
 *
 * On the cpu small products are divided among the threads, and every result has the bits of a single
 * call. On another device operands at equal distances are copied together, and the batch is one run if
 * the strategy supports it. Then the order of sums, and so the bits, may differ from a single call. If
 * memory runs out after some products are done, the strategy "sequential", which needs no memory,
 * computes the rest in its own order of sums.
 * @return as tesela_gemm(). TESELA_BAD_CALL names the product whose operands are wrong, or two products
 * with the same C. After any failure except TESELA_DEVICE_FAILED and TESELA_WRONG_RESULT every C is
 * unchanged. If C is in buffers, the message of TESELA_DEVICE_FAILED tells if some products are done. */
static inline tesela_status tesela_gemm_batched(tesela_context *context, const tesela_gemm_desc *desc,
                                                const tesela_batch *batch, tesela_record *record) {
  return tesela_gemm_batched_sized(context, desc, batch, record, sizeof *desc, sizeof *batch, sizeof *record);
}

/** Creates a plan of a batch, whose queued runs (tesela_plan_enqueue()) compute all products: in one launch
 * if a strategy supports the batch, else one after the other. The operands of a run are the first product's.
 * The distances are the plan's; a, b and c of the batch are NULL. The runs of tesela_plan_run() need a plan
 * of one product.
 *
 *     tesela_batch batch = {.count = 100, .a_stride = m * k, .b_stride = k * n, .c_stride = m * n};
 *     tesela_plan_create_batched(context, &desc, &batch, &plan);
 *
 * @return as tesela_plan_create(); TESELA_BAD_CALL if count is below 1. */
static inline tesela_status tesela_plan_create_batched(tesela_context *context, const tesela_gemm_desc *desc,
                                                       const tesela_batch *batch, tesela_plan **plan) {
  return tesela_plan_create_batched_sized(context, desc, batch, plan, sizeof *desc, sizeof *batch);
}

/** Computes different products in one call: product i is descs[i]. If batches is not NULL, group i is the
 * batch batches[i] of descs[i], as in tesela_gemm_batched(). Groups may differ in all members of a
 * description, such as sizes, types, scalars and epilogues. Examples are the experts of a network, and BLAS's
 * gemm_batch. count = 0, empty groups and products without elements are allowed. Thread-safe.
 *
 * On the cpu the threads divide the products by work, the largest first. A product that would keep the other
 * threads waiting is computed by all threads. Every result has the bits of a single call.
 *
 * On another device products in buffers are queued without waits in between. Several products run in one
 * launch, in a batch's order of sums, if the strategy supports their shapes and distances. Products with
 * `reproducibility` or with strategy parameters never share a launch with other shapes. Operands in host
 * memory are copied to the device group by group.
 *
 * All arguments are checked before any product is computed. A message names the wrong description, operand or
 * batch by its number ("product 7: a.data is NULL", "group 3: product 2: ..."), and no C is written then. No
 * product may write memory that another product reads or writes. Two C with the same first element, or
 * without gaps and meeting, are refused; other overlaps give unspecified results.
 *
 * A size that is new to the context needs a plan, which takes about 10 us: longer than a small product.
 * Naming a strategy (for small products "host_small") reduces this to a tenth.
 *
 * @param descs one description for each product or group; read during the call only
 *
 * @param batches operands of each group; read during the call only. NULL: each description is one product.
 *
 * @param count number of descriptions, and of batches
 *
 * @param record NULL, or describes all products together: the plan of a product with most work ("" if there
 * is none), and the largest bounds
 *
 * @return as tesela_gemm_batched(). */
static inline tesela_status tesela_gemm_grouped(tesela_context *context, const tesela_gemm_desc *descs,
                                                const tesela_batch *batches, int64_t count,
                                                tesela_record *record) {
  return tesela_gemm_grouped_sized(context, descs, batches, count, record, sizeof *descs, sizeof *batches,
                                   sizeof *record);
}

#ifdef __cplusplus
}
#endif

#endif
