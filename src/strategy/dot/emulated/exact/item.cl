/* Work of one item of dot_exact.cl: sums its terms in its window, or in its digits if they do not fit. */
#ifndef TSL_REAL_IS_DOUBLE
#define TSL_EXACT_OF_FLOATS
#endif
#include "kernel_elements.h"
#include "kernel_gemm.h"

#include "../../../exact_sums/exact_shared.h"

#define GROUP TSL_PARAM_GROUP
#ifdef TSL_REAL_IS_DOUBLE
#define NUMBER double
#else
#define NUMBER float
#endif
#define TERMS (32 / (int)sizeof(NUMBER))
#define TILE ((TSL_INDEX)GROUP * TERMS)
/* Intervals of carry propagation: a term adds up to 1.5 * 2^51 to levels, and 3 * (2^53 + 2^52) to digits. */
#define LEVEL_TILES 256
#define DEEP_TIMES 256
#define DIGIT_TILES 4
#define LEVELS TSL_EXACT_LEVELS
#ifdef TSL_REAL_IS_DOUBLE
#define SHALLOW TSL_EXACT_SHALLOW_F64
#define WIDTH 2
#else
#define SHALLOW TSL_EXACT_SHALLOW_F32
#define WIDTH 4
#endif

/* Terms of an item: vectors of WIDTH neighbours, one group's vectors apart. */
typedef struct exact_terms {
  TSL_GLOBAL const tsl_element *a, *b;
  TSL_INDEX a_stride, b_stride, first, k; /* first: index of the item's next term */
  bool vectors;                           /* both operands can be read as vectors */
} exact_terms;

/* Fast part of an item's sum, in registers. */
typedef struct exact_sum {
  TSL_INDEX levels[SHALLOW + 1];
  int top, flags; /* as in tsl_exact_sum (exact_sums/sum.h) */
  int deep, slow; /* additions to levels and digits in memory; 0: these are uninitialized */
} exact_sum;

/* Slow part of an item's sum, in private memory: six levels and the superaccumulator, indexed by loops. */
typedef struct exact_memory {
  TSL_INDEX levels[LEVELS];
  TSL_INDEX digits[TSL_EXACT_DIGITS];
} exact_memory;

/* Returns the index in the vectors of the item's term number `t`. */
TSL_FUNCTION TSL_INDEX exact_index(const exact_terms *terms, int t) {
  return terms->first + t / WIDTH * (GROUP * WIDTH) + t % WIDTH;
}

TSL_FUNCTION bool exact_is_aligned(TSL_GLOBAL const tsl_element *pointer) {
  return TSL_TYPE_AB == TSL_TYPE_REAL && ((TSL_INDEX)pointer & 15) == 0;
}

TSL_FUNCTION void exact_read_vectors(TSL_GLOBAL const tsl_element *from, NUMBER *out) {
#if TSL_TYPE_AB == TSL_TYPE_REAL
  TSL_UNROLL
  for (int t = 0; t < TERMS; t += WIDTH) {
    const TSL_VECTOR(TSL_REAL, WIDTH) next = TSL_LOAD_ALIGNED(TSL_REAL, WIDTH, from + t * GROUP);
    out[t] = TSL_LANE(next, 0);
    out[t + 1] = TSL_LANE(next, 1);
#ifndef TSL_REAL_IS_DOUBLE
    out[t + 2] = TSL_LANE(next, 2);
    out[t + 3] = TSL_LANE(next, 3);
#endif
  }
#endif
}

/* Reads WIDTH neighbours one by one, with zeros from number k on. */
TSL_FUNCTION void exact_read_numbers(TSL_GLOBAL const tsl_element *from, TSL_INDEX stride, TSL_INDEX first,
                                     TSL_INDEX k, bool is_signed, NUMBER *out) {
  TSL_UNROLL
  for (int w = 0; w < WIDTH; w++)
    out[w] = first + w < k ? (NUMBER)tsl_number(from[(first + w) * stride], is_signed) : (NUMBER)0;
}

TSL_FUNCTION void exact_read_tile(const exact_terms *terms, NUMBER *x, NUMBER *y) {
  exact_read_vectors(terms->a + terms->first, x);
  exact_read_vectors(terms->b + terms->first, y);
}

TSL_FUNCTION bool exact_can_load_vectors(const exact_terms *terms) {
  return terms->vectors && exact_index(terms, TERMS - 1) < terms->k;
}

