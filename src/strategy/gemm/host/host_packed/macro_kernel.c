#include "strategy/gemm/host/host_packed/blocking.h"

#include "core/memory.h"
#include "core/pool.h"

static const unsigned char *macro_kernel_element_of(const tsl_view *operand, int64_t size, int64_t row,
                                                    int64_t column) {
  return operand->at + (row * operand->row_stride + column * operand->col_stride) * size;
}

int64_t tsl_packed_micros_a(const tsl_packed_job *job, const tsl_packed_block *block) {
  return tsl_ceil_div_or_one(block->mc, job->mr);
}

int64_t tsl_packed_micros_b(const tsl_packed_job *job, const tsl_packed_block *block) {
  return (job->lead > 0 ? 1 : 0) + tsl_ceil_div_or_one(block->nc - job->lead, job->nr);
}

int64_t tsl_packed_width_of_a(const tsl_packed_job *job, int64_t rows) {
  return job->copies_a && !job->views.a.packed ? rows : 0;
}

static int64_t whole_vectors(const tsl_packed_job *job, int64_t columns) {
  return tsl_packed_vectors(job->kernels, columns) << job->kernels->lanes_log2;
}

/* Returns the first column of micro-panel of B `index`, relative to the block. */
static int64_t macro_kernel_column_of(const tsl_packed_job *job, int64_t index) {
  return job->lead > 0 && index > 0 ? job->lead + (index - 1) * job->nr : index * job->nr;
}
/* Returns the first column of micro-panel of B `index` in a packed copy of whole vectors. */
static int64_t copied_column_of(const tsl_packed_job *job, int64_t index) {
  const int64_t padding = job->lead > 0 && index > 0 ? whole_vectors(job, job->lead) - job->lead : 0;
  return macro_kernel_column_of(job, index) + padding;
}

static int64_t copied_columns(const tsl_packed_job *job, int64_t columns) {
  return whole_vectors(job, job->lead) + whole_vectors(job, columns - job->lead);
}

/* Returns the columns of B that tiles read directly: no partial micro-panel, as rows may end there. */
static int64_t columns_in_place(const tsl_packed_job *job, int64_t columns) {
  if (job->copies_b)
    return 0;
  if (job->lead > 0)
    return columns;
  return (columns & (tsl_packed_lanes(job->kernels) - 1)) == 0 ? columns : columns / job->nr * job->nr;
}

int64_t tsl_packed_width_of_b(const tsl_packed_job *job, int64_t columns) {
  const int64_t copied = job->views.b.packed ? 0 : columns - columns_in_place(job, columns);
  return copied == 0 ? 0 : copied_columns(job, copied);
}

static int64_t macro_kernel_row_of(const tsl_packed_job *job, const tsl_packed_block *block, int64_t index) {
  return tsl_partition_begin(block->mc, tsl_packed_micros_a(job, block), index);
}

tsl_packed_block tsl_packed_micro_block(const tsl_packed_job *job, const tsl_packed_block *block,
                                        int64_t ir) {
  const int64_t row = macro_kernel_row_of(job, block, ir);
  tsl_packed_block micro_block = *block;
  micro_block.ic += row;
  micro_block.mc = macro_kernel_row_of(job, block, ir + 1) - row;
  return micro_block;
}

/* Returns the end of the first product's steps within `from` to `end`, relative to the block. */
static int64_t end_of_first(const tsl_packed_job *job, const tsl_packed_block *block, int64_t from,
                            int64_t end) {
  return job->half > 0 ? tsl_max(from, tsl_min(end, job->half - block->pc)) : end;
}

static void pack_rows_of(const tsl_packed_job *job, const tsl_view *a, int64_t row, int64_t step,
                         int64_t height, int64_t depth, unsigned char *micro) {
  job->kernels->pack_micro(macro_kernel_element_of(a, job->size, row, step), a->row_stride, a->col_stride,
                           height, depth, height, micro);
}

static void pack_a_steps(const tsl_packed_job *job, const tsl_packed_block *block, int64_t row,
                         int64_t height, unsigned char *micro) {
  const int64_t first = end_of_first(job, block, 0, block->kc);
  if (first > 0)
    pack_rows_of(job, &job->views.a, row, block->pc, height, first, micro);
  if (first < block->kc)
    pack_rows_of(job, &job->second->a, row, block->pc + first - job->half, height, block->kc - first,
                 micro + first * height * job->size);
}

