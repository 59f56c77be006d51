/* Plans the work by blocks: sizes, plans, and the blocks that an earlier run left. */
#include "product/blocks.h"

#include "cli/interrupt.h"
#include "core/clock.h"
#include "core/memory.h"
#include "core/scratch.h"
#include "core/status.h"
#include "core/warnings.h"
#include "explain/plan_facts.h"
#include "product/block_work.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- whether --- */

static bool block_plan_is_plain(const tsl_matrix_source *feed) {
  return !feed->reader || feed->by_blocks;
}

static bool is_pipe(const tsl_matrix_source *feed) {
  return feed->reader && feed->state.size == 0;
}

/* Returns the bytes of all matrices in memory. */
static double all_bytes(const tsl_product *product) {
  const tsl_matrix_source *const feeds[] = {&product->a, &product->b};
  double bytes = (double)product->m * (double)product->n * (double)tsl_type(product->type)->size;
  for (int i = 0; i < 2; i++)
    if (feeds[i]->reader)
      bytes += (double)feeds[i]->rows * (double)feeds[i]->cols * (double)tsl_type(feeds[i]->as)->size;
  return bytes;
}

/* Returns the reason why the work cannot go by blocks; NULL if it can. */
static const char *block_plan_why_not(const tsl_product *product) {
  const tsl_product_request *request = &product->request;
  if (product->m == 0 || product->n == 0 || (request->op == TSL_OP_GEMM && product->k == 0))
    return "there is nothing to compute";
  if (tsl_product_is_structured(product))
    return "matrices with a structure are held whole";
  if (tsl_product_is_finished(product))
    return "--bias, --activation and scales need panels of rows";
  if (request->op == TSL_OP_DOT || request->in_place)
    return "a dot product, and a transpose in place, are held whole";
  if (request->resume && (is_pipe(&product->a) || is_pipe(&product->b) || is_pipe(&product->c0)))
    return "an input is a pipe, which cannot be read again";
  if (request->output && !tsl_io_takes_blocks(request->output, request->format))
    return "the output is no .npy file";
  return NULL;
}

bool tsl_blocks_can(const tsl_product *product) {
  return !block_plan_why_not(product);
}

bool tsl_blocks_wanted(const tsl_product *product) {
  if (block_plan_why_not(product))
    return false;
  return product->request.resume ||
         (block_plan_is_plain(&product->a) && block_plan_is_plain(&product->b) &&
          block_plan_is_plain(&product->c0) && all_bytes(product) > (double)product->memory);
}

tesela_status tsl_blocks_refuse(const tsl_product *product) {
  return tsl_fail(TESELA_BAD_CALL, "--resume needs work by blocks and a .npy output; here %s",
                  block_plan_why_not(product));
}

/* Copies a file that cannot be read by blocks into a temporary file that can. */
static tesela_status spool(const tsl_product *product, tsl_matrix_source *feed) {
  enum { PART = 4 };
  if (block_plan_is_plain(feed))
    return TESELA_OK;
  tsl_progress_at(product->progress, "reading", 0);
  TSL_TRY(tsl_reader_spool(feed->reader, feed->as, product->memory / PART));
  const tsl_file_info *info = tsl_reader_info(feed->reader);
  feed->by_blocks = info->by_blocks;
  feed->columns_first = info->columns_first;
  return TESELA_OK;
}

static tesela_status spool_all(tsl_product *product) {
  const double start = tsl_clock();
  TSL_TRY(spool(product, &product->a));
  TSL_TRY(spool(product, &product->b));
  TSL_TRY(spool(product, &product->c0));
  TSL_TRY(spool(product, &product->expected));
  product->seconds[TSL_STAGE_READ] += tsl_clock() - start;
  return TESELA_OK;
}

/* --- plans --- */

typedef struct block_plan_wanted {
  int64_t rows, cols, depth;
  int64_t a_row, a_col, b_row, b_col; /* strides of the pieces in memory; 0: packed */
  int64_t runs;                       /* the expected number of runs; 0: many */
  bool adds;
  const char *strategy, *device;
} block_plan_wanted;

