#include "explore/ranks_race.h"

#include "cli/ranks.h"
#include "comm/collective_status.h"
#include "core/clock.h"
#include "core/memory.h"
#include "core/random.h"
#include "core/status.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SAMPLES_LEAST = 3, SAMPLES_GOAL = 5, SAMPLES_MOST = 100 };

typedef struct racer {
  double samples[SAMPLES_MOST], seconds; /* samples and their sum, in seconds */
  double factor;                         /* the guaranteed error, in units of roundoff */
  int count;
  bool is_done;
} racer;

typedef struct ranks_race_race {
  const tsl_ranks_exploration *all;
  const tsl_pblas *pblas;
  tsl_ranks_point *point;
  tsl_problem problem;
  tsl_cyclic a, b, c;
  racer racers[TSL_RANKS_WAYS];
} ranks_race_race;

/* Returns the seed of A (matrix 0) or B (matrix 1). */
static uint64_t seed_of(const ranks_race_race *race, int matrix) {
  return race->all->all.options.seed * 2 + (uint64_t)matrix;
}

static tesela_status make_matrices(ranks_race_race *race) {
  const tsl_problem *p = &race->problem;
  const tsl_cyclic_grid *grid = &race->all->grid;
  TSL_TRY(tsl_cyclic_make(grid, p->m, p->k, race->all->block, p->a.type, &race->a));
  TSL_TRY(tsl_cyclic_make(grid, p->k, p->n, race->all->block, p->b.type, &race->b));
  TSL_TRY(tsl_cyclic_make(grid, p->m, p->n, race->all->block, p->c.type, &race->c));
  tsl_cyclic_fill(&race->a, seed_of(race, 0));
  tsl_cyclic_fill(&race->b, seed_of(race, 1));
  return TESELA_OK;
}

/* --- one run --- */

static tesela_status run_tesela(ranks_race_race *race) {
  const tsl_problem *p = &race->problem;
  const tesela_gemm_desc gemm = {
      .m = p->m,
      .n = p->n,
      .k = p->k,
      .a = {.data = race->a.data, .row_stride = 1, .col_stride = race->a.leading, .type = p->a.type},
      .b = {.data = race->b.data, .row_stride = 1, .col_stride = race->b.leading, .type = p->b.type},
      .c = {.data = race->c.data, .row_stride = 1, .col_stride = race->c.leading, .type = p->c.type}};
  const tesela_mpi_desc desc = {.gemm = &gemm,
                                .a = tsl_cyclic_layout(&race->a),
                                .b = tsl_cyclic_layout(&race->b),
                                .c = tsl_cyclic_layout(&race->c)};
  tesela_mpi_record record = {.ranks = 0};
  const double u = tsl_type(p->c.type)->unit_roundoff;
  TSL_TRY(tsl_ranks_multiply(race->all->ranks, &desc, &record));
  race->racers[TSL_RANKS_WAY_TESELA].factor = u > 0 ? record.error_bound / u : 0;
  snprintf(race->point->entries[TSL_RANKS_WAY_TESELA].plan, sizeof record.plan, "%s", record.plan);
  return TESELA_OK;
}

/* Runs the peer. Its bound is that of sums in any order; complex sums have twice as many terms. */
static tesela_status run_peer(ranks_race_race *race) {
  const bool is_complex = tsl_type(race->problem.c.type)->is_complex;
  race->racers[TSL_RANKS_WAY_PEER].factor =
      tsl_accuracy_of_sum(race->problem.k * (is_complex ? 2 : 1)).factor;
  tsl_pblas_multiply(race->pblas, &race->a, &race->b, &race->c);
  return TESELA_OK;
}

static tesela_status (*const run_way[TSL_RANKS_WAYS])(ranks_race_race *race) = {
    [TSL_RANKS_WAY_TESELA] = run_tesela, [TSL_RANKS_WAY_PEER] = run_peer};

/* Runs once and sets the seconds from a barrier before to a barrier after; equal on all ranks. */
static tesela_status ranks_race_run_timed(ranks_race_race *race, int way, double *seconds) {
  tsl_ranks *ranks = race->all->ranks;
  double nothing;
  TSL_TRY(ranks->ops->least(ranks, 0, &nothing));
  const double start = tsl_clock();
  const tesela_status status = run_way[way](race); /* equal on all ranks */
  TSL_TRY(ranks->ops->least(ranks, 0, &nothing));
  *seconds = tsl_clock() - start;
  TSL_TRY(ranks->ops->broadcast(ranks, 0, seconds, sizeof *seconds));
  return status;
}

/* --- the judge --- */

/* Sample of a rank's rows and columns, evenly spread, with the parts of A and B that these need. */
typedef struct sample {
  int64_t rows, cols;
  void *a, *b, *c; /* packed: A rows x k by rows, B k x cols by columns, C rows x cols by rows */
} sample;

