#include "judge/judge_element.h"

#include "core/memory.h"
#include "core/pool.h"
#include "core/random.h"
#include "core/status.h"
#include "judge/reference.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Block of a worker: its panels of A and B and the sums fit a second-level cache. */
enum { BLOCK_ROWS = 32, BLOCK_COLS = 64, BLOCK_DEPTH = 256, BLOCK_ELEMENTS = BLOCK_ROWS * BLOCK_COLS };
enum { BLOCK_DOUBLES = BLOCK_DEPTH * (BLOCK_ROWS + BLOCK_COLS) + 3 * BLOCK_ELEMENTS };
/* Effort to judge an element besides its products, in products. */
enum { ELEMENT_OPERATIONS = 16 };
static const int64_t default_operations_max = (int64_t)1 << 31;

typedef struct judge_real_findings {
  tsl_verdict worst;
  int64_t wrong; /* wrong elements, marked ones included; worst.wrong excludes those */
  double *a, *b; /* panels of this worker, converted to double */
  tsl_sums sums;
} judge_real_findings;

typedef struct judge_real_job {
  tsl_element_judge element_judge;
  int64_t *rows, *cols, row_count, col_count, /* sampled indices; their numbers */
      col_blocks;
  int block_rows; /* at most BLOCK_ROWS */
  double *workspace;
  judge_real_findings *worker_findings;
} judge_real_job;

/* Counts a wrong element, once if the caller has marks. */
static void count_wrong_element(const judge_real_job *job, judge_real_findings *found, int64_t row,
                                int64_t col) {
  unsigned char *counted = job->element_judge.judge->counted;
  found->wrong++;
  if (!counted) {
    found->worst.wrong++;
    return;
  }
  counted += row * job->element_judge.problem->n + col;
  found->worst.wrong += *counted == 0;
  *counted = 1;
}

static void record_comparison(const judge_real_job *job, judge_real_findings *found, int64_t row, int64_t col,
                              const tsl_comparison *seen) {
  tsl_verdict *worst = &found->worst;
  if (seen->ignored)
    return;
  worst->checked++;
  if (seen->ratio > 1)
    count_wrong_element(job, found, row, col);
  if (seen->error > worst->error)
    worst->error = seen->error;
  if (seen->grade > worst->grade)
    worst->grade = seen->grade;
  if (!tsl_verdict_is_exceeded(worst, seen->ratio, row, col))
    return;
  worst->error_ratio = seen->ratio;
  worst->row = row;
  worst->col = col;
}

static void add_products_of_panel(const judge_real_job *job, const judge_real_findings *found,
                                  const int64_t *rows, int row_count, const int64_t *cols, int col_count,
                                  int64_t first, int depth, const tsl_sums *sums) {
  const tsl_shape *a = &job->element_judge.problem->a, *b = &job->element_judge.problem->b;
  for (int i = 0; i < row_count; i++)
    tsl_type_convert(a->type, tsl_shape_at(a, job->element_judge.a, rows[i], first), a->col_stride,
                     TESELA_F64, found->a + (size_t)i * (size_t)depth, 1, (size_t)depth);
  for (int j = 0; j < col_count; j++)
    tsl_type_convert(b->type, tsl_shape_at(b, job->element_judge.b, first, cols[j]), b->row_stride,
                     TESELA_F64, found->b + j, col_count, (size_t)depth);
  tsl_reference_add_products(row_count, col_count, depth, found->a, found->b, sums);
}

static void add_products_of_terms(const judge_real_job *job, const judge_real_findings *found,
                                  const int64_t *rows, int row_count, const int64_t *cols, int col_count,
                                  int64_t first, int64_t end, const tsl_sums *sums) {
  for (; first < end; first += BLOCK_DEPTH)
    add_products_of_panel(job, found, rows, row_count, cols, col_count, first,
                          (int)(end - first < BLOCK_DEPTH ? end - first : BLOCK_DEPTH), sums);
}

static void compare_block(const judge_real_job *job, judge_real_findings *found, const int64_t *rows,
                          int row_count, const int64_t *cols, int col_count, const tsl_sums *sums) {
  for (int i = 0; i < row_count; i++)
    for (int j = 0; j < col_count; j++) {
      const int at = i * col_count + j;
      tsl_comparison seen;
      tsl_compare_element(&job->element_judge, rows[i], cols[j], sums->high[at],
                          sums->low ? sums->low[at] : 0, sums->magnitude[at], &seen);
      record_comparison(job, found, rows[i], cols[j], &seen);
    }
}