void tsl_packed_pack_a(const tsl_packed_job *job, const tsl_packed_block *block, int64_t first, int64_t end,
                       void *copy) {
  const tsl_view *a = &job->views.a;
  for (int64_t i = first; i < end && job->copies_a && !job->views.a.packed; i++) {
    const int64_t row = macro_kernel_row_of(job, block, i),
                  height = macro_kernel_row_of(job, block, i + 1) - row;
    unsigned char *micro = (unsigned char *)copy + row * block->kc * job->size;
    if (job->keeps_rows)
      job->kernels->pack_micro(macro_kernel_element_of(a, job->size, block->ic + row, block->pc),
                               a->col_stride, a->row_stride, block->kc, height, block->kc, micro);
    else if (a->structure == TESELA_GENERAL)
      pack_a_steps(job, block, block->ic + row, height, micro);
    else
      tsl_packed_pack_structured(
          job, block, &(tsl_packed_lines){true, block->ic + row, height, height, 0, block->kc}, micro);
  }
}

static void pack_structured_b(const tsl_packed_job *job, const tsl_packed_block *block, int64_t first,
                              int64_t end, int64_t from, int64_t target, void *copy) {
  for (int64_t i = first; i < end; i++) {
    const int64_t column = macro_kernel_column_of(job, i),
                  count = tsl_min(macro_kernel_column_of(job, i + 1), block->nc) - column;
    if (count > 0)
      tsl_packed_pack_structured(
          job, block,
          &(tsl_packed_lines){false, block->jc + column, count, whole_vectors(job, count), from, target},
          (unsigned char *)copy + copied_column_of(job, i) * block->kc * job->size);
  }
}

/* Packs micro-panels `first` to before `end` of equal width; only the last one may be narrower. */
static void pack_equal_widths(const tsl_packed_job *job, const tsl_packed_block *block, int64_t first,
                              int64_t end, int64_t from, int64_t target, void *copy) {
  const int64_t in_place = columns_in_place(job, block->nc),
                column = tsl_max(macro_kernel_column_of(job, first), in_place),
                count = tsl_min(macro_kernel_column_of(job, end), block->nc) - column,
                of_first = end_of_first(job, block, from, target);
  const tsl_view *b = &job->views.b;
  unsigned char *const out =
      (unsigned char *)copy +
      (tsl_max(copied_column_of(job, first), in_place) - in_place) * block->kc * job->size;
  if (count > 0 && from < of_first)
    job->kernels->pack_micros(macro_kernel_element_of(b, job->size, block->pc, block->jc + column),
                              b->col_stride, b->row_stride, count, from, of_first, job->nr, block->kc, out);
  if (count > 0 && of_first < target) {
    b = &job->second->b;
    job->kernels->pack_micros(
        macro_kernel_element_of(b, job->size, block->pc - job->half, block->jc + column), b->col_stride,
        b->row_stride, count, of_first, target, job->nr, block->kc, out);
  }
}

static void pack_b_steps(const tsl_packed_job *job, const tsl_packed_block *block, int64_t first, int64_t end,
                         int64_t from, int64_t target, void *copy) {
  if (target <= from || job->views.b.packed)
    return;
  if (job->views.b.structure != TESELA_GENERAL) {
    pack_structured_b(job, block, first, end, from, target, copy);
    return;
  }
  const int64_t lead = job->lead > 0 && first == 0 ? tsl_min(1, end) : 0;
  pack_equal_widths(job, block, first, first + lead, from, target, copy);
  pack_equal_widths(job, block, first + lead, end, from, target, copy);
}

void tsl_packed_pack_b(const tsl_packed_job *job, const tsl_packed_block *block, int64_t first, int64_t end,
                       void *copy) {
  pack_b_steps(job, block, first, end, 0, block->kc, copy);
}

static bool is_in_rows(const tsl_packed_job *job) {
  return job->views.b.col_stride == 1;
}

static int64_t count_smallest_pieces(const tsl_packed_job *job, const tsl_packed_block *block) {
  return is_in_rows(job) ? block->kc : tsl_packed_micros_b(job, block);
}

int64_t tsl_packed_pieces(const tsl_packed_job *job, const tsl_packed_block *block, int64_t most) {
  return tsl_max(tsl_min(most, count_smallest_pieces(job, block)), 1);
}

