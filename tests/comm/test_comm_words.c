/* Transferred words, compared with the lower bound: 20 shapes on 2 to 64 ranks that are threads, with
 * evenly distributed operands. The words that each rank holds and receives are compared with the
 * memory-independent bound (comm/comm_grid.h). The transferred words are compared with the count.
 *
 *   test_comm_words        some numbers of ranks
 *   test_comm_words all    all from 2 to 64, and a table */
#include "unit/unit.h"

#include "comm/comm_blocks.h"
#include "comm/comm_call.h"
#include "comm/comm_grid.h"
#include "comm/comm_threads.h"
#include "comm/simulation.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64, MANY = 256 };

/* A 16th of sizes that people multiply, each way. */
static const int64_t shapes[][3] = {{256, 256, 256},  {512, 512, 64},   {64, 512, 512},  {512, 64, 512},
                                    {62, 62, 6250},   {6250, 62, 62},   {62, 6250, 62},  {1024, 1024, 16},
                                    {16, 1024, 1024}, {1024, 16, 1024}, {4096, 32, 32},  {32, 4096, 32},
                                    {32, 32, 4096},   {1250, 125, 12},  {12, 125, 1250}, {125, 12, 1250},
                                    {187, 312, 437},  {494, 375, 250},  {1875, 1875, 4}, {1, 3125, 3125}};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

static bool all;

/* Links of comm/comm_grid.c, for products a 16th as large. */
static const tsl_links links = {0, 2.5e9, 2e11 / 16};

typedef struct words_run {
  const int64_t *shape;
  tsl_process_grid grid;
  tesela_context *context;
  tesela_status status;
  tesela_mpi_record record;
  int64_t reach[MANY], sent_or_received[MANY];
} words_run;

static int64_t area(const int64_t share[4]) {
  return share[2] * share[3];
}

static tesela_layout layout_of(const int64_t share[4], bool any, tesela_rectangle *out) {
  *out = (tesela_rectangle){.row = share[0], .col = share[1], .rows = share[2], .cols = share[3]};
  return (tesela_layout){.kind = TESELA_LAYOUT_RECTANGLES, .rectangles = out, .count = any};
}

static void body(tsl_ranks *ranks, void *user) {
  words_run *w = user;
  const int rank = ranks->rank;
  const bool any = rank < w->grid.used;
  grid_shares shares = {{0}, {0}, {0}};
  if (any)
    shares = grid_shares_of(&w->grid, rank);
  tesela_rectangle rectangles[3];
  double *a = calloc((size_t)area(shares.a) + 1, sizeof *a),
         *b = calloc((size_t)area(shares.b) + 1, sizeof *b);
  double *c = calloc((size_t)area(shares.c) + 1, sizeof *c);
  const tesela_gemm_desc gemm = {.m = w->shape[0],
                                 .n = w->shape[1],
                                 .k = w->shape[2],
                                 .a = {.data = a, .type = TESELA_F64},
                                 .b = {.data = b, .type = TESELA_F64},
                                 .c = {.data = c, .type = TESELA_F64}};
  const tesela_mpi_desc desc = {.gemm = &gemm,
                                .a = layout_of(shares.a, any, &rectangles[0]),
                                .b = layout_of(shares.b, any, &rectangles[1]),
                                .c = layout_of(shares.c, any, &rectangles[2]),
                                .memory = 1 << 30};
  ranks->links = &links;
  tesela_mpi_record record = {.words = 0};
  const tesela_status status =
      tsl_ranks_gemm(ranks, w->context, &desc, &record, sizeof desc, sizeof gemm, sizeof record);
  const int64_t received = (int64_t)(ranks->received / sizeof(double)),
                sent = (int64_t)(ranks->sent / sizeof(double));
  w->sent_or_received[rank] = received > sent ? received : sent;
  w->reach[rank] = w->sent_or_received[rank] + area(shares.a) + area(shares.b) + area(shares.c);
  if (rank == 0) {
    w->record = record;
    w->status = status;
  }
  free(a);
  free(b);
  free(c);
}

static int64_t largest(const int64_t *values, int count) {
  int64_t most = 0;
  for (int i = 0; i < count; i++)
    most = values[i] > most ? values[i] : most;
  return most;
}

/* Figures of a shape, printed as a row of the table. */
typedef struct row {
  double sum, worst, sum_moved, worst_moved;
  int count, count_moved, worst_ranks;
} row;

