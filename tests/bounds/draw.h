/* A random call: sizes, types, scalars, asks and the numbers in the matrices, all functions of a seed. */
#ifndef TSL_TESTS_BOUNDS_DRAW_H
#define TSL_TESTS_BOUNDS_DRAW_H

#include <tesela/tesela.h>

enum { DRAW_SIDE_MOST = 40, DRAW_DEPTH_MOST = 1500, DRAW_BYTES = 40 * 1500 * 16 };

typedef struct drawn {
  uint64_t seed;
  int is_dot; /* of m = n = 1 */
  int64_t m, n, k;
  tesela_type a_type, c_type;
  double alpha, beta;
  const char *accuracy, *bits;
  int by_name, elsewhere; /* a strategy is named: number by_name - 1 of all; not on the cpu */
  /* How the numbers are made. */
  int spread;          /* of exponents, either way */
  int rows_apart;      /* powers of 2 by which rows of A and columns of B differ, either way */
  int depth_apart;     /* by which columns of A differ, and rows of B the other way round */
  int shift;           /* power of 2 of all A */
  int cancels;         /* 1: half of the terms are the others' opposites, 2: but for their last digits */
  int zeros, specials; /* one of so many is 0; is NaN or infinite; 0: none */
} drawn;

void draw_call(uint64_t seed, uint64_t index, drawn *call);
/* Fills dense matrices of a call, of its types. */
void draw_numbers(const drawn *call, void *a, void *b, void *c);
/* "m=3 n=4 ... ": to run it again. */
void draw_print(const drawn *call, char *out, int size);

#endif