void tsl_packed_pack_piece(const tsl_packed_job *job, const tsl_packed_block *block, int64_t pieces,
                           int64_t index, void *copy) {
  const int64_t whole = count_smallest_pieces(job, block), first = tsl_partition_begin(whole, pieces, index),
                end = tsl_partition_begin(whole, pieces, index + 1);
  if (is_in_rows(job))
    pack_b_steps(job, block, 0, tsl_packed_micros_b(job, block), first, end, copy);
  else
    pack_b_steps(job, block, first, end, 0, block->kc, copy);
}

tsl_packed_side tsl_packed_micro_a(const tsl_packed_job *job, const tsl_packed_block *block, int64_t index,
                                   const void *copy) {
  const int64_t micros = tsl_packed_micros_a(job, block), low = block->mc / micros, tall = block->mc % micros,
                row = low * index + tsl_min(tall, index), height = low + (index < tall);
  if (job->views.a.packed)
    copy = (const unsigned char *)job->views.a.packed +
           (block->pc * job->views.m + block->ic * block->kc) * job->size;
  if (job->copies_a)
    return (tsl_packed_side){(const unsigned char *)copy + row * block->kc * job->size, row, height,
                             job->keeps_rows ? block->kc : 1, job->keeps_rows ? 1 : height};
  return (tsl_packed_side){macro_kernel_element_of(&job->views.a, job->size, block->ic + row, block->pc), row,
                           height, job->views.a.row_stride, job->views.a.col_stride};
}

tsl_packed_side tsl_packed_micro_b(const tsl_packed_job *job, const tsl_packed_block *block, int64_t index,
                                   const void *copy) {
  const int64_t column = macro_kernel_column_of(job, index),
                count = tsl_min(macro_kernel_column_of(job, index + 1), block->nc) - column,
                in_place = columns_in_place(job, block->nc);
  if (job->views.b.packed)
    copy = (const unsigned char *)job->views.b.packed +
           (block->pc * copied_columns(job, job->views.n) + block->jc * block->kc) * job->size;
  if (column >= in_place)
    return (tsl_packed_side){(const unsigned char *)copy +
                                 (copied_column_of(job, index) - in_place) * block->kc * job->size,
                             column, count, 1, whole_vectors(job, count)};
  return (tsl_packed_side){macro_kernel_element_of(&job->views.b, job->size, block->pc, block->jc + column),
                           column, count, 1, job->views.b.row_stride};
}

tsl_packed_tile tsl_packed_tile_of(const tsl_packed_job *job, const tsl_packed_block *block) {
  tsl_packed_tile tile = {.kc = block->kc,
                          .c_row = job->views.c.row_stride,
                          .c_column = job->views.c.col_stride,
                          .c_prefetch_rows =
                              tsl_ceil_div_or_one(job->mr * TSL_PACKED_PREFETCH_STEPS, tsl_max(block->kc, 1)),
                          .alpha = {job->alpha[0], job->alpha[1]},
                          .signs = {job->signs[0], job->signs[1]}};
  tsl_packed_add_to_c(job, block->pc == 0, &tile);
  return tile;
}

static unsigned char *first_of_c(const tsl_packed_job *job, const tsl_packed_block *block, int64_t row,
                                 int64_t column) {
  return job->views.c.at +
         ((block->ic + row) * job->views.c.row_stride + (block->jc + column) * job->views.c.col_stride) *
             job->size;
}

static void loop_2_structured(const tsl_packed_job *job, const tsl_packed_block *block,
                              const tsl_packed_side *micro_a, int64_t jr, int64_t end, const void *b_copy,
                              tsl_packed_tile *tile) {
  for (; jr < end; jr++) {
    const tsl_packed_side micro_b = tsl_packed_micro_b(job, block, jr, b_copy);
    tsl_packed_multiply_structured(job, block, micro_a, &micro_b, tile);
  }
}

