/* Chooses the strategy and the device, for all rows of C or for a panel. */
#include "core/clock.h"
#include "core/memory.h"
#include "core/scratch.h"
#include "core/status.h"
#include "product/product.h"

#include <math.h>
#include <string.h>

/* Returns the distance between rows of A in memory, where a panel of C is columns of A. */
static int64_t columns_there(const tsl_product *product, int64_t rows) {
  return product->a.held ? product->m : rows;
}

tsl_file_layout tsl_product_layout(const tsl_product *product, int64_t rows) {
  const tsl_product_request *request = &product->request;
  const bool by_columns = request->transpose_a || request->op == TSL_OP_TRANSPOSE;
  const int64_t a_row = by_columns ? 1 : product->k, a_col = by_columns ? columns_there(product, rows) : 1;
  if (request->by_itself)
    return (tsl_file_layout){.a_row = a_row, .a_col = a_col, .b_row = a_col, .b_col = a_row};
  return (tsl_file_layout){.a_row = a_row,
                           .a_col = a_col,
                           .b_row = request->transpose_b ? 1 : product->n,
                           .b_col = request->transpose_b ? product->k : 1};
}

/* A requested plan: the rows of C, and the expected number of runs. */
typedef struct plan_wanted {
  int64_t rows, runs;
  const char *strategy, *device;
} plan_wanted;

static tesela_status plan_create_gemm(const tsl_product *product, const plan_wanted *state,
                                      tesela_plan **plan) {
  const tsl_product_request *request = &product->request;
  tesela_gemm_desc desc = {
      .m = state->rows,
      .n = product->n,
      .k = product->k,
      .a = {.row_stride = request->transpose_a ? columns_there(product, state->rows) : 0,
            .col_stride = request->transpose_a,
            .transpose = request->transpose_a,
            .type = product->types.a,
            .conjugate = request->conjugate_a},
      .b = {.transpose = request->transpose_b, .type = product->types.b, .conjugate = request->conjugate_b},
      .c = {.type = product->types.c},
      .alpha = request->alpha,
      .beta = request->beta,
      .options = tsl_product_plan_options(product, state->device, state->strategy, state->runs),
      .structure.a = request->a_is.structure,
      .structure.a_triangle = request->a_is.triangle,
      .structure.b = request->b_is.structure,
      .structure.b_triangle = request->b_is.triangle,
      .epilogue = &(tesela_epilogue){.bias = {.type = product->bias.as},
                                     .bias_axis = request->bias_axis,
                                     .activation = request->activation,
                                     .scaling_a = product->scalings[0],
                                     .scaling_b = product->scalings[1]}};
  if (request->by_itself) {
    desc.b = desc.a;
    desc.b.transpose = !desc.a.transpose;
    desc.b.conjugate = request->hermitian && !desc.a.conjugate;
    desc.structure.c_triangle = TESELA_LOWER;
    desc.structure.c = request->hermitian ? TESELA_HERMITIAN : TESELA_GENERAL;
  }
  return tesela_plan_create(product->context, &desc, plan);
}

static tesela_status create_dot(const tsl_product *product, const plan_wanted *state, tesela_plan **plan) {
  const tesela_dot_desc desc = {
      .n = product->k,
      .x = {.type = product->types.a},
      .y = {.type = product->types.b},
      .result = {.type = product->types.c},
      .alpha = product->request.alpha,
      .beta = product->request.beta,
      .options = tsl_product_plan_options(product, state->device, state->strategy, state->runs)};
  return tesela_plan_create_dot(product->context, &desc, plan);
}

static tesela_status plan_create_transpose(const tsl_product *product, const plan_wanted *state,
                                           tesela_plan **plan) {
  const bool in_place = product->request.in_place;
  tesela_transpose_desc desc = {
      .rows = product->n,
      .cols = state->rows,
      .b = {.type = product->types.c},
      .in_place = in_place,
      .alpha = product->request.alpha,
      .options = tsl_product_plan_options(product, state->device, state->strategy, state->runs)};
  const int64_t stride = columns_there(product, state->rows);
  if (in_place)
    desc.b.row_stride = stride, desc.b.col_stride = 1;
  else
    desc.a = (tesela_matrix){.row_stride = stride, .col_stride = 1, .type = product->types.a};
  return tesela_plan_create_transpose(product->context, &desc, plan);
}

