/* Sizes at which one way of computing gives place to another. All rooms above core may include this header.
 *
 * Measured on processors with AVX2 and AVX-512. A file that TESELA_CROSSOVERS names replaces numbers without
 * a rebuild: lines "[instruction set] name=number ...", blank lines, and comments after #. A line with an
 * instruction set (core/isa.h) applies to processors that have it; later lines replace earlier ones:
 *
 *     small_volume=2e6
 *     avx512 small_volume=1e6 plan_volume=inf */
#ifndef TSL_DISPATCH_CROSSOVERS_H
#define TSL_DISPATCH_CROSSOVERS_H

#include <stdint.h>
#include <tesela/tesela.h>

/* X(name, number, largest number allowed, meaning); ANY: none is too large. Volumes are multiply-adds. */
/* clang-format off */
#define TSL_CROSSOVER_LIST(X) \
  /* one product by a public call (dispatch/direct_rule.h) */ \
  X(direct_volume, 100 * 100 * 100, ANY, "most multiply-adds without a plan") \
  X(direct_side, 128, 1 << 20, "longest side without a plan") \
  X(direct_short_side, 16, ANY, "shortest side without a plan, above tiny_volume") \
  X(direct_threads, 2, ANY, "most threads of the processor without a plan, above tiny_volume") \
  X(tiny_volume, 32 * 32 * 32, ANY, "most multiply-adds without a plan for any sides and threads") \
  X(tiny_side, 64, ANY, "longest side of a product up to tiny_volume") \
  X(flat_side, 3, ANY, "most rows or columns of a flat product") \
  X(flat_volume, 24 * 24, ANY, "most multiply-adds of a flat product without a plan") \
  X(fixed_bits_volume, 64 * 64 * 64, ANY, "most multiply-adds of host_small where bits must be the same") \
  /* host_small */ \
  X(small_volume, 120 * 120 * 120, 2000000, "most multiply-adds of host_small at once or instead of a peer") \
  X(small_steps, 4, ANY, "most steps of k with which a C of small_c elements needs a plan") \
  X(small_c, 1 << 18, ANY, "elements of C from which a plan is made for small_steps steps") \
  X(conflict_volume, 24 * 24 * 24, ANY, "most multiply-adds if rows of B share a cache set") \
  X(stall_volume, 24 * 24, ANY, "most multiply-adds if a tile has too few sums") \
  X(narrow_steps, 64, ANY, "most steps of k if rows of C have at most narrow_bytes") \
  X(narrow_bytes, 32, ANY, "bytes of a row of C up to which vectors along k may be faster") \
  X(tile_side, 64, 256, "longest side of a product computed without a job") \
  /* threads; numbers are operations, two for a multiply-add */ \
  X(thread_product, 4000000, ANY, "operations from which all threads compute one product") \
  X(thread_each, 4000000000, ANY, "operations from which all threads compute each product of a group") \
  X(thread_batch, 200000, ANY, "operations from which threads divide a batch or group") \
  X(thread_jobs, 8, 1 << 10, "parts for each thread of a batch or group") \
  X(call_work, 400, ANY, "f32 operations that a product's call takes") \
  X(byte_work, 2, ANY, "f32 operations that a byte of a product takes") \
  X(team_work, 400000, ANY, "f32 operations that starting and ending all threads take") \
  X(plan_members, 4, ANY, "members of a group from which threads divide their planning") \
  X(joined_members, 3, ANY, "new members of a group from which one plan serves all that may be fused") \
  X(streaming_ratio, 8, ANY, "second-level caches that a batch fills to be in no cache") \
  /* inner products and batches of the BLAS library */ \
  X(argument_side, 64, 1 << 20, "longest side computed from a call's arguments; a power of two") \
  X(plan_volume, 16000000, ANY, "multiply-adds from which a plan is faster, real types") \
  X(plan_volume_complex, 4000000, ANY, "multiply-adds from which a plan is faster, complex types") \
  X(plan_volume_rank2k, 8000000, ANY, "multiply-adds from which a plan is faster, complex rank 2k") \
  X(plan_volume_tall, 4000000, ANY, "multiply-adds from which a plan is faster, tall factor") \
  X(plan_volume_symmetric, 60000000, ANY, "multiply-adds from which a plan is faster, symmetric factor") \
  X(plan_volume_solve, 250000, ANY, "multiply-adds from which a plan is faster, system of a real type") \
  X(plan_volume_solve_complex, 200000, ANY, "multiply-adds from which a plan is faster, complex system") \
  X(plan_columns, 8, ANY, "fewest columns of C for a plan or for packing") \
  X(plan_terms, 64, ANY, "fewest terms for a plan, and for packing if C is large") \
  X(tall_ratio, 8, ANY, "rows of a tall factor for each column of C") \
  X(wide_ratio, 4, ANY, "columns of C for each row of a wide factor") \
  X(thread_volume, 2000000, ANY, "multiply-adds from which threads are woken without a plan") \
  X(thread_solve, 200000, ANY, "multiply-adds from which threads are woken for a triangular system") \
  X(batch_count, 32, ANY, "products from which a batch or group is one call") \
  X(group_plan, 16000000, ANY, "operations from which a group of fewer products is one call") \
  X(group_threads, 400000, ANY, "operations from which threads divide groups of fewer products") \
  /* Level 3 of the BLAS library */ \
  X(little_side, 32, 32, "longest side of a structured product at once") \
  X(little_side_symmetric, 16, 32, "longest side at once with a symmetric factor of a real type") \
  X(triangle_rows, 64, ANY, "most rows of a triangular factor at once") \
  X(triangle_columns, 256, ANY, "most columns of C with such a factor") \
  X(triangle_vector_rows, 8, 32, "most rows of a triangular factor of a real type by vectors") \
  X(triangle_vector_columns, 32, 32, "most columns of C with such a factor") \
  X(solve_rows, 32, ANY, "most rows of a triangular system before a route is chosen") \
  X(solve_columns, 4, ANY, "most right-hand sides of such a system") \
  X(solve_vector, 48, ANY, "fewest rows for one right-hand side by trsv") \
  X(solve_vector_complex, 64, ANY, "fewest rows for one right-hand side by trsv, complex types") \
  X(square_small, 32, 32, "most rows of an update computed as a whole square") \
  X(square_rows, 256, ANY, "most rows of an update that stays in a cache") \
  X(pack_rows, 12, ANY, "fewest rows for packing") \
  X(blocks_triangle, 64, ANY, "most rows of a triangular factor by blocks") \
  X(blocks_rows, 16, ANY, "most rows by blocks for any number of columns or terms") \
  X(blocks_other, 256, ANY, "most columns or terms by blocks for more rows") \
  X(rank2k_rows, 112, ANY, "fewest rows for packing an update of rank 2k") \
  X(rank2k_rows_complex, 48, ANY, "fewest rows for packing an update of rank 2k, complex types") \
  X(rank2k_terms, 16, ANY, "terms from which factors are joined in packing, not before") \
  X(rank2k_ratio, 8, ANY, "fewest rows for each term to join factors before packing") \
  /* another BLAS: from these numbers on tesela computes; plain: a library without fast kernels */ \
  X(peer_volume, 120 * 120 * 120, ANY, "multiply-adds of real types") \
  X(peer_volume_complex, 64 * 64 * 64, ANY, "multiply-adds of complex types") \
  X(peer_side, 9, ANY, "rows, columns and terms") \
  X(peer_shallow, 16, ANY, "terms up to which fewer terms are allowed, real types") \
  X(peer_thin_side, 8, ANY, "rows or columns of a thin product of real types") \
  X(peer_thin, 1000000, ANY, "elements of the large factor of a thin product") \
  X(peer_plain_volume, 16 * 16 * 16, ANY, "multiply-adds, plain library") \
  X(peer_plain_side, 4, ANY, "rows, columns and terms, plain library") \
  X(peer_plain_level3, 8 * 8 * 8, ANY, "multiply-adds of Level 3, plain library") \
  X(peer_level3, ANY, ANY, "multiply-adds of Level 3, before its race has ended") \
  X(peer_transpose_f32, 2000 * 2000, ANY, "elements of a transposed copy") \
  X(peer_plain_transpose_f32, 1000 * 1000, ANY, "elements of a transposed copy, plain library") \
  X(peer_transpose, 250 * 250, ANY, "elements of a transposed copy of f64 or c64, any library") \
  X(peer_transpose_c128, 200 * 200, ANY, "elements of a transposed copy of c128, any library") \
  X(peer_symmetric, 16 * 16 / 2, ANY, "elements of a symmetric matrix times a vector")
/* clang-format on */

typedef struct tsl_crossover_table {
#define TSL_CROSSOVER_MEMBER(name, ...) int64_t name;
  TSL_CROSSOVER_LIST(TSL_CROSSOVER_MEMBER)
#undef TSL_CROSSOVER_MEMBER
} tsl_crossover_table;

/* The numbers in use; constant after the library was loaded. */
extern tsl_crossover_table tsl_crossovers;

/* Returns the number of parts into which threads divide `count` products, at least 1 if there are any. */
static inline int64_t tsl_crossovers_parts(int64_t count, int threads) {
  const int64_t most = tsl_crossovers.thread_jobs < 1 ? threads : tsl_crossovers.thread_jobs * threads;
  return count < most ? count : most;
}

/* Replaces numbers in `table` by the lines of `text`, for a processor with the capabilities `offers`.
 * TESELA_BAD_INPUT, with the number of the line, for unknown names and numbers out of range. */
tesela_status tsl_crossovers_read(const char *text, unsigned offers, tsl_crossover_table *table);
/* Returns the status of the file that TESELA_CROSSOVERS names, with this thread's message. */
tesela_status tsl_crossovers_check(void);

#endif