/* Tiles of whole micro-panels of B follow each other without a new look at the block. */
void tsl_packed_loop_2(const tsl_packed_job *job, const tsl_packed_block *block,
                       const tsl_packed_side *micro_a, int64_t jr, int64_t end, const void *b_copy,
                       tsl_packed_tile *tile) {
  const tsl_packed_kernels *kernels = job->kernels;
  const int64_t in_place = columns_in_place(job, block->nc),
                c_jump = job->nr * job->views.c.col_stride * job->size;
  tile->a = micro_a->at;
  tile->a_row = micro_a->across;
  tile->a_step = micro_a->along;
  if (job->is_half) {
    loop_2_structured(job, block, micro_a, jr, end, b_copy, tile);
    return;
  }
  while (jr < end) {
    const tsl_packed_side micro_b = tsl_packed_micro_b(job, block, jr, b_copy);
    const tsl_packed_tile_function multiply =
        kernels->multiply[tsl_packed_vectors(kernels, micro_b.count) - 1][micro_a->count - 1];
    const bool is_copy = micro_b.first >= in_place;
    const int64_t b_jump = job->nr * (is_copy ? block->kc : 1) * job->size,
                  whole = micro_b.count == job->nr ? (is_copy ? block->nc : in_place) - job->nr : -1;
    tile->b = micro_b.at;
    tile->b_step = micro_b.along;
    tile->c = first_of_c(job, block, micro_a->first, micro_b.first);
    tile->columns = micro_b.count;
    for (int64_t column = micro_b.first;;
         tile->b = (const char *)tile->b + b_jump, tile->c = (char *)tile->c + c_jump) {
      multiply(tile);
      jr++;
      column += job->nr;
      if (jr == end || column > whole)
        break;
    }
  }
}

void tsl_packed_loop_1(const tsl_packed_job *job, const tsl_packed_block *block, int64_t ir, int64_t end,
                       const void *a_copy, int64_t jr, const void *b_copy, tsl_packed_tile *tile) {
  const int64_t micros = tsl_packed_micros_a(job, block), low = block->mc / micros, tall = block->mc % micros,
                c_row = job->views.c.row_stride * job->size;
  const tsl_packed_side micro_b = tsl_packed_micro_b(job, block, jr, b_copy),
                        micro_a = tsl_packed_micro_a(job, block, ir, a_copy);
  const tsl_packed_tile_function *multiply =
      job->kernels->multiply[tsl_packed_vectors(job->kernels, micro_b.count) - 1];
  const int64_t a_row = (job->copies_a ? block->kc : job->views.a.row_stride) * job->size;
  const bool is_in_steps = job->copies_a && !job->keeps_rows;
  tile->a = micro_a.at;
  tile->a_row = micro_a.across;
  tile->a_step = micro_a.along;
  tile->b = micro_b.at;
  tile->b_step = micro_b.along;
  tile->c = first_of_c(job, block, micro_a.first, micro_b.first);
  tile->columns = micro_b.count;
  for (; ir < end && !job->is_half; ir++) {
    const int64_t height = low + (ir < tall);
    if (is_in_steps)
      tile->a_step = height;
    multiply[height - 1](tile);
    tile->a = (const char *)tile->a + height * a_row;
    tile->c = (char *)tile->c + height * c_row;
  }
  for (; ir < end; ir++) {
    const tsl_packed_side side = tsl_packed_micro_a(job, block, ir, a_copy);
    tsl_packed_multiply_structured(job, block, &side, &micro_b, tile);
  }
}

/* Returns a prefetch of `runs` runs of `bytes` bytes, `stride` bytes apart. */
static tsl_packed_prefetch macro_kernel_prefetch_of(const tsl_packed_block *block, int64_t tiles,
                                                    const unsigned char *src, int64_t runs, int64_t bytes,
                                                    int64_t stride) {
  enum { LINE = TSL_CACHE_LINE };
  const bool within = ((int64_t)((uintptr_t)src % LINE) | (runs > 1 ? stride % LINE : 0)) != 0;
  const int64_t lines = tsl_max(tsl_ceil_div_or_one(bytes, LINE), 1) + within,
                times = tsl_max(tiles * (block->kc / TSL_PACKED_PREFETCH_STEPS), 1);
  return (tsl_packed_prefetch){src, lines, lines, stride - lines * LINE,
                               tsl_ceil_div_or_one(runs * lines, times)};
}

tsl_packed_prefetch tsl_packed_prefetch_bytes(const tsl_packed_block *block, int64_t tiles, const void *src,
                                              int64_t bytes) {
  return macro_kernel_prefetch_of(block, tiles, src, 1, bytes, bytes);
}

