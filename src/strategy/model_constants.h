/* Constants of performance models that depend on the device. tools/fit fits them to measured times. It writes
 * the rows of model_constants_table.h, a row for each measured device, without the families of kernels that
 * it does not run. Devices without a row use the first row. Times are in seconds or in clocks of a compute
 * unit; rates in bytes per clock of a unit. */
#ifndef TSL_STRATEGY_MODEL_CONSTANTS_H
#define TSL_STRATEGY_MODEL_CONSTANTS_H

#include "device/device.h"

/* Families of constants, a struct each. X(f, name, largest value allowed or 0, meaning), f being a row's
 * member. */
/* clang-format off */
#define TSL_WGMMA_CONSTANTS(X, f) \
  X(f, first_clocks, 0, "clocks from a block's start to its first full stage") \
  X(f, tile_clocks, 0, "fixed clocks of a tile's epilogue") \
  X(f, store_bytes, 0, "bytes of C stored in a clock of a multiprocessor") \
  X(f, cache_bytes, 0, "bytes from L2 in a clock of a multiprocessor") \
  X(f, shared_power, 1, "power of reading shared memory, as a fraction of that of a panel") \
  X(f, hot_clock, 1, "fraction of the nominal clock under sustained load") \
  X(f, cool_seconds, 0, "seconds until then") \
  X(f, shared_clock, 1, "fraction of the clock with clusters of two after warm_seconds") \
  X(f, warm_seconds, 0, "seconds until clusters of two save power") \
  X(f, warm_across_seconds, 0, "seconds until then with A from registers") \
  X(f, unaligned, 0, "slowdown of L2 reads where rows of a box do not begin at cache lines") \
  X(f, memory_unaligned, 0, "slowdown of memory where the longer operand's lines are not aligned") \
  X(f, group_clocks, 0, "clocks of the start of a second warpgroup") \
  X(f, empty_part, 0, "slowdown of panels by the fraction of several tiles that lies outside of C") \
  X(f, shared_bytes, 0, "bytes of shared memory in a clock of a multiprocessor") \
  X(f, pair_clocks, 0, "clocks of waiting within a cluster per tile") \
  X(f, pair_seconds, 0, "start of a launch of clusters beyond that of blocks") \
  X(f, threads_clocks, 0, "clocks of an epilogue stored by threads") \
  X(f, thread_clocks, 0, "clocks of each element of a thread in it") \
  X(f, column_clocks, 0, "the same where columns of C are contiguous") \
  X(f, memory_part, 1, "reached fraction of memory bandwidth") \
  X(f, launch_share, 0, "fraction of launch latency that remains when launches overlap") \
  X(f, fold_share, 0, "launches of the split-k reduction, as a fraction of launch latency") \
  X(f, fold_moves, 0, "number of times that the bytes of partial sums move") \
  X(f, grid_panels, 0, "time of a panel in persistent clusters of four and eight, relative to a pair's") \
  X(f, pairs_moves, 0, "slowdown of memory traffic if all pairs of multiprocessors were idle") \
  X(f, helped_share, 0, "stream-k: slowdown beyond the clocks of its panels") \
  X(f, helped_seconds, 0, "stream-k: fixed seconds") \
  X(f, chain_clocks, 0, "shortest time of a block's panel in clocks") \
  X(f, stage_wait, 0, "wait for a panel of a stage with several, in chain_clocks") \
  X(f, persistent_wait, 0, "least wait of a narrow persistent block for a panel, in chain_clocks") \
  X(f, flow_seconds, 0, "form=flow: seconds from a launch's end to the next launch's first full stage") \
  X(f, flow_lines_seconds, 0, "form=flow: seconds for each further 64 lines of a tile") \
  X(f, flow_element_clocks, 0, "form=flow: clocks of each element of C of a thread") \
  X(f, flow_join_bytes, 0, "form=flow: bytes of sums of other blocks of a cluster that are read in a clock") \
  X(f, flow_cluster_seconds, 0, "form=flow: seconds for each doubling of the cluster beyond two") \
  X(f, flow_fold_seconds, 0, "form=flow: seconds of the split-k reduction") \
  X(f, flow_alone, 0, "form=flow: slowdown of one block per multiprocessor") \
  X(f, flow_uneven, 0, "form=flow: slowdown of a partial last round") \
  X(f, flow_queue, 0, "form=flow: slowdown of rounds that wait for blocks") \
  X(f, flow_part, 1, "form=flow: reached fraction of memory bandwidth") \
  X(f, flow_idle, 0, "form=flow: slowdown of memory if all multiprocessors were idle") \
  X(f, cluster_units, 1, "fraction of the multiprocessors that clusters of four and more can use") \
  X(f, flow_unaligned, 0, "form=flow: slowdown of memory where lines of the longer operand are not aligned") \
  X(f, flow_stage_time, 0, "form=flow: memory time of stages of several panels, relative to single panels") \
  X(f, flow_cache, 0, "form=flow: L2 bandwidth relative to memory bandwidth") \
  X(f, flow_block_bytes, 0, "form=flow: bytes per second that the stages of one block load") \
  X(f, flow_least_seconds, 0, "form=flow: shortest main loop") \
  X(f, lines_traffic, 0, "memory traffic per packed byte, elements of 8 bits") \
  X(f, rows_traffic, 0, "memory traffic per packed byte, other elements") \
  X(f, lines_seconds, 0, "seconds of an early packing launch")

