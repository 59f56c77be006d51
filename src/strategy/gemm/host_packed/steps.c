/* The steps: what to copy, and tile after tile. */
#include "strategy/gemm/host_packed/job.h"

#include "base/memory.h"

static int64_t strip_width(const tsl_packed_job *job) {
  return (int64_t)job->kernels->vectors * job->kernels->lanes;
}

static size_t whole_lines(int64_t bytes) {
  return ((size_t)bytes + TSL_CACHE_LINE - 1) / TSL_CACHE_LINE * TSL_CACHE_LINE;
}

static const unsigned char *element_of(const tsl_operand *operand, size_t size, int64_t row, int64_t column) {
  return (const unsigned char *)operand->host +
         (row * operand->row_stride + column * operand->col_stride) * (int64_t)size;
}

size_t tsl_packed_bytes_of_a(const tsl_packed_job *job, int64_t rows, int64_t depth) {
  return job->copies_a ? whole_lines(rows * depth * (int64_t)job->size) : 0;
}

size_t tsl_packed_bytes_of_b(const tsl_packed_job *job, int64_t columns, int64_t depth) {
  const int64_t strip = strip_width(job),
                copied = job->copies_b ? tsl_packed_parts(columns, strip) * strip : strip;
  return whole_lines(copied * depth * (int64_t)job->size);
}

int64_t tsl_packed_slivers(const tsl_packed_job *job, const tsl_packed_block *block) {
  return tsl_packed_parts(block->rows, job->kernels->rows);
}

void tsl_packed_copy_a(const tsl_packed_job *job, const tsl_packed_block *block, void *copy) {
  const int64_t slivers = tsl_packed_slivers(job, block);
  const tsl_operand *a = &job->a;
  if (!job->copies_a)
    return;
  for (int64_t i = 0; i < slivers; i++) {
    const int64_t row = tsl_packed_start(block->rows, slivers, i),
                  height = tsl_packed_start(block->rows, slivers, i + 1) - row;
    job->kernels->copy_sliver(element_of(a, job->size, block->row + row, block->step), a->row_stride,
                              a->col_stride, height, block->depth, height,
                              (unsigned char *)copy + (size_t)(row * block->depth) * job->size);
  }
}

/* Columns of a block of B before the first strip that is copied. */
static int64_t columns_in_place(const tsl_packed_job *job, int64_t columns) {
  const int64_t strip = strip_width(job);
  return job->copies_b ? 0 : columns % job->kernels->lanes == 0 ? columns : columns / strip * strip;
}

void tsl_packed_copy_b(const tsl_packed_job *job, const tsl_packed_block *block, void *copy) {
  const int64_t strip = strip_width(job), lanes = job->kernels->lanes;
  const tsl_operand *b = &job->b;
  unsigned char *out = copy;
  for (int64_t j = columns_in_place(job, block->columns); j < block->columns; j += strip) {
    const int64_t count = tsl_packed_least(strip, block->columns - j),
                  width = tsl_packed_parts(count, lanes) * lanes;
    job->kernels->copy_strip(element_of(b, job->size, block->step, block->column + j), b->col_stride,
                             b->row_stride, count, block->depth, width, out);
    out += (size_t)(width * block->depth) * job->size;
  }
}

/* What all tiles of a block share. */
static tsl_packed_tile tile_of(const tsl_packed_job *job, const tsl_packed_block *block) {
  const bool is_first = block->step == 0;
  return (tsl_packed_tile){.depth = block->depth,
                           .c_row = job->c.row_stride,
                           .c_column = job->c.col_stride,
                           .alpha = {job->alpha[0], job->alpha[1]},
                           .beta = {is_first ? job->beta[0] : 1, is_first ? job->beta[1] : 0}};
}

/* One sliver times all strips of the block. */
static void multiply_sliver(const tsl_packed_job *job, const tsl_packed_block *block, int64_t row,
                            int64_t height, const void *b_copy, tsl_packed_tile *tile) {
  enum { STEPS_OF_A_LINE = 8 };
  const tsl_packed_kernels *kernels = job->kernels;
  const int64_t strip = strip_width(job), in_place = columns_in_place(job, block->columns);
  const unsigned char *copied = b_copy;
  /* While a sliver meets its strips, the one behind it is asked for. */
  const unsigned char *next = (const unsigned char *)tile->a + (size_t)(height * block->depth) * job->size;
  for (int64_t j = 0; j < block->columns; j += strip) {
    const int64_t vectors = tsl_packed_parts(tsl_packed_least(strip, block->columns - j), kernels->lanes);
    tile->columns = tsl_packed_least(strip, block->columns - j);
    tile->c = (void *)(uintptr_t)element_of(&job->c, job->size, block->row + row, block->column + j);
    if (j < in_place) {
      tile->b = element_of(&job->b, job->size, block->step, block->column + j);
      tile->b_step = job->b.row_stride;
    } else {
      tile->b = copied;
      tile->b_step = vectors * kernels->lanes;
      copied += (size_t)(tile->b_step * block->depth) * job->size;
    }
    tile->next = next;
    next += (size_t)(block->depth / STEPS_OF_A_LINE * TSL_CACHE_LINE);
    kernels->multiply[height - 1][vectors - 1](tile);
  }
}

void tsl_packed_multiply_block(const tsl_packed_job *job, const tsl_packed_block *block, const void *a_copy,
                               const void *b_copy, int64_t first, int64_t end) {
  const int64_t slivers = tsl_packed_slivers(job, block);
  tsl_packed_tile tile = tile_of(job, block);
  for (int64_t i = first; i < end; i++) {
    const int64_t row = tsl_packed_start(block->rows, slivers, i),
                  height = tsl_packed_start(block->rows, slivers, i + 1) - row;
    if (job->copies_a) {
      tile.a = (const unsigned char *)a_copy + (size_t)(row * block->depth) * job->size;
      tile.a_row = 1;
      tile.a_step = height;
    } else {
      tile.a = element_of(&job->a, job->size, block->row + row, block->step);
      tile.a_row = job->a.row_stride;
      tile.a_step = job->a.col_stride;
    }
    multiply_sliver(job, block, row, height, b_copy, &tile);
  }
}
