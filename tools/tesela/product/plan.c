/* Planning: how many rows of C at once, and which strategy on which device. */
#include "api/api.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/status.h"
#include "product/product.h"
#include "tune/choose.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PANEL_MULTIPLE = 64 };

/* Sizes that do not fit into 64 bits are larger than any memory, so they stop at the largest number. */
static uint64_t product_of(uint64_t a, uint64_t b) {
  size_t result;
  return tsl_size_mul(a, b, &result) ? result : UINT64_MAX;
}

static uint64_t sum_of(uint64_t a, uint64_t b) {
  size_t result;
  return tsl_size_add(a, b, &result) ? result : UINT64_MAX;
}

bool tsl_product_keeps_before(const tsl_product *product) {
  const tsl_product_request *request = &product->request;
  return !request->in_place && (request->beta[0] != 0 || request->beta[1] != 0) &&
         (request->verify || request->expected || request->repeat > 1);
}

/* The problem of `rows` rows of C, the strides being those of what is held. */
static tesela_status problem_of(const tsl_product *product, int64_t rows, tsl_problem *problem) {
  const tsl_product_request *given = &product->request;
  const int64_t across = product->a.held ? product->m : rows; /* columns of A that are there */
  const bool by_columns = given->transpose_a || given->op == TSL_OP_TRANSPOSE;
  const tsl_request request = {.op = given->op,
                               .m = rows,
                               .n = product->n,
                               .k = product->k,
                               .sizes = {"the rows of C", "the columns of C", "the columns of A"},
                               .matrices = {{.row_stride = by_columns ? across : 0,
                                             .col_stride = by_columns,
                                             .transpose = given->transpose_a,
                                             .type = product->types.a,
                                             .conjugate = given->conjugate_a},
                                            {.transpose = given->transpose_b,
                                             .type = product->types.b,
                                             .conjugate = given->conjugate_b},
                                            {.type = product->types.c}},
                               .fields = {"A", "B", "C"},
                               .in_place = given->in_place,
                               .alpha = given->alpha,
                               .beta = given->beta};
  return tsl_api_problem(&request, problem);
}

/* Host bytes that are needed whatever the panel, and for each row of it. */
typedef struct need {
  uint64_t fixed, row;
} need;

static void add_feed(const tsl_feed *feed, need *out) {
  if (!feed->reader)
    return;
  const int64_t length = feed->across && !feed->held ? feed->rows : feed->cols;
  const uint64_t row = product_of((uint64_t)length, tsl_type(feed->as)->size);
  if (feed->held)
    out->fixed = sum_of(out->fixed, product_of((uint64_t)feed->rows, row));
  else
    out->row = sum_of(out->row, row);
}

/* `doubled`: the device computes in the host's memory, on copies of its own. */
static need host_need(const tsl_product *product, bool doubled) {
  const uint64_t c_row = product_of((uint64_t)product->n, tsl_type(product->type)->size);
  need out = {0};
  add_feed(&product->a, &out);
  add_feed(&product->b, &out);
  out.row = sum_of(out.row, c_row);
  if (doubled)
    out = (need){product_of(2, out.fixed), product_of(2, out.row)};
  if (product->c0.held)
    add_feed(&product->c0, &out);
  add_feed(&product->expected, &out);
  if (tsl_product_keeps_before(product))
    out.row = sum_of(out.row, c_row);
  return out;
}

static uint64_t bytes_of(const need *needed, int64_t rows) {
  return sum_of(needed->fixed, product_of((uint64_t)rows, needed->row));
}

/* What panels need beside: some outputs keep all rows until the end. */
static need need_of_panels(const tsl_product *product, const need *whole) {
  need out = *whole;
  if (product->writer && tsl_writer_keeps_rows(product->writer))
    out.fixed = sum_of(out.fixed, product_of(product_of((uint64_t)product->m, (uint64_t)product->n),
                                             tsl_type(product->type)->size));
  return out;
}

/* Rows of C for which there is memory. */
static int64_t rows_within(const tsl_product *product, const need *needed) {
  if (product->request.in_place || needed->fixed >= product->memory)
    return 0;
  const uint64_t rows = (product->memory - needed->fixed) / needed->row;
  return rows < (uint64_t)product->m ? (int64_t)rows : product->m;
}

/* "B (b.npy) and C0 (c.mtx)", as they are held. */
static void name_held(const tsl_product *product, tsl_text *out) {
  const struct {
    const char *letter;
    const tsl_feed *feed;
  } feeds[] = {{"A", &product->a},
               {"B", &product->b},
               {"C0", &product->c0},
               {"the expected result", &product->expected}};
  for (size_t i = 0; i < sizeof feeds / sizeof *feeds; i++)
    if (feeds[i].feed->held)
      tsl_text_add(out, "%s%s (%s)", out->length ? ", " : "", feeds[i].letter, feeds[i].feed->path);
  if (product->writer && tsl_writer_keeps_rows(product->writer))
    tsl_text_add(out, "%sthe output, which is written by columns", out->length ? ", " : "");
}