/* Adds a tail to a level's sum, and subtracts the part that the level holds from the tail. */
TSL_FUNCTION void exact_add_to(TSL_UINT64 *sum, double base, double *tail) {
  const double at = base + *tail;
  *sum += (TSL_UINT64)TSL_AS_INDEX(at) - (TSL_UINT64)TSL_AS_INDEX(base);
  *tail -= at - base;
}

/* Adds `count` products to the first `depth` levels. Returns false, with invalid sums, if they do not fit. */
TSL_FUNCTION bool exact_add_to_window(const NUMBER *x, const NUMBER *y, const int count, const int depth,
                                      int top, TSL_UINT64 *sums) {
  double base[TSL_EXACT_DEEP];
  TSL_INDEX outside = 0;
  bool good = true, zero = false;
  TSL_UNROLL
  for (int j = 0; j < depth; j++) {
    base[j] = tsl_exact_base(top - 52 * j);
    sums[j + 1] = 0;
  }
  TSL_UNROLL
  for (int t = 0; t < count; t++) {
    const double a = x[t], b = y[t];
#ifdef TSL_REAL_IS_DOUBLE
    const double product = TSL_MUL(double, a, b), at = base[0] + product;
    double tail = product - (at - base[0]), error = TSL_FMA(a, b, -product);
    zero = zero || product == 0;
#else
    /* a double holds the product of two floats, so fusing changes nothing */
    const double at = TSL_FMA(a, b, base[0]);
    double tail = TSL_FMA(a, b, base[0] - at);
#endif
    sums[1] += (TSL_UINT64)TSL_AS_INDEX(at) - (TSL_UINT64)TSL_AS_INDEX(base[0]);
    outside |= TSL_AS_INDEX(at) ^ TSL_AS_INDEX(base[0]);
#ifdef TSL_REAL_IS_DOUBLE
    TSL_UNROLL
    for (int j = 1; j < depth; j++) {
      if (j < depth - 1)
        exact_add_to(&sums[j + 1], base[j], &tail);
      exact_add_to(&sums[j + 1], base[j], &error);
    }
    good = good && tail == 0 && error == 0;
#else
    TSL_UNROLL
    for (int j = 1; j < depth; j++)
      exact_add_to(&sums[j + 1], base[j], &tail);
    good = good && tail == 0;
#endif
  }
  /* a product that underflows to 0 has lost its error, too */
  TSL_UNROLL
  for (int t = 0; t < count; t++)
    good = good && !(zero && x[t] != 0 && y[t] != 0 && TSL_MUL(double, (double)x[t], (double)y[t]) == 0);
  return good && outside >> 52 == 0;
}

TSL_FUNCTION void exact_clear(TSL_INDEX *numbers, int count) {
  TSL_UNROLL_BY(1)
  for (int i = 0; i < count; i++)
    numbers[i] = 0;
}

/* Adds the levels to the levels in memory, and propagates carries there. */
TSL_FUNCTION void exact_levels_to_memory(exact_sum *sum, exact_memory *memory) {
  if (sum->deep == 0)
    exact_clear(memory->levels, LEVELS);
  sum->deep++;
  TSL_UNROLL
  for (int j = 0; j <= SHALLOW; j++) {
    memory->levels[j] += sum->levels[j];
    sum->levels[j] = 0;
  }
  tsl_exact_settle_levels(memory->levels, LEVELS);
}

/* Moves all levels to the digits, so that the window can move. */
TSL_FUNCTION void exact_window_to_digits(exact_sum *sum, exact_memory *memory) {
  exact_levels_to_memory(sum, memory);
  TSL_UNROLL_BY(1)
  for (int j = 0; j < LEVELS; j++) {
    const int position = sum->top - 52 * j - TSL_EXACT_LOW;
    tsl_exact_add(memory->digits, memory->levels[j] & (((TSL_INDEX)1 << 32) - 1), position);
    tsl_exact_add(memory->digits, memory->levels[j] >> 32, position + 32);
    memory->levels[j] = 0;
  }
  tsl_exact_settle(memory->digits);
}