static void judge_block(void *argument, int64_t index, int worker) {
  const judge_real_job *job = argument;
  judge_real_findings *found = &job->worker_findings[worker];
  const int64_t row_first = index / job->col_blocks * job->block_rows,
                col_first = index % job->col_blocks * BLOCK_COLS;
  const int64_t *rows = job->rows + row_first, *cols = job->cols + col_first;
  const int row_count =
      (int)(job->row_count - row_first < job->block_rows ? job->row_count - row_first : job->block_rows);
  const int col_count =
      (int)(job->col_count - col_first < BLOCK_COLS ? job->col_count - col_first : BLOCK_COLS);
  const tsl_sums *sums = &found->sums;
  memset(sums->high, 0, BLOCK_ELEMENTS * sizeof *sums->high);
  memset(sums->magnitude, 0, BLOCK_ELEMENTS * sizeof *sums->magnitude);
  if (sums->low)
    memset(sums->low, 0, BLOCK_ELEMENTS * sizeof *sums->low);
  add_products_of_terms(job, found, rows, row_count, cols, col_count, 0,
                        job->element_judge.reads_factors ? job->element_judge.problem->k : 0, sums);
  compare_block(job, found, rows, row_count, cols, col_count, sums);
}

/* Sample of a single block, as in measurements: the threads share its terms, so that each number is converted
 * once. Parts, and so results, do not depend on the number of threads. */
enum { PARTS_MAX = 64 };

typedef struct split_terms {
  const judge_real_job *job;
  int64_t part_terms;
  tsl_sums *parts;
} split_terms;

static bool is_single_deep_block(const judge_real_job *job) {
  return job->element_judge.reads_factors && job->row_count <= BLOCK_ROWS && job->col_count <= BLOCK_COLS &&
         job->element_judge.problem->k > BLOCK_DEPTH;
}

static void sum_part_of_terms(void *argument, int64_t index, int worker) {
  const split_terms *split = argument;
  const judge_real_job *job = split->job;
  const int64_t first = index * split->part_terms, k = job->element_judge.problem->k;
  add_products_of_terms(job, &job->worker_findings[worker], job->rows, (int)job->row_count, job->cols,
                        (int)job->col_count, first,
                        first + split->part_terms < k ? first + split->part_terms : k, &split->parts[index]);
}

static tesela_status judge_single_block(const judge_real_job *job, tsl_team team) {
  const int64_t k = job->element_judge.problem->k, each = (k + PARTS_MAX - 1) / PARTS_MAX,
                depth = (each + BLOCK_DEPTH - 1) / BLOCK_DEPTH * BLOCK_DEPTH, count = (k + depth - 1) / depth;
  const size_t elements = (size_t)(job->row_count * job->col_count),
               numbers = job->element_judge.sums_in_pairs ? 3 : 2;
  tsl_sums parts[PARTS_MAX];
  void *block;
  TSL_TRY(tsl_alloc_zeroed((size_t)count * numbers * elements * sizeof(double), "the judge's sums", &block));
  double *memory = block;
  for (int64_t p = 0; p < count; p++, memory += numbers * elements)
    parts[p] = (tsl_sums){.high = memory,
                          .magnitude = memory + elements,
                          .low = job->element_judge.sums_in_pairs ? memory + 2 * elements : NULL};
  split_terms split = {job, depth, parts};
  tsl_team_run(team, count, sum_part_of_terms, &split);
  for (int64_t p = 1; p < count; p++)
    tsl_reference_add_sums(elements, &parts[p], &parts[0]);
  compare_block(job, &job->worker_findings[0], job->rows, (int)job->row_count, job->cols, (int)job->col_count,
                &parts[0]);
  tsl_free(block);
  return TESELA_OK;
}

/* Limits for few elements with many products each, as of a dot: the threads share an element's products. */
enum { FEW_ELEMENTS = 64, MANY_PRODUCTS = 1 << 17 };

static bool has_few_deep_elements(const judge_real_job *job) {
  return job->element_judge.reads_factors && job->row_count * job->col_count <= FEW_ELEMENTS &&
         job->element_judge.problem->k >= MANY_PRODUCTS;
}

static tesela_status sum_terms_of_element(const judge_real_job *job, int64_t row, int64_t col,
                                          const judge_real_findings *found) {
  const tsl_shape *a = &job->element_judge.problem->a, *b = &job->element_judge.problem->b;
  const tsl_terms terms = {.a_type = a->type,
                           .b_type = b->type,
                           .a = tsl_shape_at(a, job->element_judge.a, row, 0),
                           .b = tsl_shape_at(b, job->element_judge.b, 0, col),
                           .a_step = a->col_stride,
                           .b_step = b->row_stride,
                           .count = job->element_judge.reads_factors ? job->element_judge.problem->k : 0};
  return tsl_reference_sum_terms(tsl_judge_team(job->element_judge.judge), &terms, &found->sums);
}

