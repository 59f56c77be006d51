/* The time that tesela explain tells of a product by ranks, against a simulation of its messages: those of the real plan (whose words are
 * compared with what was counted), each of which takes a moment and its bytes over the link, on ranks that send one message and receive one
 * at a time, and multiply beside as the product does (src/comm/product.c).
 *
 *   test_comm_time        some numbers of ranks
 *   test_comm_time all    2 to 64, and a table
 */
#include "unit/unit.h"

#include "comm/blocks.h"
#include "comm/grid.h"
#include "comm/job.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64, MANY = 256, SIZE = 8 };

static const int64_t shapes[][3] = {
    {4096, 4096, 4096}, {8192, 8192, 1024}, {1024, 8192, 8192},  {8192, 1024, 8192},  {992, 992, 100000},
    {100000, 992, 992}, {992, 100000, 992}, {16384, 16384, 256}, {256, 16384, 16384}, {16384, 256, 16384},
    {65536, 512, 512},  {512, 65536, 512},  {512, 512, 65536},   {20000, 2000, 192},  {192, 2000, 20000},
    {2000, 192, 20000}, {3000, 5000, 7000}, {7904, 6000, 4000},  {30000, 30000, 64},  {16, 50000, 50000}};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

static bool all;

/* --- the plan's messages --- */

typedef struct message {
  int from, to, batch;
  double bytes;
  double posted[2]; /* by its sender, by its receiver; < 0: not yet */
  double done;      /* < 0: it has not begun */
  bool arrived;
} message;

typedef struct rank_state {
  int at;                    /* of the program */
  double wake;               /* it goes on then */
  double worker;             /* its product ends then */
  double sending, receiving; /* the ports are free from then on */
  int64_t sent, received;    /* words */
} rank_state;

typedef struct simulation {
  const tsl_rank_grid *grid;
  const tsl_links *links;
  tsl_blocks blocks;
  tsl_layout layouts[TSL_PARTS];
  message *messages;
  int count, capacity;
  int *waits; /* of a rank and a batch: messages that have not arrived */
  int batches, arrived;
  rank_state ranks[MANY];
  double now;
} simulation;

static void add_message(simulation *s, int from, int to, int batch, int64_t words) {
  if (from == to || words == 0)
    return;
  if (s->count == s->capacity) {
    s->capacity = 2 * s->capacity + 1024;
    s->messages = realloc(s->messages, (size_t)s->capacity * sizeof *s->messages);
    assert_non_null(s->messages);
  }
  s->messages[s->count++] = (message){
      .from = from, .to = to, .batch = batch, .bytes = (double)words * SIZE, .posted = {-1, -1}, .done = -1};
  s->ranks[from].sent += words;
  s->ranks[to].received += words;
  s->waits[from * s->batches + batch]++;
  s->waits[to * s->batches + batch]++;
}

/* As src/comm/panels.c sends: operand by operand, place by place. */
static void add_panels(simulation *s, int step) {
  for (int operand = TSL_PART_A; operand <= TSL_PART_B; operand++)
    for (int place = 0; place < s->grid->used; place++) {
      const tsl_step at = tsl_step_at(s->grid, step);
      const tsl_patch window = operand == TSL_PART_A
                                   ? tsl_window_a(s->grid, &s->blocks.of[place], at, TSL_ROWS)
                                   : tsl_window_b(s->grid, &s->blocks.of[place], at, TSL_ROWS);
      for (int from = 0; from < s->grid->ranks; from++)
        add_message(s, from, s->blocks.rank[place], step,
                    tsl_layout_common(&s->layouts[operand], from, &window));
    }
}

static void add_sums(simulation *s, int tile) {
  for (int place = 0; place < s->grid->used; place++) {
    const tsl_patch window =
        tsl_window_c(s->grid, &s->blocks.of[place], tsl_step_at(s->grid, tile * s->grid->panels), TSL_ROWS);
    for (int to = 0; to < s->grid->ranks; to++)
      add_message(s, s->blocks.rank[place], to, tsl_steps(s->grid) + tile,
                  tsl_layout_common(&s->layouts[TSL_PART_C], to, &window));
  }
}