#define TSL_SM80_CONSTANTS(X, f) \
  X(f, first_clocks, 0, "clocks from a block's start to its first full stage") \
  X(f, sum_clocks, 0, "clocks of the epilogue of a thread per sum") \
  X(f, panel_clocks, 0, "latency of a panel's copies in clocks") \
  X(f, step_clocks, 0, "shortest time of 32 bytes of k of a block in clocks") \
  X(f, barrier_clocks, 0, "clocks of a panel's barrier") \
  X(f, few_warps, 1, "rate with one warp per tensor core, relative to two") \
  X(f, hidden, 1, "fraction of a block's start and end that other resident blocks hide") \
  X(f, bandwidth_share, 1, "reached fraction of memory bandwidth") \
  X(f, cache_bytes, 0, "bytes from L2 per clock") \
  X(f, reduce_seconds, 0, "start of the reduction") \
  X(f, launch_share, 0, "fraction of launch latency that remains between successive launches") \
  X(f, overlap, 0, "exponent of overlapping activities") \
  X(f, odd_sums, 0, "factor of the epilogue where elements of C are stored one by one") \
  X(f, odd_part_sums, 0, "factor of the epilogue with split-k") \
  X(f, odd_moves, 0, "factor of the traffic of C without split-k") \
  X(f, short_lines, 0, "cuda_dmma: cost of a byte in K-major lines of 128 bytes, relative to others") \
  X(f, split_lines, 0, "cuda_mma: traffic of K-major lines that begin inside of 64 bytes, in 64 bytes each") \
  X(f, copy_clocks, 0, "cuda_mma: clocks of each copy of 4 or 8 bytes after the first of a chunk") \
  X(f, last_round, 1, "part of the free places of a last round of blocks that takes time like blocks") \
  X(f, narrow_wait_clocks, 0, "clocks that a panel waits for copies below 16 bytes of an operand") \
  X(f, last_clocks, 0, "cuda_mma: clocks of each chunk of a last panel that is not whole") \
  X(f, last_wait_clocks, 0, "cuda_mma: clocks of such a panel where k ends inside of a chunk") \
  X(f, look_clocks, 0, "clocks to check the bounds of a chunk") \
  X(f, element_clocks, 0, "clocks to copy an element of a chunk") \
  X(f, element_wait_clocks, 0, "clocks that a panel waits for elements of an operand") \
  X(f, pack_traffic, 0, "memory traffic per packed byte") \
  X(f, join_clocks, 0, "clocks to add sums of parts of k that the blocks keep") \
  X(f, join_part_clocks, 0, "further clocks of each part but the last") \
  X(f, join_bytes, 0, "bytes of these sums in a clock") \
  X(f, pair_units, 0, "cuda_dmma: idle multiprocessors of clusters of two, if spread evenly") \
  X(f, cluster_units, 0, "cuda_dmma: idle multiprocessors per further block of larger clusters") \
  X(f, cluster_clocks, 0, "cuda_dmma: fixed clocks in which a cluster's blocks add their sums") \
  X(f, meeting_bytes, 0, "cuda_dmma: bytes of sums in shared memory that are added in a clock")

