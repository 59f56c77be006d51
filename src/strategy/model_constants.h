/* Constants of performance models that depend on the device. tools/fit fits them to measured times. It writes
 * the rows of model_constants_table.h, a row for each measured device. Devices without a row use the first
 * row. Times are in seconds or in clocks of a compute unit; rates in bytes per clock of a unit. */
#ifndef TSL_STRATEGY_MODEL_CONSTANTS_H
#define TSL_STRATEGY_MODEL_CONSTANTS_H

#include "device/device.h"

/* Families of constants, a struct each. X(name, largest value allowed or 0, meaning) */
/* clang-format off */
#define TSL_WGMMA_CONSTANTS(X) \
  X(first_clocks, 0, "clocks from a block's start to its first full stage") \
  X(tile_clocks, 0, "fixed clocks of a tile's epilogue") \
  X(store_bytes, 0, "bytes of C stored in a clock of a multiprocessor") \
  X(cache_bytes, 0, "bytes from L2 in a clock of a multiprocessor") \
  X(hot_clock, 1, "fraction of the nominal clock under sustained load") \
  X(cool_seconds, 0, "seconds until then") \
  X(shared_clock, 1, "fraction of the clock with clusters of two after warm_seconds") \
  X(warm_seconds, 0, "seconds until clusters of two save power") \
  X(warm_across_seconds, 0, "seconds until then with A from registers") \
  X(unaligned, 0, "slowdown of L2 reads where rows of a box do not begin at cache lines") \
  X(memory_unaligned, 0, "slowdown of memory where lines of the longer operand do not begin at cache lines") \
  X(group_clocks, 0, "clocks of the start of a second warpgroup") \
  X(pair_clocks, 0, "clocks of waiting within a cluster per tile") \
  X(threads_clocks, 0, "clocks of an epilogue stored by threads") \
  X(thread_clocks, 0, "clocks of each element of a thread in it") \
  X(memory_part, 1, "reached fraction of memory bandwidth") \
  X(launch_share, 0, "fraction of launch latency that remains when launches overlap") \
  X(fold_share, 0, "launches of the split-k reduction, as a fraction of launch latency") \
  X(fold_moves, 0, "number of times that the bytes of partial sums move") \
  X(pairs_moves, 0, "slowdown of memory traffic if all pairs of multiprocessors were idle") \
  X(helped_share, 0, "stream-k: slowdown beyond the clocks of its panels") \
  X(helped_seconds, 0, "stream-k: fixed seconds") \
  X(flow_seconds, 0, "form=flow: seconds from a launch's end to the next launch's first full stage") \
  X(flow_lines_seconds, 0, "form=flow: seconds for each further 64 lines of a tile") \
  X(flow_element_clocks, 0, "form=flow: clocks of each element of C of a thread") \
  X(flow_cluster_seconds, 0, "form=flow: seconds for each doubling of the cluster beyond two") \
  X(flow_fold_seconds, 0, "form=flow: seconds of the split-k reduction") \
  X(flow_alone, 0, "form=flow: slowdown of one block per multiprocessor") \
  X(flow_uneven, 0, "form=flow: slowdown of a partial last round") \
  X(flow_queue, 0, "form=flow: slowdown of rounds that wait for blocks") \
  X(flow_part, 1, "form=flow: reached fraction of memory bandwidth") \
  X(flow_unaligned, 0, "form=flow: slowdown of memory where lines of the longer operand are not aligned") \
  X(flow_cache, 0, "form=flow: L2 bandwidth relative to memory bandwidth") \
  X(flow_block_bytes, 0, "form=flow: bytes per second that the stages of one block load") \
  X(flow_least_seconds, 0, "form=flow: shortest main loop") \
  X(lines_traffic, 0, "memory traffic per packed byte, elements of 8 bits") \
  X(rows_traffic, 0, "memory traffic per packed byte, other elements") \
  X(lines_seconds, 0, "seconds of an early packing launch")