static tesela_status block_plan_create_gemm(const tsl_product *product, const block_plan_wanted *state,
                                            tesela_plan **plan) {
  static const double one[2] = {1, 0};
  const tsl_product_request *request = &product->request;
  const tesela_gemm_desc desc = {
      .m = state->rows,
      .n = state->cols,
      .k = state->depth,
      .a = {.row_stride = state->a_row,
            .col_stride = state->a_col,
            .transpose = request->transpose_a,
            .type = product->types.a,
            .conjugate = request->conjugate_a},
      .b = {.row_stride = state->b_row,
            .col_stride = state->b_col,
            .transpose = request->transpose_b,
            .type = product->types.b,
            .conjugate = request->conjugate_b},
      .c = {.type = product->types.c},
      .alpha = request->alpha,
      .beta = state->adds ? one : request->beta,
      .options = tsl_product_plan_options(product, state->device, state->strategy, state->runs)};
  return tesela_plan_create(product->context, &desc, plan);
}

static tesela_status block_plan_create_transpose(const tsl_product *product, const block_plan_wanted *state,
                                                 tesela_plan **plan) {
  const tesela_transpose_desc desc = {
      .rows = state->cols,
      .cols = state->rows,
      .a = {.row_stride = state->a_row, .col_stride = state->a_col, .type = product->types.a},
      .b = {.type = product->types.c},
      .alpha = product->request.alpha,
      .options = tsl_product_plan_options(product, state->device, state->strategy, state->runs)};
  return tesela_plan_create_transpose(product->context, &desc, plan);
}

static tesela_status block_plan_create(const tsl_product *product, const block_plan_wanted *state,
                                       tesela_plan **plan) {
  return product->request.op == TSL_OP_GEMM ? block_plan_create_gemm(product, state, plan)
                                            : block_plan_create_transpose(product, state, plan);
}

/* Makes a plan with the strategy and parameters of the whole product's plan. If a block refuses the
 * parameters, keeps the strategy; if it refuses the strategy, takes any. */
static tesela_status create_like(const tsl_product *product, block_plan_wanted *state, tesela_plan **plan) {
  const tsl_plan_choice *like = &product->blocks->like;
  const char *const strategies[] = {tsl_text_get(&like->strategy), tsl_text_get(&like->name)};
  state->device = tsl_text_get(&like->device);
  for (int i = 0; i < 2; i++) {
    state->strategy = strategies[i];
    if (block_plan_create(product, state, plan) == TESELA_OK)
      return TESELA_OK;
  }
  state->strategy = product->request.strategy;
  return block_plan_create(product, state, plan);
}

tesela_status tsl_blocks_plan_of(tsl_product *product, const tsl_block_step *step, tesela_plan **plan) {
  tsl_blocks *blocks = product->blocks;
  const bool adds = !step->is_first;
  for (int64_t i = 0; i < blocks->plan_count; i++) {
    const tsl_block_plan *known = &blocks->plans[i];
    if (known->rows == step->c.rows && known->cols == step->c.cols && known->depth == step->depth &&
        known->adds == adds) {
      *plan = known->plan;
      return TESELA_OK;
    }
  }
  const tsl_rectangle a = tsl_blocks_piece_of_a(product, step), b = tsl_blocks_piece_of_b(product, step);
  block_plan_wanted of = {.rows = step->c.rows, .cols = step->c.cols, .depth = step->depth, .adds = adds};
  tsl_blocks_strides(&product->a, &a, &of.a_row, &of.a_col);
  tsl_blocks_strides(&product->b, &b, &of.b_row, &of.b_col);
  tsl_block_plan *more = realloc(blocks->plans, (size_t)(blocks->plan_count + 1) * sizeof *more);
  if (!more)
    return tsl_fail(TESELA_OUT_OF_MEMORY, "no memory for a plan");
  blocks->plans = more;
  TSL_TRY(create_like(product, &of, plan));
  more[blocks->plan_count++] = (tsl_block_plan){of.rows, of.cols, of.depth, adds, *plan};
  return TESELA_OK;
}

/* Makes the plan of the whole product, for its rows in memory and the number of runs. If no
 * strategy takes it, makes a plan of one block by any strategy. */
static tesela_status plan_whole(tsl_product *product, const char *strategy, const char *device) {
  tsl_blocks *blocks = product->blocks;
  block_plan_wanted of = {.rows = product->m,
                          .cols = product->n,
                          .depth = product->k,
                          .runs = product->request.repeat,
                          .strategy = strategy,
                          .device = device};
  if (block_plan_create(product, &of, &blocks->whole) == TESELA_OK) {
    blocks->is_doubled = tsl_plan_copies_on_host(blocks->whole);
    return tsl_settle(blocks->whole, &blocks->like);
  }
  enum { SOME = 2048 };
  of.rows = of.rows < SOME ? of.rows : SOME;
  of.cols = of.cols < SOME ? of.cols : SOME;
  of.runs = 0;
  blocks->whole = NULL;
  TSL_TRY(block_plan_create(product, &of, &blocks->some));
  blocks->is_doubled = tsl_plan_copies_on_host(blocks->some);
  return tsl_settle(blocks->some, &blocks->like);
}

