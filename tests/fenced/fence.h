/* Memory between protected pages: an operand that ends, or begins, at a protected page detects each
 * access outside it. */
#ifndef TESTS_FENCED_FENCE_H
#define TESTS_FENCED_FENCE_H

#include "problem/problem.h"

/* Which end of an operand lies at a protected page. */
typedef enum fence_side { FENCE_BEHIND, FENCE_BEFORE, FENCE_SIDES } fence_side;

/* Bytes of an operand that lies in one piece, at most; and lines that lie apart, each on a page of its own.
 */
enum { FENCE_BYTES = 8 << 20, FENCE_LINES = 160, FENCE_PLACES = 9 };

/* Takes the memory of all places, and calls fence_catch(). */
void fence_set_up(void);
/* Installs what reports an access outside and ends the process with 1; again where something else was
 * installed since. */
void fence_catch(void);

/* Elements from line to line of operands whose lines lie apart: a page for each, with a protected one behind
 * it. */
int64_t fence_line_stride(tesela_type type);
/* Element (0, 0) of an operand that lies in `place` in one piece; NULL where it is too large. */
void *fence_whole(int place, const tsl_shape *shape, fence_side side);
/* The same where the greater one of its strides is fence_line_stride(): each of its lines ends, or begins,
 * so. */
void *fence_apart(int place, const tsl_shape *shape, fence_side side);
/* `bytes` bytes, as near to the protected page as an address allows that is a multiple of `alignment`. */
void *fence_block(int place, size_t bytes, size_t alignment, fence_side side);
/* Returns an address in a protected page. */
void *fence_nowhere(void);

/* Sets the text of the current run, for the report of a fault. The text must live until the next
 * call. */
void fence_tell(const char *running);

#endif