#define TSL_THIN_CONSTANTS(X, f) \
  X(f, memory_wait, 0, "clocks of the latency of global memory") \
  X(f, group_clocks, 0, "clocks of the start and end of a group") \
  X(f, later, 0, "factor on group_clocks for later groups") \
  X(f, fold_clocks, 0, "clocks of a round in which slices add") \
  X(f, local_clocks, 0, "clocks of a vector from local memory") \
  X(f, part_clocks, 0, "clocks of a k split") \
  X(f, chunk_clocks, 0, "minimum clocks of a chunk of the thin operand") \
  X(f, chunk_odd, 0, "factor on it where an operand is not aligned") \
  X(f, bring_instructions, 0, "extra instructions of a thin vector") \
  X(f, bring_odd_instructions, 0, "scheduler instructions or clocks, not aligned") \
  X(f, read_odd_instructions, 0, "extra instructions of a large vector read by elements") \
  X(f, scattered_clocks, 0, "clocks of a line that a warp reads by elements, where lines are not along k") \
  X(f, registers_easy, 0, "registers above which the compiler spills") \
  X(f, pressure, 0, "extra instructions of each further register") \
  X(f, flight_odd, 1, "factor on the bytes in flight of vectors read by elements") \
  X(f, warps_more, 0, "warps in addition to the multiplying ones") \
  X(f, overlap, 1, "fraction of the shorter activity, multiply-adds or memory, that is not hidden") \
  X(f, shared_rate, 0, "rate of reads shared by groups, relative to memory bandwidth") \
  X(f, memory_rate, 1, "rate of all reads, relative to memory bandwidth") \
  X(f, part_rate, 0, "rate of k splits, relative to memory bandwidth") \
  X(f, store_odd, 0, "factor on stores of C that is not aligned") \
  X(f, store_bytes, 0, "bytes of C stored in a clock of a unit, after the products") \
  X(f, launch_share, 0, "fraction of launch latency of one kernel") \
  X(f, sum_launch_share, 0, "fraction of launch latency of the sum kernel")

#define TSL_FEW_CONSTANTS(X, f) \
  X(f, memory_wait, 0, "clocks of the latency of global memory") \
  X(f, line_wait, 0, "clocks of the latency of lines of B, through local memory") \
  X(f, line_waste, 0, "bytes that memory moves beyond a line of B") \
  X(f, odd_waste, 0, "further bytes where lines begin inside of 64 bytes") \
  X(f, odd_flight, 1, "factor on the bytes in flight where lines are not aligned") \
  X(f, vector_clocks, 0, "clocks of a unit for 512 bytes of rows of B") \
  X(f, line_clocks, 0, "clocks of a unit for 512 bytes of columns of B") \
  X(f, odd_clocks, 0, "factor on them where lines are not aligned") \
  X(f, copy_clocks, 0, "clocks of a unit to copy 32 numbers of A") \
  X(f, row_clocks, 0, "clocks of a unit for 128 products of f32, or as many others of 512 bytes") \
  X(f, chain_clocks, 0, "clocks of an item to add a product to its only sum") \
  X(f, uneven, 1, "slowdown of memory by the fraction that the busiest units read beyond the mean") \
  X(f, group_clocks, 0, "clocks of the start and end of a group") \
  X(f, fold_clocks, 0, "clocks to add the sum of a slice") \
  X(f, memory_rate, 1, "rate of all reads, relative to memory bandwidth") \
  X(f, part_rate, 0, "rate of k splits, relative to memory bandwidth") \
  X(f, part_clocks, 0, "clocks to add a k split") \
  X(f, start_clocks, 0, "clocks of a unit to start one of its groups") \
  X(f, tail, 1, "fraction of a group's time in which few groups are left at the end") \
  X(f, launch_share, 0, "fraction of launch latency of one kernel") \
  X(f, sum_launch_share, 0, "fraction of launch latency of the sum kernel")

#define TSL_OUTER_CONSTANTS(X, f) \
  X(f, load_clocks, 0, "clocks of a unit in which 32 items load a number of A or B") \
  X(f, store_clocks, 0, "clocks of a unit in which 32 items store vectors of C") \
  X(f, group_clocks, 0, "clocks of the start and end of resident groups") \
  X(f, wait_clocks, 0, "clocks in which numbers of A arrive") \
  X(f, row_clocks, 0, "clocks between an item's stores of two rows") \
  X(f, write_share, 0, "traffic of C in memory, relative to its bytes") \
  X(f, period_share, 0, "further traffic of C where adjacent rows have different alignment") \
  X(f, end_bytes, 0, "bytes of further traffic of 32 items' line that is aligned to 32 bytes") \
  X(f, launch_share, 0, "fraction of launch latency")

