#include "comm/simulation.h"

#include "unit/unit.h"

#include "comm/comm_blocks.h"
#include "comm/comm_grid.h"
#include "comm/job.h"

#include <math.h>
#include <stdlib.h>

enum { SIZE = 8 };

/* --- the plan's messages --- */

typedef struct message {
  int from, to, batch;
  double bytes;
  bool posted[2]; /* by its sender, by its receiver */
  bool begun;
} message;

/* Numbers of messages. */
typedef struct numbers {
  int *list, count, capacity;
} numbers;

typedef struct rank_state {
  int at;                 /* of the program */
  double wake;            /* it goes on then */
  double worker;          /* its product ends then */
  bool sends, receives;   /* the ports are taken */
  numbers out, in;        /* messages that both ranks wait for and that have not begun */
  bool is_active;         /* something came that it may have waited for */
  int64_t sent, received; /* words */
} rank_state;

/* An event at a time: a message arrives, or a rank wakes. */
typedef struct event {
  double at;
  int message; /* -1: none */
  int rank;
} event;

typedef struct simulation {
  const tsl_process_grid *grid;
  const tsl_links *links;
  tsl_rank_blocks blocks;
  tsl_rank_layout layouts[TSL_PARTS];
  tsl_bare_rectangle *corners[TSL_PARTS]; /* what each rank holds */
  message *messages;
  int count, capacity;
  int *waits; /* of a rank and a batch: messages that have not arrived */
  int *first; /* of a rank and a batch: where its messages begin in `of` */
  int *of;    /* all messages, twice: of their senders, and of their receivers */
  int batches, arrived;
  rank_state *ranks;
  numbers ready; /* messages that may begin now */
  event *events; /* a heap, the soonest first */
  int event_count, event_capacity;
  double now;
} simulation;

static void *grown(void *list, int *capacity, size_t size) {
  *capacity = 2 * *capacity + 64;
  void *more = realloc(list, (size_t)*capacity * size);
  assert_non_null(more);
  return more;
}

static void push(numbers *target, int number) {
  if (target->count == target->capacity)
    target->list = grown(target->list, &target->capacity, sizeof *target->list);
  target->list[target->count++] = number;
}

static void add_message(simulation *s, int from, int end, int batch, int64_t words) {
  if (from == end || words == 0)
    return;
  if (s->count == s->capacity)
    s->messages = grown(s->messages, &s->capacity, sizeof *s->messages);
  s->messages[s->count++] = (message){.from = from, .to = end, .batch = batch, .bytes = (double)words * SIZE};
  s->ranks[from].sent += words;
  s->ranks[end].received += words;
  s->waits[from * s->batches + batch]++;
  s->waits[end * s->batches + batch]++;
}

static bool overlaps(const tsl_dim *dim, int64_t first, int64_t count) {
  const int64_t at = dim->list[0].at + dim->first - dim->list[0].local;
  return dim->count != 1 || (first < at + dim->last - dim->first && at < first + count);
}

/* Returns true when a rank may hold part of a window. A cheap test before the slower question to
 * the layout, since most ranks hold nothing. */
static bool meets(const simulation *s, int operand, int rank, const tsl_patch *window) {
  const tsl_bare_rectangle *c = &s->corners[operand][rank];
  return overlaps(&window->rows, c->row, c->rows) && overlaps(&window->cols, c->col, c->cols);
}

/* A panel with all terms stays while the next tile needs it, too. */
static bool changes(const tsl_process_grid *grid, int operand, int step) {
  if (step == 0 || grid->panels > 1)
    return true;
  const tsl_step at = tsl_step_at(grid, step), before = tsl_step_at(grid, step - 1);
  return operand == TSL_PART_A ? at.tile_row != before.tile_row : at.tile_col != before.tile_col;
}

/* As src/comm/panels.c sends: operand by operand, block by block. */
static void add_panels(simulation *s, int step) {
  for (int operand = TSL_PART_A; operand <= TSL_PART_B; operand++)
    for (int block_index = 0; block_index < s->grid->used && changes(s->grid, operand, step); block_index++) {
      const tsl_step at = tsl_step_at(s->grid, step);
      const tsl_patch window = operand == TSL_PART_A
                                   ? tsl_window_a(s->grid, &s->blocks.list[block_index], at, TSL_ROWS)
                                   : tsl_window_b(s->grid, &s->blocks.list[block_index], at, TSL_ROWS);
      for (int from = 0; from < s->grid->ranks; from++)
        if (meets(s, operand, from, &window))
          add_message(s, from, s->blocks.rank_of_block[block_index], step,
                      tsl_layout_count_owned_in_patch(&s->layouts[operand], from, &window));
    }
}

