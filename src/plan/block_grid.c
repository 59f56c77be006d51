#include "plan/block_grid.h"

#include "core/log.h"
#include "core/memory.h"
#include "core/status.h"
#include "strategy/support.h"

#include <math.h>
#include <string.h>

/* Granularity of block sizes, which keeps rows aligned; maximum blocks along a dimension. */
enum { GRAIN = 256, BLOCKS_MAX = 8 };

static tsl_block_grid whole_grid(const tsl_problem *problem) {
  return (tsl_block_grid){problem->m, problem->n, problem->m, problem->n, 1, 1};
}

/* Returns the size of each of at most `blocks` equal blocks, rounded up to GRAIN if they are large. */
static int64_t block_grid_share(int64_t size, int64_t blocks) {
  const int64_t even = (size + blocks - 1) / blocks;
  return size < GRAIN * blocks ? even : (even + GRAIN - 1) / GRAIN * GRAIN;
}

/* Returns `number` as an integer from 1 to `most`. */
static int64_t block_grid_clamp(double number, int64_t most) {
  return number < 1 ? 1 : number > (double)most ? most : (int64_t)number;
}

/* Returns the grid of at most so many equal blocks along each dimension. */
static tsl_block_grid block_grid_cut(const tsl_problem *problem, int64_t rows, int64_t cols) {
  tsl_block_grid grid = whole_grid(problem);
  grid.rows = block_grid_share(problem->m, rows < problem->m ? rows : problem->m);
  grid.cols = block_grid_share(problem->n, cols < problem->n ? cols : problem->n);
  grid.row_blocks = (int)((problem->m + grid.rows - 1) / grid.rows);
  grid.col_blocks = (int)((problem->n + grid.cols - 1) / grid.cols);
  return grid;
}

tsl_block_grid tsl_block_grid_of(const tsl_problem *problem, int64_t block) {
  const double all = (double)problem->m * (double)problem->n / (double)block;
  const double side = sqrt((double)block);
  /* square blocks need the smallest panels of A and B */
  const int64_t rows = block_grid_clamp((double)problem->m / side + 0.5, BLOCKS_MAX);
  const int64_t cols = block_grid_clamp(all / (double)rows + 0.5, BLOCKS_MAX);
  const int64_t more = block_grid_clamp(all / (double)cols + 0.5, BLOCKS_MAX);
  return block_grid_cut(problem, more, cols);
}

tsl_copy_part tsl_block_grid_part(const tsl_block_grid *grid, int i, int j) {
  const int64_t row = i * grid->rows, col = j * grid->cols;
  return (tsl_copy_part){row, i + 1 < grid->row_blocks ? grid->rows : grid->m - row, col,
                         j + 1 < grid->col_blocks ? grid->cols : grid->n - col};
}

/* Chooses the panel with more multiply-adds a byte: a panel of A meets all columns that have arrived. */
bool tsl_block_grid_next(const tsl_block_grid *grid, const tsl_problem *problem,
                         tsl_panel_arrivals *arrivals) {
  const double a_bytes = (double)tsl_type(problem->a.type)->size,
               b_bytes = (double)tsl_type(problem->b.type)->size;
  if (arrivals->a == 0) {
    *arrivals = (tsl_panel_arrivals){1, 1, true};
    return true;
  }
  const bool a_left = arrivals->a < grid->row_blocks, b_left = arrivals->b < grid->col_blocks;
  if (!a_left && !b_left)
    return false;
  const double by_a = (double)(arrivals->b * grid->cols) / a_bytes,
               by_b = (double)(arrivals->a * grid->rows) / b_bytes;
  arrivals->a_is_new = a_left && (!b_left || by_a >= by_b);
  arrivals->a += arrivals->a_is_new;
  arrivals->b += !arrivals->a_is_new;
  return true;
}

bool tsl_block_grid_block(const tsl_panel_arrivals *arrivals, int index, int *i, int *j) {
  *i = arrivals->a_is_new ? arrivals->a - 1 : index;
  *j = arrivals->a_is_new ? index : arrivals->b - 1;
  return index < (arrivals->a_is_new ? arrivals->b : arrivals->a);
}

