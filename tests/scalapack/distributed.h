/* A matrix of whole numbers, distributed over a grid by ScaLAPACK's layout. Every process can
 * compute every element, so each checks its part without messages. */
#ifndef TESTS_SCALAPACK_DISTRIBUTED_H
#define TESTS_SCALAPACK_DISTRIBUTED_H

#include "scalapack/names.h"

#include <complex.h>
#include <stdbool.h>
#include <stddef.h>

typedef double _Complex number;

/* An element type. */
typedef struct element {
  const char *name;
  size_t size;
  bool is_complex;
  number (*load)(const void *array, size_t index);
  void (*store)(void *array, size_t index, number value);
} element;
enum { ELEMENTS = 4 };
extern const element elements[ELEMENTS]; /* s d c z */

typedef struct grid {
  INTEGER context, rows, cols, row, col;
} grid;

enum { PLAIN_FIELDS = 9, FIELDS = 11 };

/* A part of a matrix; the local array has `gap` more rows than it needs. */
typedef struct distributed {
  INTEGER fields[FIELDS];
  INTEGER i, j; /* where the part begins, counted from 1 */
  int64_t rows, cols;
  uint64_t seed;
  void *data;
  size_t count;
} distributed;

/* A number from 0 to below `end`, the same on all processes that have drawn as often since they began at the
 * same place. */
int64_t draw(int64_t end);
void begin_drawing(uint64_t index);

/* A part of rows x cols at random: blocks, first process, offsets, gaps, either type of descriptor. Its
 * elements are whole numbers from -3 to 3; those outside of it, and the part itself where it is unread, are
 * NaN. */
void deal(distributed *matrix, const element *type, const grid *on, int64_t rows, int64_t cols, bool unread);
void discard(distributed *matrix);
/* Element (i, j) of the part, counted from 0, as it was dealt. */
number dealt(const distributed *matrix, const element *type, int64_t i, int64_t j);

/* Returns the number of wrong elements of the local array: `expected(of, i, j)` inside the part,
 * NaN outside of it. Prints the first one. */
int count_wrong(const distributed *matrix, const element *type, const grid *on,
                number (*expected)(const void *state, int64_t i, int64_t j), const void *src);

#endif