static void run_one(const int64_t *shape, int ranks, tesela_context *context, row *r) {
  static words_run w;
  const tsl_task task = {shape[0], shape[1], shape[2], ranks, 8, 8, 8, 8, 2, 1 << 30};
  w = (words_run){.shape = shape, .context = context};
  assert_int_equal(tsl_grid_list(&task, &links, &w.grid, 1), 1);
  assert_int_equal(tsl_threads_run(ranks, body, &w), TESELA_OK);
  assert_int_equal(w.status, TESELA_OK);
  const int64_t words = largest(w.sent_or_received, ranks);
  assert_int_equal(w.record.words, words);
  const double m = (double)shape[0], n = (double)shape[1], k = (double)shape[2];
  const double bound = tsl_grid_reach(shape[0], shape[1], shape[2], ranks),
               held = (m * n + m * k + k * n) / ranks;
  const double ratio = (double)largest(w.reach, ranks) / bound;
  r->sum += log(ratio);
  r->count++;
  if (ratio > r->worst) {
    r->worst = ratio;
    r->worst_ranks = ranks;
  }
  /* Where hardly anything must travel, a ratio of that says nothing. */
  if (bound - held > 0.05 * held && words > 0) {
    const double moved = (double)words / (bound - held);
    r->sum_moved += log(moved);
    r->count_moved++;
    r->worst_moved = moved > r->worst_moved ? moved : r->worst_moved;
  }
}

static void show(const char *name, const row *r) {
  if (all)
    print_message("| %s | %.3f | %.3f | %d | %.3f | %.3f |\n", name, exp(r->sum / r->count), r->worst,
                  r->worst_ranks, r->count_moved ? exp(r->sum_moved / r->count_moved) : 1, r->worst_moved);
}

static void near_the_bound(void **state) {
  (void)state;
  static const int some[] = {2, 3, 5, 7, 12, 31, 61};
  tesela_context *context;
  assert_int_equal(tesela_context_create(&(tesela_context_desc){.device = "cpu", .threads = 1}, &context),
                   TESELA_OK);
  row total = {0};
  for (int s = 0; s < SHAPES; s++) {
    row r = {0};
    for (int ranks = 2, i = 0; all ? ranks <= MOST : i < (int)(sizeof some / sizeof some[0]); ranks++, i++)
      run_one(shapes[s], all ? ranks : some[i], context, &r);
    char name[64];
    snprintf(name, sizeof name, "%lld x %lld x %lld", (long long)shapes[s][0], (long long)shapes[s][1],
             (long long)shapes[s][2]);
    show(name, &r);
    total.sum += r.sum;
    total.count += r.count;
    total.sum_moved += r.sum_moved;
    total.count_moved += r.count_moved;
    if (r.worst > total.worst) {
      total.worst = r.worst;
      total.worst_ranks = r.worst_ranks;
    }
    total.worst_moved = r.worst_moved > total.worst_moved ? r.worst_moved : total.worst_moved;
  }
  show("all", &total);
  tesela_context_destroy(context);
  assert_true(exp(total.sum / total.count) <= 1.1);
  assert_true(total.worst <= 1.4);
}

/* A layout in which each place of the grid holds its share of an operand; `which` is the offset of the
 * operand's share. */
static void shares_as_layout(const tsl_process_grid *grid, size_t which, int64_t rows, int64_t cols,
                             tsl_rank_layout *out) {
  const size_t ranks = (size_t)grid->ranks;
  tsl_bare_rectangle *corners = calloc(ranks, sizeof *corners);
  const tsl_bare_rectangle **of = calloc(ranks, sizeof *of);
  int64_t *counts = calloc(ranks, sizeof *counts);
  assert_true(corners && of && counts);
  for (int r = 0; r < grid->used; r++) {
    const grid_shares shares = grid_shares_of(grid, r);
    const int64_t *share = (const int64_t *)(const void *)((const char *)&shares + which);
    corners[r] = (tsl_bare_rectangle){share[0], share[1], share[2], share[3]};
    counts[r] = 1;
  }
  for (size_t r = 0; r < ranks; r++)
    of[r] = &corners[r];
  const tesela_layout given = {.kind = TESELA_LAYOUT_RECTANGLES};
  assert_int_equal(tsl_layout_make(&given, "a", grid->ranks, 0, rows, cols, 0, 0, of, counts, out),
                   TESELA_OK);
  free(corners);
  free(of);
  free(counts);
}