static tesela_status fail_panel(const tsl_product *product, const need *needed) {
  char fixed[32], row[32], allowed[32];
  tsl_text held = {0};
  name_held(product, &held);
  const tesela_status status = tsl_fail(
      TESELA_OUT_OF_MEMORY,
      "%s that must be held whole%s%s and %s for each row of the product do not fit into %s of memory%s",
      tsl_format_bytes(needed->fixed, fixed, sizeof fixed), held.length ? ": " : "", tsl_text_get(&held),
      tsl_format_bytes(needed->row, row, sizeof row),
      tsl_format_bytes(product->memory, allowed, sizeof allowed),
      product->request.memory ? "; allow more with --memory" : "");
  tsl_text_free(&held);
  return status;
}

/* Whether A's file is better read by columns, again and again, than held: it leaves next to no room. */
static bool is_crowded(const tsl_product *product, int64_t rows) {
  const tsl_feed *a = &product->a;
  return a->held && a->across && a->by_columns && !product->request.in_place && rows < product->m / 4 + 1;
}

/* A panel as large as memory allows: of all rows, or else of a multiple of the tiles' sizes. */
static tesela_status size_panel(tsl_product *product, bool doubled) {
  product->a.held = product->request.op == TSL_OP_DOT || product->a.across || !product->a.by_rows;
  need needed = host_need(product, doubled);
  product->panel = product->m;
  product->memory_needed = bytes_of(&needed, product->m);
  product->memory_fixed = needed.fixed;
  if (product->memory_needed <= product->memory)
    return TESELA_OK;
  needed = need_of_panels(product, &needed);
  int64_t rows = rows_within(product, &needed);
  if (is_crowded(product, rows)) {
    product->a.held = false;
    needed = host_need(product, doubled);
    needed = need_of_panels(product, &needed);
    rows = rows_within(product, &needed);
  }
  if (rows == 0)
    return fail_panel(product, &needed);
  product->panel = rows < PANEL_MULTIPLE || rows == product->m ? rows : rows - rows % PANEL_MULTIPLE;
  product->memory_needed = bytes_of(&needed, product->panel);
  product->memory_fixed = needed.fixed;
  return TESELA_OK;
}

tesela_status tsl_product_hint(const tsl_product *product, tesela_status status) {
  enum { PARTS = 4 };
  const uint64_t fixed = product->memory_fixed, of_panel = product->memory_needed - fixed;
  const uint64_t mebibytes = (fixed + of_panel / PARTS) >> 20;
  tsl_status_saved saved;
  if (status != TESELA_OUT_OF_MEMORY || product->panel < PARTS || product->request.in_place ||
      fixed > of_panel || mebibytes == 0)
    return status;
  tsl_status_save(&saved);
  return tsl_fail(status, "%s; with --memory %lluMiB the work goes by%s panels of rows", saved.sentence,
                  (unsigned long long)mebibytes, product->panel < product->m ? " smaller" : "");
}

/* --- the choice --- */

static const tsl_candidate *find(const tsl_candidate *list, int count, const tsl_candidate *like) {
  for (int i = 0; i < count; i++)
    if (list[i].strategy == like->strategy && list[i].device == like->device)
      return &list[i];
  return NULL;
}

/* Predicted seconds of the whole job when `panel` is done again and again; `whole`, when it can, is the same strategy
 * and device on all rows at once and decides, so that a smaller memory changes neither choice nor bits. */
static double job_seconds(const tsl_product *product, const tsl_candidate *panel,
                          const tsl_candidate *whole) {
  if (panel->refusal[0])
    return INFINITY;
  if (whole && !whole->refusal[0])
    return tsl_candidate_seconds(whole);
  return panel->start + panel->seconds * ceil((double)product->m / (double)product->panel);
}

