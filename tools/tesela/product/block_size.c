#include "product/block_size.h"

#include <math.h>

/* The cost of a seek in a file, in bytes that could be read in that time.
 * Measurements: docs/lab/out_of_core.md. */
static const double place_bytes = 16 << 10;
/* The cost of packing a piece, in each step that uses it, relative to reading it. */
static const double copy_cost = 0.5;
/* The costs of a call into the library, and of storing a block on disk, in bytes that could be read
 * in that time. */
static const double step_bytes = 256 << 10, block_bytes = 4 << 20;
/* The weight of the first reads and the last write, which no computing hides. */
static const double bare = 4;

static int64_t block_size_least(int64_t a, int64_t b) {
  return a < b ? a : b;
}

static int64_t block_size_pieces_of(int64_t whole, int64_t part) {
  return whole > 0 ? (whole - 1) / part + 1 : 1;
}

/* Returns the bytes of two blocks of C and of all blocks kept in addition, for blocks of `elements`
 * elements. */
static double c_memory(const tsl_block_wish *wish, double elements) {
  return elements * (double)(2 * wish->c_bytes + wish->c_beside);
}

bool tsl_block_fit(const tsl_block_wish *wish, tsl_block_size *size) {
  const double elements = (double)size->rows * (double)size->cols, kept = c_memory(wish, elements);
  const double steps =
      wish->k == 0
          ? 2 * elements * (double)wish->a_bytes
          : 2 * ((double)size->rows * (double)wish->a_bytes + (double)size->cols * (double)wish->b_bytes);
  if (kept + steps > (double)wish->memory)
    return false;
  if (wish->k == 0) {
    size->depth = 0;
    size->memory = (uint64_t)(kept + steps);
    return true;
  }
  const double most = ((double)wish->memory - kept) / steps;
  size->depth = most < (double)wish->k ? (int64_t)most : wish->k;
  if (size->depth < wish->k) {
    size->depth = wish->step > 0 ? size->depth / wish->step * wish->step : 0;
    /* Parts of about equal depth. */
    if (size->depth > 0) {
      const int64_t even = block_size_pieces_of(wish->k, block_size_pieces_of(wish->k, size->depth));
      size->depth = block_size_least(size->depth, block_size_pieces_of(even, wish->step) * wish->step);
    }
  }
  size->memory = (uint64_t)(kept + steps * (double)size->depth);
  return size->depth > 0;
}

/* Returns the bytes of a piece of `lines` lines plus the cost of seeks; whole lines are contiguous
 * and need one seek. */
static double piece_cost(double lines, double length, double bytes, bool whole_lines) {
  return lines * length * bytes + (whole_lines ? 1 : lines) * place_bytes;
}

/* Returns the cost of reading and writing everything, in bytes, with seeks and calls included; sets
 * size->read. */
static double block_size_cost_of(const tsl_block_wish *wish, tsl_block_size *size) {
  const double m = (double)wish->m, n = (double)wish->n, k = (double)wish->k, rows = (double)size->rows,
               cols = (double)size->cols, depth = (double)size->depth;
  const double down = (double)block_size_pieces_of(wish->m, size->rows),
               across = (double)block_size_pieces_of(wish->n, size->cols);
  const double c_piece = piece_cost(rows, cols, (double)wish->c_bytes, size->cols == wish->n);
  if (wish->k == 0) {
    const double piece = wish->a_along_k
                             ? piece_cost(rows, cols, (double)wish->a_bytes, size->cols == wish->n)
                             : piece_cost(cols, rows, (double)wish->a_bytes, size->rows == wish->m);
    size->read = m * n;
    return down * across * (piece + c_piece + block_bytes) + bare * (piece + c_piece);
  }
  const double parts = (double)block_size_pieces_of(wish->k, size->depth);
  const bool stays = size->depth == wish->k;
  const double a_piece = wish->a_along_k
                             ? piece_cost(rows, depth, (double)wish->a_bytes, stays)
                             : piece_cost(depth, rows, (double)wish->a_bytes, size->rows == wish->m),
               b_piece = wish->b_along_k
                             ? piece_cost(cols, depth, (double)wish->b_bytes, stays)
                             : piece_cost(depth, cols, (double)wish->b_bytes, size->cols == wish->n);
  const bool a_stays = stays && (!size->down_first || down <= 2),
             b_stays = stays && (size->down_first || across <= 2);
  const double a_times = a_stays ? 1 : across, b_times = b_stays ? 1 : down;
  size->read = m * k * a_times + k * n * b_times;
  return parts * (down * a_times * a_piece + across * b_times * b_piece + down * across * step_bytes) +
         copy_cost * (across * m * k * (double)wish->a_bytes + down * k * n * (double)wish->b_bytes) +
         down * across * (c_piece + block_bytes) + bare * (a_piece + b_piece + c_piece);
}

/* Returns the size of one part of `whole` cut into `parts` equal parts, rounded to whole tiles if
 * parts are large. */
static int64_t block_size_part_of(int64_t whole, int64_t parts) {
  enum { TILE = 64 };
  const int64_t part = block_size_pieces_of(whole, parts);
  return part < 4 * TILE ? part : block_size_least(whole, (part + TILE - 1) / TILE * TILE);
}

/* Returns the next number of parts to try: every small number, then ever larger steps. */
static int64_t next_parts(int64_t parts) {
  return parts < 24 ? parts + 1 : parts + parts / 8;
}

bool tsl_block_choose(const tsl_block_wish *wish, tsl_block_size *best) {
  enum { SMALL = 256 };
  double least_cost = INFINITY;
  for (int64_t down = 1; down <= wish->m; down = next_parts(down))
    for (int64_t across = 1; across <= wish->n; across = next_parts(across))
      for (int order = 0; order < 2; order++) {
        tsl_block_size size = {.rows = block_size_part_of(wish->m, down),
                               .cols = block_size_part_of(wish->n, across),
                               .down_first = order == 1};
        const double elements = (double)size.rows * (double)size.cols;
        const bool is_small = size.rows <= SMALL && size.cols <= SMALL;
        if ((elements > wish->most_elements && !is_small) || !tsl_block_fit(wish, &size))
          continue;
        const double cost = block_size_cost_of(wish, &size);
        if (cost < least_cost) {
          least_cost = cost;
          *best = size;
        }
      }
  return least_cost < INFINITY;
}
