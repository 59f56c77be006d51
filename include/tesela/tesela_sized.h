/** @file tesela_sized.h
 * @brief Functions behind the inline functions of tesela.h: they take the sizes of the caller's structs. Part
 * of tesela.h.
 *
 * Bindings of other languages call them; C and C++ programs call the functions without sizes. The size of a
 * struct whose pointer is NULL is ignored. TESELA_BAD_CALL: a size is smaller than in the first version that
 * had the function (0.2). TESELA_UNSUPPORTED: a member that this library does not know is not zero. */
#include <tesela/tesela.h> /* outside of the guard, because tesela.h includes this header */

#ifndef TESELA_TESELA_SIZED_H
#define TESELA_TESELA_SIZED_H

#ifdef __cplusplus
extern "C" {
#endif

struct tesela_batch;
struct tesela_device;
struct tesela_operands;
struct tesela_plan_info;

/** Is tesela_context_create() with sizes. */
TESELA_API tesela_status tesela_context_create_sized(const tesela_context_desc *desc,
                                                     tesela_context **context, size_t desc_size);
/** Is tesela_gemm_batched() with sizes. */
TESELA_API tesela_status tesela_gemm_batched_sized(tesela_context *context, const tesela_gemm_desc *desc,
                                                   const struct tesela_batch *batch, tesela_record *record,
                                                   size_t desc_size, size_t batch_size, size_t record_size);
/** Is tesela_gemm_grouped() with sizes. desc_size and batch_size are also the array steps of descs
 * and batches. */
TESELA_API tesela_status tesela_gemm_grouped_sized(tesela_context *context, const tesela_gemm_desc *descs,
                                                   const struct tesela_batch *batches, int64_t count,
                                                   tesela_record *record, size_t desc_size, size_t batch_size,
                                                   size_t record_size);
/** Operations that have a description of their own. */
typedef enum tesela_operation {
  TESELA_GEMM = 0,  /**< a product; tesela_gemm_desc */
  TESELA_DOT,       /**< a dot product; tesela_dot_desc */
  TESELA_TRANSPOSE, /**< a transpose; tesela_transpose_desc */
  TESELA_SOLVE      /**< a triangular solve; tesela_solve_desc */
} tesela_operation;
/** Is tesela_gemm(), tesela_dot(), tesela_transpose() or tesela_solve() with sizes. desc points to the
 * operation's description. */
TESELA_API tesela_status tesela_call_sized(tesela_context *context, tesela_operation operation,
                                           const void *desc, tesela_record *record, size_t desc_size,
                                           size_t record_size);
/** Is tesela_plan_create(), or its sister for another operation, with sizes. desc points to the operation's
 * description. */
TESELA_API tesela_status tesela_plan_create_sized(tesela_context *context, tesela_operation operation,
                                                  const void *desc, tesela_plan **plan, size_t desc_size);
/** Is tesela_plan_create_batched() with sizes. */
TESELA_API tesela_status tesela_plan_create_batched_sized(tesela_context *context,
                                                          const tesela_gemm_desc *desc,
                                                          const struct tesela_batch *batch,
                                                          tesela_plan **plan, size_t desc_size,
                                                          size_t batch_size);
/** Is tesela_explain(), or its sister for another operation, with sizes. desc points to the operation's
 * description. */
TESELA_API tesela_status tesela_explain_sized(tesela_context *context, tesela_operation operation,
                                              const void *desc, char **text, size_t desc_size);
/** Is tesela_plan_run() with sizes. */
TESELA_API tesela_status tesela_plan_run_sized(tesela_plan *plan, const struct tesela_operands *operands,
                                               tesela_record *record, size_t operands_size,
                                               size_t record_size);
/** Is tesela_plan_enqueue() with sizes. */
TESELA_API tesela_status tesela_plan_enqueue_sized(tesela_plan *plan, tesela_stream *stream,
                                                   const struct tesela_operands *operands,
                                                   tesela_buffer *workspace, size_t operands_size);
/** Describes a plan: tesela_plan_describe(), tesela_plan_seconds() and tesela_plan_workspace() in one call.
 */
TESELA_API void tesela_plan_info_sized(const tesela_plan *plan, struct tesela_plan_info *info,
                                       size_t info_size);
/** Is tesela_device_count() and tesela_device_info() with sizes. info or count may be NULL. */
TESELA_API tesela_status tesela_device_info_sized(tesela_context *context, int index,
                                                  struct tesela_device *info, int *count, size_t info_size);

#ifdef __cplusplus
}
#endif

#endif
