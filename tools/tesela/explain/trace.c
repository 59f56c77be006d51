#include "explain/trace.h"

#include "core/status.h"

#include <string.h>

/* State of a walk through the loads of a group. */
typedef struct trace_walk {
  const tsl_problem *problem;
  int items_x, items_y; /* work-items of a group along both dimensions */
  int64_t panel;        /* size of a tile or panel along k; 0: none */
  int64_t row0, col0;   /* first row and column of the group's part of C */
  tsl_trace_visit *visit;
  void *argument;
} trace_walk;

static int64_t trace_least(int64_t a, int64_t b) {
  return a < b ? a : b;
}

/* Visits a load, unless it is outside the matrix. */
static void trace_load(const trace_walk *walk, int64_t step, int x, int y, int operand, int64_t row,
                       int64_t col) {
  const tsl_shape *shape = tsl_problem_shape(walk->problem, operand);
  const tsl_trace_load one = {step, x, y, operand, row, col};
  if (row < shape->rows && col < shape->cols)
    walk->visit(walk->argument, &one);
}

/* Each work-item loads its row of A and its column of B. */
static void walk_element(const trace_walk *walk) {
  for (int64_t l = 0; l < walk->problem->k; l++)
    for (int y = 0; y < walk->items_y; y++)
      for (int x = 0; x < walk->items_x; x++)
        if (walk->row0 + y < walk->problem->m && walk->col0 + x < walk->problem->n) {
          trace_load(walk, l, x, y, TSL_OPERAND_A, walk->row0 + y, l);
          trace_load(walk, l, x, y, TSL_OPERAND_B, l, walk->col0 + x);
        }
}

/* Each work-item computes a row of C, column after column. */
static void walk_row(const trace_walk *walk) {
  for (int64_t col = 0; col < walk->problem->n; col++)
    for (int64_t l = 0; l < walk->problem->k; l++)
      for (int x = 0; x < walk->items_x && walk->row0 + x < walk->problem->m; x++) {
        trace_load(walk, col * walk->problem->k + l, x, 0, TSL_OPERAND_A, walk->row0 + x, l);
        trace_load(walk, col * walk->problem->k + l, x, 0, TSL_OPERAND_B, l, col);
      }
}

/* Each work-item loads a panel of A's row, then each column of B in the panel; each is a step. The work-items
 * of a group load the column together if they share it. */
static void walk_panels(const trace_walk *walk, bool share) {
  int64_t step = 0;
  for (int64_t l = 0; l < walk->problem->k; l += walk->panel, step++) {
    const int64_t end = trace_least(l + walk->panel, walk->problem->k);
    for (int x = 0; x < walk->items_x; x++)
      for (int64_t i = l; i < end; i++)
        trace_load(walk, step, x, 0, TSL_OPERAND_A, walk->row0 + x, i);
    for (int64_t col = 0; col < walk->problem->n; col++) {
      step++;
      for (int x = 0; x < walk->items_x && walk->row0 + x < walk->problem->m && !share; x++)
        for (int64_t i = l; i < end; i++)
          trace_load(walk, step, x, 0, TSL_OPERAND_B, i, col);
      for (int64_t i = l; i < end && share; i++)
        trace_load(walk, step, (int)((i - l) % walk->items_x), 0, TSL_OPERAND_B, i, col);
    }
  }
}

static void walk_private(const trace_walk *walk) {
  walk_panels(walk, false);
}

static void walk_column_local(const trace_walk *walk) {
  walk_panels(walk, true);
}

/* Each work-item loads one element of each tile. For a column-major operand the item's x is the row. */
static void walk_tile(const trace_walk *walk) {
  const bool a_down = walk->problem->a.row_stride == 1, b_down = walk->problem->b.row_stride == 1;
  for (int64_t step = 0; step * walk->panel < walk->problem->k; step++)
    for (int y = 0; y < walk->items_y; y++)
      for (int x = 0; x < walk->items_x; x++) {
        const int64_t l = step * walk->panel;
        trace_load(walk, step, x, y, TSL_OPERAND_A, walk->row0 + (a_down ? x : y), l + (a_down ? y : x));
        trace_load(walk, step, x, y, TSL_OPERAND_B, l + (b_down ? x : y), walk->col0 + (b_down ? y : x));
      }
}