/* Compares the figures of tesela explain for 1,024 ranks with a count of every message. */
static void as_explained(void **state) {
  (void)state;
  static const int64_t products[][3] = {{65536, 65536, 65536}, {100000, 20000, 7000}, {4096, 4096, 1000000}};
  for (size_t i = 0; i < sizeof products / sizeof products[0]; i++) {
    const int64_t m = products[i][0], n = products[i][1], k = products[i][2];
    const tsl_task task = {m, n, k, 1024, 8, 8, 8, 8, 2, (int64_t)64 << 30};
    tsl_process_grid grid;
    tsl_rank_blocks blocks;
    tsl_rank_layout a, b, c;
    assert_int_equal(tsl_grid_list(&task, &tsl_links_default, &grid, 1), 1);
    const double told = (double)(grid.words > grid.words_sent ? grid.words : grid.words_sent);
    shares_as_layout(&grid, offsetof(grid_shares, a), m, k, &a);
    shares_as_layout(&grid, offsetof(grid_shares, b), k, n, &b);
    shares_as_layout(&grid, offsetof(grid_shares, c), m, n, &c);
    assert_int_equal(tsl_ranks_blocks_make(&grid, &c, &blocks), TESELA_OK);
    assert_int_equal(tsl_ranks_blocks_count(&blocks, &a, &b, &c, &grid), TESELA_OK);
    const double counted = (double)(grid.words > grid.words_sent ? grid.words : grid.words_sent);
    if (all)
      print_message("1024 ranks, %lld x %lld x %lld: %.0f words told, %.0f counted\n", (long long)m,
                    (long long)n, (long long)k, told, counted);
    assert_true(fabs(told / counted - 1) <= 0.02);
    tsl_ranks_blocks_free(&blocks);
    tsl_layout_free(&a);
    tsl_layout_free(&b);
    tsl_layout_free(&c);
  }
}

/* Compares the figures of tesela explain with the words that ranks (threads) sent and received. */
static void as_explained_by_threads(void **state) {
  (void)state;
  static const struct {
    int64_t m, n, k;
    int ranks;
  } products[] = {{512, 512, 512, 64},   {1024, 256, 256, 128},   {256, 256, 4096, 64},
                  {3072, 768, 192, 128}, {1000, 1000, 1000, 100}, {256, 1024, 1024, 256},
                  {512, 512, 512, 256},  {900, 600, 3000, 193}};
  enum { SOON = 2 }; /* the others take their time */
  tesela_context *context;
  assert_int_equal(tesela_context_create(&(tesela_context_desc){.device = "cpu", .threads = 1}, &context),
                   TESELA_OK);
  for (size_t i = 0; i < (all ? sizeof products / sizeof products[0] : SOON); i++) {
    static words_run w;
    const int64_t shape[3] = {products[i].m, products[i].n, products[i].k};
    const int ranks = products[i].ranks;
    const tsl_task task = {shape[0], shape[1], shape[2], ranks, 8, 8, 8, 8, 2, 1 << 30};
    w = (words_run){.shape = shape, .context = context};
    assert_int_equal(tsl_grid_list(&task, &links, &w.grid, 1), 1);
    assert_int_equal(tsl_threads_run(ranks, body, &w), TESELA_OK);
    assert_int_equal(w.status, TESELA_OK);
    const double told = (double)(w.grid.words > w.grid.words_sent ? w.grid.words : w.grid.words_sent);
    const double moved = (double)largest(w.sent_or_received, ranks);
    if (all)
      print_message("%d ranks, %lld x %lld x %lld: %.0f words told, %.0f moved\n", ranks, (long long)shape[0],
                    (long long)shape[1], (long long)shape[2], told, moved);
    assert_true(fabs(told / moved - 1) <= 0.04);
  }
  tesela_context_destroy(context);
}

/* Tiles that grow cover the range without gaps. Each tile is larger than its predecessor by the
 * given factor, rounded to whole kernel tiles. */
static void tiles_grow(void **state) {
  static const int64_t totals[] = {0, 1, 5, 80, 1000, 4095, 32768, 1000000007};
  (void)state;
  for (size_t i = 0; i < sizeof totals / sizeof totals[0]; i++)
    for (int growth = 0; growth <= 4; growth++)
      for (int tiles = 1; tiles <= 4; tiles++) {
        const tsl_process_grid grid = {.growth = growth};
        double before = 0;
        assert_int_equal(tsl_grid_edge(&grid, totals[i], 0, tiles), 0);
        assert_int_equal(tsl_grid_edge(&grid, totals[i], tiles, tiles), totals[i]);
        for (int tile = 0; tile < tiles; tile++) {
          const int64_t from = tsl_grid_edge(&grid, totals[i], tile, tiles),
                        to = tsl_grid_edge(&grid, totals[i], tile + 1, tiles);
          const double lines = (double)(to - from), rounding = growth > 1 && totals[i] > 256 ? 256 : 2;
          assert_true(from <= to && (from % 256 == 0 || totals[i] < 32768 || growth < 2));
          assert_true(tile == 0 || fabs(lines - fmax(1, growth) * before) <= (growth + 2) * rounding);
          before = lines;
        }
      }
}

