#include "comm/comm_blocks.h"

#include "core/status.h"

#include <stdlib.h>

void tsl_ranks_blocks_free(tsl_rank_blocks *blocks) {
  free(blocks->list);
  free(blocks->rank_of_block);
  free(blocks->block_of_rank);
  free(blocks->spans);
  *blocks = (tsl_rank_blocks){0};
}

bool tsl_ranks_blocks_as_c(const tsl_rank_layout *c, const tsl_task *task, tsl_process_grid *grid) {
  if (c->rectangles_begin)
    return false;
  const int rows = c->is_transposed ? c->grid_cols : c->grid_rows,
            cols = c->is_transposed ? c->grid_rows : c->grid_cols;
  *grid = (tsl_process_grid){.m = task->m,
                             .n = task->n,
                             .k = task->k,
                             .ranks = task->ranks,
                             .used = rows * cols,
                             .depth = 1,
                             .slabs = rows,
                             .as_c = true};
  return true;
}

/* Copies spans with consecutive positions from 0. Returns the number of indices. */
static int64_t renumber(const tsl_dim *dim, tsl_span *out) {
  int64_t position = 0;
  for (int64_t i = 0; i < dim->count; i++) {
    out[i] = (tsl_span){dim->list[i].at, dim->list[i].length, position};
    position += out[i].length;
  }
  return position;
}

/* Renumbers `count` lists into dims[] and totals[] (numbers of indices). Returns the first unused span. */
static tsl_span *renumber_all(const tsl_dim *lists, int count, tsl_dim *dims, int64_t *totals,
                              tsl_span *spans) {
  for (int i = 0; i < count; i++) {
    totals[i] = renumber(&lists[i], spans);
    dims[i] = tsl_dim_part(spans, lists[i].count, 0, totals[i]);
    spans += lists[i].count;
  }
  return spans;
}

static int64_t count_spans(const tsl_dim *lists, int count) {
  int64_t spans = 0;
  for (int i = 0; i < count; i++)
    spans += lists[i].count;
  return spans;
}

static tesela_status make_blocks_as_c(const tsl_process_grid *grid, const tsl_rank_layout *c,
                                      tsl_rank_blocks *out) {
  const tsl_dim *rows = c->is_transposed ? c->col_lists : c->row_lists,
                *cols = c->is_transposed ? c->row_lists : c->col_lists;
  const int count_m = grid->slabs, count_n = grid->used / grid->slabs;
  const int64_t spans = count_spans(rows, count_m) + count_spans(cols, count_n) + 1;
  tesela_status status = TESELA_OK;
  tsl_dim *dims = malloc((size_t)(count_m + count_n) * sizeof *dims);
  int64_t *totals = malloc((size_t)(count_m + count_n) * sizeof *totals);
  out->spans = malloc((size_t)spans * sizeof *out->spans);
  if (!dims || !totals || !out->spans)
    TSL_GO(tsl_fail(TESELA_OUT_OF_MEMORY, "out of memory for a grid of %d blocks", grid->used));
  tsl_span *rest = renumber_all(rows, count_m, dims, totals, out->spans);
  rest = renumber_all(cols, count_n, dims + count_m, totals + count_m, rest);
  *rest = (tsl_span){0, grid->k, 0};
  for (int block_index = 0; block_index < grid->used; block_index++) {
    const int i = block_index / count_n, j = block_index % count_n;
    out->list[block_index] = (tsl_block){dims[i],   dims[count_m + j],   tsl_dim_part(rest, 1, 0, grid->k),
                                         totals[i], totals[count_m + j], grid->k,
                                         0};
    /* rank_at_position refers to the grid before the transpose. */
    out->rank_of_block[block_index] =
        c->rank_at_position[c->is_transposed ? j * c->grid_cols + i : block_index];
  }
out:
  free(dims);
  free(totals);
  return status;
}