tsl_block_seconds tsl_block_seconds_even(const tsl_block_grid *grid, double compute) {
  const double area = (double)grid->m * (double)grid->n;
  tsl_block_seconds seconds;
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2; j++) {
      const tsl_copy_part part =
          tsl_block_grid_part(grid, i ? grid->row_blocks - 1 : 0, j ? grid->col_blocks - 1 : 0);
      seconds.of[i][j] = compute * (double)part.rows * (double)part.cols / area;
    }
  return seconds;
}

bool tsl_block_grid_is_duplex(const tsl_device *device) {
  return device->ops->event_done != NULL;
}

/* Blocks are computed when their panels have arrived, and copied out when they are computed, or not before
 * all panels are in. */
double tsl_block_grid_seconds(const tsl_block_grid *grid, const tsl_problem *problem,
                              const tsl_block_rates *rates, const tsl_block_seconds *compute) {
  const bool reads = tsl_problem_reads(problem, TSL_OPERAND_A),
             reads_c = tsl_problem_reads(problem, TSL_OPERAND_C);
  const double all_a = reads ? tsl_problem_operand_bytes(problem, TSL_OPERAND_A) : 0,
               all_b = reads ? tsl_problem_operand_bytes(problem, TSL_OPERAND_B) : 0,
               all_c = tsl_problem_operand_bytes(problem, TSL_OPERAND_C);
  const double a = all_a / (double)problem->m, b = all_b / (double)problem->n,
               c = all_c / ((double)problem->m * (double)problem->n);
  const double all_in = (all_a + all_b + (reads_c ? all_c : 0)) / rates->in, all_out = all_c / rates->out;
  const double slower =
      rates->both && all_in > 0 ? tsl_staging_both_directions(all_in, all_out) / fmax(all_in, all_out) : 1;
  double in = 0, done = 0, ready[TSL_PIPELINE_BLOCKS], size[TSL_PIPELINE_BLOCKS];
  tsl_panel_arrivals arrivals = {0};
  int count = 0;
  while (tsl_block_grid_next(grid, problem, &arrivals)) {
    const tsl_copy_part last = tsl_block_grid_part(grid, arrivals.a - 1, arrivals.b - 1);
    const bool are_first = arrivals.a == 1 && arrivals.b == 1;
    in += are_first || arrivals.a_is_new ? slower * a * (double)last.rows / rates->in : 0;
    in += are_first || !arrivals.a_is_new ? slower * b * (double)last.cols / rates->in : 0;
    int i, j;
    for (int index = 0; tsl_block_grid_block(&arrivals, index, &i, &j); index++) {
      const tsl_copy_part part = tsl_block_grid_part(grid, i, j);
      size[count] = (double)part.rows * (double)part.cols;
      in += reads_c ? slower * c * size[count] / rates->in : 0;
      done = fmax(done, in) + compute->of[i + 1 == grid->row_blocks][j + 1 == grid->col_blocks];
      ready[count++] = done;
    }
  }
  double out = rates->both ? 0 : in;
  for (int i = 0; i < count; i++)
    out = fmax(out, ready[i]) + c * size[i] / rates->out;
  return out;
}

/* Returns the problem of a block of this size, without the epilogue if the strategy does not fuse it. */
static tsl_problem block_grid_problem_of(const tsl_work *work, const tsl_copy_part *part) {
  const tsl_problem *whole = &work->problem;
  tsl_problem block = work->fuses_epilogue ? *whole : tsl_problem_drop_epilogue(whole);
  block.m = block.a.rows = block.c.rows = part->rows;
  block.n = block.b.cols = block.c.cols = part->cols;
  if (block.bias_axis == TESELA_BIAS_ROW)
    block.bias.cols = part->cols;
  else if (block.bias_axis == TESELA_BIAS_COLUMN)
    block.bias.rows = part->rows;
  return block;
}

/* Predicts the seconds of the blocks of a grid by the strategy's model; false: it cannot. */
static bool predict_blocks(const tsl_work *work, const tsl_block_grid *grid, tsl_block_seconds *seconds) {
  const tsl_strategy *strategy = work->strategy;
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2; j++) {
      const tsl_copy_part part =
          tsl_block_grid_part(grid, i ? grid->row_blocks - 1 : 0, j ? grid->col_blocks - 1 : 0);
      const tsl_problem block = block_grid_problem_of(work, &part);
      seconds->of[i][j] = seconds->of[0][0];
      if ((i || j) && part.rows == grid->rows && part.cols == grid->cols)
        continue;
      if (tsl_strategy_refuse(strategy, &block, &work->config, work->device))
        return false;
      seconds->of[i][j] = strategy->score(&block, &work->config, work->device);
      if (!(seconds->of[i][j] > 0) || !isfinite(seconds->of[i][j]))
        return false;
    }
  return true;
}