static tesela_status judge_each_element_by_team(const judge_real_job *job) {
  judge_real_findings *found = &job->worker_findings[0];
  const tsl_sums *sums = &found->sums;
  for (int64_t i = 0; i < job->row_count; i++)
    for (int64_t j = 0; j < job->col_count; j++) {
      tsl_comparison seen;
      TSL_TRY(sum_terms_of_element(job, job->rows[i], job->cols[j], found));
      tsl_compare_element(&job->element_judge, job->rows[i], job->cols[j], *sums->high,
                          sums->low ? *sums->low : 0, *sums->magnitude, &seen);
      record_comparison(job, found, job->rows[i], job->cols[j], &seen);
    }
  return TESELA_OK;
}

/* Draws `count` of `total` indices in order, one from each of `count` equal parts, with first and last. */
static void draw_sorted_sample(int64_t *out, int64_t count, int64_t total, uint64_t seed) {
  for (int64_t i = 0; i < count; i++) {
    if (count == total) {
      out[i] = i;
      continue;
    }
    const double start = (double)i * (double)total / (double)count, width = (double)total / (double)count;
    const double place = (double)(tsl_random_u64(seed, (uint64_t)i) >> 11) * 0x1p-53;
    out[i] = (int64_t)(start + place * width);
    if (out[i] > total - 1)
      out[i] = total - 1;
  }
  if (count > 1) {
    out[0] = 0;
    out[count - 1] = total - 1;
  }
}

static int64_t clamp_between_1_and(double value, int64_t max) {
  return value < 1 ? 1 : value >= (double)max ? max : (int64_t)value;
}

static tesela_status choose_real_sample(judge_real_job *job) {
  const tsl_problem *problem = job->element_judge.problem;
  const double limit =
      (double)(job->element_judge.judge->operations_max > 0 ? job->element_judge.judge->operations_max
                                                            : default_operations_max);
  const double depth = (double)(job->element_judge.reads_factors ? problem->k : 0) + ELEMENT_OPERATIONS;
  void *block;
  job->row_count = clamp_between_1_and(limit / ((double)problem->n * depth), problem->m);
  job->col_count = clamp_between_1_and(limit / ((double)job->row_count * depth), problem->n);
  TSL_TRY(
      tsl_alloc((size_t)(job->row_count + job->col_count) * sizeof *job->rows, "the judge's sample", &block));
  job->rows = block;
  job->cols = job->rows + job->row_count;
  draw_sorted_sample(job->rows, job->row_count, problem->m, job->element_judge.judge->seed);
  draw_sorted_sample(job->cols, job->col_count, problem->n, ~job->element_judge.judge->seed);
  job->col_blocks = (job->col_count + BLOCK_COLS - 1) / BLOCK_COLS;
  return TESELA_OK;
}

size_t tsl_judge_real_bytes(int64_t rows, int64_t cols, int64_t terms, const tsl_judge *judge) {
  enum { NUMBERS = 3 };
  const size_t workers = (size_t)tsl_team_threads(tsl_judge_team(judge)),
               draw_sorted_sample = (size_t)(rows + cols) * sizeof(int64_t),
               of_worker = BLOCK_DOUBLES * sizeof(double) + sizeof(judge_real_findings),
               shared = (size_t)PARTS_MAX * NUMBERS * sizeof(double) *
                        (size_t)((rows < BLOCK_ROWS ? rows : BLOCK_ROWS) *
                                 (cols < BLOCK_COLS ? cols : BLOCK_COLS));
  return draw_sorted_sample + workers * of_worker + shared + tsl_reference_bytes(terms);
}

/* Returns a lower block height where a small sample would leave workers idle. */
static int choose_block_rows(const judge_real_job *job, int workers) {
  const int64_t each = job->row_count * job->col_blocks / workers;
  return each < 1 ? 1 : each < BLOCK_ROWS ? (int)each : BLOCK_ROWS;
}