/* Returns a prefetch of a part of an operand along its contiguous direction, empty if it has none. */
static tsl_packed_prefetch prefetch_of_rows(const tsl_packed_job *job, const tsl_packed_block *block,
                                            const tsl_view *operand, int64_t row, int64_t rows,
                                            int64_t column, int64_t columns, int64_t tiles) {
  if (operand->packed)
    return (tsl_packed_prefetch){.at = operand->packed, .left = 1, .lines = 1};
  const unsigned char *start = macro_kernel_element_of(operand, job->size, row, column);
  if (operand->col_stride == 1)
    return macro_kernel_prefetch_of(block, tiles, start, rows, columns * job->size,
                                    operand->row_stride * job->size);
  if (operand->row_stride == 1)
    return macro_kernel_prefetch_of(block, tiles, start, columns, rows * job->size,
                                    operand->col_stride * job->size);
  return (tsl_packed_prefetch){.at = start, .left = 1, .lines = 1};
}

tsl_packed_prefetch tsl_packed_prefetch_a(const tsl_packed_job *job, const tsl_packed_block *block,
                                          int64_t index, int64_t tiles) {
  const int64_t row = macro_kernel_row_of(job, block, index);
  return prefetch_of_rows(job, block, &job->views.a, block->ic + row,
                          macro_kernel_row_of(job, block, index + 1) - row, block->pc,
                          end_of_first(job, block, 0, block->kc), tiles);
}

tsl_packed_prefetch tsl_packed_prefetch_piece(const tsl_packed_job *job, const tsl_packed_block *block,
                                              const tsl_packed_block *packed_block, int64_t pieces,
                                              int64_t index, int64_t part, int64_t parts, int64_t tiles) {
  const int64_t whole = count_smallest_pieces(job, packed_block),
                first = tsl_partition_begin(whole, pieces, index),
                end = tsl_partition_begin(whole, pieces, index + 1), unit = is_in_rows(job) ? 1 : job->nr;
  const int64_t all =
                    tsl_min(end * unit, is_in_rows(job) ? packed_block->kc : packed_block->nc) - first * unit,
                part_first = first * unit + tsl_partition_begin(all, parts, part),
                part_end = first * unit + tsl_partition_begin(all, parts, part + 1);
  const int64_t steps = end_of_first(job, packed_block, 0, packed_block->kc);
  if (part_end <= part_first || packed_block->kc == 0 || (is_in_rows(job) && part_end > steps))
    return (tsl_packed_prefetch){.at = job->views.b.at, .left = 1, .lines = 1};
  return is_in_rows(job) ? prefetch_of_rows(job, block, &job->views.b, packed_block->pc + part_first,
                                            part_end - part_first, packed_block->jc, packed_block->nc, tiles)
                         : prefetch_of_rows(job, block, &job->views.b, packed_block->pc, steps,
                                            packed_block->jc + part_first, part_end - part_first, tiles);
}

size_t tsl_packed_form_bytes(const tsl_packed_job *job, bool is_a) {
  if (is_a)
    return job->copies_a ? (size_t)(job->views.m * job->views.k * job->size) : 0;
  return job->copies_b ? (size_t)(tsl_packed_width_of_b(job, job->views.n) * job->views.k * job->size) : 0;
}

typedef struct form_task {
  const tsl_packed_job *job;
  bool is_a;
  unsigned char *to;
} form_task;

/* Packs one panel of k. Micro-panels of A are cut within the schedule's blocks of rows. */
static void form_panel(void *argument, int64_t index, int worker) {
  const form_task *task = argument;
  const tsl_packed_job *job = task->job;
  const int64_t pc = index * job->kc, kc = tsl_min(job->kc, job->views.k - pc),
                rows = job->schedule == TSL_PACKED_PANELS ? job->mc : job->views.m;
  (void)worker;
  if (!task->is_a) {
    const tsl_packed_block block = {0, job->views.m, 0, job->views.n, pc, kc};
    tsl_packed_pack_b(job, &block, 0, tsl_packed_micros_b(job, &block),
                      task->to + pc * tsl_packed_width_of_b(job, job->views.n) * job->size);
    return;
  }
  for (int64_t ic = 0; ic < job->views.m; ic += rows) {
    const tsl_packed_block block = {ic, tsl_min(rows, job->views.m - ic), 0, job->views.n, pc, kc};
    tsl_packed_pack_a(job, &block, 0, tsl_packed_micros_a(job, &block),
                      task->to + (pc * job->views.m + ic * kc) * job->size);
  }
}

void tsl_packed_make_form(const tsl_packed_job *job, bool is_a, void *dst, tsl_team team) {
  form_task task = {.job = job, .is_a = is_a, .to = dst};
  tsl_team_run(team, tsl_ceil_div_or_one(job->views.k, job->kc), form_panel, &task);
}
