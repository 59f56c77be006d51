/* Sharded operands: the rectangle of an operand that each member of a device group holds. A plan is made for
 * a sharding, as for strides; buffers and offsets come with each run. */
#ifndef TSL_STRATEGY_SHARDING_H
#define TSL_STRATEGY_SHARDING_H

#include "device/device.h"
#include "problem/problem.h"

typedef struct tsl_rect {
  int64_t row, rows, col, cols; /* first row and number of rows; first column and number of columns */
} tsl_rect;

typedef struct tsl_shard {
  tsl_rect at; /* rectangle of the operand, in elements */
  int member;  /* index in the group */
  /* in elements; one stride is 1, the other at least the length of a contiguous line */
  int64_t row_stride, col_stride;
} tsl_shard;

typedef struct tsl_sharding {
  tsl_shard *holds[TSL_OPERANDS]; /* shards of A, B and C, in the same memory block as this struct */
  int counts[TSL_OPERANDS];       /* number of shards of A, B and C; 0: the operand is not sharded */
} tsl_sharding;

typedef struct tsl_shard_buffer {
  tsl_buffer *buffer; /* on the member's device */
  int64_t offset;     /* elements from the buffer's start to the shard's element (0, 0) */
} tsl_shard_buffer;

/* Makes room for so many shards of each operand, in one block for tsl_free(). */
tesela_status tsl_sharding_create(const int counts[TSL_OPERANDS], tsl_sharding **sharding);
/* Copies a sharding, which may be NULL, into one block for tsl_free(). */
tesela_status tsl_sharding_copy(const tsl_sharding *sharding, tsl_sharding **copy);
/* Makes dense shards with equal lines on each member: rows of A and C, columns of B. Free with tsl_free(). */
tesela_status tsl_sharding_even(const tsl_problem *problem, int members, tsl_sharding **sharding);
/* Returns true if both are equal, or both NULL. */
bool tsl_sharding_same(const tsl_sharding *a, const tsl_sharding *b);

/* Checks the shards of an operand. TESELA_BAD_CALL: shards are out of range, overlap, or leave elements out,
 * or some are contiguous along rows and others along columns. `name` is the operand's name in the message. */
tesela_status tsl_sharding_check(const tsl_sharding *sharding, int operand, const tsl_shape *shape,
                                 const char *name);

/* Gets the intersection of two rectangles; false: it is empty. */
bool tsl_rect_intersect(const tsl_rect *a, const tsl_rect *b, tsl_rect *common);
bool tsl_rect_contains(const tsl_rect *outer, const tsl_rect *inner);
/* Returns the index of a shard of `member` that contains the whole rectangle; -1: none. */
int tsl_sharding_find_containing(const tsl_sharding *sharding, int operand, const tsl_rect *rect, int member);
/* Returns the number of elements of a rectangle that a member holds. */
int64_t tsl_sharding_elements(const tsl_sharding *sharding, int operand, const tsl_rect *rect, int member);
/* Returns true if all shards have contiguous rows (column stride 1). */
bool tsl_sharding_by_rows(const tsl_sharding *sharding, int operand);

#endif