static tesela_status allocate_worker_findings(judge_real_job *job, int count) {
  void *block;
  TSL_TRY(tsl_alloc((size_t)count * BLOCK_DOUBLES * sizeof(double), "the judge's blocks", &block));
  job->workspace = block;
  TSL_TRY(tsl_alloc_zeroed((size_t)count * sizeof *job->worker_findings, "the judge's findings", &block));
  job->worker_findings = block;
  for (int i = 0; i < count; i++) {
    judge_real_findings *found = &job->worker_findings[i];
    found->worst.row = -1;
    found->a = job->workspace + (size_t)i * BLOCK_DOUBLES;
    found->b = found->a + BLOCK_ROWS * BLOCK_DEPTH;
    found->sums.high = found->b + BLOCK_COLS * BLOCK_DEPTH;
    found->sums.magnitude = found->sums.high + BLOCK_ELEMENTS;
    found->sums.low = job->element_judge.sums_in_pairs ? found->sums.magnitude + BLOCK_ELEMENTS : NULL;
  }
  return TESELA_OK;
}

/* Merges the workers' findings into *verdict; returns the number of wrong elements, marked ones included. */
static int64_t merge_findings(const judge_real_job *job, int count, tsl_verdict *verdict) {
  int64_t wrong = 0;
  verdict->row = -1;
  for (int i = 0; i < count; i++) {
    const tsl_verdict *worst = &job->worker_findings[i].worst;
    wrong += job->worker_findings[i].wrong;
    verdict->checked += worst->checked;
    verdict->wrong += worst->wrong;
    verdict->error = fmax(verdict->error, worst->error);
    verdict->grade = fmax(verdict->grade, worst->grade);
    if (worst->row >= 0 && tsl_verdict_is_exceeded(verdict, worst->error_ratio, worst->row, worst->col)) {
      verdict->error_ratio = worst->error_ratio;
      verdict->row = worst->row;
      verdict->col = worst->col;
    }
  }
  verdict->right = wrong == 0;
  return wrong;
}

/* Writes the message about the worst element, after a second computation of its sums. */
static tesela_status explain_worst_element(const judge_real_job *job, int64_t wrong, tsl_verdict *verdict) {
  const int64_t one_row = verdict->row, one_col = verdict->col;
  judge_real_findings *found = &job->worker_findings[0];
  tsl_comparison seen;
  TSL_TRY(sum_terms_of_element(job, one_row, one_col, found));
  tsl_compare_element(&job->element_judge, one_row, one_col, *found->sums.high,
                      found->sums.low ? *found->sums.low : 0, *found->sums.magnitude, &seen);
  tsl_text text = {0};
  tsl_text_add(&text, "C(%lld, %lld) is ", (long long)one_row, (long long)one_col);
  tsl_text_add_double(
      &text, tsl_element_judge_value(&job->element_judge.problem->c, job->element_judge.c, one_row, one_col));
  tsl_text_add(&text, " where ");
  tsl_text_add_double(&text, seen.expected);
  if (isfinite(seen.expected) && seen.bound > 0)
    tsl_text_add(&text, " is right within %.2g", seen.bound);
  else
    tsl_text_add(&text, " is right");
  tsl_text_add(&text, "; %lld of %lld elements are wrong", (long long)wrong, (long long)verdict->checked);
  snprintf(verdict->why, sizeof verdict->why, "%s", tsl_text_get(&text));
  tsl_text_free(&text);
  return TESELA_OK;
}

tesela_status tsl_judge_real(const tsl_problem *problem, const void *a, const void *b, const void *before,
                             const void *c, const tsl_judge *judge, tsl_verdict *verdict) {
  judge_real_job job = {
      .element_judge = {.problem = problem, .a = a, .b = b, .before = before, .c = c, .judge = judge}};
  const tsl_team team = tsl_judge_team(judge);
  const int workers = tsl_team_threads(team);
  tesela_status status = TESELA_OK;
  *verdict = (tsl_verdict){.right = true};
  tsl_element_judge_prepare(&job.element_judge);
  if (problem->m == 0 || problem->n == 0)
    goto out;
  TSL_GO(choose_real_sample(&job));
  TSL_GO(allocate_worker_findings(&job, workers));
  job.block_rows = choose_block_rows(&job, workers);
  const int64_t row_blocks = (job.row_count + job.block_rows - 1) / job.block_rows;
  if (has_few_deep_elements(&job))
    TSL_GO(judge_each_element_by_team(&job));
  else if (is_single_deep_block(&job))
    TSL_GO(judge_single_block(&job, team));
  else
    tsl_team_run(team, row_blocks * job.col_blocks, judge_block, &job);
  const int64_t wrong = merge_findings(&job, workers, verdict);
  if (wrong > 0)
    TSL_GO(explain_worst_element(&job, wrong, verdict));
out:
  tsl_free(job.worker_findings);
  tsl_free(job.workspace);
  tsl_free(job.rows);
  return status;
}