static void add_sums(simulation *s, int tile) {
  for (int block_index = 0; block_index < s->grid->used; block_index++) {
    const tsl_patch window = tsl_window_c(s->grid, &s->blocks.list[block_index],
                                          tsl_step_at(s->grid, tile * s->grid->panels), TSL_ROWS);
    for (int to = 0; to < s->grid->ranks; to++)
      if (meets(s, TSL_PART_C, to, &window))
        add_message(s, s->blocks.rank_of_block[block_index], to, tsl_steps(s->grid) + tile,
                    tsl_layout_count_owned_in_patch(&s->layouts[TSL_PART_C], to, &window));
  }
}

/* --- a rank's program, instruction by instruction --- */

typedef enum what { BEGIN, END, MULTIPLY, JOIN, ALL, OVER } what;
typedef struct instruction {
  what what;
  int number; /* of a batch, or a step */
} instruction;

/* Returns the program that all ranks run. The caller frees it. */
static instruction *write_program(const tsl_process_grid *grid) {
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
  const int block_index = s->blocks.block_of_rank[rank];
  if (block_index < 0)
    return 0;
  const tsl_step step = tsl_step_at(s->grid, number);
  const tsl_patch a = tsl_window_a(s->grid, &s->blocks.list[block_index], step, TSL_ROWS),
                  c = tsl_window_c(s->grid, &s->blocks.list[block_index], step, TSL_ROWS);
  return 2 * (double)tsl_patch_total(&c) * (double)tsl_dim_total(&a.cols) / s->links->operations_per_second;
}

/* --- the queue of events --- */

static void add_event(simulation *s, event e) {
  if (s->event_count == s->event_capacity)
    s->events = grown(s->events, &s->event_capacity, sizeof *s->events);
  int at = s->event_count++;
  for (; at > 0 && s->events[(at - 1) / 2].at > e.at; at = (at - 1) / 2)
    s->events[at] = s->events[(at - 1) / 2];
  s->events[at] = e;
}

static event take_event(simulation *s) {
  const event first = s->events[0], last = s->events[--s->event_count];
  int at = 0;
  for (;;) {
    int next = 2 * at + 1;
    if (next + 1 < s->event_count && s->events[next + 1].at < s->events[next].at)
      next++;
    if (next >= s->event_count || s->events[next].at >= last.at)
      break;
    s->events[at] = s->events[next];
    at = next;
  }
  s->events[at] = last;
  return first;
}

static void post(simulation *s, int rank, int batch) {
  const int at = rank * s->batches + batch;
  for (int i = s->first[at]; i < s->first[at + 1]; i++) {
    message *m = &s->messages[s->of[i]];
    m->posted[m->from == rank ? 0 : 1] = true;
    if (!m->posted[0] || !m->posted[1])
      continue;
    push(&s->ready, s->of[i]);
    push(&s->ranks[m->from].out, s->of[i]);
    push(&s->ranks[m->to].in, s->of[i]);
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
      s->ranks[other].is_active = true;
    }
    return true;
  }
  if (i->what == BEGIN)
    post(s, rank, i->number);
  if (i->what == MULTIPLY)
    r->worker = s->now + product_seconds(s, rank, i->number);
  if (i->what == JOIN && r->worker > s->now) {
    r->wake = r->worker;
    add_event(s, (event){r->wake, -1, rank});
  }
  r->at++;
  return true;
}

/* All that ranks can do now. */
static void go_on(simulation *s, const instruction *program) {
  bool any = true;
  while (any) {
    any = false;
    for (int rank = 0; rank < s->grid->ranks; rank++) {
      if (!s->ranks[rank].is_active)
        continue;
      s->ranks[rank].is_active = false;
      while (do_one(s, program, rank))
        any = true;
    }
  }
}

/* Messages of a port that has become free may begin, if their other port is free. If not, the other port
 * offers them later. */
static void offer(simulation *s, numbers *waiting) {
  int kept = 0;
  for (int i = 0; i < waiting->count; i++) {
    const int number = waiting->list[i];
    if (s->messages[number].begun)
      continue;
    waiting->list[kept++] = number;
    if (!s->ranks[s->messages[number].from].sends && !s->ranks[s->messages[number].to].receives)
      push(&s->ready, number);
  }
  waiting->count = kept;
}