/* Drawing of a rung: indices of its parameters (-1: none), and texts. */
typedef struct rung {
  const char *name;
  void (*walk)(const trace_walk *walk);
  int x, y, panel; /* parameters for work-items along dimensions 0 and 1, and for elements along k */
  bool shares; /* the group loads together, and every step is drawn; false: only the first STEPS steps and the
                  last */
  bool rows;   /* each work-item computes a row of C */
  const char *then; /* the text after a step's loads */
  const char *end;  /* the text after the last step */
} rung;

static const rung rungs[] = {
    {"element", walk_element, 0, 1, -1, false, false,
     "item (x, y) adds A(y, l) B(l, x), which it has just loaded, to its own sum",
     "item (x, y) writes its element of C"},
    {"row", walk_row, 0, -1, -1, false, true,
     "item x adds A(x, l) B(l, j) to its sum for column j; the column done, it writes C(x, j)",
     "every item has written its row of C"},
    {"row_private", walk_private, 0, -1, 1, false, true,
     "item x multiplies a column of B by its private numbers of A and adds the sum to C(x, j)",
     "every item has written its row of C, once for each panel"},
    {"row_private_column_local", walk_column_local, 0, -1, 1, true, true,
     "barrier; each item multiplies its private numbers of A with the column in local memory; barrier; C(x, "
     "j) gets "
     "the sum",
     "every item has written its row of C, once for each panel"},
    {"tile_local", walk_tile, 0, 0, 0, true, false,
     "barrier; item (x, y) adds row y of A's tile times column x of B's tile to its sum; barrier",
     "item (x, y) writes its element of C"},
};

static const rung *rung_of(const tsl_strategy *strategy) {
  for (size_t i = 0; strategy->op == TSL_OP_GEMM && i < sizeof rungs / sizeof *rungs; i++)
    if (strcmp(rungs[i].name, strategy->name) == 0)
      return &rungs[i];
  return NULL;
}

static trace_walk walk_of(const rung *rung_in, const tsl_problem *problem, const tsl_config *config,
                          int64_t group_x, int64_t group_y) {
  trace_walk at = {.problem = problem, .items_x = (int)config->value[rung_in->x], .items_y = 1};
  at.items_y = rung_in->y >= 0 ? (int)config->value[rung_in->y] : 1;
  at.panel = rung_in->panel >= 0 ? config->value[rung_in->panel] : 0;
  at.row0 = rung_in->rows ? group_x * at.items_x : group_y * at.items_y;
  at.col0 = rung_in->rows ? 0 : group_x * at.items_x;
  return at;
}

bool tsl_trace_loads(const tsl_strategy *strategy, const tsl_problem *problem, const tsl_config *config,
                     int64_t group_x, int64_t group_y, tsl_trace_visit *visit, void *argument) {
  const rung *of = rung_of(strategy);
  if (!of)
    return false;
  trace_walk at = walk_of(of, problem, config, group_x, group_y);
  at.visit = visit;
  at.argument = argument;
  of->walk(&at);
  return true;
}

/* --- drawing --- */

/* Maximum of m, n and k of a drawing; number of first steps drawn. */
enum { MOST = 16, STEPS = 3 };

/* Loads of one step. Each element shows the first work-item that loads it, and a plus for further items. */
typedef struct trace_picture {
  bool is_row; /* work-items are numbered along one dimension */
  int64_t step, last;
  int loads[2];
  struct {
    int x, y, count;
  } by[2][MOST][MOST];
} trace_picture;

static void trace_note(void *argument, const tsl_trace_load *load) {
  trace_picture *drawn = argument;
  drawn->last = load->step > drawn->last ? load->step : drawn->last;
  if (load->step != drawn->step)
    return;
  drawn->loads[load->operand]++;
  if (drawn->by[load->operand][load->row][load->col].count++ == 0) {
    drawn->by[load->operand][load->row][load->col].x = load->item_x;
    drawn->by[load->operand][load->row][load->col].y = load->item_y;
  }
}