/* Seconds of the fastest of all grids that leave any number of ranks idle, each tried. */
static double fastest(const tsl_task *task) {
  double best = INFINITY;
  for (int used = 1; used <= task->ranks; used++)
    for (int depth = 1; depth <= used && depth <= task->k; depth++)
      for (int slabs = 1; used % depth == 0 && slabs <= used / depth; slabs++)
        for (int by_columns = 0; by_columns < 2; by_columns++) {
          tsl_process_grid grid = {.m = task->m,
                                   .n = task->n,
                                   .k = task->k,
                                   .ranks = task->ranks,
                                   .used = used,
                                   .depth = depth,
                                   .slabs = slabs,
                                   .by_columns = by_columns};
          const int64_t outer = by_columns ? task->n : task->m, inner = by_columns ? task->m : task->n;
          const bool has_blocks = slabs <= outer && (used / depth + slabs - 1) / slabs <= inner;
          if (has_blocks && tsl_grid_complete(task, &tsl_links_default, &grid))
            best = fmin(best, grid.seconds);
        }
  return best;
}

/* The grid that is chosen is the fastest of all; so more ranks are never slower than fewer. And it moves no
 * less than the bound says. */
static void fastest_of_all(void **state) {
  static const int64_t sizes[][3] = {{16384, 16384, 16384}, {1000000, 1000, 1000}, {1000000, 64, 64},
                                     {64, 64, 1000000},     {1000, 1000, 1000},    {100, 100, 100},
                                     {1, 53, 47},           {30000, 30000, 300},   {2000, 192, 20000},
                                     {50000, 500, 500},     {16, 50000, 50000}};
  static const int few[] = {1, 2, 3, 5, 8, 13, 24, 31, 48},
                   many[] = {100, 128, 193, 384, 512, 700, 768, 1000, 1024};
  enum { FEW = sizeof few / sizeof *few, MANY_RANKS = sizeof many / sizeof *many };
  (void)state;
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    for (int short_memory = 0; short_memory < 2; short_memory++) {
      double before = INFINITY;
      for (int j = 0; j < FEW + MANY_RANKS; j++) {
        const int ranks = j < FEW ? few[j] : many[j - FEW];
        const tsl_task task = {sizes[i][0], sizes[i][1],
                               sizes[i][2], ranks,
                               8,           8,
                               8,           8,
                               2,           short_memory ? (int64_t)256 << 20 : (int64_t)16 << 30};
        tsl_process_grid grid;
        assert_int_equal(tsl_grid_list(&task, &tsl_links_default, &grid, 1), 1);
        const double words = (double)(grid.words > grid.words_sent ? grid.words : grid.words_sent);
        const double bound = tsl_grid_bound(task.m, task.n, task.k, grid.used, (double)task.memory / 8);
        if (j < FEW && grid.seconds > fastest(&task))
          fail_msg("%lld x %lld x %lld on %d ranks: %g s, and another grid takes %g", (long long)task.m,
                   (long long)task.n, (long long)task.k, ranks, grid.seconds, fastest(&task));
        if (grid.seconds > before)
          fail_msg("%lld x %lld x %lld on %d ranks: %g s, and fewer ranks take %g", (long long)task.m,
                   (long long)task.n, (long long)task.k, ranks, grid.seconds, before);
        if (words < floor(bound))
          fail_msg("%lld x %lld x %lld on %d ranks: %.0f words, and %.0f are the fewest", (long long)task.m,
                   (long long)task.n, (long long)task.k, ranks, words, bound);
        before = grid.seconds;
      }
    }
}

int main(int argc, char **argv) {
  all = argc > 1 && strcmp(argv[1], "all") == 0;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tiles_grow), cmocka_unit_test(as_explained), cmocka_unit_test(fastest_of_all),
      cmocka_unit_test(as_explained_by_threads), cmocka_unit_test(near_the_bound)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
