/* Operand in host memory with a pattern before, after and in every gap, to detect stray writes. */
#ifndef TSL_JUDGE_GUARD_H
#define TSL_JUDGE_GUARD_H

#include "problem/problem.h"

typedef struct tsl_guarded {
  tsl_shape shape;
  unsigned char *memory; /* block for tsl_free() */
  unsigned char *block;  /* first guard, extent, last guard */
  size_t bytes;          /* of the block */
  size_t head;           /* bytes of the first guard: whole elements */
  unsigned char *origin; /* element (0, 0) */
  unsigned char *before; /* copy of the block by tsl_guarded_save_copy(), or NULL */
  uint64_t checksum;     /* checksum of the block by tsl_guarded_store_checksum() */
} tsl_guarded;

/* Makes a block filled with the pattern. The extent starts `skew` elements after a page boundary: 0 meets
 * every device's alignment, 1 is aligned to the element only. */
tesela_status tsl_guarded_create(const tsl_shape *shape, int skew, tsl_guarded *out);
void tsl_guarded_free(tsl_guarded *guarded);

/* Returns the elements from the block's start to element (0, 0). */
int64_t tsl_guarded_offset(const tsl_guarded *guarded);

/* Gets the block's part from `skew` elements before the operand's lowest to its highest element. */
void tsl_guarded_part_without_guards(const tsl_guarded *guarded, size_t *first, size_t *bytes);

/* Computes the checksum of an operand that must not change, for tsl_guarded_matches_checksum(). */
void tsl_guarded_store_checksum(tsl_guarded *guarded);
bool tsl_guarded_matches_checksum(const tsl_guarded *guarded);

/* Copies the block of C for tsl_guarded_restore_copy() and tsl_guarded_check_writes(). */
tesela_status tsl_guarded_save_copy(tsl_guarded *guarded);
void tsl_guarded_restore_copy(tsl_guarded *guarded);
/* Returns element (0, 0) of the copy. */
const unsigned char *tsl_guarded_copied_origin(const tsl_guarded *guarded);
/* Checks that only elements of C, or of its triangle, differ from the copy. Otherwise *offset is the first
 * overwritten byte, counted from the extent's start (negative: before it), and *why describes its place. */
tesela_status tsl_guarded_check_writes(const tsl_guarded *guarded, bool *good, int64_t *offset,
                                       const char **why);

#endif