#define TSL_REGISTER_CONSTANTS(X, f) \
  X(f, memory_wait, 0, "clocks of the latency of global memory") \
  X(f, flow_wait, 0, "clocks of the latency of asynchronous copies") \
  X(f, group_clocks, 0, "clocks of the start and end of a group") \
  X(f, flow_group_clocks, 0, "clocks of a group with asynchronous copies") \
  X(f, first_clocks, 0, "clocks of a launch") \
  X(f, part_clocks, 0, "clocks of a k split") \
  X(f, along_instructions, 0, "scheduler instructions of a loaded vector along k") \
  X(f, last_instructions, 0, "scheduler instructions in panels with guards") \
  X(f, copy_instructions, 0, "scheduler instructions of asynchronous copies") \
  X(f, read_clocks, 0, "memory path: clocks of the vectors of 32 items from local memory") \
  X(f, along_odd_clocks, 0, "memory path: loads along k, not aligned") \
  X(f, across_clocks, 0, "memory path: loads across lines") \
  X(f, across_odd_clocks, 0, "memory path: loads across lines, not aligned") \
  X(f, across_edge_clocks, 0, "memory path: clocks at an edge") \
  X(f, flow_along_clocks, 0, "memory path: asynchronous copies along k") \
  X(f, flow_along_edge_clocks, 0, "memory path: clocks at an edge") \
  X(f, flow_across_odd_clocks, 0, "memory path: asynchronous copies across lines, not aligned") \
  X(f, flow_planes_clocks, 0, "clocks for 32 vectors that are copied to planes by numbers") \
  X(f, flow_k_vectors_clocks, 0, "clocks for 32 vectors along k that stay vectors") \
  X(f, flow_slower, 0, "slowdown of the loop by asynchronous copies") \
  X(f, flow_wide_slower, 0, "further slowdown of micro-tiles of more than 64 elements without slices") \
  X(f, flow_slices_slower, 0, "further slowdown of slices") \
  X(f, planes_slower, 0, "slowdown of complex numbers in planes, over real ones") \
  X(f, complex_slower, 0, "slowdown of complex numbers without asynchronous copies") \
  X(f, depth_16_slower, 0, "slowdown of panels of 16 depths without slices") \
  X(f, depth_32_slower, 0, "slowdown of panels of 32 depths without slices") \
  X(f, two_stages_slower, 0, "slowdown of two stages") \
  X(f, short_slower, 0, "slowdown of short vectors") \
  X(f, columns_24_slower, 0, "slowdown of 24 columns") \
  X(f, loop_slower, 0, "slowdown of code beyond the instruction cache") \
  X(f, columns_slower, 0, "slowdown of multiply-adds along rows of a micro-tile") \
  X(f, rows_slower, 0, "slowdown of multiply-adds along columns") \
  X(f, few_warps_slower, 0, "slowdown of few warps") \
  X(f, uneven_share, 1, "fraction of a group's uneven warps that other groups do not make even") \
  X(f, registers_easy, 0, "registers above which the compiler spills") \
  X(f, pressure, 0, "extra instructions per depth of each further register") \
  X(f, store_clocks, 0, "clocks of a group per 32 stored elements") \
  X(f, store_odd, 0, "factor on store_clocks for partial vectors") \
  X(f, short_odd, 1, "fraction of it for vectors of two") \
  X(f, write_share, 0, "traffic of C relative to writing it once") \
  X(f, read_share, 0, "traffic of operands relative to reading them once") \
  X(f, along_share, 0, "traffic of asynchronous copies along k, relative to others") \
  X(f, short_stores, 0, "slowdown of writing C by rows of less than 64 bytes") \
  X(f, single_stores, 0, "elements per clock of a C that is narrower than its sums, stored one by one") \
  X(f, read_bytes, 0, "bytes of operands per clock and unit through the last cache") \
  X(f, read_odd, 0, "factor on the bytes if operands are not aligned") \
  X(f, write_bytes, 0, "bytes of C by elements per clock") \
  X(f, part_bytes, 0, "bytes of k splits per clock") \
  X(f, sum_odd, 0, "factor on the splits if C is not aligned") \
  X(f, launch_share, 0, "fraction of launch latency of one kernel") \
  X(f, copy_traffic, 0, "memory traffic of copying operands as units, relative to the copies' bytes") \
  X(f, copy_launch_share, 0, "fraction of the launch latency that this copy adds") \
  X(f, sum_launch_share, 0, "fraction of launch latency of the sum kernel")

