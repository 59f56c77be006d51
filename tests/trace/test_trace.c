/* Compares the drawing of explain --trace with the kernels. Each item of a work-group runs a rung's kernel
 * as C on matrices of its own. Their elements encode the item that reads them, and the place. Every
 * multiply-add shows which item loaded its factors. */
#include "unit/config.h"
#include "unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "dialect_impl.h"
#include "explain/trace.h"
#include "strategy/params.h"
#include "strategy/strategy_list.h"

typedef void kernel(const double *a, const double *b, double *c, const int64_t sizes[3],
                    const int64_t strides[4]);
kernel trace_element, trace_row, trace_row_private, trace_row_private_column_local, trace_tile_local;

static const struct {
  const char *name, *config;
  kernel *run;
} rungs[] = {
    {"element", "columns=4 rows=3", trace_element},
    {"row", "items=5", trace_row},
    {"row_private", "items=5 panel=4", trace_row_private},
    {"row_private_column_local", "items=3 panel=4", trace_row_private_column_local},
    {"tile_local", "tile=4", trace_tile_local},
};

enum { MOST = 16, ITEMS_MOST = 16, STACK = 1 << 16, FIRST = 2 };

/* --- items that take turns --- */

trace_place trace_here;
static ucontext_t scheduler, items[ITEMS_MOST];
static char stacks[ITEMS_MOST][STACK];
static int turn;

void trace_barrier(void) {
  swapcontext(&items[turn], &scheduler);
}

/* --- encoded factors --- */

/* seen[operand][who][row][col]: whether a number that this item read took part in a product. */
static bool seen[2][ITEMS_MOST][MOST][MOST], drawn[2][ITEMS_MOST][MOST][MOST];
static int64_t products;

static double code(int who, int64_t row, int64_t col) {
  return FIRST + (double)((who * MOST + row) * MOST + col);
}

static void see(int operand, double value) {
  const int64_t number = (int64_t)value - FIRST;
  if (value >= FIRST) /* else a zero beyond an edge, or beta */
    seen[operand][number / MOST / MOST][number / MOST % MOST][number % MOST] = true;
}

double trace_fma(double a, double b, double c) {
  see(0, a);
  see(1, b);
  products++;
  return 0 * c;
}

static void draw(void *argument, const tsl_trace_load *load) {
  const int width = *(const int *)argument;
  drawn[load->operand][load->item_y * width + load->item_x][load->row][load->col] = true;
}

/* --- running a group --- */

static struct {
  kernel *run;
  double a[ITEMS_MOST][MOST * MOST], b[ITEMS_MOST][MOST * MOST], c[MOST * MOST];
  int64_t sizes[3], strides[4];
} launch;

static bool done[ITEMS_MOST];

static void start(int who) {
  launch.run(launch.a[who], launch.b[who], launch.c, launch.sizes, launch.strides);
  done[who] = true;
}

static void fill(bool a_down, bool b_down) {
  const int64_t m = launch.sizes[0], n = launch.sizes[1], k = launch.sizes[2];
  const int64_t strides[4] = {a_down ? 1 : k, a_down ? m : 1, b_down ? 1 : n, b_down ? k : 1};
  memcpy(launch.strides, strides, sizeof strides);
  for (int who = 0; who < ITEMS_MOST; who++) {
    for (int64_t i = 0; i < m; i++)
      for (int64_t l = 0; l < k; l++)
        launch.a[who][i * strides[0] + l * strides[1]] = code(who, i, l);
    for (int64_t l = 0; l < k; l++)
      for (int64_t j = 0; j < n; j++)
        launch.b[who][l * strides[2] + j * strides[3]] = code(who, l, j);
  }
}

/* A function of its own, since getcontext() may return twice for all that a compiler knows, and leave its
 * caller's variables undefined. */
static void prepare(int who) {
  done[who] = false;
  getcontext(&items[who]);
  items[who].uc_stack.ss_sp = stacks[who];
  items[who].uc_stack.ss_size = STACK;
  items[who].uc_link = &scheduler;
  makecontext(&items[who], (void (*)(void))start, 1, who);
}