/* --- sizes --- */

bool tsl_blocks_keep_c(const tsl_product *product) {
  return product->request.verify || product->request.repeat > 1;
}

/* Returns the smallest part of k that may be summed in a call of its own; 0: k must not be cut. */
static int64_t block_plan_step_of(const tsl_product *product) {
  enum { LEAST = 64, MOST = 4096 };
  for (int64_t most = LEAST; product->blocks->whole && most <= MOST; most *= 2) {
    const int64_t step = tsl_plan_part_of_k(product->blocks->whole, product->m, product->n, 0, most);
    if (step > 0)
      return step;
  }
  return 0;
}

static tsl_block_wish wish_of(const tsl_product *product) {
  static const double longest_seconds = 300;
  enum { RESERVE_MAX = 64 << 20, RESERVE_PART = 6 };
  const tsl_product_request *request = &product->request;
  const bool is_gemm = request->op == TSL_OP_GEMM;
  const uint64_t part = product->memory / RESERVE_PART, reserve = part < RESERVE_MAX ? part : RESERVE_MAX;
  const double seconds =
      product->blocks->whole ? tesela_plan_seconds(product->blocks->whole) * (double)request->repeat : 0;
  return (tsl_block_wish){.m = product->m,
                          .n = product->n,
                          .k = is_gemm ? product->k : 0,
                          .step = is_gemm ? block_plan_step_of(product) : 0,
                          .a_bytes = (int64_t)tsl_type(product->types.a)->size,
                          .b_bytes = is_gemm ? (int64_t)tsl_type(product->types.b)->size : 0,
                          .c_bytes = (int64_t)tsl_type(product->types.c)->size,
                          .c_beside =
                              tsl_blocks_keep_c(product) ? (int64_t)tsl_type(product->types.c)->size : 0,
                          .a_along_k = product->a.columns_first == (is_gemm ? request->transpose_a : true),
                          .b_along_k = product->b.columns_first != request->transpose_b,
                          .memory = (product->memory - reserve - tsl_block_expect_room(product)) /
                                    (product->blocks->is_doubled ? 2 : 1),
                          .most_elements = (double)product->m * (double)product->n *
                                           (seconds > longest_seconds ? longest_seconds / seconds : 1)};
}

static tesela_status fail_size(const tsl_product *product, const tsl_block_wish *wish) {
  char memory[32];
  tsl_format_bytes(product->memory, memory, sizeof memory);
  if (wish->k == 0 || wish->step > 0)
    return tsl_fail(TESELA_OUT_OF_MEMORY,
                    "not even one block fits into %s of memory; allow more with --memory", memory);
  return tsl_fail(TESELA_OUT_OF_MEMORY,
                  "%s of memory is too little for two rows of A, two columns of B and two elements of C; %s "
                  "sums over all of k at once. Allow more with --memory",
                  memory, tsl_text_get(&product->blocks->like.name));
}

/* Returns the bytes that a block of this size takes in addition to its operands; UINT64_MAX: no
 * plan takes it. */
static uint64_t block_plan_workspace_of(tsl_product *product, const tsl_block_size *size) {
  const tsl_block_step step = {.c = {.rows = size->rows, .cols = size->cols},
                               .depth = size->depth,
                               .is_first = true,
                               .is_last = size->depth >= product->k};
  tesela_plan *plan;
  return tsl_blocks_plan_of(product, &step, &plan) == TESELA_OK ? tsl_plan_extra_host_bytes(plan)
                                                                : UINT64_MAX;
}

/* Makes blocks smaller until they and their workspace fit into memory; returns false if even the
 * smallest do not. */
static bool block_plan_fit_workspace(tsl_product *product, tsl_block_wish wish, tsl_block_size *size) {
  enum { TRIES = 8 };
  const uint64_t memory = product->memory - tsl_block_expect_room(product);
  for (int i = 0; i < TRIES; i++) {
    const uint64_t held = size->memory * (product->blocks->is_doubled ? 2 : 1),
                   workspace = block_plan_workspace_of(product, size);
    if (held <= memory && workspace <= memory - held) {
      product->workspace = workspace;
      return true;
    }
    wish.memory = wish.memory / 3 * 2;
    if (!tsl_block_choose(&wish, size))
      return false;
  }
  return false;
}

