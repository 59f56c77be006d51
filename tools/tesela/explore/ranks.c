#include "explore/ranks.h"

#include "cli/progress.h"
#include "cli/ranks.h"
#include "cli/report.h"
#include "comm/collective_status.h"
#include "core/clock.h"
#include "core/list_text.h"
#include "core/memory.h"
#include "core/pool.h"
#include "core/random.h"
#include "core/status.h"
#include "explore/cyclic.h"
#include "explore/explore.h"
#include "explore/options.h"
#include "explore/pblas.h"
#include "explore/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Libraries that multiply. X(NAME, name) */
#define TSL_RANKS_WAY_LIST(X) X(TESELA, tesela_mpi) X(PEER, vendor_scalapack)
typedef enum tsl_ranks_way {
#define TSL_RANKS_WAY_MEMBER(name, text) TSL_RANKS_WAY_##name,
  TSL_RANKS_WAY_LIST(TSL_RANKS_WAY_MEMBER)
#undef TSL_RANKS_WAY_MEMBER
      TSL_RANKS_WAYS
} tsl_ranks_way;

typedef struct tsl_ranks_entry {
  tsl_case_result result;
  tsl_verdict verdict;    /* the verdict over all ranks; valid if the result is right or wrong */
  tsl_measurement timing; /* the time of the slowest rank */
  char why[256];          /* the reason if the result is not right */
  char plan[256];         /* the plan's text of tesela's product, with the grid */
} tsl_ranks_entry;

/* Results of one type and size. */
typedef struct tsl_ranks_point {
  int type, size;
  double flops;
  tsl_ranks_entry entries[TSL_RANKS_WAYS];
} tsl_ranks_point;

typedef struct tsl_ranks_exploration {
  tsl_ranks *ranks;
  tsl_cyclic_grid grid;
  int64_t block;       /* rows and columns of a block of the layout */
  int threads;         /* host threads of each rank */
  int ways;            /* the number of entries of the list that take part */
  char peer[512];      /* the peer's library; "": there is none */
  tsl_exploration all; /* types, sizes, options, date and machine */
  tsl_ranks_point *points;
} tsl_ranks_exploration;

static const char *const way_names[] = {TSL_RANKS_WAY_LIST(TSL_LIST_WORD)};

enum { SAMPLES_MIN = 3, SAMPLES_GOAL = 5, SAMPLES_MAX = 100 };

