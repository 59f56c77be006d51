/* src/kernel/ptx_group.h without a GPU: the same words, computed by group.c. */
#ifndef TSL_KERNEL_PTX_GROUP_H
#define TSL_KERNEL_PTX_GROUP_H

#include "group.h"
#include "ptx.h"

#define tsl_ptx_barrier_start ptx_barrier_start
#define tsl_ptx_barriers_started() (void)0
#define tsl_ptx_arrive(barrier) ptx_arrive(barrier, 0)
#define tsl_ptx_arrive_bytes ptx_arrive
#define tsl_ptx_wait_phase ptx_await
#define tsl_ptx_panel_descriptor ptx_panel
#define TSL_PTX_GROUP_BEGIN() (void)0
#define TSL_PTX_GROUP_END() ptx_group_end()
#define TSL_PTX_GROUP_WAIT(most) ptx_group_wait(most)
#define TSL_PTX_SUMS_HOLD(R, s, j) (void)0
#define TSL_PTX_GROUP_128(depth, type, R, a_type, b_type, sums, a, b, end)                                   \
  ptx_group_multiply(128, TSL_TEXT(a_type), TSL_TEXT(b_type), sums, a, b, end)
#define TSL_PTX_GROUP_192(depth, type, R, a_type, b_type, sums, a, b, end)                                   \
  ptx_group_multiply(192, TSL_TEXT(a_type), TSL_TEXT(b_type), sums, a, b, end)
#define TSL_PTX_GROUP_256(depth, type, R, a_type, b_type, sums, a, b, end)                                   \
  ptx_group_multiply(256, TSL_TEXT(a_type), TSL_TEXT(b_type), sums, a, b, end)
#define TSL_PTX_MAP(map, from, inner, outer, pitch, elements, rows, type)                                    \
  ptx_map(map, from, inner, outer, pitch, elements, rows, type)
#define tsl_ptx_map_publish ptx_map_publish
#define tsl_ptx_map_acquire(map) (void)0
#define tsl_ptx_copy_box ptx_copy_box

#endif