static void arrive(simulation *s, const message *m) {
  s->ranks[m->from].sends = s->ranks[m->to].receives = false;
  s->waits[m->from * s->batches + m->batch]--;
  s->waits[m->to * s->batches + m->batch]--;
  s->ranks[m->from].is_active = s->ranks[m->to].is_active = true;
  offer(s, &s->ranks[m->from].out);
  offer(s, &s->ranks[m->to].in);
}

static int by_number(const void *a, const void *b) {
  const int one = *(const int *)a, other = *(const int *)b;
  return (one > other) - (one < other);
}

/* Begins each message whose two ranks wait for it with free ports, in the order in which messages
 * were written. */
static void transfer(simulation *s) {
  if (s->ready.count > 1)
    qsort(s->ready.list, (size_t)s->ready.count, sizeof *s->ready.list, by_number);
  for (int i = 0; i < s->ready.count; i++) {
    message *m = &s->messages[s->ready.list[i]];
    if (m->begun || s->ranks[m->from].sends || s->ranks[m->to].receives)
      continue;
    m->begun = s->ranks[m->from].sends = s->ranks[m->to].receives = true;
    add_event(s, (event){s->now + s->links->seconds_per_message + m->bytes / s->links->bytes_per_second,
                         s->ready.list[i], -1});
  }
  s->ready.count = 0;
}

static double run(simulation *s) {
  instruction *program = write_program(s->grid);
  for (int rank = 0; rank < s->grid->ranks; rank++)
    s->ranks[rank].is_active = true;
  for (;;) {
    go_on(s, program);
    transfer(s);
    if (s->event_count == 0)
      break;
    s->now = s->events[0].at;
    while (s->event_count > 0 && s->events[0].at <= s->now) {
      const event e = take_event(s);
      if (e.message >= 0)
        arrive(s, &s->messages[e.message]);
      else
        s->ranks[e.rank].is_active = true;
    }
  }
  for (int rank = 0; rank < s->grid->ranks; rank++)
    assert_int_equal(program[s->ranks[rank].at].what, OVER);
  free(program);
  return s->now;
}

/* --- plans --- */

static void set_rectangle(int64_t out[4], int64_t row, int64_t row_end, int64_t col, int64_t col_end) {
  out[0] = row;
  out[1] = col;
  out[2] = row_end - row;
  out[3] = col_end - col;
}

grid_shares grid_shares_of(const tsl_process_grid *grid, int block_index) {
  const tsl_box box = tsl_grid_box(grid, block_index);
  const int64_t layer_ranks = grid->used / grid->depth, depth = box.k[1] - box.k[0];
  /* A slab's ranks share one panel; each slab holds its part of the other panel. */
  const int64_t shared[2] = {box.k[0] + tsl_even(depth, box.part, box.parts),
                             box.k[0] + tsl_even(depth, box.part + 1, box.parts)};
  const int64_t first = tsl_even(layer_ranks, box.slab, grid->slabs);
  const int64_t own[2] = {box.k[0] + tsl_even(depth, first, layer_ranks),
                          box.k[0] + tsl_even(depth, first + box.parts, layer_ranks)};
  const int64_t *of_a = grid->by_columns ? own : shared, *of_b = grid->by_columns ? shared : own;
  const int64_t rows = box.m[1] - box.m[0];
  grid_shares shares;
  set_rectangle(shares.a, box.m[0], box.m[1], of_a[0], of_a[1]);
  set_rectangle(shares.b, of_b[0], of_b[1], box.n[0], box.n[1]);
  set_rectangle(shares.c, box.m[0] + tsl_even(rows, box.layer, grid->depth),
                box.m[0] + tsl_even(rows, box.layer + 1, grid->depth), box.n[0], box.n[1]);
  return shares;
}

/* A layout in which each place of the grid holds its share of an operand; `which` is the offset of the
 * operand's share. */
static void shares_as_layout(simulation *s, int operand, size_t which, int64_t rows, int64_t cols) {
  const tsl_process_grid *grid = s->grid;
  tsl_bare_rectangle *corners = calloc((size_t)grid->ranks, sizeof *corners);
  const tsl_bare_rectangle **of = malloc((size_t)grid->ranks * sizeof(const tsl_bare_rectangle *));
  int64_t *counts = calloc((size_t)grid->ranks, sizeof *counts);
  assert_true(corners && of && counts);
  for (int r = 0; r < grid->ranks; r++) {
    of[r] = &corners[r];
    if (r >= grid->used)
      continue;
    const grid_shares shares = grid_shares_of(grid, r);
    const int64_t *share = (const int64_t *)(const void *)((const char *)&shares + which);
    corners[r] = (tsl_bare_rectangle){share[0], share[1], share[2], share[3]};
    counts[r] = 1;
  }
  const tesela_layout given = {.kind = TESELA_LAYOUT_RECTANGLES};
  assert_int_equal(
      tsl_layout_make(&given, "a", grid->ranks, 0, rows, cols, 0, 0, of, counts, &s->layouts[operand]),
      TESELA_OK);
  s->corners[operand] = corners;
  free(of);
  free(counts);
}

