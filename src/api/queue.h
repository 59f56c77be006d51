/* Queued runs on addresses, for the cuBLAS drop-in: a call makes no buffers and asks no driver about memory.
 */
#ifndef TSL_API_QUEUE_H
#define TSL_API_QUEUE_H

#include <tesela/tesela.h>

enum { TSL_QUEUE_A, TSL_QUEUE_B, TSL_QUEUE_C, TSL_QUEUE_BIAS, TSL_QUEUE_OPERANDS };

/* Operands of a run on memory that the plan's device reaches. The caller guarantees their extents. */
typedef struct tsl_queue_operands {
  const void *at[TSL_QUEUE_OPERANDS]; /* address of element (0, 0); NULL: no operand */
  int64_t step[TSL_QUEUE_OPERANDS];   /* elements from one product to the next */
  int64_t count;                      /* number of products, at least 1 */
} tsl_queue_operands;

/* Creates a buffer from which addresses of a device are counted; NULL: no device. It is never destroyed. */
tesela_buffer *tsl_queue_anchor(tesela_context *context, const char *device);

/* Creates a plan for `count` equal products at equal distances; a plan of one product if no strategy
 * supports the batch. The operands in desc are in the anchor. */
tesela_status tsl_queue_plan(tesela_context *context, tesela_operation operation, const void *desc,
                             size_t desc_size, int64_t count, tesela_plan **plan);

/* Queues a run as tesela_plan_enqueue(). `anchor` is of the plan's device. workspace may be NULL if the plan
 * needs none. Returns TESELA_UNSUPPORTED if an address is not a multiple of its element's size. */
tesela_status tsl_queue_run(const tesela_plan *plan, const tesela_stream *stream, const tesela_buffer *anchor,
                            const tsl_queue_operands *operands, const tesela_buffer *workspace);

#endif