#define TSL_SM80_CONSTANTS(X) \
  X(first_clocks, 0, "clocks from a block's start to its first full stage") \
  X(sum_clocks, 0, "clocks of the epilogue of a thread per sum") \
  X(panel_clocks, 0, "latency of a panel's copies in clocks") \
  X(barrier_clocks, 0, "clocks of a panel's barrier") \
  X(few_warps, 1, "rate with one warp per tensor core, relative to two") \
  X(hidden, 1, "fraction of a block's start and end that other resident blocks hide") \
  X(bandwidth_share, 1, "reached fraction of memory bandwidth") \
  X(cache_bytes, 0, "bytes from L2 per clock") \
  X(reduce_seconds, 0, "start of the reduction") \
  X(launch_share, 0, "fraction of launch latency that remains between successive launches") \
  X(overlap, 0, "exponent of overlapping activities") \
  X(odd_sums, 0, "factor of the epilogue where elements of C are stored one by one") \
  X(odd_part_sums, 0, "factor of the epilogue with split-k") \
  X(odd_moves, 0, "factor of the traffic of C without split-k") \
  X(pack_traffic, 0, "memory traffic per packed byte")

#define TSL_THIN_CONSTANTS(X) \
  X(memory_wait, 0, "clocks of the latency of global memory") \
  X(group_clocks, 0, "clocks of the start and end of a group") \
  X(later, 0, "factor on group_clocks for later groups") \
  X(fold_clocks, 0, "clocks of a round in which slices add") \
  X(local_clocks, 0, "clocks of a vector from local memory") \
  X(part_clocks, 0, "clocks of a k split") \
  X(chunk_clocks, 0, "minimum clocks of a chunk of the thin operand") \
  X(chunk_odd, 0, "factor on it where an operand is not aligned") \
  X(bring_instructions, 0, "extra instructions of a thin vector") \
  X(bring_odd_instructions, 0, "scheduler instructions or clocks, not aligned") \
  X(read_odd_instructions, 0, "extra instructions of a large vector read by elements") \
  X(scattered_clocks, 0, "clocks of a line that a warp reads by elements, where lines are not along k") \
  X(registers_easy, 0, "registers above which the compiler spills") \
  X(pressure, 0, "extra instructions of each further register") \
  X(flight_odd, 1, "factor on the bytes in flight of vectors read by elements") \
  X(warps_more, 0, "warps in addition to the multiplying ones") \
  X(overlap, 1, "fraction of the shorter activity, multiply-adds or memory, that is not hidden") \
  X(shared_rate, 0, "rate of reads shared by groups, relative to memory bandwidth") \
  X(memory_rate, 1, "rate of all reads, relative to memory bandwidth") \
  X(part_rate, 0, "rate of k splits, relative to memory bandwidth") \
  X(store_odd, 0, "factor on stores of C that is not aligned") \
  X(store_bytes, 0, "bytes of C stored in a clock of a unit, after the products") \
  X(launch_share, 0, "fraction of launch latency of one kernel") \
  X(sum_launch_share, 0, "fraction of launch latency of the sum kernel")

