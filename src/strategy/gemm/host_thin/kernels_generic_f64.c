/* Kernels in f64 for any processor, with vectors of 16 bytes; flags.cmake has the compiler's flags. */
#include "strategy/gemm/host_thin/kernels.h"

typedef double sixteen_bytes __attribute__((vector_size(16), may_alias));

/* The first `count` numbers. */
static inline sixteen_bytes load_part(const double *from, int64_t count) {
  sixteen_bytes value = {0};
  for (int64_t i = 0; i < count; i++)
    value[i] = from[i];
  return value;
}

#define TOTAL(value) ((value)[0] + (value)[1])

/* Sums of four vectors' numbers. */
static inline void totals(const sixteen_bytes *from, double *to) {
  for (int i = 0; i < 4; i++)
    to[i] = TOTAL(from[i]);
}

#define REAL double
#define SUFFIX _f64
#define VECTOR_BYTES 16
#define STREAM(to, value) NAME(store)(to, value)
#define FENCE() (void)0
#define LOAD_PART(from, count) load_part(from, count)
#define TOTALS(values, to) totals(values, to)
#define KEEP(value) (void)0
#define HELD 8
#define NEAR_ROWS(q) 8
#define OUTER_ROWS(steps) ((steps) == 1 ? 1 : 2)
#define COLUMNS_OF(q) ((q) == 1 ? 8 : (q) == 2 ? 4 : (q) <= 4 ? 2 : 1)
#include "strategy/gemm/host_thin/kernels_text.h"

const tsl_thin_kernels tsl_thin_kernels_generic_f64 = TABLE_ROW(TESELA_F64);