typedef struct racer {
  double samples[SAMPLES_MAX], seconds; /* samples and their sum, in seconds */
  double factor;                        /* the guaranteed error, in units of roundoff */
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
  double sorted[SAMPLES_MAX], spread_of;
  memcpy(sorted, racer_in->samples, (size_t)racer_in->count * sizeof *sorted);
  (void)tsl_measure_median(sorted, racer_in->count, &spread_of);
  racer_in->is_done = racer_in->count == SAMPLES_MAX ||
                      (racer_in->count >= SAMPLES_MIN && racer_in->seconds >= options->seconds_max) ||
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
    double wall[SAMPLES_MAX];
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

/* Measures a point; called by all ranks. `pblas` is NULL if there is no peer; the point's entry
 * then has the reason already. A failure is equal on all ranks. */
static tesela_status ranks_race(const tsl_ranks_exploration *all, const tsl_pblas *pblas,
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

static double ranks_report_rate_of(const tsl_ranks_point *point, int way) {
  return point->flops / point->entries[way].timing.median;
}

static bool is_judged(const tsl_ranks_entry *entry) {
  return entry->result == TSL_CASE_RIGHT || entry->result == TSL_CASE_WRONG;
}

static void ranks_report_add_row(const tsl_ranks_point *point, int way, tsl_table *table) {
  const tsl_ranks_entry *entry = &point->entries[way];
  const tsl_point shown = {.entry = {.result = entry->result, .timing = entry->timing}};
  const double theirs = ranks_report_rate_of(point, TSL_RANKS_WAY_PEER);
  char text[32];
  tsl_table_add(table, "%s", way_names[way]);
  tsl_explore_add_result(&shown, ranks_report_rate_of(point, way) / 1e9, table);
  tsl_table_add(table, "%s",
                isfinite(entry->timing.median) ? tsl_format_seconds(entry->timing.median, text, sizeof text)
                                               : "-");
  tsl_table_add(table, "%s", tsl_format_number(ranks_report_rate_of(point, way) / theirs, text, sizeof text));
  tsl_table_add(table, "%s",
                tsl_format_number(is_judged(entry) ? entry->verdict.grade : NAN, text, sizeof text));
  tsl_table_add(table, "%s",
                tsl_format_number(is_judged(entry) ? entry->verdict.error_ratio : NAN, text, sizeof text));
  tsl_table_add(table, "%s", entry->plan);
}

static void ranks_report_add_point(const tsl_ranks_exploration *exploration, const tsl_ranks_point *point,
                                   const tsl_form *form, tsl_text *out) {
  tsl_table table = {0};
  tsl_text title = {0};
  TSL_TABLE_COLUMNS(&table, "by", ">GFLOP/s", ">time", ">times peer", ">grade", ">of bound", "~plan");
  for (int way = 0; way < exploration->ways; way++)
    ranks_report_add_row(point, way, &table);
  tsl_text_add(&title, "%s, ", exploration->all.types.items[point->type].name);
  tsl_explore_add_size(&exploration->all, point->size, &title);
  tsl_form_add_table(form, tsl_text_get(&title), &table, out);
  tsl_text_free(&title);
  tsl_table_free(&table);
}

/* Appends the reasons why entries have no time; equal reasons once. */
static void ranks_report_add_reasons(const tsl_ranks_exploration *exploration, const tsl_form *form,
                                     tsl_text *out) {
  const char *last = "";
  for (int i = 0; i < exploration->all.point_count; i++)
    for (int way = 0; way < exploration->ways && way < TSL_RANKS_WAYS; way++) {
      const tsl_ranks_entry *entry = &exploration->points[i].entries[way];
      tsl_text line = {0};
      if (entry->result == TSL_CASE_RIGHT || strcmp(last, entry->why) == 0)
        continue;
      last = entry->why;
      tsl_text_add(&line, "%s: %s", way_names[way], entry->why);
      tsl_form_add_line(form, true, tsl_text_get(&line), out);
      tsl_text_free(&line);
    }
}

static tesela_status ranks_report_print_text(const tsl_ranks_exploration *exploration, bool markdown) {
  const tsl_form form = tsl_form_for(markdown);
  tsl_text out = {0}, line = {0};
  tsl_text_add(&line,
               "%d ranks as %d x %d, %d thread%s each; matrices in blocks of %lld x %lld, as ScaLAPACK deals "
               "them out.",
               exploration->ranks->size, exploration->grid.rows, exploration->grid.cols, exploration->threads,
               exploration->threads == 1 ? "" : "s", (long long)exploration->block,
               (long long)exploration->block);
  if (*exploration->peer)
    tsl_text_add(&line, " %s is %s.", way_names[TSL_RANKS_WAY_PEER], exploration->peer);
  tsl_form_add_line(&form, false, tsl_text_get(&line), &out);
  tsl_text_add(&out, "\n");
  for (int i = 0; i < exploration->all.point_count; i++)
    ranks_report_add_point(exploration, &exploration->points[i], &form, &out);
  ranks_report_add_reasons(exploration, &form, &out);
  tsl_form_add_line(&form, false,
                    "Median time from the start of all ranks to the end of the last rank, measured in turn. "
                    "Every entry was verified first, by a sample of each rank. ~: noisy. grade: largest "
                    "error in u |A||B|; of bound: largest error divided by the guaranteed error.",
                    &out);
  tsl_text_free(&line);
  return tsl_print(&out);
}

static json_t *json_entry(const tsl_ranks_exploration *exploration, const tsl_ranks_point *point, int way) {
  const tsl_ranks_entry *entry = &point->entries[way];
  const tsl_size *size = &exploration->all.sizes.items[point->size];
  const tsl_measurement *timing = &entry->timing;
  const bool is_peer = way == TSL_RANKS_WAY_PEER;
  json_t *object =
      json_pack("{s:s, s:o, s:s, s:I, s:I, s:I, s:s, s:s, s:o, s:o, s:I, s:o}", "strategy", way_names[way],
                "peer", is_peer && *exploration->peer ? json_string(exploration->peer) : json_null(), "type",
                exploration->all.types.items[point->type].name, "m", (json_int_t)size->m, "n",
                (json_int_t)size->n, "k", (json_int_t)size->k, "result", tsl_case_result_name(entry->result),
                "why", entry->why, "grade", tsl_json_real(is_judged(entry) ? entry->verdict.grade : NAN),
                "error_ratio", tsl_json_real(is_judged(entry) ? entry->verdict.error_ratio : NAN),
                "elements_checked", (json_int_t)entry->verdict.checked, "flops", tsl_json_real(point->flops));
  if (!object || entry->result != TSL_CASE_RIGHT)
    return object;
  json_object_update_new(
      object,
      json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:i, s:b}", "plan", entry->plan, "flops_per_second",
                tsl_json_real(ranks_report_rate_of(point, way)), "seconds", tsl_json_real(timing->median),
                "fastest", tsl_json_real(timing->fastest), "first_quartile",
                tsl_json_real(timing->first_quartile), "third_quartile",
                tsl_json_real(timing->third_quartile), "slowest", tsl_json_real(timing->slowest), "spread",
                tsl_json_real(timing->spread), "samples", timing->samples, "noisy", timing->noisy));
  return object;
}