static tesela_status create_best(tsl_product *product, const tsl_choice *choice, const tsl_candidate *panels,
                                 int panel_count, const tsl_candidate *wholes, int whole_count) {
  tsl_problem problem;
  TSL_TRY(problem_of(product, product->panel, &problem));
  const tsl_candidate *best = NULL, *best_whole = NULL;
  double least = INFINITY;
  for (int i = 0; i < panel_count; i++) {
    const tsl_candidate *whole = find(wholes, whole_count, &panels[i]);
    const double seconds = job_seconds(product, &panels[i], whole);
    if (seconds < least) {
      least = seconds;
      best = &panels[i];
      best_whole = whole;
    }
  }
  if (!best)
    return tsl_fail(TESELA_UNSUPPORTED, "nothing here takes this %s: %s on %s: %s",
                    tsl_op_name(product->request.op), panels[0].strategy->name, panels[0].device->name,
                    panels[0].refusal);
  const bool as_whole = best_whole && !best_whole->refusal[0] &&
                        !tsl_strategy_refuse(best->strategy, &problem, &best_whole->config, best->device);
  tsl_candidate made = *best;
  made.config = as_whole ? best_whole->config : best->config;
  return tsl_planner_make(&problem, choice, &made, &product->plan);
}

static tesela_status choose_for_panels(tsl_product *product, const tsl_choice *choice) {
  tsl_problem panel, whole;
  tsl_candidate *panels = NULL, *wholes = NULL;
  int panel_count = 0, whole_count = 0;
  TSL_TRY(problem_of(product, product->panel, &panel));
  TSL_TRY(problem_of(product, product->m, &whole));
  tesela_status status = tsl_planner_list(&panel, choice, &panels, &panel_count);
  if (status == TESELA_OK)
    status = tsl_planner_list(&whole, choice, &wholes, &whole_count);
  if (status == TESELA_OK)
    status = create_best(product, choice, panels, panel_count, wholes, whole_count);
  free(panels);
  free(wholes);
  /* As the planner does: what cannot be built is put aside, unless it was asked for by name. */
  if ((status == TESELA_BUILD_FAILED || status == TESELA_WRONG_RESULT) && !choice->strategy)
    status = tsl_tune_choose(&panel, choice, &product->plan);
  return status;
}

static tesela_status choose(tsl_product *product, const tsl_choice *choice) {
  tsl_problem problem;
  TSL_TRY(problem_of(product, product->panel, &problem));
  tsl_plan_destroy(product->plan);
  product->plan = NULL;
  return product->panel == product->m ? tsl_tune_choose(&problem, choice, &product->plan)
                                      : choose_for_panels(product, choice);
}

/* A device other than the cpu that computes in the host's memory: its copies count as the host's. */
static bool copies_on_host(const tsl_plan *plan) {
  const tsl_device *device = plan->work.device;
  return device->is_cpu && !(device->capabilities & TSL_CAN_HOST);
}

static tesela_status plan_last(tsl_product *product, const tsl_choice *choice) {
  const int64_t rest = product->panel > 0 ? product->m % product->panel : 0;
  const tsl_work *work = &product->plan->work;
  if (rest == 0)
    return TESELA_OK;
  tsl_problem problem;
  TSL_TRY(problem_of(product, rest, &problem));
  const tsl_candidate same = {.strategy = work->strategy, .device = work->device, .config = work->config};
  return tsl_planner_make(&problem, choice, &same, &product->last_plan);
}

tesela_status tsl_product_plan(tsl_product *product) {
  const double start = tsl_clock();
  const tsl_product_request *request = &product->request;
  const tsl_choice choice = {.devices = product->devices,
                             .device = request->device,
                             .strategy = request->strategy,
                             .wisdom = product->wisdom,
                             .vendors = tsl_planner_vendors(),
                             .runs = fmax(1, (double)request->repeat),
                             .sparing = true};
  tsl_progress_at(product->progress, "planning", 0);
  product->memory = request->memory ? request->memory : tsl_memory_available() / 5 * 4;
  product->a.across = request->op == TSL_OP_TRANSPOSE || request->transpose_a;
  product->b.held = product->b.reader != NULL;
  product->c0.held = product->c0.reader && !product->c0.by_rows;
  /* How a text is printed is known at its end: where it cannot be read twice, it is held. */
  product->expected.held =
      product->expected.reader &&
      (!product->expected.by_rows || (product->expected.text && !product->expected.by_columns));
  TSL_TRY(problem_of(product, product->m, &product->whole));
  TSL_TRY(tsl_problem_check(&product->whole));
  TSL_TRY(size_panel(product, false));
  TSL_TRY(choose(product, &choice));
  if (!product->plan)
    return tsl_fail(TESELA_INTERNAL, "the planner chose nothing and gave no reason");
  if (copies_on_host(product->plan)) {
    const int64_t before = product->panel;
    const bool held = product->a.held;
    TSL_TRY(size_panel(product, true));
    if (product->panel != before || product->a.held != held)
      TSL_TRY(choose(product, &choice));
  }
  TSL_TRY(plan_last(product, &choice));
  product->seconds[TSL_STAGE_PLAN] = tsl_clock() - start;
  return TESELA_OK;
}