/* Returns false for vendors' libraries, which allocate for each work, and structures with empty blocks. */
static bool may_cut(const tsl_work *work) {
  return work->strategy->op == TSL_OP_GEMM && !work->strategy->vendor.load &&
         !tsl_problem_has_structure(&work->problem) && tsl_problem_reads(&work->problem, TSL_OPERAND_A);
}

/* A grid, the seconds of its blocks by the strategy's model, and the simulated seconds of a run. */
typedef struct grid_choice {
  tsl_block_grid grid;
  tsl_block_seconds compute;
  double seconds;
} grid_choice;

/* Inserts a grid into choices in ascending order of seconds; equal ones stay in the order of insertion. */
static void insert_choice(grid_choice *choices, int count, const grid_choice *choice) {
  for (; count > 0 && choices[count - 1].seconds > choice->seconds; count--)
    choices[count] = choices[count - 1];
  choices[count] = *choice;
}

/* Lists grids in ascending order of simulated seconds, and returns their number, at least 1. Without
 * a model, or with blocks of a given size, there is one grid. */
static int rank_grids(const tsl_work *work, const tsl_staging_sizes *sizes,
                      grid_choice choices[TSL_PIPELINE_BLOCKS]) {
  const tsl_problem *problem = &work->problem;
  const double link = tsl_staging_link_rate(work->device);
  const tsl_block_rates rates = {link, link, tsl_block_grid_is_duplex(work->device)};
  const tsl_block_grid usual = tsl_block_grid_of(problem, sizes->block);
  int count = 0;
  choices[0] = (grid_choice){.grid = may_cut(work) ? usual : whole_grid(problem)};
  if (!may_cut(work) || sizes->is_given || !work->strategy->score || !(link > 0))
    return 1;
  for (int64_t rows = 1; rows <= usual.row_blocks; rows++)
    for (int64_t cols = 1; cols <= usual.col_blocks; cols++) {
      grid_choice choice = {.grid = block_grid_cut(problem, rows, cols)};
      const bool is_listed = choice.grid.row_blocks < rows || choice.grid.col_blocks < cols;
      if (is_listed || !predict_blocks(work, &choice.grid, &choice.compute))
        continue;
      choice.seconds = tsl_block_grid_seconds(&choice.grid, problem, &rates, &choice.compute);
      insert_choice(choices, count++, &choice);
    }
  return count > 0 ? count : 1;
}

tsl_block_grid tsl_block_grid_for(const tsl_work *work, const tsl_staging_sizes *sizes,
                                  tsl_block_seconds *compute) {
  grid_choice choices[TSL_PIPELINE_BLOCKS];
  (void)rank_grids(work, sizes, choices);
  *compute = choices[0].compute;
  return choices[0].grid;
}

/* Creates the work of a kind of blocks, only from the whole product's kernels, which passed the self-test. */
static tesela_status block_grid_make(const tsl_work *whole, const tsl_copy_part *part, tsl_pipeline_plan *cut,
                                     tsl_work **out) {
  tsl_work *made = &cut->made[cut->made_count];
  *made = (tsl_work){.strategy = whole->strategy,
                     .problem = block_grid_problem_of(whole, part),
                     .config = whole->config,
                     .device = whole->device,
                     .fuses_epilogue = whole->fuses_epilogue,
                     .forbid_compile = true,
                     .subplans = &cut->children};
  const char *why = tsl_strategy_refuse(made->strategy, &made->problem, &made->config, made->device);
  if (why)
    return tsl_fail(TESELA_UNSUPPORTED, "%s", why);
  if (made->strategy->build)
    TSL_TRY(made->strategy->build(made));
  cut->made_count++;
  *out = made;
  if (made->source_count != whole->source_count || made->source_hash.high != whole->source_hash.high ||
      made->source_hash.low != whole->source_hash.low)
    return tsl_fail(TESELA_UNSUPPORTED, "a block takes other kernels");
  return TESELA_OK;
}

