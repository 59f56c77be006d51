/* The kernel dialect as C, for kernels whose items alternate on one thread. The test gets each
 * multiplication's factors. */
#ifndef TSL_DIALECT_IMPL_H
#define TSL_DIALECT_IMPL_H

#include <stdbool.h>
#include <stdint.h>

/* The item whose turn it is, and the launch. */
typedef struct trace_place {
  int item[2], items[2];
  int64_t group[2], groups[2];
} trace_place;
extern trace_place trace_here;
/* Gives the turn to the next item, until all have come so far. */
void trace_barrier(void);
/* Tells of a multiply-add, and computes it. */
double trace_fma(double a, double b, double c);

#define TSL_KERNEL(x, y, z) static void
#define TSL_FUNCTION static inline
#define TSL_GLOBAL
#define TSL_LOCAL static
#define TSL_LOCAL_POINTER
#define TSL_RESTRICT
#define TSL_INDEX int64_t
#define TSL_REAL double
#define TSL_GROUP(d) trace_here.group[d]
#define TSL_GROUPS(d) trace_here.groups[d]
#define TSL_ITEM(d) trace_here.item[d]
#define TSL_ITEMS(d) trace_here.items[d]
#define TSL_GLOBAL_ITEM(d) (TSL_GROUP(d) * TSL_ITEMS(d) + TSL_ITEM(d))
#define TSL_BARRIER() trace_barrier()
#define TSL_FMA(a, b, c) trace_fma(a, b, c)
#define TSL_UNROLL
#define TSL_UNROLL_BY(n)

#endif