static tesela_status make_box_blocks(const tsl_process_grid *grid, tsl_rank_blocks *out) {
  out->spans = malloc(3 * (size_t)grid->used * sizeof *out->spans);
  if (!out->spans)
    return tsl_fail(TESELA_OUT_OF_MEMORY, "out of memory for a grid of %d blocks", grid->used);
  for (int block_index = 0; block_index < grid->used; block_index++) {
    const tsl_box box = tsl_grid_box(grid, block_index);
    const int64_t m = box.m[1] - box.m[0], n = box.n[1] - box.n[0], k = box.k[1] - box.k[0];
    tsl_span *spans = &out->spans[3 * block_index];
    spans[0] = (tsl_span){box.m[0], m, 0};
    spans[1] = (tsl_span){box.n[0], n, 0};
    spans[2] = (tsl_span){box.k[0], k, 0};
    out->list[block_index] = (tsl_block){tsl_dim_part(&spans[0], 1, 0, m),
                                         tsl_dim_part(&spans[1], 1, 0, n),
                                         tsl_dim_part(&spans[2], 1, 0, k),
                                         m,
                                         n,
                                         k,
                                         box.layer};
    out->rank_of_block[block_index] = block_index;
  }
  return TESELA_OK;
}

tesela_status tsl_ranks_blocks_make(const tsl_process_grid *grid, const tsl_rank_layout *c,
                                    tsl_rank_blocks *out) {
  *out = (tsl_rank_blocks){.grid = grid, .layer_ranks = grid->used / grid->depth};
  out->list = calloc((size_t)grid->used, sizeof *out->list);
  out->rank_of_block = malloc((size_t)grid->used * sizeof *out->rank_of_block);
  out->block_of_rank = malloc((size_t)grid->ranks * sizeof *out->block_of_rank);
  if (!out->list || !out->rank_of_block || !out->block_of_rank)
    return tsl_fail(TESELA_OUT_OF_MEMORY, "out of memory for a grid of %d blocks", grid->used);
  TSL_TRY(grid->as_c ? make_blocks_as_c(grid, c, out) : make_box_blocks(grid, out));
  for (int i = 0; i < grid->ranks; i++)
    out->block_of_rank[i] = -1;
  for (int i = 0; i < grid->used; i++)
    out->block_of_rank[out->rank_of_block[i]] = i;
  return TESELA_OK;
}

int tsl_steps(const tsl_process_grid *grid) {
  return grid->tiles_m * grid->tiles_n * grid->panels;
}

tsl_step tsl_step_at(const tsl_process_grid *grid, int number) {
  const int tile = number / grid->panels;
  return (tsl_step){tile / grid->tiles_n, tile % grid->tiles_n, number % grid->panels};
}

static tsl_dim comm_blocks_part_of(tsl_dim dim, int64_t total, int part, int parts) {
  return tsl_dim_part(dim.list, dim.count, tsl_even(total, part, parts), tsl_even(total, part + 1, parts));
}

static tsl_dim comm_blocks_tile_of(const tsl_process_grid *grid, tsl_dim dim, int64_t total, int tile,
                                   int tiles) {
  return tsl_dim_part(dim.list, dim.count, tsl_grid_edge(grid, total, tile, tiles),
                      tsl_grid_edge(grid, total, tile + 1, tiles));
}

static tsl_patch dense_patch(tsl_dim rows, tsl_dim cols, tsl_order order) {
  const int64_t r = rows.last - rows.first, c = cols.last - cols.first;
  return (tsl_patch){rows, cols, 0, order == TSL_ROWS ? c : 1, order == TSL_ROWS ? 1 : r};
}

tsl_patch tsl_window_a(const tsl_process_grid *grid, const tsl_block *block, tsl_step step, tsl_order order) {
  return dense_patch(comm_blocks_tile_of(grid, block->rows, block->m, step.tile_row, grid->tiles_m),
                     comm_blocks_part_of(block->terms, block->k, step.panel, grid->panels), order);
}

tsl_patch tsl_window_b(const tsl_process_grid *grid, const tsl_block *block, tsl_step step, tsl_order order) {
  return dense_patch(comm_blocks_part_of(block->terms, block->k, step.panel, grid->panels),
                     comm_blocks_tile_of(grid, block->cols, block->n, step.tile_col, grid->tiles_n), order);
}

tsl_patch tsl_window_c(const tsl_process_grid *grid, const tsl_block *block, tsl_step step, tsl_order order) {
  return dense_patch(comm_blocks_tile_of(grid, block->rows, block->m, step.tile_row, grid->tiles_m),
                     comm_blocks_tile_of(grid, block->cols, block->n, step.tile_col, grid->tiles_n), order);
}

bool tsl_windows_are_equal(const tsl_patch *a, const tsl_patch *b) {
  return tsl_dim_same(&a->rows, &b->rows) && tsl_dim_same(&a->cols, &b->cols);
}