static tesela_status ranks_report_print_json(const tsl_command_call *call,
                                             const tsl_ranks_exploration *exploration) {
  json_t *entries = json_array();
  for (int i = 0; i < exploration->all.point_count; i++)
    for (int way = 0; way < exploration->ways; way++)
      json_array_append_new(entries, json_entry(exploration, &exploration->points[i], way));
  return tsl_print_json(
      call, json_pack("{s:s, s:s, s:{s:i, s:[i, i], s:I, s:i}, s:o, s:o, s:o}", "date", exploration->all.date,
                      "op", "gemm", "ranks", "count", exploration->ranks->size, "grid",
                      exploration->grid.rows, exploration->grid.cols, "block", (json_int_t)exploration->block,
                      "threads", exploration->threads, "machine", tsl_explore_json_machine(&exploration->all),
                      "options", tsl_explore_json_options(&exploration->all), "entries", entries));
}

/* Prints the results in the format of the options. */
static tesela_status ranks_print(const tsl_command_call *call, const tsl_ranks_exploration *exploration,
                                 const tsl_explore_options *options) {
  return options->json ? ranks_report_print_json(call, exploration)
                       : ranks_report_print_text(exploration, options->markdown);
}

/* Refuses options of one process. Each rank does so alone before MPI begins, since all have the
 * same options. */
static tesela_status ranks_refuse_options(const tsl_explore_options *options, const char *op,
                                          const char *strategies) {
  const struct {
    bool given;
    const char *name, *why;
  } alone[] = {
      {op && strcmp(op, "gemm") != 0, "--op", "several processes multiply, and nothing else"},
      {strategies != NULL, "--strategies",
       "ranks compute by the strategies that the planner chooses for each"},
      {options->devices != NULL, "--devices", "TESELA_DEVICE names the device of each rank"},
      {options->accuracy != NULL, "--accuracy", "several processes add up parts of sums"},
      {options->threads != 0, "--threads",
       "ranks divide the processors; TESELA_THREADS is the number of each"},
      {options->csv, "--csv", "--json has all of it"},
      {options->html != NULL, "--html", "--markdown and --json have all of it"},
  };
  for (size_t i = 0; i < sizeof alone / sizeof *alone; i++)
    if (alone[i].given)
      return tsl_fail(TESELA_UNSUPPORTED, "%s is of one process: %s", alone[i].name, alone[i].why);
  if (options->json && options->markdown)
    return tsl_fail(TESELA_BAD_CALL, "--json and --markdown exclude each other");
  return TESELA_OK;
}

static tesela_status ranks_prepare(const tsl_explore_options *options, tsl_ranks_exploration *out) {
  tsl_exploration *all = &out->all;
  all->op = TSL_OP_GEMM;
  TSL_TRY(tsl_select_sizes(all->op, options->sizes ? options->sizes : "512,1024,2048", &all->sizes));
  TSL_TRY(tsl_select_types(all->op, options->types, &all->types));
  all->options = (tsl_race_options){.seconds_max = options->seconds,
                                    .time_limit = options->time_limit,
                                    .noise = options->noise,
                                    .seed = (uint64_t)options->seed};
  tsl_explore_look_at_machine(all);
  all->point_count = all->types.count * all->sizes.count;
  out->points = calloc((size_t)all->point_count + 1, sizeof *out->points);
  return out->points ? TESELA_OK
                     : tsl_fail(TESELA_OUT_OF_MEMORY, "no memory for %d measurements", all->point_count);
}