#define TSL_SPLIT_CONSTANTS(X, f) \
  X(f, f16_streamed, 1, "f16: fraction of the bandwidth that copy kernels reach") \
  X(f, f16_launches, 0, "f16: launches of a run without the product's") \
  X(f, bf16_streamed, 1, "bf16: fraction of the bandwidth that copy kernels reach") \
  X(f, bf16_launches, 0, "bf16: launches of a run without the products'") \
  X(f, bf16_line_seconds, 0, "bf16: seconds of each number of a line, where lines are few") \
  X(f, doubt, 0, "bf16: measured time of the products relative to their models")

#define TSL_RESIDUE_CONSTANTS(X, f) \
  X(f, panel_clocks, 0, "clocks of a panel of a tile") \
  X(f, tile_clocks, 0, "clocks of a work tile's epilogue and first load") \
  X(f, streamed, 1, "fraction of bandwidth that streaming kernels reach") \
  X(f, waited, 0, "fraction of residue reads that products wait for") \
  X(f, cool_seconds, 0, "seconds from which power limits the clock") \
  X(f, hot, 0, "slowdown from then on") \
  X(f, gap_seconds, 0, "seconds between launches") \
  X(f, choose_seconds, 0, "seconds of the choosing kernel") \
  X(f, line_seconds, 0, "seconds of it for each line") \
  X(f, block_seconds, 0, "fixed seconds of a measuring block") \
  X(f, block_seconds_more, 0, "seconds of a further block of rows")

#define TSL_COMPLEX_CONSTANTS(X, f) \
  X(f, copy_fraction, 1, "fraction of the bandwidth that copy kernels reach") \
  X(f, product_fraction, 1, "fraction of the peak that the real product reaches, if no model is evaluated") \
  X(f, result_traffic, 0, "least memory traffic of the real product per byte of its result") \
  X(f, measured_over_model, 0, "f32: measured time of the product relative to its model's")

#define TSL_WHOLE_CONSTANTS(X, f) \
  X(f, first_clocks, 0, "clocks from a block's start to its last copy") \
  X(f, rate_of_warp, 0, "instructions per clock that a multiprocessor issues for each of its warps") \
  X(f, rate_alone, 0, "rate_of_warp with one product") \
  X(f, rate_most, 0, "instructions per clock at most") \
  X(f, memory_part, 1, "reached fraction of memory bandwidth") \
  X(f, launch_share, 0, "fraction of launch latency that remains between successive launches")

#define TSL_CUDA_FEW_CONSTANTS(X, f) \
  X(f, memory_part, 1, "reached fraction of memory bandwidth") \
  X(f, uneven, 0, "part of the last round of blocks that adds to memory's time") \
  X(f, part_waste, 0, "bytes of a line that memory could deliver when a block goes on to its next part") \
  X(f, unit_bytes, 0, "bytes a clock that a multiprocessor reads at most") \
  X(f, wait_clocks, 0, "clocks of the latency of a warp's loads") \
  X(f, step_clocks, 0, "clocks of a warp's products of a step and eight rows of 16 bits") \
  X(f, element_clocks, 0, "clocks of a multiprocessor for a warp's load of an element a lane") \
  X(f, first_clocks, 0, "clocks of a block's start and end") \
  X(f, launch_share, 0, "fraction of launch latency of a kernel")

#define TSL_STRIP_CONSTANTS(X, f) \
  X(f, first_clocks, 0, "clocks of a block from its start to its first products") \
  X(f, fill_clocks, 0, "clocks of 16 columns of B in a step, of a warp") \
  X(f, fill_load_clocks, 0, "clocks of a load of B by a warp") \
  X(f, load_clocks, 0, "clocks of a load of A by a warp") \
  X(f, product_clocks, 0, "clocks of a product of 16 x 8 in a step") \
  X(f, store_clocks, 0, "clocks of 16 rows and 8 columns of C, for each byte of an element") \
  X(f, edge_clocks, 0, "clocks of an element of 16 rows that is stored alone") \
  X(f, step_clocks, 0, "latency of a step in clocks") \
  X(f, rows_clocks, 0, "latency of 16 rows in clocks") \
  X(f, memory_part, 1, "reached fraction of memory bandwidth") \
  X(f, launch_share, 0, "fraction of launch latency that remains between successive launches")