/* Adds `count` terms from number t on one by one, read again: an indexed array would leave the registers. */
TSL_FUNCTION void exact_add_slowly(const exact_terms *terms, int t, int count, exact_sum *sum,
                                   exact_memory *memory) {
  int largest = 0;
  if (sum->slow == 0)
    exact_clear(memory->digits, TSL_EXACT_DIGITS);
  TSL_UNROLL_BY(1)
  for (const int end = t + count; t < end; t++) {
    const TSL_INDEX i = exact_index(terms, t);
    if (i >= terms->k)
      break;
    const double x = (double)tsl_number(terms->a[i * terms->a_stride], TSL_SIGNED_A),
                 y = (double)tsl_number(terms->b[i * terms->b_stride], TSL_SIGNED_B);
    const double product = TSL_MUL(double, x, y);
    const int exponent = tsl_exact_exponent(product);
    largest = exponent > largest ? exponent : largest;
    if (!tsl_exact_is_finite(x) || !tsl_exact_is_finite(y))
      sum->flags |= tsl_exact_special(product);
    else
#ifdef TSL_REAL_IS_DOUBLE
      tsl_exact_add_product(memory->digits, x, y);
#else
      tsl_exact_add_double(memory->digits, product);
#endif
  }
  sum->slow++;
  if (sum->slow % DIGIT_TILES == 0)
    tsl_exact_settle(memory->digits);
  const int top = tsl_exact_top_for(largest);
  if (top > sum->top || top < sum->top - TSL_EXACT_SLACK) {
    exact_window_to_digits(sum, memory);
    sum->top = top;
  }
}

/* Adds WIDTH terms from number t on to all levels in memory, or term by term if they do not fit. */
TSL_FUNCTION void exact_add_deep(const exact_terms *terms, int t, exact_sum *sum, exact_memory *memory) {
  NUMBER x[WIDTH], y[WIDTH];
  TSL_UINT64 sums[LEVELS];
  exact_read_numbers(terms->a, terms->a_stride, exact_index(terms, t), terms->k, TSL_SIGNED_A, x);
  exact_read_numbers(terms->b, terms->b_stride, exact_index(terms, t), terms->k, TSL_SIGNED_B, y);
  if (sum->top < TSL_EXACT_TOP_DEEP || !exact_add_to_window(x, y, WIDTH, TSL_EXACT_DEEP, sum->top, sums)) {
    exact_add_slowly(terms, t, WIDTH, sum, memory);
    return;
  }
  if (sum->deep == 0)
    exact_clear(memory->levels, LEVELS);
  TSL_UNROLL
  for (int j = 1; j <= TSL_EXACT_DEEP; j++)
    memory->levels[j] += (TSL_INDEX)sums[j];
  if (++sum->deep % DEEP_TIMES == 0)
    tsl_exact_settle_levels(memory->levels, LEVELS);
}

TSL_FUNCTION void exact_add_tiles(exact_terms *terms, exact_sum *sum, exact_memory *memory) {
  NUMBER x_next[TERMS], y_next[TERMS];
  bool ready = false;
  int tiles = 0;
  while (terms->first < terms->k) {
    exact_terms next = *terms;
    bool done = false;
    next.first += TSL_GROUPS(0) * TILE;
    if (exact_can_load_vectors(terms)) {
      NUMBER x[TERMS], y[TERMS];
      TSL_UINT64 sums[LEVELS];
      if (!ready)
        exact_read_tile(terms, x_next, y_next);
      TSL_UNROLL
      for (int t = 0; t < TERMS; t++) {
        x[t] = x_next[t];
        y[t] = y_next[t];
      }
      ready = exact_can_load_vectors(&next);
      if (ready)
        exact_read_tile(&next, x_next, y_next);
      done = exact_add_to_window(x, y, TERMS, SHALLOW, sum->top, sums);
      TSL_UNROLL
      for (int j = 1; j <= SHALLOW; j++)
        sum->levels[j] += done ? (TSL_INDEX)sums[j] : 0;
    }
    for (int t = 0; !done && t < TERMS; t += WIDTH)
      exact_add_deep(terms, t, sum, memory);
    if (++tiles % LEVEL_TILES == 0)
      tsl_exact_settle_levels(sum->levels, SHALLOW + 1);
    terms->first = next.first;
  }
}

/* Returns the largest biased exponent of the item's first WIDTH products; 0: none is normal. */
TSL_FUNCTION int exact_first_exponent(const exact_terms *terms) {
  NUMBER x[WIDTH], y[WIDTH];
  int largest = 0;
  exact_read_numbers(terms->a, terms->a_stride, terms->first, terms->k, TSL_SIGNED_A, x);
  exact_read_numbers(terms->b, terms->b_stride, terms->first, terms->k, TSL_SIGNED_B, y);
  TSL_UNROLL
  for (int w = 0; w < WIDTH; w++) {
    const int exponent = tsl_exact_exponent(TSL_MUL(double, (double)x[w], (double)y[w]));
    largest = exponent > largest ? exponent : largest;
  }
  return largest;
}