static int64_t ranks_race_spread(int64_t index, int64_t count, int64_t value) {
  return index * value / count;
}

static tesela_status take_sample(const ranks_race_race *race, sample *out) {
  enum { MOST = 24 };
  const tsl_problem *p = &race->problem;
  const size_t a = tsl_type(p->a.type)->size, b = tsl_type(p->b.type)->size, c = tsl_type(p->c.type)->size;
  const size_t k = (size_t)p->k;
  out->rows = race->c.own_rows < MOST ? race->c.own_rows : MOST;
  out->cols = race->c.own_cols < MOST ? race->c.own_cols : MOST;
  TSL_TRY(tsl_alloc((size_t)out->rows * k * a + 1, "rows of A", &out->a));
  TSL_TRY(tsl_alloc((size_t)out->cols * k * b + 1, "columns of B", &out->b));
  TSL_TRY(tsl_alloc((size_t)(out->rows * out->cols) * c + 1, "elements of C", &out->c));
  for (int64_t i = 0; i < out->rows; i++)
    for (int64_t l = 0; l < p->k; l++)
      tsl_cyclic_column(&race->a, seed_of(race, 0),
                        tsl_cyclic_row(&race->c, ranks_race_spread(i, out->rows, race->c.own_rows)), l, 1,
                        (char *)out->a + ((size_t)i * k + (size_t)l) * a);
  for (int64_t j = 0; j < out->cols; j++)
    tsl_cyclic_column(&race->b, seed_of(race, 1), 0,
                      tsl_cyclic_col(&race->c, ranks_race_spread(j, out->cols, race->c.own_cols)), p->k,
                      (char *)out->b + (size_t)j * k * b);
  for (int64_t i = 0; i < out->rows; i++)
    for (int64_t j = 0; j < out->cols; j++) {
      const int64_t at = ranks_race_spread(j, out->cols, race->c.own_cols) * race->c.leading +
                         ranks_race_spread(i, out->rows, race->c.own_rows);
      memcpy((char *)out->c + (size_t)(i * out->cols + j) * c, (const char *)race->c.data + (size_t)at * c,
             c);
    }
  return TESELA_OK;
}

/* Verifies a sample; positions in the verdict are of the whole matrix. */
static tesela_status judge_sample(const ranks_race_race *race, const sample *taken, double factor,
                                  tsl_verdict *out) {
  enum { OPERATIONS = 1 << 30 };
  tsl_problem problem =
      tsl_problem_of(TSL_OP_GEMM, taken->rows, taken->cols, race->problem.k, race->problem.a.type);
  const tsl_judge rule = {.factor = factor, .operations_max = OPERATIONS, .seed = 1};
  *out = (tsl_verdict){.right = true};
  if (taken->rows == 0 || taken->cols == 0)
    return TESELA_OK;
  problem.b.type = race->problem.b.type;
  problem.c.type = race->problem.c.type;
  problem.b.row_stride = 1;
  problem.b.col_stride = race->problem.k;
  TSL_TRY(tsl_judge_result(&problem, taken->a, taken->b, NULL, taken->c, &rule, out));
  out->row = tsl_cyclic_row(&race->c, ranks_race_spread(out->row, taken->rows, race->c.own_rows));
  out->col = tsl_cyclic_col(&race->c, ranks_race_spread(out->col, taken->cols, race->c.own_cols));
  return TESELA_OK;
}

static tesela_status judge_own(const ranks_race_race *race, double factor, tsl_verdict *out) {
  sample taken = {.rows = 0};
  tesela_status status = take_sample(race, &taken);
  if (status == TESELA_OK)
    status = judge_sample(race, &taken, factor, out);
  tsl_free(taken.a);
  tsl_free(taken.b);
  tsl_free(taken.c);
  return status;
}

/* Combines the verdicts of all ranks into the worst one. */
static tesela_status ranks_race_judge(ranks_race_race *race, int way) {
  tsl_ranks *ranks = race->all->ranks;
  tsl_ranks_entry *entry = &race->point->entries[way];
  tsl_verdict own, *const all = &entry->verdict;
  TSL_TRY(tsl_agree(ranks, judge_own(race, race->racers[way].factor, &own)));
  *all = (tsl_verdict){.right = true};
  for (int i = 0; i < ranks->size; i++) {
    tsl_verdict one = own;
    const int64_t checked = all->checked, elements_wrong = all->wrong;
    const double grade = all->grade;
    TSL_TRY(ranks->ops->broadcast(ranks, i, &one, sizeof one));
    if (i == 0 || (all->right && (!one.right || one.error_ratio > all->error_ratio)))
      *all = one;
    all->grade = i == 0 ? one.grade : fmax(grade, one.grade);
    all->checked = checked + one.checked;
    all->wrong = elements_wrong + one.wrong;
  }
  entry->result = all->right ? TSL_CASE_RIGHT : TSL_CASE_WRONG;
  memcpy(entry->why, all->why, sizeof entry->why);
  return TESELA_OK;
}