#define TSL_REGISTER_CONSTANTS(X) \
  X(memory_wait, 0, "clocks of the latency of global memory") \
  X(flow_wait, 0, "clocks of the latency of asynchronous copies") \
  X(group_clocks, 0, "clocks of the start and end of a group") \
  X(flow_group_clocks, 0, "clocks of a group with asynchronous copies") \
  X(first_clocks, 0, "clocks of a launch") \
  X(part_clocks, 0, "clocks of a k split") \
  X(along_instructions, 0, "scheduler instructions of a loaded vector along k") \
  X(last_instructions, 0, "scheduler instructions in panels with guards") \
  X(copy_instructions, 0, "scheduler instructions of asynchronous copies") \
  X(read_clocks, 0, "memory path: clocks of the vectors of 32 items from local memory") \
  X(along_odd_clocks, 0, "memory path: loads along k, not aligned") \
  X(across_clocks, 0, "memory path: loads across lines") \
  X(across_odd_clocks, 0, "memory path: loads across lines, not aligned") \
  X(across_edge_clocks, 0, "memory path: clocks at an edge") \
  X(flow_along_clocks, 0, "memory path: asynchronous copies along k") \
  X(flow_along_edge_clocks, 0, "memory path: clocks at an edge") \
  X(flow_across_odd_clocks, 0, "memory path: asynchronous copies across lines, not aligned") \
  X(flow_slower, 0, "slowdown of the loop by asynchronous copies") \
  X(flow_wide_slower, 0, "further slowdown of micro-tiles of more than 64 elements without slices") \
  X(flow_slices_slower, 0, "further slowdown of slices") \
  X(depth_16_slower, 0, "slowdown of panels of 16 depths without slices") \
  X(depth_32_slower, 0, "slowdown of panels of 32 depths without slices") \
  X(two_stages_slower, 0, "slowdown of two stages") \
  X(short_slower, 0, "slowdown of short vectors") \
  X(columns_24_slower, 0, "slowdown of 24 columns") \
  X(loop_slower, 0, "slowdown of code beyond the instruction cache") \
  X(columns_slower, 0, "slowdown of multiply-adds along rows of a micro-tile") \
  X(rows_slower, 0, "slowdown of multiply-adds along columns") \
  X(few_warps_slower, 0, "slowdown of few warps") \
  X(registers_easy, 0, "registers above which the compiler spills") \
  X(pressure, 0, "extra instructions per depth of each further register") \
  X(store_clocks, 0, "clocks of a group per 32 stored elements") \
  X(store_odd, 0, "factor on store_clocks for partial vectors") \
  X(short_odd, 1, "fraction of it for vectors of two") \
  X(write_share, 0, "traffic of C relative to writing it once") \
  X(read_bytes, 0, "bytes of operands per clock and unit through the last cache") \
  X(read_odd, 0, "factor on the bytes if operands are not aligned") \
  X(write_bytes, 0, "bytes of C by elements per clock") \
  X(part_bytes, 0, "bytes of k splits per clock") \
  X(sum_odd, 0, "factor on the splits if C is not aligned") \
  X(launch_share, 0, "fraction of launch latency of one kernel") \
  X(sum_launch_share, 0, "fraction of launch latency of the sum kernel")

#define TSL_SPLIT_CONSTANTS(X) \
  X(f16_streamed, 1, "f16: fraction of the bandwidth that copy kernels reach") \
  X(f16_launches, 0, "f16: launches of a run without the product's") \
  X(bf16_streamed, 1, "bf16: fraction of the bandwidth that copy kernels reach") \
  X(bf16_launches, 0, "bf16: launches of a run without the products'") \
  X(bf16_line_seconds, 0, "bf16: seconds of each number of a line, where lines are few") \
  X(doubt, 0, "bf16: measured time of the products relative to their models")

#define TSL_RESIDUE_CONSTANTS(X) \
  X(panel_clocks, 0, "clocks of a panel of a tile") \
  X(tile_clocks, 0, "clocks of a work tile's epilogue and first load") \
  X(streamed, 1, "fraction of bandwidth that streaming kernels reach") \
  X(waited, 0, "fraction of residue reads that products wait for") \
  X(cool_seconds, 0, "seconds from which power limits the clock") \
  X(hot, 0, "slowdown from then on") \
  X(gap_seconds, 0, "seconds between launches") \
  X(choose_seconds, 0, "seconds of the choosing kernel") \
  X(line_seconds, 0, "seconds of it for each line") \
  X(block_seconds, 0, "fixed seconds of a measuring block") \
  X(block_seconds_more, 0, "seconds of a further block of rows")

#define TSL_COMPLEX_CONSTANTS(X) \
  X(copy_fraction, 1, "fraction of the bandwidth that copy kernels reach") \
  X(product_fraction, 1, "fraction of the peak that the real product reaches, where no model is evaluated") \
  X(result_traffic, 0, "least memory traffic of the real product per byte of its result") \
  X(measured_over_model, 0, "f32: measured time of the product relative to its model's")