static tesela_status create_solve(const tsl_product *product, const plan_wanted *state, tesela_plan **plan) {
  const tsl_product_request *request = &product->request;
  const tesela_solve_desc desc = {
      .rows = product->m,
      .cols = product->n,
      .a = {.transpose = request->transpose_a, .type = product->types.a, .conjugate = request->conjugate_a},
      .structure = request->a_is.structure,
      .triangle = request->a_is.triangle,
      .right = request->right,
      .b = {.type = product->types.b},
      .x = {.type = product->types.c},
      .alpha = request->alpha,
      .options = tsl_product_plan_options(product, state->device, state->strategy, state->runs)};
  return tesela_plan_create_solve(product->context, &desc, plan);
}

static tesela_status create(const tsl_product *product, const plan_wanted *work, tesela_plan **plan) {
  static tesela_status (*const create_of[TSL_OP_COUNT])(const tsl_product *product, const plan_wanted *state,
                                                        tesela_plan **plan) = {
      [TSL_OP_GEMM] = plan_create_gemm,
      [TSL_OP_DOT] = create_dot,
      [TSL_OP_TRANSPOSE] = plan_create_transpose,
      [TSL_OP_SOLVE] = create_solve};
  return create_of[product->request.op](product, work, plan);
}

/* Frees *plan and replaces it by `by`, unless `by` is NULL. */
static void plan_replace(tesela_plan **plan, tesela_plan *by) {
  if (!by)
    return;
  tesela_plan_destroy(*plan);
  *plan = by;
}

static int64_t plan_panels_of(const tsl_product *product) {
  return product->panel > 0 ? (product->m + product->panel - 1) / product->panel : 1;
}

/* Returns true if panels run on the device that the whole product would use. If panels prefer
 * another device that could have run the whole product but was slower, that device is excluded. */
static bool goes_as_whole(const tsl_product *product, const tsl_plan_choice *panel) {
  tesela_plan *other = NULL;
  const plan_wanted there = {.rows = product->m,
                             .runs = product->request.repeat,
                             .strategy = tsl_text_get(&panel->name),
                             .device = tsl_text_get(&panel->device)};
  if (strcmp(tsl_text_get(&panel->device), tsl_text_get(&product->of_whole.device)) == 0)
    return true;
  const bool could = create(product, &there, &other) == TESELA_OK;
  tesela_plan_destroy(other);
  return could ||
         product->whole_seconds <= tesela_plan_seconds(product->plan) * (double)plan_panels_of(product);
}

/* Makes a plan on this device by the first of two strategies that can compute so many rows. */
static tesela_status create_by_either(const tsl_product *product, int64_t rows, int64_t runs,
                                      const char *first, const char *second, const char *device,
                                      tesela_plan **plan) {
  plan_wanted wanted = {rows, runs, first, device};
  if (create(product, &wanted, plan) == TESELA_OK)
    return TESELA_OK;
  wanted.strategy = second;
  return create(product, &wanted, plan);
}

/* Gives the panels' plan the parameters of the whole product's plan; if panels refuse them, its
 * strategy. */
static void take_over(tsl_product *product) {
  const tsl_plan_choice *whole = &product->of_whole;
  tesela_plan *made = NULL;
  (void)create_by_either(product, product->panel, product->request.repeat * plan_panels_of(product),
                         tsl_text_get(&whole->strategy), tsl_text_get(&whole->name),
                         tsl_text_get(&whole->device), &made);
  plan_replace(&product->plan, made);
}

/* Follows the plan of all rows, if there is one, so that less memory changes neither the choice nor
 * the bits. */
static tesela_status follow_whole(tsl_product *product) {
  tsl_plan_choice panel;
  tesela_status status = tsl_settle(product->plan, &panel);
  if (status == TESELA_OK && goes_as_whole(product, &panel))
    take_over(product);
  tsl_plan_choice_free(&panel);
  return status;
}

/* Makes the plan of all rows, once, before any plan of fewer rows. The choice counts compile time, and the
 * smaller plans may compile its kernels. A failure is ignored, since panels may still fit. */
static tesela_status ask_whole(tsl_product *product) {
  const tsl_product_request *request = &product->request;
  const plan_wanted of = {
      .rows = product->m, .runs = request->repeat, .strategy = request->strategy, .device = request->device};
  tesela_plan *whole = NULL;
  if (product->whole_seconds != 0)
    return TESELA_OK;
  product->whole_seconds = INFINITY;
  if (create(product, &of, &whole) != TESELA_OK)
    return TESELA_OK;
  product->whole_seconds = tesela_plan_seconds(whole);
  const tesela_status status = tsl_settle(whole, &product->of_whole);
  tesela_plan_destroy(whole);
  return status;
}