/* --- what a rank does, instruction by instruction --- */

typedef enum what { BEGIN, END, MULTIPLY, JOIN, ALL, OVER } what;
typedef struct instruction {
  what what;
  int number; /* of a batch, or a step */
} instruction;

/* The same for all ranks. */
static instruction *write_program(const tsl_rank_grid *grid) {
  const int steps = tsl_steps(grid), tiles = grid->tiles_m * grid->tiles_n;
  instruction *program = calloc((size_t)(4 * steps + 3 * tiles + 4), sizeof *program), *p = program;
  assert_non_null(program);
  *p++ = (instruction){BEGIN, 0};
  *p++ = (instruction){END, 0};
  if (steps > 1)
    *p++ = (instruction){BEGIN, 1};
  for (int step = 0; step < steps; step++) {
    *p++ = (instruction){MULTIPLY, step};
    if (step + 1 < steps)
      *p++ = (instruction){END, step + 1};
    if (step + 2 < steps)
      *p++ = (instruction){BEGIN, step + 2};
    *p++ = (instruction){JOIN, 0};
    if ((step + 1) % grid->panels != 0)
      continue;
    *p++ = (instruction){BEGIN, steps + step / grid->panels};
    *p++ = (instruction){END, steps + step / grid->panels};
    *p++ = (instruction){ALL, 0};
  }
  *p = (instruction){OVER, 0};
  return program;
}

static double product_seconds(const simulation *s, int rank, int number) {
  const int place = s->blocks.place[rank];
  if (place < 0)
    return 0;
  const tsl_step step = tsl_step_at(s->grid, number);
  const tsl_patch a = tsl_window_a(s->grid, &s->blocks.of[place], step, TSL_ROWS),
                  c = tsl_window_c(s->grid, &s->blocks.of[place], step, TSL_ROWS);
  return 2 * (double)tsl_patch_total(&c) * (double)tsl_dim_total(&a.cols) / s->links->operations_second;
}

static void post(simulation *s, int rank, int batch) {
  for (int i = 0; i < s->count; i++) {
    message *m = &s->messages[i];
    if (m->batch != batch)
      continue;
    if (m->from == rank)
      m->posted[0] = s->now;
    if (m->to == rank)
      m->posted[1] = s->now;
  }
}

/* One instruction; false where the rank has to wait. */
static bool do_one(simulation *s, const instruction *program, int rank) {
  rank_state *r = &s->ranks[rank];
  const instruction *i = &program[r->at];
  if (r->wake > s->now || i->what == OVER)
    return false;
  if (i->what == END && s->waits[rank * s->batches + i->number] > 0)
    return false;
  if (i->what == ALL) { /* the last one lets all go on */
    if (++s->arrived < s->grid->ranks) {
      r->wake = INFINITY;
      return false;
    }
    s->arrived = 0;
    for (int other = 0; other < s->grid->ranks; other++) {
      s->ranks[other].wake = s->now;
      s->ranks[other].at++;
    }
    return true;
  }
  if (i->what == BEGIN)
    post(s, rank, i->number);
  if (i->what == MULTIPLY)
    r->worker = s->now + product_seconds(s, rank, i->number);
  if (i->what == JOIN && r->worker > s->now)
    r->wake = r->worker;
  r->at++;
  return true;
}

static void arrive(simulation *s) {
  for (int i = 0; i < s->count; i++) {
    message *m = &s->messages[i];
    if (m->arrived || m->done < 0 || m->done > s->now)
      continue;
    m->arrived = true;
    s->waits[m->from * s->batches + m->batch]--;
    s->waits[m->to * s->batches + m->batch]--;
  }
}