#define TSL_WHOLE_CONSTANTS(X) \
  X(first_clocks, 0, "clocks from a block's start to its last copy") \
  X(rate_of_warp, 0, "instructions per clock that a multiprocessor issues for each of its warps") \
  X(rate_alone, 0, "rate_of_warp with one product") \
  X(rate_most, 0, "instructions per clock at most") \
  X(memory_part, 1, "reached fraction of memory bandwidth") \
  X(launch_share, 0, "fraction of launch latency that remains between successive launches")

#define TSL_EXACT_CONSTANTS(X) \
  X(fixed_seconds, 0, "seconds of a run besides its terms") \
  X(f32_term, 0, "f32 operations of a term of f32") \
  X(f64_term, 0, "f32 operations of a term of f64") \
  X(epilogue, 0, "f32 operations of the end of an element") \
  X(wait_seconds, 0, "seconds of a term that waits for memory")

#define TSL_MICROTILE_CONSTANTS(X) \
  X(row_seconds, 0, "seconds of a row of a group's texels, for each byte of B")

#define TSL_SKINNY_CONSTANTS(X) \
  X(tile_rate, 0, "part of the peak at the nominal clock that tiles reach") \
  X(far_tile_rate, 1, "part of that peak that tiles reach with operands in no near cache") \
  X(line_rate, 0, "part of the peak at the nominal clock that kernels by lines reach") \
  X(wide_line_rate, 1, "part of that peak that kernels by lines reach where sums leave the registers") \
  X(call_seconds, 0, "fixed seconds of a run by lines") \
  X(tile_call_seconds, 0, "fixed seconds of a run by tiles") \
  X(expand_clocks, 0, "clocks of a number of a complex operand's real form") \
  X(update_complex, 0, "slowdown of complex updates of more than four steps") \
  X(update_vector_clocks, 0, "clocks to store a vector of C, updates by tiles") \
  X(update_tile_clocks, 0, "clocks of a column of tiles, updates") \
  X(update_edge_clocks, 0, "clocks of a row's partial vector, updates by tiles") \
  X(update_copy_clocks, 0, "clocks to copy an element of the large operand, updates by tiles") \
  X(outer_row_clocks, 0, "clocks of a row, updates by lines") \
  X(outer_edge_clocks, 0, "clocks of a row's partial vector, updates by lines") \
  X(outer_copy_clocks, 0, "clocks to copy an element of the large operand, updates by lines") \
  X(rows_store_clocks, 0, "clocks to store a vector of sums, rows by tiles") \
  X(rows_copy_clocks, 0, "clocks to copy an element of the thin operand, rows by tiles") \
  X(element_clocks, 0, "clocks to store a single element") \
  X(step_clocks, 0, "clocks of a step, rows by lines") \
  X(sums_clocks, 0, "clocks to store a vector of sums, rows by lines") \
  X(thin_clocks, 0, "clocks to copy an element of the thin operand, columns by tiles") \
  X(column_clocks, 0, "clocks to store a column of sums, columns by tiles") \
  X(line_copy_clocks, 0, "clocks to copy an element of the thin operand, by lines") \
  X(reduce_clocks, 0, "clocks to add the lanes of a sum, columns by lines") \
  X(written_lines, 0, "traffic of updates by lines past the first cache") \
  X(near_line_clocks, 0, "clocks of a cache line, tiles with near operands") \
  X(far_line_clocks, 0, "further clocks of a line past the second cache") \
  X(far_row_clocks, 0, "further clocks of a line past the second cache, rows that stream") \
  X(far_complex_clocks, 0, "further clocks of a line past the second cache, complex types") \
  X(cache_speed, 0, "by lines: speed of a far last cache over the device's bandwidth") \
  X(memory_speed, 0, "by lines: speed of memory beyond a far last cache over the device's bandwidth") \
  X(tile_speed, 0, "by tiles: speed of memory over the device's bandwidth")