/* Sorts the messages by rank and batch. */
static void sort_messages(simulation *s) {
  const int places = s->grid->ranks * s->batches;
  int *filled = calloc((size_t)places + 1, sizeof *filled);
  s->first = calloc((size_t)places + 1, sizeof *s->first);
  s->of = malloc((2 * (size_t)s->count + 1) * sizeof *s->of);
  assert_true(filled && s->first && s->of);
  for (int i = 0; i < places; i++)
    s->first[i + 1] = s->first[i] + s->waits[i];
  for (int i = 0; i < s->count; i++) {
    const int from = s->messages[i].from * s->batches + s->messages[i].batch,
              to = s->messages[i].to * s->batches + s->messages[i].batch;
    s->of[s->first[from] + filled[from]++] = i;
    s->of[s->first[to] + filled[to]++] = i;
  }
  free(filled);
}

static void make_messages(simulation *s, const tsl_task *task) {
  const tsl_process_grid *grid = s->grid;
  s->ranks = calloc((size_t)grid->ranks, sizeof *s->ranks);
  shares_as_layout(s, TSL_PART_A, offsetof(grid_shares, a), task->m, task->k);
  shares_as_layout(s, TSL_PART_B, offsetof(grid_shares, b), task->k, task->n);
  shares_as_layout(s, TSL_PART_C, offsetof(grid_shares, c), task->m, task->n);
  assert_int_equal(tsl_ranks_blocks_make(grid, &s->layouts[TSL_PART_C], &s->blocks), TESELA_OK);
  s->batches = tsl_steps(grid) + grid->tiles_m * grid->tiles_n;
  s->waits = calloc((size_t)(grid->ranks * s->batches), sizeof *s->waits);
  assert_true(s->ranks && s->waits);
  for (int step = 0; step < tsl_steps(grid); step++)
    add_panels(s, step);
  for (int tile = 0; tile < grid->tiles_m * grid->tiles_n; tile++)
    add_sums(s, tile);
  sort_messages(s);
}

/* Checks that the simulated messages have the sizes that the product counts. */
static void check_words(const simulation *s) {
  tsl_process_grid counted = *s->grid;
  int64_t most = 0, most_sent = 0;
  assert_int_equal(
      tsl_ranks_blocks_count(&s->blocks, &s->layouts[0], &s->layouts[1], &s->layouts[2], &counted),
      TESELA_OK);
  for (int r = 0; r < s->grid->ranks; r++) {
    most = s->ranks[r].received > most ? s->ranks[r].received : most;
    most_sent = s->ranks[r].sent > most_sent ? s->ranks[r].sent : most_sent;
  }
  assert_int_equal(most, counted.words);
  assert_int_equal(most_sent, counted.words_sent);
}

static void free_all(simulation *s) {
  for (int i = 0; i < TSL_PARTS; i++) {
    tsl_layout_free(&s->layouts[i]);
    free(s->corners[i]);
  }
  for (int r = 0; r < s->grid->ranks; r++) {
    free(s->ranks[r].out.list);
    free(s->ranks[r].in.list);
  }
  tsl_ranks_blocks_free(&s->blocks);
  free(s->ranks);
  free(s->ready.list);
  free(s->events);
  free(s->messages);
  free(s->waits);
  free(s->first);
  free(s->of);
}

simulated simulate(const int64_t *shape, int ranks, int64_t memory) {
  static simulation s;
  tsl_process_grid grid;
  const tsl_task task = {shape[0], shape[1], shape[2], ranks, SIZE, SIZE, SIZE, SIZE, 2, memory};
  s = (simulation){.grid = &grid, .links = &tsl_links_default};
  assert_int_equal(tsl_grid_list(&task, &tsl_links_default, &grid, 1), 1);
  make_messages(&s, &task);
  check_words(&s);
  simulated o = {.told = grid.seconds,
                 .words = grid.words,
                 .messages = s.count,
                 .steps = tsl_steps(&grid),
                 .tiles = grid.tiles_m * grid.tiles_n};
  for (int r = 0; r < ranks; r++)
    o.most = s.ranks[r].received > o.most ? s.ranks[r].received : o.most;
  o.seconds = run(&s);
  free_all(&s);
  return o;
}
