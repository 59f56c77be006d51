/* Kinds of numbers that matrices of programs have. Benchmarks fill a factor with each kind, since the speed
 * of some strategies depends on the numbers. Unlike the distributions of base/random.h, an element may depend
 * on its place and on its row. Any part of a matrix can be made by any thread, and has the same numbers
 * everywhere where exp() is the same. */
#ifndef TSL_BASE_KINDS_H
#define TSL_BASE_KINDS_H

#include "base/random.h"

/* X(NAME, name, what) */
#define TSL_KIND_LIST(X)                                                                                     \
  X(NORMAL, normal, "mean 0, standard deviation 1")                                                          \
  X(UNIFORM, uniform, "between -1 and 1")                                                                    \
  X(RELU, relu, "normal, zeros in place of negative numbers")                                                \
  X(SOFTMAX, softmax, "exp(4 x) of normal x, each row divided by its sum")                                   \
  X(LOGNORMAL, lognormal, "exp(2 x) of normal x")                                                            \
  X(KERNEL, kernel, "a Gaussian kernel of points between 0 and 1, exp(-(x - y)^2 / 0.005)")                  \
  X(IDENTITY, identity, "1 on the diagonal, zeros elsewhere")                                                \
  X(GRADED, graded, "normal, times a power of two between 2^-12 and 2^12")                                   \
  X(IMAGE, image, "whole numbers from 0 to 255, divided by 255")                                             \
  X(SPARSE90, sparse90, "normal, nine of ten numbers zeros")                                                 \
  X(INTEGER, integer, "whole numbers from -8 to 8: products of exact sums")

typedef enum tsl_kind {
#define TSL_KIND_MEMBER(name, text, what) TSL_KIND_##name,
  TSL_KIND_LIST(TSL_KIND_MEMBER)
#undef TSL_KIND_MEMBER
      TSL_KIND_COUNT
} tsl_kind;

const char *tsl_kind_name(tsl_kind kind);
bool tsl_kind_parse(const char *name, tsl_kind *kind);
/* Reads kinds with commas between them, or "all", into `kinds`, which has room for TSL_KIND_COUNT; returns
 * how many there are, 0 where a word is none or there are more. */
int tsl_kinds_parse(const char *list, tsl_kind *kinds);
/* "normal|uniform|...". */
const char *tsl_kind_names(void);

/* Returns true if the numbers are a distribution's: tsl_random_fill() then makes any part of a row. */
bool tsl_kind_is_drawn(tsl_kind kind, tsl_distribution *distribution);
/* Makes row `row` of a matrix of rows x cols elements: `cols` elements in a row of `out`, of one type of
 * numbers. A complex number's parts are two neighbours of a real matrix with twice as many columns. `room`:
 * cols (complex: 2 cols) doubles. */
void tsl_kind_row(tsl_kind kind, uint64_t seed, int64_t row, int64_t rows, int64_t cols, tesela_type type,
                  double *room, void *out);
/* A dense matrix, by the threads of the shared pool. */
tesela_status tsl_kind_fill(tsl_kind kind, uint64_t seed, int64_t rows, int64_t cols, tesela_type type,
                            void *out);

#endif
