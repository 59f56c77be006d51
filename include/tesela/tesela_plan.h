/** @file tesela_plan.h
 * @brief Plans: a strategy, its parameters and a device, chosen once and run many times. Part of tesela.h. */
#include <tesela/tesela.h> /* outside of the guard, because tesela.h includes this header */

#ifndef TESELA_TESELA_PLAN_H
#define TESELA_TESELA_PLAN_H

#ifdef __cplusplus
extern "C" {
#endif

/** Operands of one run of a plan. Members are NULL for operands that the plan does not read. A run reads the
 * data, buffer, offset, packed and shards of an operand; sizes, types and strides are the plan's. */
typedef struct tesela_operands {
  const tesela_matrix *a;          /**< left factor; matrix of a transpose; triangle of a solve */
  const tesela_matrix *b;          /**< right factor; right-hand sides of a solve */
  const tesela_result *c;          /**< result of a product, of a transpose or of a solve */
  const tesela_epilogue *epilogue; /**< vectors of a product's epilogue */
  const tesela_vector *x;          /**< first factor of a dot */
  const tesela_vector *y;          /**< second factor of a dot */
  const tesela_scalar *result;     /**< result of a dot */
} tesela_operands;

/** Creates a plan for products of this shape, with these types, strides, alpha and beta. Operands may
 * have NULL data and buffer: only the presence and the device of a buffer count. Free the plan with
 * tesela_plan_destroy().
 *
 *     tesela_plan_create(context, &desc, &plan);
 *     for (int i = 0; i < count; i++)
 *       tesela_plan_run(plan, &(tesela_operands){&a[i], &b[i], &c[i]}, NULL);
 *     tesela_plan_destroy(plan);
 *
 * @return as tesela_gemm(); *plan is NULL after a failure. */
static inline tesela_status tesela_plan_create(tesela_context *context, const tesela_gemm_desc *desc,
                                               tesela_plan **plan) {
  return tesela_plan_create_sized(context, TESELA_GEMM, desc, plan, sizeof *desc);
}

/** Runs a plan of any operation on these operands and returns when the result is complete. record may be
 * NULL. Any number of threads may run one plan at once; runs of a plan for shards wait for each other, and
 * shards are in the plan's order.
 * @return TESELA_BAD_CALL if an operand is missing, or does not fit the plan; else as tesela_gemm(). */
static inline tesela_status tesela_plan_run(tesela_plan *plan, const tesela_operands *operands,
                                            tesela_record *record) {
  return tesela_plan_run_sized(plan, operands, record, sizeof *operands, sizeof *record);
}

/** Packs A or B once, for many runs of a plan. Exactly one of a and b is not NULL; only its data is read.
 * host_packed and host_amx copy an operand here instead of in every run. Other strategies get a plain copy,
 * which saves no time. The matrix may be changed or freed when the call returns. A run with the packed
 * operand gives the bits of a run with the matrix. Any number of threads may use a packed operand at once. It
 * serves all plans with the same text (tesela_plan_describe()), and may outlive them. Free it with
 * tesela_packed_destroy().
 *
 *     tesela_pack(plan, NULL, &b, &packed);
 *     for (int i = 0; i < count; i++)
 *       tesela_plan_run(plan, &(tesela_operands){&a[i], &(tesela_matrix){.packed = packed}, &c[i]}, NULL);
 *     tesela_packed_destroy(packed);
 *
 * @return TESELA_BAD_CALL if the plan is for buffers, or does not read that operand; TESELA_OUT_OF_MEMORY. */
TESELA_API tesela_status tesela_pack(tesela_plan *plan, const tesela_matrix *a, const tesela_matrix *b,
                                     tesela_packed **packed);

/** Frees a packed operand. No running call may use it. NULL is allowed. */
TESELA_API void tesela_packed_destroy(tesela_packed *packed);

/** Facts about a plan. The three functions below return its members. */
typedef struct tesela_plan_info {
  const char *text; /**< plan as one line of text, which tesela_plan_parse() reads; owned by the plan */
  double seconds;   /**< expected seconds of a run, copies included, by which the plan was chosen */
  size_t workspace; /**< bytes of device memory that a queued run needs in addition to its operands */
} tesela_plan_info;

/** Returns the plan as one line of text, which tesela_plan_parse() reads. The plan owns the text. Returns ""
 * for NULL. */
static inline const char *tesela_plan_describe(const tesela_plan *plan) {
  tesela_plan_info info;
  tesela_plan_info_sized(plan, &info, sizeof info);
  return info.text;
}

/** Returns the expected seconds of a run, copies included, by which the plan was chosen. Returns 0
 * if plan is NULL or nothing was chosen, as for a plan of tesela_plan_parse(). */
static inline double tesela_plan_seconds(const tesela_plan *plan) {
  tesela_plan_info info;
  tesela_plan_info_sized(plan, &info, sizeof info);
  return info.seconds;
}

/** Returns the bytes of device memory that a queued run of the plan needs in addition to its operands.
 * Returns 0 on the cpu, and for NULL. */
static inline size_t tesela_plan_workspace(const tesela_plan *plan) {
  tesela_plan_info info;
  tesela_plan_info_sized(plan, &info, sizeof info);
  return info.workspace;
}

/** Creates the plan that a line from tesela_plan_describe() describes. Free it with tesela_plan_destroy().
 * @return TESELA_BAD_INPUT if the text is no plan or has a retired version; the message names the wrong
 * word. */
TESELA_API tesela_status tesela_plan_parse(tesela_context *context, const char *text, tesela_plan **plan);

/** Frees a plan. No thread may be running it. NULL is allowed. */
TESELA_API void tesela_plan_destroy(tesela_plan *plan);

#ifdef __cplusplus
}
#endif

#endif