/* Chooses the largest blocks that fit into memory, or the block size of an earlier run. *fits: the workspace
 * fits, too. */
static tesela_status choose_size(tsl_product *product, const char *argument, bool *fits) {
  tsl_blocks *blocks = product->blocks;
  const tsl_block_wish wish = wish_of(product);
  tsl_block_size *size = &blocks->size;
  int down_first;
  *fits = true;
  if (!argument) {
    if (!tsl_block_choose(&wish, size))
      return fail_size(product, &wish);
    const tsl_block_size largest = *size;
    *fits = block_plan_fit_workspace(product, wish, size);
    if (!*fits)
      *size = largest;
  } else {
    long long rows, cols;
    char memory[32];
    if (sscanf(argument, "%lld %lld %d", &rows, &cols, &down_first) != 3 || rows < 1 || cols < 1)
      return tsl_fail(TESELA_BAD_INPUT, "%s: its journal is damaged; remove it", product->request.output);
    *size = (tsl_block_size){.rows = rows, .cols = cols, .down_first = down_first == 1};
    if (!tsl_block_fit(&wish, size))
      return tsl_fail(
          TESELA_OUT_OF_MEMORY,
          "the blocks of %lld x %lld that were begun do not fit into %s; allow more with --memory", rows,
          cols, tsl_format_bytes(product->memory, memory, sizeof memory));
  }
  blocks->can_cut = wish.k > 0 && wish.step > 0;
  blocks->down = (product->m - 1) / size->rows + 1;
  blocks->across = (product->n - 1) / size->cols + 1;
  blocks->count = blocks->down * blocks->across;
  product->panel = size->rows;
  product->memory_needed =
      size->memory * (blocks->is_doubled ? 2 : 1) + product->workspace + tsl_block_expect_bytes(product);
  return TESELA_OK;
}

/* --- the files of an earlier run --- */

static tesela_status block_plan_look(tsl_product *product, tsl_resumable **found) {
  const tsl_product_request *request = &product->request;
  *found = NULL;
  if (!request->output)
    return TESELA_OK;
  tsl_interrupt_hold();
  const tesela_status status = tsl_resumable_open(request->output, found);
  if (status == TESELA_OK && tsl_resumable_finished_blocks(*found) == 0)
    tsl_interrupt_guard_two(tsl_resumable_data_name(*found), tsl_resumable_journal_name(*found));
  else
    tsl_interrupt_guard(NULL);
  if (status != TESELA_OK || tsl_resumable_finished_blocks(*found) == 0)
    return status;
  if (request->resume)
    return tsl_blocks_check(product, *found);
  return tsl_fail(
      TESELA_BAD_CALL,
      "%s: an earlier run was interrupted and left %lld blocks of it; --resume goes on with them, and "
      "without %s there are none",
      request->output, (long long)tsl_resumable_finished_blocks(*found), tsl_resumable_journal_name(*found));
}

/* Takes the blocks of an earlier run whose checksums still hold; the others are computed again. */
static tesela_status check_left(tsl_product *product) {
  tsl_blocks *blocks = product->blocks;
  const int64_t left = tsl_resumable_finished_blocks(blocks->part);
  for (int64_t i = 0; i < blocks->count; i++) {
    const tsl_rectangle block = tsl_blocks_at(product, i);
    bool good = tsl_resumable_is_finished(blocks->part, i);
    tsl_progress_at(product->progress, "checking the blocks that are left",
                    (double)i / (double)blocks->count);
    if (good)
      TSL_TRY(tsl_resumable_check_block(blocks->part, &block, i, &good));
    blocks->was_done[i] = good;
    blocks->resumed += good;
  }
  if (blocks->resumed < left)
    tsl_notice(TSL_LOG_PLAN,
               "%s: %lld of %lld blocks that an earlier run left were altered since; they are computed again",
               product->request.output, (long long)(left - blocks->resumed), (long long)left);
  return TESELA_OK;
}