/* --- the race --- */

static void leave_out(tsl_ranks_entry *entry, tsl_case_result result, const char *why) {
  entry->result = result;
  snprintf(entry->why, sizeof entry->why, "%s", why);
}

/* Runs an entry once, untimed, and verifies it. A failure becomes the entry's result. */
static tesela_status admit(ranks_race_race *race, int way) {
  tsl_ranks_entry *entry = &race->point->entries[way];
  const double limit = race->all->all.options.time_limit;
  double seconds;
  char took[32];
  if (entry->result != TSL_CASE_RIGHT)
    return TESELA_OK;
  tsl_cyclic_spoil(&race->c);
  if (ranks_race_run_timed(race, way, &seconds) != TESELA_OK) {
    leave_out(entry, TSL_CASE_FAILED, tesela_last_error());
    return TESELA_OK;
  }
  TSL_TRY(ranks_race_judge(race, way));
  if (entry->result != TSL_CASE_RIGHT || seconds <= limit)
    return TESELA_OK;
  snprintf(entry->why, sizeof entry->why, "takes %s for one run, and --time-limit is %.3g s",
           tsl_format_seconds(seconds, took, sizeof took), limit);
  entry->result = TSL_CASE_REFUSED;
  return TESELA_OK;
}

static void look_whether_done(const ranks_race_race *race, racer *racer_in) {
  const tsl_race_options *options = &race->all->all.options;
  double sorted[SAMPLES_MOST], spread_of;
  memcpy(sorted, racer_in->samples, (size_t)racer_in->count * sizeof *sorted);
  (void)tsl_measure_median(sorted, racer_in->count, &spread_of);
  racer_in->is_done = racer_in->count == SAMPLES_MOST ||
                      (racer_in->count >= SAMPLES_LEAST && racer_in->seconds >= options->seconds_max) ||
                      (racer_in->count >= SAMPLES_GOAL && spread_of <= options->noise);
}

static tesela_status sample_one(ranks_race_race *race, int way) {
  racer *one = &race->racers[way];
  double seconds;
  TSL_TRY(ranks_race_run_timed(race, way, &seconds));
  one->samples[one->count++] = seconds;
  one->seconds += seconds;
  look_whether_done(race, one);
  return TESELA_OK;
}

/* Runs rounds, each in another order, until all times are stable. */
static tesela_status run_rounds(ranks_race_race *race) {
  bool is_running = true;
  for (uint64_t round = 0; is_running; round++) {
    const int first = (int)(tsl_random_u64(race->all->all.options.seed, round) % TSL_RANKS_WAYS);
    is_running = false;
    for (int i = 0; i < TSL_RANKS_WAYS; i++) {
      const int way = (first + i) % TSL_RANKS_WAYS;
      if (race->point->entries[way].result != TSL_CASE_RIGHT || race->racers[way].is_done)
        continue;
      TSL_TRY(sample_one(race, way));
      is_running = true;
    }
  }
  return TESELA_OK;
}

static void summarise(ranks_race_race *race) {
  for (int way = 0; way < TSL_RANKS_WAYS; way++) {
    racer *one = &race->racers[way];
    double wall[SAMPLES_MOST];
    memcpy(wall, one->samples, sizeof wall);
    if (one->count == 0)
      continue;
    tsl_measure_summarise(one->samples, wall, one->count, race->all->all.options.noise,
                          &race->point->entries[way].timing);
    race->point->entries[way].timing.batch = 1;
  }
}

static tesela_status ranks_race_run(ranks_race_race *race) {
  TSL_TRY(tsl_agree(race->all->ranks, make_matrices(race)));
  for (int way = 0; way < TSL_RANKS_WAYS; way++)
    TSL_TRY(admit(race, way));
  TSL_TRY(run_rounds(race));
  summarise(race);
  return TESELA_OK;
}

tesela_status tsl_ranks_race(const tsl_ranks_exploration *all, const tsl_pblas *pblas,
                             tsl_ranks_point *point) {
  ranks_race_race of = {.all = all,
                        .pblas = pblas,
                        .point = point,
                        .problem = tsl_explore_problem(&all->all, point->type, point->size)};
  tsl_ranks_entry *peer = &point->entries[TSL_RANKS_WAY_PEER];
  const char *why = pblas && peer->result == TSL_CASE_RIGHT ? tsl_pblas_refuse(&of.problem) : NULL;
  if (why)
    leave_out(peer, TSL_CASE_REFUSED, why);
  const tesela_status status = ranks_race_run(&of);
  tsl_free(of.a.data);
  tsl_free(of.b.data);
  tsl_free(of.c.data);
  return status;
}
