#include "comm/comm_blocks.h"

#include "comm/job.h"
#include "core/status.h"

#include <stdlib.h>

/* Indices that a window shares with each part of a grid, cached: successive blocks often have one window. */
typedef struct counted_dim {
  tsl_dim last_dim; /* of the counts */
  int64_t *counts;  /* by part */
  bool is_valid;
} counted_dim;

typedef struct word_counts {
  int64_t *received, *sent; /* words by rank */
  counted_dim rows, cols;
} word_counts;

static void refresh_counts_by_part(counted_dim *c, const tsl_dim *dim, const tsl_dim *lists, int count) {
  if (c->is_valid && tsl_dim_same(&c->last_dim, dim))
    return;
  for (int i = 0; i < count; i++)
    c->counts[i] = tsl_dim_common(&lists[i], dim);
  c->last_dim = *dim;
  c->is_valid = true;
}

/* Counts words between `rank`, which needs or computes a window, and an owner, in one direction. */
static void add_words(const word_counts *t, int rank, int holder, int64_t words, bool receives) {
  if (holder == rank || words == 0)
    return;
  t->received[receives ? rank : holder] += words;
  t->sent[receives ? holder : rank] += words;
}

/* Counts `times` times the words of a window by rank and owner. */
static void count_window(word_counts *t, int rank, const tsl_rank_layout *layout, const tsl_patch *window,
                         int64_t times, bool receives) {
  if (layout->rectangles_begin) {
    for (int holder = 0; holder < layout->ranks; holder++)
      add_words(t, rank, holder, times * tsl_layout_count_owned_in_patch(layout, holder, window), receives);
    return;
  }
  /* Rows times columns of a grid. */
  const tsl_dim *rows = layout->is_transposed ? &window->cols : &window->rows;
  const tsl_dim *cols = layout->is_transposed ? &window->rows : &window->cols;
  refresh_counts_by_part(&t->rows, rows, layout->row_lists, layout->grid_rows);
  refresh_counts_by_part(&t->cols, cols, layout->col_lists, layout->grid_cols);
  for (int i = 0; i < layout->grid_rows; i++)
    for (int j = 0; j < layout->grid_cols && t->rows.counts[i] > 0; j++)
      add_words(t, rank, layout->rank_at_position[i * layout->grid_cols + j],
                times * t->rows.counts[i] * t->cols.counts[j], receives);
}

static void add_words_of_operand(word_counts *t, const tsl_rank_blocks *blocks, const tsl_rank_layout *layout,
                                 int operand, int64_t times) {
  t->rows.is_valid = t->cols.is_valid = false;
  for (int block_index = 0; block_index < blocks->grid->used; block_index++) {
    const tsl_block *b = &blocks->list[block_index];
    const tsl_patch window = {.rows = operand == TSL_PART_B ? b->terms : b->rows,
                              .cols = operand == TSL_PART_A ? b->terms : b->cols};
    count_window(t, blocks->rank_of_block[block_index], layout, &window, times, operand != TSL_PART_C);
  }
}

tesela_status tsl_ranks_blocks_count(const tsl_rank_blocks *blocks, const tsl_rank_layout *a,
                                     const tsl_rank_layout *b, const tsl_rank_layout *c,
                                     tsl_process_grid *grid) {
  const size_t ranks = (size_t)grid->ranks;
  int64_t *counts = calloc(4 * ranks, sizeof *counts);
  if (!counts)
    return tsl_fail(TESELA_OUT_OF_MEMORY, "out of memory for counting the words of %d ranks", grid->ranks);
  word_counts t = {.received = counts, .sent = counts + ranks};
  t.rows.counts = counts + 2 * ranks;
  t.cols.counts = counts + 3 * ranks;
  /* First, so that the maximum counts only C's words. */
  add_words_of_operand(&t, blocks, c, TSL_PART_C, 1);
  grid->words = grid->words_sent = grid->words_all = grid->words_of_c = 0;
  for (size_t i = 0; i < 2 * ranks; i++)
    grid->words_of_c = counts[i] > grid->words_of_c ? counts[i] : grid->words_of_c;
  add_words_of_operand(&t, blocks, a, TSL_PART_A, tsl_grid_times_a(grid));
  add_words_of_operand(&t, blocks, b, TSL_PART_B, tsl_grid_times_b(grid));
  for (size_t i = 0; i < ranks; i++) {
    grid->words = t.received[i] > grid->words ? t.received[i] : grid->words;
    grid->words_sent = t.sent[i] > grid->words_sent ? t.sent[i] : grid->words_sent;
    grid->words_all += t.received[i];
  }
  free(counts);
  return TESELA_OK;
}