#define TSL_EXACT_CONSTANTS(X, f) \
  X(f, fixed_seconds, 0, "seconds of a run besides its terms") \
  X(f, f32_term, 0, "f32 operations of a term of f32") \
  X(f, f64_term, 0, "f32 operations of a term of f64") \
  X(f, epilogue, 0, "f32 operations of the end of an element") \
  X(f, wait_seconds, 0, "seconds of a term that waits for memory")

#define TSL_MICROTILE_CONSTANTS(X, f) \
  X(f, row_seconds, 0, "seconds of a row of a group's texels, for each byte of B") \
  X(f, peak_part, 1, "fraction of the peak that micro-tiles of 8 rows reach") \
  X(f, store_traffic, 0, "memory traffic of storing C beyond its bytes, relative to them") \
  X(f, launch_share, 1, "fraction of launch latency of a kernel")

#define TSL_SKINNY_CONSTANTS(X, f) \
  X(f, tile_rate, 0, "part of the peak at the nominal clock that tiles reach") \
  X(f, far_tile_rate, 0, "part of that peak that tiles reach with operands in no near cache") \
  X(f, line_rate, 0, "part of the peak at the nominal clock that kernels by lines reach") \
  X(f, wide_line_rate, 0, "part of that peak that kernels by lines reach where sums leave the registers") \
  X(f, call_seconds, 0, "fixed seconds of a run by lines") \
  X(f, tile_call_seconds, 0, "fixed seconds of a run by tiles") \
  X(f, expand_clocks, 0, "clocks of a number of a complex operand's real form") \
  X(f, update_complex, 0, "slowdown of complex updates of more than four steps") \
  X(f, update_vector_clocks, 0, "clocks to store a vector of C, updates by tiles") \
  X(f, update_tile_clocks, 0, "clocks of a column of tiles, updates") \
  X(f, update_edge_clocks, 0, "clocks of a row's partial vector, updates by tiles") \
  X(f, update_copy_clocks, 0, "clocks to copy an element of the large operand, updates by tiles") \
  X(f, outer_row_clocks, 0, "clocks of a row, updates by lines") \
  X(f, outer_edge_clocks, 0, "clocks of a row's partial vector, updates by lines") \
  X(f, outer_copy_clocks, 0, "clocks to copy an element of the large operand, updates by lines") \
  X(f, rows_store_clocks, 0, "clocks to store a vector of sums, rows by tiles") \
  X(f, rows_copy_clocks, 0, "clocks to copy an element of the thin operand, rows by tiles") \
  X(f, element_clocks, 0, "clocks to store a single element") \
  X(f, step_clocks, 0, "clocks of a step, rows by lines") \
  X(f, sums_clocks, 0, "clocks to store a vector of sums, rows by lines") \
  X(f, thin_clocks, 0, "clocks to copy an element of the thin operand, columns by tiles") \
  X(f, column_clocks, 0, "clocks to store a column of sums, columns by tiles") \
  X(f, line_copy_clocks, 0, "clocks to copy an element of the thin operand, by lines") \
  X(f, reduce_clocks, 0, "clocks to add the lanes of a sum, columns by lines") \
  X(f, written_lines, 0, "traffic of updates by lines past the first cache") \
  X(f, near_line_clocks, 0, "clocks of a cache line, tiles with near operands") \
  X(f, conflict_line_clocks, 0, "clocks of a line past the second cache, tiles with rows that share sets") \
  X(f, far_line_clocks, 0, "further clocks of a line past the second cache") \
  X(f, far_row_clocks, 0, "further clocks of a line past the second cache, rows that stream") \
  X(f, far_complex_clocks, 0, "further clocks of a line past the second cache, complex types") \
  X(f, cache_speed, 0, "by lines: speed of the last cache over the device's bandwidth") \
  X(f, memory_speed, 0, "by lines: speed of memory over the device's bandwidth") \
  X(f, tile_speed, 0, "by tiles: speed of memory over the device's bandwidth")

