/* An operand of a case in host memory, with a pattern before it, behind it and in every gap, so that a stray
 * write shows. */
#ifndef TSL_JUDGE_GUARD_H
#define TSL_JUDGE_GUARD_H

#include "strategy/problem.h"

typedef struct tsl_guarded {
  tsl_shape shape;
  unsigned char *memory; /* what to free */
  unsigned char *block;  /* first guard, extent, last guard */
  size_t bytes;          /* of the block */
  size_t head;           /* bytes of the first guard: whole elements */
  unsigned char *origin; /* element (0, 0) */
  unsigned char *before; /* a copy of the block from tsl_guarded_keep(), or NULL */
  uint64_t checksum;     /* of the block, from tsl_guarded_seal() */
} tsl_guarded;

/* Makes a block full of the pattern. The extent starts `skew` elements behind a page's start, so that 0 is as
 * aligned as any device asks for, and 1 aligned to its element only. */
tesela_status tsl_guarded_create(const tsl_shape *shape, int skew, tsl_guarded *out);
void tsl_guarded_free(tsl_guarded *guarded);

/* Elements from the block's start to element (0, 0). */
int64_t tsl_guarded_offset(const tsl_guarded *guarded);

/* The part of the block that is the operand alone, from its lowest element to its highest, and `skew`
 * elements in front. */
void tsl_guarded_tight(const tsl_guarded *guarded, size_t *first, size_t *bytes);

/* For operands that must not change at all. */
void tsl_guarded_seal(tsl_guarded *guarded);
bool tsl_guarded_intact(const tsl_guarded *guarded);

/* For C: keeps the block as it is now, and puts it back. */
tesela_status tsl_guarded_keep(tsl_guarded *guarded);
void tsl_guarded_restore(tsl_guarded *guarded);
/* Element (0, 0) of what was kept. */
const unsigned char *tsl_guarded_kept(const tsl_guarded *guarded);
/* Whether only elements, of C's triangle where it has one, differ from what was kept. When not, *at is the
 * first byte that was overwritten, counted from the extent's start (negative: in front of it), and *why is
 * where that is. */
tesela_status tsl_guarded_check(const tsl_guarded *guarded, bool *good, int64_t *data, const char **why);

#endif