/* Messages begin whose two ranks wait for them and have their ports free, those that were written first before others. */
static void transfer(simulation *s) {
  for (int i = 0; i < s->count; i++) {
    message *m = &s->messages[i];
    if (m->done >= 0 || m->posted[0] < 0 || m->posted[1] < 0 || s->ranks[m->from].sending > s->now ||
        s->ranks[m->to].receiving > s->now)
      continue;
    m->done = s->now + s->links->seconds_message + m->bytes / s->links->bytes_second;
    s->ranks[m->from].sending = s->ranks[m->to].receiving = m->done;
  }
}

/* The next moment at which anything can happen; INFINITY: never. */
static double next_moment(const simulation *s) {
  double next = INFINITY;
  for (int r = 0; r < s->grid->ranks; r++) {
    const double moments[] = {s->ranks[r].wake, s->ranks[r].sending, s->ranks[r].receiving};
    for (int i = 0; i < 3; i++)
      next = moments[i] > s->now && moments[i] < next ? moments[i] : next;
  }
  return next;
}

static double simulate(simulation *s) {
  instruction *program = write_program(s->grid);
  for (;;) {
    bool any = true;
    arrive(s);
    while (any) {
      any = false;
      for (int rank = 0; rank < s->grid->ranks; rank++)
        while (do_one(s, program, rank))
          any = true;
    }
    transfer(s);
    const double next = next_moment(s);
    if (!isfinite(next))
      break;
    s->now = next;
  }
  for (int rank = 0; rank < s->grid->ranks; rank++)
    assert_int_equal(program[s->ranks[rank].at].what, OVER);
  free(program);
  return s->now;
}

/* --- plans --- */

/* A layout in which each place of the grid holds its share of an operand; `which` is the offset of the operand's share. */
static void shares_as_layout(const tsl_rank_grid *grid, size_t which, int64_t rows, int64_t cols,
                             tsl_layout *out) {
  tsl_corner corners[MANY] = {{0}};
  const tsl_corner *of[MANY];
  int64_t counts[MANY] = {0};
  for (int r = 0; r < grid->ranks; r++) {
    of[r] = &corners[r];
    if (r >= grid->used)
      continue;
    const tsl_shares shares = tsl_grid_shares(grid, r);
    const int64_t *share = (const int64_t *)(const void *)((const char *)&shares + which);
    corners[r] = (tsl_corner){share[0], share[1], share[2], share[3]};
    counts[r] = 1;
  }
  const tesela_layout given = {.kind = TESELA_LAYOUT_RECTANGLES};
  assert_int_equal(tsl_layout_make(&given, "a", grid->ranks, 0, rows, cols, 0, 0, of, counts, out),
                   TESELA_OK);
}

static void make_messages(simulation *s, const tsl_task *task) {
  const tsl_rank_grid *grid = s->grid;
  shares_as_layout(grid, offsetof(tsl_shares, a), task->m, task->k, &s->layouts[TSL_PART_A]);
  shares_as_layout(grid, offsetof(tsl_shares, b), task->k, task->n, &s->layouts[TSL_PART_B]);
  shares_as_layout(grid, offsetof(tsl_shares, c), task->m, task->n, &s->layouts[TSL_PART_C]);
  assert_int_equal(tsl_blocks_make(grid, &s->layouts[TSL_PART_C], &s->blocks), TESELA_OK);
  s->batches = tsl_steps(grid) + grid->tiles_m * grid->tiles_n;
  s->waits = calloc((size_t)(grid->ranks * s->batches), sizeof *s->waits);
  assert_non_null(s->waits);
  for (int step = 0; step < tsl_steps(grid); step++)
    add_panels(s, step);
  for (int tile = 0; tile < grid->tiles_m * grid->tiles_n; tile++)
    add_sums(s, tile);
}

/* The messages are those that the product counts. */
static void check_words(const simulation *s) {
  tsl_rank_grid counted = *s->grid;
  int64_t most = 0, most_sent = 0;
  assert_int_equal(tsl_blocks_count(&s->blocks, &s->layouts[0], &s->layouts[1], &s->layouts[2], &counted),
                   TESELA_OK);
  for (int r = 0; r < s->grid->ranks; r++) {
    most = s->ranks[r].received > most ? s->ranks[r].received : most;
    most_sent = s->ranks[r].sent > most_sent ? s->ranks[r].sent : most_sent;
  }
  assert_int_equal(most, counted.words);
  assert_int_equal(most_sent, counted.words_sent);
}

