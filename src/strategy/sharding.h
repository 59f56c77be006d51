/* Operands that lie in pieces on several devices: which rectangle of which operand each of them holds, on
 * which member of a group. It is part of what a plan is made for, as strides are; buffers and offsets come
 * with each run. Rectangles are of operands as they take part in a product, transposes being strides. */
#ifndef TSL_STRATEGY_SHARDING_H
#define TSL_STRATEGY_SHARDING_H

#include "device/device.h"
#include "strategy/problem.h"

/* Rows and columns from (row, col) on. */
typedef struct tsl_rect {
  int64_t row, rows, col, cols;
} tsl_rect;

typedef struct tsl_shard {
  tsl_rect at;
  int member; /* of the group */
  int64_t row_stride,
      col_stride; /* elements; one of them is 1, the other one not less than what lies along that */
} tsl_shard;

typedef struct tsl_sharding {
  tsl_shard *holds[TSL_OPERANDS]; /* those of A, B and C; in the same block as this */
  int counts[TSL_OPERANDS];
} tsl_sharding;

/* Where a piece is in a run: the buffer that holds it, on the member's device, and elements before its
 * element (0, 0). */
typedef struct tsl_shard_buffer {
  tsl_buffer *buffer;
  int64_t offset;
} tsl_shard_buffer;

/* A copy in one block for tsl_free(); and whether two say the same. NULL is one, which is the same as NULL.
 */
tesela_status tsl_sharding_copy(const tsl_sharding *spread, tsl_sharding **copy);
bool tsl_sharding_same(const tsl_sharding *a, const tsl_sharding *b);

/* TESELA_BAD_CALL where pieces lie outside of their operand, share elements or leave some out, where elements
 * of one are not next to each other along rows, or columns, or pieces of one operand not along the same.
 * `name` is the operand's, for the sentence. */
tesela_status tsl_sharding_check(const tsl_sharding *spread, int operand, const tsl_shape *shape,
                                 const char *name);

/* What two rectangles have in common; false: nothing. */
bool tsl_rect_common(const tsl_rect *a, const tsl_rect *b, tsl_rect *common);
bool tsl_rect_holds(const tsl_rect *outer, const tsl_rect *inner);
/* The piece of a member in which all of a rectangle lies; -1: there is none. */
int tsl_sharding_whole(const tsl_sharding *spread, int operand, const tsl_rect *rect, int member);
/* Elements of a rectangle that a member holds. */
int64_t tsl_sharding_elements(const tsl_sharding *spread, int operand, const tsl_rect *rect, int member);
/* Whether an operand's pieces lie by rows: their columns are next to each other. */
bool tsl_sharding_by_rows(const tsl_sharding *spread, int operand);

#endif