static void block_grid_release(tsl_pipeline_plan *cut) {
  for (int i = 0; i < cut->made_count; i++)
    if (cut->made[i].strategy->release)
      cut->made[i].strategy->release(&cut->made[i]);
  memset(cut->works, 0, sizeof cut->works);
  cut->made_count = 0;
}

static void raise_scratch(const tsl_work *work, tsl_pipeline_plan *cut) {
  const size_t bytes = (size_t)tsl_work_workspace(work);
  cut->scratch = bytes > cut->scratch ? bytes : cut->scratch;
}

/* Creates the works of all kinds of blocks; kinds of equal size share one. */
static tesela_status block_grid_make_all(const tsl_work *whole, tsl_pipeline_plan *cut) {
  const tsl_block_grid *grid = &cut->grid;
  const int last_row = grid->row_blocks - 1, last_col = grid->col_blocks - 1;
  const tsl_copy_part first = tsl_block_grid_part(grid, 0, 0),
                      last = tsl_block_grid_part(grid, last_row, last_col);
  const bool same_rows = first.rows == last.rows, same_cols = first.cols == last.cols;
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2; j++) {
      tsl_work **work_slot = &cut->works[i][j];
      if (i == 1 && same_rows) {
        *work_slot = cut->works[0][j];
      } else if (j == 1 && same_cols) {
        *work_slot = cut->works[i][0];
      } else {
        const tsl_copy_part part = tsl_block_grid_part(grid, i ? last_row : 0, j ? last_col : 0);
        TSL_TRY(block_grid_make(whole, &part, cut, work_slot));
        raise_scratch(*work_slot, cut);
      }
    }
  return TESELA_OK;
}

/* Cuts C by the fastest grid whose blocks take the whole product's kernels; the last block of a row is often
 * smaller, and may take others. Without such a grid, or if it is slower, C stays whole. */
static void block_grid_cut_fastest(const tsl_work *work, tsl_pipeline_plan *cut) {
  grid_choice choices[TSL_PIPELINE_BLOCKS];
  tsl_status_saved saved;
  const int count = rank_grids(work, &cut->sizes, choices);
  int tried = 0;
  tsl_status_save(&saved);
  for (; tried < count; tried++) {
    cut->grid = choices[tried].grid;
    if (cut->grid.row_blocks * cut->grid.col_blocks == 1 || block_grid_make_all(work, cut) == TESELA_OK)
      break;
    block_grid_release(cut);
    cut->grid = whole_grid(&work->problem);
  }
  if (tried > 0)
    tsl_log(TSL_LOG_PLAN, "%s on %s computes C in %d x %d blocks, after %d other grids: %s",
            work->strategy->name, work->device->name, cut->grid.row_blocks, cut->grid.col_blocks, tried,
            tesela_last_error());
  tsl_status_restore(&saved);
}

tesela_status tsl_pipeline_plan_create(const tsl_work *work, tsl_pipeline_plan **cut) {
  tsl_staging_sizes sizes;
  void *block;
  *cut = NULL;
  if (work->strategy->op != TSL_OP_GEMM || tsl_problem_batch(&work->problem) != 1 || work->problem.m == 0 ||
      work->problem.n == 0 || !tsl_staging_sizes_of(work->device, &sizes))
    return TESELA_OK;
  TSL_TRY(tsl_alloc_zeroed(sizeof **cut, "a plan's blocks", &block));
  tsl_pipeline_plan *made = block;
  made->children = *work->subplans;
  made->children.choice = NULL;
  made->children.for_blocks = true;
  made->sizes = sizes;
  block_grid_cut_fastest(work, made);
  if (made->made_count == 0)
    raise_scratch(work, made);
  *cut = made;
  return TESELA_OK;
}

void tsl_pipeline_plan_destroy(tsl_pipeline_plan *cut) {
  if (!cut)
    return;
  block_grid_release(cut);
  tsl_free(cut);
}

const tsl_work *tsl_pipeline_plan_work(const tsl_pipeline_plan *cut, const tsl_work *whole, int i, int j) {
  const tsl_work *block_work = cut->works[i + 1 == cut->grid.row_blocks][j + 1 == cut->grid.col_blocks];
  return block_work ? block_work : whole;
}
