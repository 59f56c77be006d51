/* Idea: all items walk both vectors with a stride of all items and keep a private sum. The items of a
 * group reduce their sums in local memory; one sum per group goes to global memory, where one more group
 * reduces them. Beyond `sequential`: parallelism, coalesced reads, and a tree instead of a chain.
 *
 *   item      0 1 2 3 ... all-1 | 0 1 2 3 ... all-1 | 0 1 ...        all = GROUPS * GROUP
 *   vectors  |. . . . . . . . . . . . . . . . . . . . . . . |
 *
 *   a group's line   | 0 | 1 | 2 | 3 |   0 += 2, 1 += 3; barrier; 0 += 1; barrier      half as many each step
 *   global memory    one number per group; the items of the last launch walk it and reduce as above
 *
 * Parameters: TSL_PARAM_GROUPS, TSL_PARAM_GROUP (items of a group). Local memory: GROUP numbers. Any
 * strides and sizes. The order of the sum depends on both parameters. Each product is rounded k / all
 * times in its item's sum, then log2(GROUP) times in each of two reductions. */
#include "fold.h"
#include "kernel_dot.h"
#include "kernel_epilogue.h"
#include "kernel_gemm.h"

#define GROUPS TSL_PARAM_GROUPS
#define GROUP TSL_PARAM_GROUP

TSL_KERNEL(GROUP, 1, 1)
tsl_dot_block_tree(TSL_GLOBAL const tsl_element *TSL_RESTRICT a, TSL_GLOBAL const tsl_element *TSL_RESTRICT b,
                   TSL_GLOBAL TSL_REAL *TSL_RESTRICT sums, const tsl_gemm_arguments g) {
  TSL_LOCAL TSL_REAL line[GROUP];
  const TSL_INDEX item = TSL_GLOBAL_ITEM(0), all = (TSL_INDEX)GROUPS * GROUP;
  const TSL_INDEX count = item < g.k ? (g.k - 1 - item) / all + 1 : 0;
  line[TSL_ITEM(0)] = tsl_dot(a + g.a_offset + item * g.a_col_stride, all * g.a_col_stride,
                              b + g.b_offset + item * g.b_row_stride, all * g.b_row_stride, count);
  const TSL_REAL sum = tsl_sum_of_group(line, GROUP);
  if (TSL_ITEM(0) == 0)
    sums[TSL_GROUP(0)] = sum;
}

TSL_KERNEL(GROUP, 1, 1)
tsl_dot_block_tree_last(TSL_GLOBAL const TSL_REAL *TSL_RESTRICT sums, TSL_GLOBAL tsl_result *TSL_RESTRICT c,
                        const tsl_gemm_arguments g) {
  TSL_LOCAL TSL_REAL line[GROUP];
  TSL_REAL own = 0;
  const TSL_INDEX busy = (g.k + GROUP - 1) / GROUP; /* groups with terms */
  for (int i = TSL_ITEM(0); i < GROUPS && i < busy; i += GROUP)
    own += sums[i];
  line[TSL_ITEM(0)] = own;
  const TSL_REAL sum = tsl_sum_of_group(line, GROUP);
  if (TSL_ITEM(0) == 0)
    tsl_store_scaled(c + g.c_offset, sum, g.alpha, g.beta);
}
