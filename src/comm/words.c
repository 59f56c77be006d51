/* What travels for a product, counted. */
#include "comm/blocks.h"

#include "base/status.h"

#include <stdlib.h>

typedef struct tally {
  int64_t *received, *sent;
  const tsl_blocks *blocks;
} tally;

static tsl_patch whole(tsl_dim rows, tsl_dim cols) {
  return (tsl_patch){.rows = rows, .cols = cols};
}

/* A panel that the rank at `place` needs `times` times: what each other rank sends it. */
static void count_panel(const tally *t, int place, const tsl_layout *layout, const tsl_patch *window,
                        int64_t times) {
  const int rank = t->blocks->rank[place];
  for (int from = 0; from < layout->ranks; from++) {
    if (from == rank)
      continue;
    const int64_t words = times * tsl_layout_common(layout, from, window);
    t->received[rank] += words;
    t->sent[from] += words;
  }
}

/* The rank's sums, sent to the owners of C. */
static void count_sums(const tally *t, int place, const tsl_layout *c, const tsl_patch *window) {
  const int rank = t->blocks->rank[place];
  for (int to = 0; to < c->ranks; to++) {
    if (to == rank)
      continue;
    const int64_t words = tsl_layout_common(c, to, window);
    t->received[to] += words;
    t->sent[rank] += words;
  }
}

tesela_status tsl_blocks_count(const tsl_blocks *blocks, const tsl_layout *a, const tsl_layout *b,
                               const tsl_layout *c, tsl_rank_grid *grid) {
  const size_t ranks = (size_t)grid->ranks;
  int64_t *counts = calloc(2 * ranks, sizeof *counts);
  if (!counts)
    return tsl_fail(TESELA_OUT_OF_MEMORY, "out of memory for counting the words of %d ranks", grid->ranks);
  const tally t = {counts, counts + ranks, blocks};
  for (int place = 0; place < grid->used; place++) {
    const tsl_block *block = &blocks->of[place];
    const tsl_patch of_a = whole(block->rows, block->terms), of_b = whole(block->terms, block->cols);
    const tsl_patch of_c = whole(block->rows, block->cols);
    count_panel(&t, place, a, &of_a, grid->tiles_n);
    count_panel(&t, place, b, &of_b, grid->tiles_m);
    count_sums(&t, place, c, &of_c);
  }
  grid->words = grid->words_sent = grid->words_all = 0;
  for (size_t i = 0; i < ranks; i++) {
    grid->words = t.received[i] > grid->words ? t.received[i] : grid->words;
    grid->words_sent = t.sent[i] > grid->words_sent ? t.sent[i] : grid->words_sent;
    grid->words_all += t.received[i];
  }
  free(counts);
  return TESELA_OK;
}
