/* Kinds of matrix contents for benchmarks, since some strategies' speed depends on the numbers. Any thread
 * can make any row. The numbers are equal on all machines whose exp() is the same. */
#ifndef TSL_CORE_KINDS_H
#define TSL_CORE_KINDS_H

#include "core/random.h"

/* X(NAME, name, description) */
#define TSL_KIND_LIST(X)                                                                                     \
  X(NORMAL, "normal", "mean 0, standard deviation 1")                                                        \
  X(UNIFORM, "uniform", "between -1 and 1")                                                                  \
  X(RELU, "relu", "normal, zeros in place of negative numbers")                                              \
  X(SOFTMAX, "softmax", "exp(4 x) of normal x, each row divided by its sum")                                 \
  X(LOGNORMAL, "lognormal", "exp(2 x) of normal x")                                                          \
  X(KERNEL, "kernel", "a Gaussian kernel of points between 0 and 1, exp(-(x - y)^2 / 0.005)")                \
  X(IDENTITY, "identity", "1 on the diagonal, zeros elsewhere")                                              \
  X(GRADED, "graded", "normal, times a power of two between 2^-12 and 2^12")                                 \
  X(IMAGE, "image", "whole numbers from 0 to 255, divided by 255")                                           \
  X(SPARSE90, "sparse90", "normal, nine of ten numbers zeros")                                               \
  X(INTEGER, "integer", "whole numbers from -8 to 8: products of exact sums")                                \
  X(ONES, "ones", "ones")                                                                                    \
  X(INDEX, "index", "0, 1, 2, ... row by row, as courses fill their matrices")                               \
  X(MINUS_INDEX, "minus-index", "0, -1, -2, ... row by row")

typedef enum tsl_kind {
#define TSL_KIND_MEMBER(name, text, what) TSL_KIND_##name,
  TSL_KIND_LIST(TSL_KIND_MEMBER)
#undef TSL_KIND_MEMBER
      TSL_KIND_COUNT
} tsl_kind;

const char *tsl_kind_name(tsl_kind kind);
/* Finds a kind by its name; false: unknown. */
bool tsl_kind_parse(const char *name, tsl_kind *kind);
/* Parses kinds separated by commas, or "all", to TSL_KIND_COUNT slots. Returns their number; 0: invalid. */
int tsl_kinds_parse(const char *list, tsl_kind *kinds);
/* Returns "normal|uniform|...", a static string. */
const char *tsl_kind_names(void);

/* Returns true if elements are independent, as tsl_random_fill() makes them. Always sets *distribution. */
bool tsl_kind_is_drawn(tsl_kind kind, tsl_distribution *distribution);
/* Writes `cols` elements of row `row`. A complex element is two neighbours of a real matrix with twice as
 * many columns. `workspace` holds cols doubles, 2 cols for complex types. */
void tsl_kind_fill_row(tsl_kind kind, uint64_t seed, int64_t row, int64_t rows, int64_t cols,
                       tesela_type type, double *workspace, void *out);
/* Fills a dense matrix, using the threads of the shared pool. */
tesela_status tsl_kind_fill(tsl_kind kind, uint64_t seed, int64_t rows, int64_t cols, tesela_type type,
                            void *out);

#endif