static void draw_row(const trace_picture *drawn, int operand, int64_t row, int64_t cols, tsl_text *out) {
  for (int64_t col = 0; col < cols; col++) {
    tsl_text cell = {0};
    const int count = drawn->by[operand][row][col].count;
    if (count == 0)
      tsl_text_add(&cell, ".");
    else if (drawn->is_row)
      tsl_text_add(&cell, "%d%s", drawn->by[operand][row][col].x, count > 1 ? "+" : "");
    else
      tsl_text_add(&cell, "%d,%d%s", drawn->by[operand][row][col].x, drawn->by[operand][row][col].y,
                   count > 1 ? "+" : "");
    tsl_text_add(out, "%-*s", drawn->is_row ? 4 : 6, tsl_text_get(&cell));
    tsl_text_free(&cell);
  }
}

static void draw_operand(const trace_picture *drawn, int operand, const tsl_problem *problem, tsl_text *out) {
  const tsl_shape *shape = tsl_problem_shape(problem, operand);
  if (drawn->loads[operand] == 0)
    return;
  tsl_text_add(out, "  %c, %d loads\n", "AB"[operand], drawn -> loads[operand]);
  for (int64_t row = 0; row < shape->rows; row++) {
    tsl_text_add(out, "    ");
    draw_row(drawn, operand, row, shape->cols, out);
    while (out->length > 0 && out->data[out->length - 1] == ' ')
      out->data[--out->length] = '\0';
    tsl_text_add(out, "\n");
  }
}

static void draw_heading(const rung *rung_in, const trace_walk *walk, tsl_text *out) {
  const tsl_problem *problem = walk->problem;
  const int64_t across = rung_in->rows ? 1 : (problem->n - 1) / walk->items_x + 1,
                down = rung_in->rows ? (problem->m - 1) / walk->items_x + 1
                                     : (problem->m - 1) / walk->items_y + 1;
  if (rung_in->rows)
    tsl_text_add(out, "%lld group%s of %d items, item x of group g has row %d g + x of C. Group 0:\n",
                 (long long)down, down == 1 ? "" : "s", walk->items_x, walk->items_x);
  else
    tsl_text_add(
        out,
        "%lld x %lld groups of %d x %d items, item (x, y) of group (g, h) has C(%d h + y, %d g + x). "
        "Group (0, 0):\n",
        (long long)across, (long long)down, walk->items_x, walk->items_y, walk->items_y, walk->items_x);
  tsl_text_add(out, "each number below is the item that loads the element, + where others load it too\n");
}

tesela_status tsl_trace_draw(const tsl_strategy *strategy, const tsl_problem *problem,
                             const tsl_config *config, tsl_text *out) {
  const rung *of = rung_of(strategy);
  if (!of)
    return tsl_fail(
        TESELA_UNSUPPORTED,
        "%s has no drawing; element, row, row_private, row_private_column_local and tile_local have",
        strategy->name);
  if (problem->m > MOST || problem->n > MOST || problem->k > MOST || problem->m < 1 || problem->n < 1)
    return tsl_fail(TESELA_UNSUPPORTED,
                    "a drawing has room for a product of at most %d x %d x %d, such as 8 8 8", MOST, MOST,
                    MOST);
  const trace_walk at = walk_of(of, problem, config, 0, 0);
  draw_heading(of, &at, out);
  trace_picture drawn = {.is_row = of->rows};
  for (int64_t step = 0; step <= drawn.last; step++) {
    drawn = (trace_picture){.is_row = of->rows, .step = step, .last = drawn.last};
    tsl_trace_loads(strategy, problem, config, 0, 0, trace_note, &drawn);
    if (!of->shares && step >= STEPS && step < drawn.last)
      continue;
    if (!of->shares && step == drawn.last && step > STEPS)
      tsl_text_add(out, "\n... and so on, to\n");
    tsl_text_add(out, "\nstep %lld of %lld\n", (long long)step + 1, (long long)drawn.last + 1);
    draw_operand(&drawn, TSL_OPERAND_A, problem, out);
    draw_operand(&drawn, TSL_OPERAND_B, problem, out);
    tsl_text_add(out, "  %s\n",
                 drawn.loads[TSL_OPERAND_B] > 0 ? of->then
                                                : "item x keeps its numbers of A in private memory");
  }
  tsl_text_add(out, "\n%s\n", of->end);
  return tsl_text_status(out);
}