/* Creates the output's temporary file with its full size, or opens the file of an earlier run. */
static tesela_status block_plan_take_part(tsl_product *product) {
  tsl_blocks *blocks = product->blocks;
  const tsl_rectangle whole = {.rows = product->m, .cols = product->n};
  void *flags;
  TSL_TRY(tsl_alloc_zeroed((size_t)blocks->count, "a list of blocks", &flags));
  blocks->was_done = flags;
  if (!blocks->part)
    return TESELA_OK;
  if (tsl_resumable_finished_blocks(blocks->part) == 0) {
    tsl_text lines = {0};
    tesela_status status = tsl_blocks_describe(product, &lines);
    if (status == TESELA_OK)
      status = tsl_resumable_begin(blocks->part, &whole, product->type, blocks->count, tsl_text_get(&lines));
    tsl_text_free(&lines);
    return status;
  }
  tsl_interrupt_tell(tsl_blocks_kept, tsl_resumable_data_name(blocks->part));
  TSL_TRY(tsl_resumable_continue(blocks->part, &whole, product->type, blocks->count));
  return check_left(product);
}

/* Returns a copy of the journal's text for `word`, since the next query overwrites it. Returns NULL
 * if there is none or no journal. */
static char *copy_said(const tsl_resumable *part, const char *word) {
  const char *said =
      part && tsl_resumable_finished_blocks(part) > 0 ? tsl_resumable_earlier_line(part, word) : NULL;
  return said ? strdup(said) : NULL;
}

/* Returns the first of the three texts that is set: the journal's, the chosen one ("": unset), the
 * user's. */
static const char *first_said(const char *journal, const char *chosen, const char *asked) {
  return journal ? journal : chosen[0] ? chosen : asked;
}

static void free_plans(tsl_blocks *blocks) {
  for (int64_t i = 0; i < blocks->plan_count; i++)
    tesela_plan_destroy(blocks->plans[i].plan);
  tesela_plan_destroy(blocks->whole);
  tesela_plan_destroy(blocks->some);
  free(blocks->plans);
  tsl_plan_choice_free(&blocks->like);
  blocks->plans = NULL;
  blocks->plan_count = 0;
  blocks->whole = blocks->some = NULL;
}

/* Plans again with strategies whose workspace fits into the memory that blocks leave. */
static tesela_status plan_with_less(tsl_product *product) {
  const tsl_block_size *size = &product->blocks->size;
  const uint64_t held = size->memory * (product->blocks->is_doubled ? 2 : 1) + tsl_block_expect_room(product);
  bool fits;
  tsl_scratch_set_limit(held < product->memory ? product->memory - held : 0);
  free_plans(product->blocks);
  TSL_TRY(tsl_product_lacks_memory(plan_whole(product, product->request.strategy, product->request.device)));
  TSL_TRY(choose_size(product, NULL, &fits));
  return fits ? TESELA_OK
              : tsl_fail(TESELA_OUT_OF_MEMORY,
                         "no strategy takes blocks in %llu bytes of memory; allow more with --memory",
                         (unsigned long long)product->memory);
}

/* Makes sizes and plans as the journal describes them, if there is one. Else uses the choices made
 * before panels turned out not to fit. */
static tesela_status plan_as_said(tsl_product *product, const char *strategy, const char *device,
                                  const char *size) {
  const tsl_product_request *request = &product->request;
  const tsl_plan_choice *chosen = &product->of_whole;
  bool fits;
  TSL_TRY(plan_whole(product, first_said(strategy, tsl_text_get(&chosen->strategy), request->strategy),
                     first_said(device, tsl_text_get(&chosen->device), request->device)));
  TSL_TRY(choose_size(product, size, &fits));
  if (!fits)
    TSL_TRY(plan_with_less(product));
  return block_plan_take_part(product);
}

tesela_status tsl_blocks_plan(tsl_product *product) {
  const double start = tsl_clock();
  void *made;
  TSL_TRY(tsl_alloc_zeroed(sizeof(tsl_blocks), "blocks", &made));
  tsl_blocks *blocks = product->blocks = made;
  TSL_TRY(block_plan_look(product, &blocks->part));
  char *const strategy = copy_said(blocks->part, "strategy"),
              *const device = copy_said(blocks->part, "device"),
              *const size = copy_said(blocks->part, "size");
  tesela_status status = plan_as_said(product, strategy, device, size);
  free(strategy);
  free(device);
  free(size);
  product->seconds[TSL_STAGE_PLAN] += tsl_clock() - start;
  if (status == TESELA_OK)
    status = spool_all(product);
  if (status == TESELA_OK)
    status = tsl_plan_facts_of(blocks->whole ? blocks->whole : blocks->some, &product->facts);
  return status;
}

void tsl_blocks_free(tsl_blocks *blocks) {
  if (!blocks)
    return;
  free_plans(blocks);
  tsl_resumable_close(blocks->part);
  tsl_free(blocks->was_done);
  tsl_free(blocks);
}