/* All items go on to their next barrier, or their end, by turns. */
static void run_group(int width, int height) {
  const int count = width * height;
  for (int who = 0; who < count; who++)
    prepare(who);
  for (int left = count; left > 0;)
    for (turn = 0; turn < count; turn++)
      if (!done[turn]) {
        trace_here.item[0] = turn % width;
        trace_here.item[1] = turn / width;
        swapcontext(&scheduler, &items[turn]);
        left -= done[turn];
      }
}

static void compare(const char *name, int64_t group_x, int64_t group_y) {
  for (int operand = 0; operand < 2; operand++)
    for (int who = 0; who < ITEMS_MOST; who++)
      for (int row = 0; row < MOST; row++)
        for (int col = 0; col < MOST; col++)
          if (seen[operand][who][row][col] != drawn[operand][who][row][col])
            fail_msg("%s, group (%d, %d): item %d %s %c(%d, %d), and is drawn as if it %s", name,
                     (int)group_x, (int)group_y, who,
                     seen[operand][who][row][col] ? "loads" : "does not load", "AB"[operand], row, col,
                     drawn[operand][who][row][col] ? "did" : "did not");
}

/* Every group of a product whose sizes no group divides, and of 8 x 8 x 8; operands in either order. */
static void drawings_are_what_kernels_do(void **state) {
  (void)state;
  static const int64_t sizes[][3] = {{8, 8, 8}, {7, 10, 9}, {13, 5, 3}, {1, 1, 1}};
  for (size_t r = 0; r < sizeof rungs / sizeof *rungs; r++)
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
      for (int order = 0; order < 4; order++) {
        const tsl_strategy *strategy = tsl_strategy_find(TSL_OP_GEMM, rungs[r].name);
        const tsl_config config = config_of(strategy, rungs[r].config);
        tsl_problem problem = tsl_problem_gemm(sizes[i][0], sizes[i][1], sizes[i][2], TESELA_F64);
        const bool rows = strncmp(rungs[r].name, "row", 3) == 0;
        int width = (int)config.value[0];
        const int height = rows ? 1 : strcmp(rungs[r].name, "element") == 0 ? (int)config.value[1] : width;
        memcpy(launch.sizes, sizes[i], sizeof sizes[i]);
        fill(order & 1, order >> 1);
        launch.run = rungs[r].run;
        problem.a.row_stride = launch.strides[0];
        problem.a.col_stride = launch.strides[1];
        problem.b.row_stride = launch.strides[2];
        problem.b.col_stride = launch.strides[3];
        const int64_t across = ((rows ? problem.m : problem.n) - 1) / width + 1,
                      down = rows ? 1 : (problem.m - 1) / height + 1;
        trace_here = (trace_place){.items = {width, height}, .groups = {across, down}};
        for (int64_t y = 0; y < down; y++)
          for (int64_t x = 0; x < across; x++) {
            memset(seen, 0, sizeof seen);
            memset(drawn, 0, sizeof drawn);
            products = 0;
            trace_here.group[0] = x;
            trace_here.group[1] = y;
            run_group(width, height);
            assert_true(tsl_trace_loads(strategy, &problem, &config, x, y, draw, &width));
            compare(rungs[r].name, x, y);
            assert_true(products > 0);
          }
      }
}

static void others_have_no_drawing(void **state) {
  (void)state;
  const tsl_strategy *strategy = tsl_strategy_find(TSL_OP_GEMM, "register_tile");
  const tsl_problem small = tsl_problem_gemm(8, 8, 8, TESELA_F32),
                    large = tsl_problem_gemm(17, 8, 8, TESELA_F32);
  tsl_config config = tsl_strategy_defaults(strategy);
  tsl_text out = {0};
  assert_int_equal(tsl_trace_draw(strategy, &small, &config, &out), TESELA_UNSUPPORTED);
  strategy = tsl_strategy_find(TSL_OP_GEMM, "tile_local");
  config = config_of(strategy, "tile=4");
  assert_int_equal(tsl_trace_draw(strategy, &large, &config, &out), TESELA_UNSUPPORTED);
  assert_int_equal(tsl_trace_draw(strategy, &small, &config, &out), TESELA_OK);
  assert_non_null(strstr(tsl_text_get(&out), "step 2 of 2"));
  tsl_text_free(&out);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(drawings_are_what_kernels_do),
                                     cmocka_unit_test(others_have_no_drawing)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