static tesela_status choose(tsl_product *product) {
  const tsl_product_request *request = &product->request;
  const bool is_cut = product->panel < product->m;
  tesela_plan *made = NULL;
  if (is_cut)
    TSL_TRY(ask_whole(product));
  TSL_TRY(create(product,
                 &(plan_wanted){.rows = product->panel,
                                .runs = request->repeat * plan_panels_of(product),
                                .strategy = request->strategy,
                                .device = request->device},
                 &made));
  plan_replace(&product->plan, made);
  return is_cut && tsl_text_get(&product->of_whole.name)[0] ? follow_whole(product) : TESELA_OK;
}

/* Makes the plan of the last rows: by the panels' strategy, or by any if that one refuses so few rows. */
static tesela_status plan_last(tsl_product *product) {
  const int64_t remainder = product->panel > 0 ? product->m % product->panel : 0;
  tsl_plan_choice same;
  if (remainder == 0)
    return TESELA_OK;
  tesela_status status = tsl_settle(product->plan, &same);
  if (status == TESELA_OK)
    status = create_by_either(product, remainder, product->request.repeat, tsl_text_get(&same.strategy),
                              product->request.strategy, tsl_text_get(&same.device), &product->last_plan);
  tsl_plan_choice_free(&same);
  return status;
}

tesela_status tsl_product_lacks_memory(tesela_status status) {
  tsl_status_saved saved;
  if (status != TESELA_UNSUPPORTED)
    return status;
  tsl_status_save(&saved);
  return tsl_fail(TESELA_OUT_OF_MEMORY, "%s; allow more with --memory", saved.sentence);
}

/* Counts the workspace of a run. If it does not fit, makes panels smaller; if that is not enough,
 * takes a strategy with less workspace. */
static tesela_status plan_fit_workspace(tsl_product *product, bool doubled) {
  const int64_t panel = product->panel;
  const uint64_t needed = product->memory_needed;
  for (;;) {
    const uint64_t workspace = tsl_plan_extra_host_bytes(product->plan);
    if (workspace <= product->memory - product->memory_needed) {
      product->memory_needed += workspace;
      return TESELA_OK;
    }
    if (!tsl_product_halve_panel(product, doubled))
      break;
    TSL_TRY(choose(product));
  }
  product->panel = panel;
  product->memory_needed = needed;
  tsl_scratch_set_limit(product->memory - needed);
  TSL_TRY(tsl_product_lacks_memory(choose(product)));
  product->memory_needed += tsl_plan_extra_host_bytes(product->plan);
  return TESELA_OK;
}

tesela_status tsl_product_plan(tsl_product *product) {
  const double start = tsl_clock();
  const tsl_product_request *request = &product->request;
  tsl_progress_at(product->progress, "planning", 0);
  product->a.across = request->op == TSL_OP_TRANSPOSE || (request->op == TSL_OP_GEMM && request->transpose_a);
  product->b.held = product->b.reader != NULL;
  product->bias.held = product->bias.reader != NULL;
  for (int i = 0; i < 2; i++)
    product->scales[i].held = product->scales[i].reader != NULL;
  product->c0.held = product->c0.reader && !product->c0.by_rows;
  /* The printed precision of a text file is known only at its end; a file that cannot be read twice
   * is held. */
  product->expected.held =
      product->expected.reader &&
      (!product->expected.by_rows || (product->expected.text && !product->expected.by_columns));
  TSL_TRY(tsl_product_size_panel(product, false));
  TSL_TRY(choose(product));
  const bool doubled = tsl_plan_copies_on_host(product->plan);
  if (doubled) {
    const int64_t before = product->panel;
    const bool held = product->a.held;
    TSL_TRY(tsl_product_size_panel(product, true));
    if (product->panel != before || product->a.held != held)
      TSL_TRY(choose(product));
  }
  TSL_TRY(plan_fit_workspace(product, doubled));
  TSL_TRY(plan_last(product));
  TSL_TRY(tsl_plan_facts_of(product->plan, &product->facts));
  product->seconds[TSL_STAGE_PLAN] = tsl_clock() - start;
  return TESELA_OK;
}