static void ranks_number_points(tsl_ranks_exploration *exploration, const char *why_no_peer) {
  for (int i = 0; i < exploration->all.point_count; i++) {
    tsl_ranks_point *point = &exploration->points[i];
    point->type = i / exploration->all.sizes.count;
    point->size = i % exploration->all.sizes.count;
    const tsl_problem problem = tsl_explore_problem(&exploration->all, point->type, point->size);
    point->flops = tsl_problem_flops(&problem);
    for (int way = 0; way < TSL_RANKS_WAYS; way++)
      point->entries[way] = (tsl_ranks_entry){.result = TSL_CASE_RIGHT, .timing = tsl_not_measured};
    if (!why_no_peer)
      continue;
    point->entries[TSL_RANKS_WAY_PEER].result = TSL_CASE_REFUSED;
    snprintf(point->entries[TSL_RANKS_WAY_PEER].why, sizeof point->entries[0].why, "%.255s", why_no_peer);
  }
}

static tesela_status run_points(tsl_ranks_exploration *exploration, const tsl_pblas *pblas) {
  tsl_progress *progress = exploration->ranks->rank == 0 ? tsl_progress_start(true) : NULL;
  tesela_status status = TESELA_OK;
  for (int i = 0; status == TESELA_OK && i < exploration->all.point_count; i++) {
    tsl_progress_at(progress, "multiplying", (double)i / exploration->all.point_count);
    status = ranks_race(exploration, pblas, &exploration->points[i]);
  }
  tsl_progress_end(progress);
  return status;
}

static tesela_status ranks_run(tsl_ranks_exploration *exploration, bool peers) {
  tsl_pblas pblas = {.is_open = false};
  const char *why = NULL;
  tsl_status_saved saved;
  exploration->grid = tsl_process_grid_choose(exploration->ranks);
  exploration->threads = tsl_pool_shared_threads(exploration->ranks->host_ranks);
  exploration->ways = peers ? TSL_RANKS_WAYS : TSL_RANKS_WAY_PEER;
  if (!peers)
    why = "not requested";
  else if (tsl_pblas_open(exploration->ranks, &exploration->grid, exploration->threads, &pblas) !=
           TESELA_OK) {
    tsl_status_save(&saved);
    why = saved.sentence;
  }
  snprintf(exploration->peer, sizeof exploration->peer, "%s", why ? "" : pblas.name);
  ranks_number_points(exploration, why);
  const tesela_status status = run_points(exploration, why ? NULL : &pblas);
  tsl_status_save(&saved);
  tsl_pblas_close(&pblas);
  tsl_status_restore(&saved);
  return status;
}

/* Returns a failure for wrong or failed entries, or for no entry; the result is equal on all ranks. */
static tesela_status ranks_conclude(const tsl_ranks_exploration *exploration) {
  int right = 0;
  for (int i = 0; i < exploration->all.point_count; i++)
    for (int way = 0; way < exploration->ways; way++) {
      const tsl_ranks_entry *entry = &exploration->points[i].entries[way];
      right += entry->result == TSL_CASE_RIGHT;
      if (entry->result == TSL_CASE_WRONG || entry->result == TSL_CASE_FAILED)
        return tsl_fail(entry->result == TSL_CASE_WRONG ? TESELA_WRONG_RESULT : TESELA_DEVICE_FAILED,
                        "%s: %s", way_names[way], entry->why);
    }
  return right > 0 ? TESELA_OK : tsl_fail(TESELA_UNSUPPORTED, "nothing was measured");
}

static tesela_status report(const tsl_command_call *call, const tsl_ranks_exploration *exploration,
                            const tsl_explore_options *options) {
  if (exploration->ranks->rank == 0)
    TSL_TRY(ranks_print(call, exploration, options));
  return ranks_conclude(exploration);
}

tesela_status tsl_explore_together(const tsl_command_call *call, const tsl_explore_options *options,
                                   const char *op, const char *strategies, bool peers) {
  enum { BLOCK = 128 };
  tsl_ranks_exploration exploration = {.block = BLOCK};
  TSL_TRY(ranks_refuse_options(options, op, strategies));
  tesela_status status = ranks_prepare(options, &exploration);
  if (status == TESELA_OK)
    status = tsl_ranks_join(&exploration.ranks);
  if (status == TESELA_OK)
    status = ranks_run(&exploration, peers);
  if (status == TESELA_OK)
    status = report(call, &exploration, options);
  free(exploration.points);
  return status;
}