#define TSL_SMALL_CONSTANTS(X, f) \
  X(f, rate, 0, "part of the peak at the nominal clock that tiles reach") \
  X(f, call_seconds, 0, "fixed seconds of a run") \
  X(f, copy_clocks, 0, "clocks to copy an element of B") \
  X(f, element_clocks, 0, "clocks to store a single element") \
  X(f, tile_clocks, 0, "fixed clocks of a tile") \
  X(f, step_clocks, 0, "further clocks of a tile's step") \
  X(f, line_clocks, 0, "clocks of a line of B past the first cache") \
  X(f, again_line_clocks, 0, "clocks of such a line for each further tile") \
  X(f, far_line_clocks, 0, "further clocks of a line of B that is not copied, past the second cache") \
  X(f, written_clocks, 0, "clocks of a line of C past the second cache") \
  X(f, apart_line_clocks, 0, "clocks of a line of A's steps past the first cache, steps not contiguous") \
  X(f, far_apart_line_clocks, 0, "further clocks of such a line past the second cache") \
  X(f, again_speed, 0, "speed of operands that are read again over the device's bandwidth") \
  X(f, first_pages, 0, "pages whose addresses the first level of the TLB translates") \
  X(f, first_page_seconds, 0, "seconds of the translation of another page's address by the next level") \
  X(f, near_pages, 0, "pages whose addresses the processor translates at once") \
  X(f, page_seconds, 0, "seconds of the translation of another page's address")

#define TSL_PACKED_CONSTANTS(X, f) \
  X(f, rate, 0, "part of the peak at the nominal clock that tiles reach") \
  X(f, complex_rate, 0, "part of that peak that tiles reach in complex types") \
  X(f, call_seconds, 0, "fixed seconds of a run in one thread") \
  X(f, panel_steps, 0, "steps of k that take as long as the epilogue of a panel") \
  X(f, near_rows, 0, "further rows that a line of B takes where A has few, operands in near caches") \
  X(f, far_rows, 0, "further rows that a line of B takes where A has few, operands in far caches") \
  X(f, row_clocks, 0, "clocks to pack a vector of A, or of rows of B") \
  X(f, column_clocks, 0, "clocks to pack a vector of columns of B") \
  X(f, waited, 0, "part of the time of fetching A, C and columns of B that does not overlap") \
  X(f, waited_in_rows, 0, "part of the time of fetching rows of B that does not overlap") \
  X(f, waited_few_columns, 0, "further part for A where C has few columns") \
  X(f, edge_clocks, 0, "clocks of a row's partial vector of C") \
  X(f, micro_clocks, 0, "fixed clocks of a micro-panel of A and a panel of k") \
  X(f, apart_line_clocks, 0, "clocks of a line of A's steps, A in place and steps not contiguous") \
  X(f, waited_one_row, 0, "further part for B past the caches, over the rows of A")

#define TSL_AMX_CONSTANTS(X, f) \
  X(f, rate, 0, "part of the peak at the nominal clock that tiles of dot instructions reach") \
  X(f, panel_units, 0, "units of k that take as long as the start and end of a tile's panel") \
  X(f, copy_clocks, 0, "clocks to pack a unit of rows of A or B") \
  X(f, turn_clocks, 0, "clocks to pack a unit of columns of A or B") \
  X(f, element_operations, 0, "multiply-adds that take as long as rounding and storing an element of C") \
  X(f, line_vector_clocks, 0, "clocks of a vector along k") \
  X(f, line_sum_clocks, 0, "clocks to add the lanes of a sum") \
  X(f, line_copy_clocks, 0, "clocks to copy a unit of the thin operand") \
  X(f, call_seconds, 0, "fixed seconds of a run in one thread")

#define TSL_OPENCL_MMA_CONSTANTS(X, f) \
  X(f, warp_rate, 0, "operations of 16 bits by single warps, per operation of the lanes") \
  X(f, warp_bytes, 0, "bytes a clock from the last cache to groups of single warps") \
  X(f, four_rate, 0, "operations of 16 bits by four warps together, per operation of the lanes") \
  X(f, four_bytes, 0, "bytes a clock from the last cache to groups of four warps together") \
  X(f, memory_wait, 0, "clocks of the latency of global memory") \
  X(f, group_clocks, 0, "clocks of the start and end of a group") \
  X(f, store_clocks, 0, "clocks of the epilogue of a tile, per element") \
  X(f, odd_store_clocks, 0, "the same where elements of C are stored one by one") \
  X(f, copy_clocks, 0, "clocks of a warp's copy of 4 bytes a lane") \
  X(f, element_clocks, 0, "clocks of a warp's copy of an element a lane") \
  X(f, element_wait_clocks, 0, "latency of copies of elements, which are stored after they have arrived") \
  X(f, join_clocks, 0, "clocks in which the group of a tile's last part waits for the others") \
  X(f, round_clocks, 0, "clocks in which this group loads a round of parts") \
  X(f, pack_traffic, 0, "memory traffic per packed byte") \
  X(f, memory_part, 1, "reached fraction of memory bandwidth") \
  X(f, launch_share, 0, "fraction of launch latency of a kernel")