static void free_all(simulation *s) {
  for (int i = 0; i < TSL_PARTS; i++)
    tsl_layout_free(&s->layouts[i]);
  tsl_blocks_free(&s->blocks);
  free(s->messages);
  free(s->waits);
}

/* Told over simulated. */
static double ratio_of(const int64_t *shape, int ranks, int64_t memory) {
  static simulation s;
  tsl_rank_grid grid;
  const tsl_task task = {shape[0], shape[1], shape[2], ranks, SIZE, SIZE, SIZE, SIZE, 2, memory};
  s = (simulation){.grid = &grid, .links = &tsl_links_default};
  assert_int_equal(tsl_grid_list(&task, &tsl_links_default, &grid, 1), 1);
  make_messages(&s, &task);
  check_words(&s);
  const double simulated = simulate(&s), told = grid.seconds;
  free_all(&s);
  return told / simulated;
}

typedef struct row {
  double sum, least, most;
  int count, least_ranks, most_ranks;
} row;

static void add(row *r, double ratio, int ranks) {
  if (r->count == 0 || ratio < r->least) {
    r->least = ratio;
    r->least_ranks = ranks;
  }
  if (r->count == 0 || ratio > r->most) {
    r->most = ratio;
    r->most_ranks = ranks;
  }
  r->sum += log(ratio);
  r->count++;
}

static void show(const char *name, const row *r) {
  if (all)
    print_message("| %s | %.3f | %.3f (%d) | %.3f (%d) |\n", name, exp(r->sum / r->count), r->least,
                  r->least_ranks, r->most, r->most_ranks);
}

static void as_told(void **state) {
  (void)state;
  static const int some[] = {2, 3, 6, 7, 16, 31, 64};
  row total = {0};
  for (int s = 0; s < SHAPES; s++) {
    row r = {0};
    char name[64];
    for (int ranks = 2, i = 0; all ? ranks <= MOST : i < (int)(sizeof some / sizeof *some); ranks++, i++) {
      const int p = all ? ranks : some[i];
      const double ratio = ratio_of(shapes[s], p, (int64_t)1 << 32);
      add(&r, ratio, p);
      add(&total, ratio, p);
    }
    snprintf(name, sizeof name, "%lld x %lld x %lld", (long long)shapes[s][0], (long long)shapes[s][1],
             (long long)shapes[s][2]);
    show(name, &r);
  }
  show("all", &total);
  assert_true(total.most <= 1.3);
  assert_true(total.least >= 1 / 1.3);
}

/* Products of a size for which there are clusters, with 64 GiB a rank: nearer. */
static void of_clusters(void **state) {
  (void)state;
  static const int64_t products[][3] = {{65536, 65536, 65536},
                                        {32768, 32768, 32768},
                                        {16384, 16384, 16384},
                                        {100000, 20000, 7000},
                                        {4096, 4096, 1000000}};
  static const int ranks[] = {64, 100, 128, 256};
  for (size_t i = 0; i < sizeof products / sizeof *products; i++)
    for (size_t j = 0; j < sizeof ranks / sizeof *ranks; j++) {
      const double ratio = ratio_of(products[i], ranks[j], (int64_t)64 << 30);
      if (all)
        print_message("%lld x %lld x %lld on %d: %.3f\n", (long long)products[i][0],
                      (long long)products[i][1], (long long)products[i][2], ranks[j], ratio);
      assert_true(fabs(ratio - 1) <= 0.06);
    }
}

int main(int argc, char **argv) {
  all = argc > 1 && strcmp(argv[1], "all") == 0;
  const struct CMUnitTest tests[] = {cmocka_unit_test(as_told), cmocka_unit_test(of_clusters)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