#define TSL_SMALL_CONSTANTS(X) \
  X(rate, 0, "part of the peak at the nominal clock that tiles reach") \
  X(call_seconds, 0, "fixed seconds of a run") \
  X(copy_clocks, 0, "clocks to copy an element of B") \
  X(element_clocks, 0, "clocks to store a single element") \
  X(line_clocks, 0, "clocks of a line of B past the first cache") \
  X(written_clocks, 0, "clocks of a line of C past the second cache") \
  X(again_speed, 0, "speed of operands that are read again over the device's bandwidth")

#define TSL_PACKED_CONSTANTS(X) \
  X(rate, 0, "part of the peak at the nominal clock that tiles reach") \
  X(complex_rate, 1, "part of that peak that tiles reach in complex types") \
  X(call_seconds, 0, "fixed seconds of a run in one thread") \
  X(panel_steps, 0, "steps of k that take as long as the epilogue of a panel") \
  X(near_rows, 0, "further rows that a line of B takes where A has few, operands in near caches") \
  X(far_rows, 0, "further rows that a line of B takes where A has few, operands in far caches") \
  X(row_clocks, 0, "clocks to pack a vector of A, or of rows of B") \
  X(column_clocks, 0, "clocks to pack a vector of columns of B") \
  X(waited, 0, "part of the time of fetching A, C and columns of B that does not overlap") \
  X(waited_in_rows, 0, "part of the time of fetching rows of B that does not overlap") \
  X(waited_one_row, 0, "further part for B past the caches, over the rows of A")

#define TSL_OPENCL_MMA_CONSTANTS(X) \
  X(memory_wait, 0, "clocks of the latency of global memory") \
  X(group_clocks, 0, "clocks of the start and end of a group") \
  X(store_clocks, 0, "clocks of the epilogue of a tile, per element") \
  X(odd_store_clocks, 0, "the same where elements of C are stored one by one") \
  X(pack_traffic, 0, "memory traffic per packed byte") \
  X(memory_part, 1, "reached fraction of memory bandwidth") \
  X(launch_share, 0, "fraction of launch latency of a kernel")

#define TSL_SEVERAL_CONSTANTS(X) \
  X(host_copy_rate, 0, "bytes a second that host threads copy for all devices, through pinned memory")

/* X(member, family, list): the members of a row, one for each type. mma: cuda_mma */
#define TSL_MODEL_TYPE_LIST(X) \
  X(wgmma, wgmma, TSL_WGMMA_CONSTANTS) \
  X(mma, sm80, TSL_SM80_CONSTANTS) \
  X(thin_tile, thin, TSL_THIN_CONSTANTS) \
  X(register_tile, register, TSL_REGISTER_CONSTANTS) \
  X(opencl_mma, opencl_mma, TSL_OPENCL_MMA_CONSTANTS) \
  X(split, split, TSL_SPLIT_CONSTANTS) \
  X(residue, residue, TSL_RESIDUE_CONSTANTS) \
  X(complex, complex, TSL_COMPLEX_CONSTANTS) \
  X(whole, whole, TSL_WHOLE_CONSTANTS) \
  X(exact, exact, TSL_EXACT_CONSTANTS) \
  X(microtile, microtile, TSL_MICROTILE_CONSTANTS) \
  X(skinny, skinny, TSL_SKINNY_CONSTANTS) \
  X(small, small, TSL_SMALL_CONSTANTS) \
  X(packed, packed, TSL_PACKED_CONSTANTS) \
  X(several, several, TSL_SEVERAL_CONSTANTS)

/* All members of a row. dmma: cuda_dmma */
#define TSL_MODEL_FAMILY_LIST(X) \
  TSL_MODEL_TYPE_LIST(X) \
  X(dmma, sm80, TSL_SM80_CONSTANTS)

#define TSL_MODEL_CONSTANT_MEMBER(name, max, meaning) double name;
#define TSL_MODEL_FAMILY_TYPE(member, family, list) \
  typedef struct tsl_##family##_constants { \
    list(TSL_MODEL_CONSTANT_MEMBER) \
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
 * multiply-adds a clock have a row of their own. */
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