#define TSL_SEVERAL_CONSTANTS(X, f) \
  X(f, host_copy_rate, 0, "bytes a second that host threads copy for all devices, through pinned memory")

#define TSL_SIMPLE_CONSTANTS(X, f) \
  X(f, column_waits, 0, "row_private and row_private_column_local: waits for each column of a panel") \
  X(f, opencl_launch_share, 0, "OpenCL: least fraction of launch latency of a second kernel")

/* X(member, family, list): the members of a row, one for each type. mma: cuda_mma */
#define TSL_MODEL_TYPE_LIST(X) \
  X(wgmma, wgmma, TSL_WGMMA_CONSTANTS) \
  X(mma, sm80, TSL_SM80_CONSTANTS) \
  X(thin_tile, thin, TSL_THIN_CONSTANTS) \
  X(few_rows, few, TSL_FEW_CONSTANTS) \
  X(outer, outer, TSL_OUTER_CONSTANTS) \
  X(register_tile, register, TSL_REGISTER_CONSTANTS) \
  X(opencl_mma, opencl_mma, TSL_OPENCL_MMA_CONSTANTS) \
  X(split, split, TSL_SPLIT_CONSTANTS) \
  X(residue, residue, TSL_RESIDUE_CONSTANTS) \
  X(complex, complex, TSL_COMPLEX_CONSTANTS) \
  X(whole, whole, TSL_WHOLE_CONSTANTS) \
  X(strip, strip, TSL_STRIP_CONSTANTS) \
  X(cuda_few, cuda_few, TSL_CUDA_FEW_CONSTANTS) \
  X(exact, exact, TSL_EXACT_CONSTANTS) \
  X(microtile, microtile, TSL_MICROTILE_CONSTANTS) \
  X(skinny, skinny, TSL_SKINNY_CONSTANTS) \
  X(small, small, TSL_SMALL_CONSTANTS) \
  X(packed, packed, TSL_PACKED_CONSTANTS) \
  X(amx, amx, TSL_AMX_CONSTANTS) \
  X(several, several, TSL_SEVERAL_CONSTANTS) \
  X(simple, simple, TSL_SIMPLE_CONSTANTS)

/* All members of a row. dmma: cuda_dmma */
#define TSL_MODEL_FAMILY_LIST(X) \
  TSL_MODEL_TYPE_LIST(X) \
  X(dmma, sm80, TSL_SM80_CONSTANTS)

#define TSL_MODEL_CONSTANT_MEMBER(f, name, max, meaning) double name;
#define TSL_MODEL_FAMILY_TYPE(member, family, list) \
  typedef struct tsl_##family##_constants { \
    list(TSL_MODEL_CONSTANT_MEMBER, member) \
  } tsl_##family##_constants;
TSL_MODEL_TYPE_LIST(TSL_MODEL_FAMILY_TYPE)
#undef TSL_MODEL_FAMILY_TYPE
#undef TSL_MODEL_CONSTANT_MEMBER
/* clang-format on */

typedef struct tsl_model_constants {
  const char *label; /* of the device that was measured, with "-" for blanks */
#define TSL_MODEL_FAMILY_MEMBER(member, family, list) tsl_##family##_constants member;
  TSL_MODEL_FAMILY_LIST(TSL_MODEL_FAMILY_MEMBER)
#undef TSL_MODEL_FAMILY_MEMBER
} tsl_model_constants;

/* Returns the constants of a device: the row with its label, else the first row. Processors with two AVX-512
 * multiply-adds a clock have a row of their own, and those with AVX2 only. */
const tsl_model_constants *tsl_model_constants_of(const tsl_device *device);

typedef struct tsl_model_constant {
  const char *name; /* "wgmma.first_clocks"; NULL past the end */
  double max;       /* largest value allowed; 0: any */
} tsl_model_constant;

tsl_model_constant tsl_model_constant_at(int index);
double tsl_model_constant_value(const tsl_device *device, int index);
/* Sets a constant in all rows, before other threads use models; for tools/fit. Returns false for an unknown
 * name and for a value that is negative or larger than allowed. */
bool tsl_model_constants_set(const char *name, double value);

#endif
