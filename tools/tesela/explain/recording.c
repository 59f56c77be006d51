#include "explain/recording.h"

#include "core/status.h"
#include "device/source.h"
#include "lab/lab.h"
#include "lab/lab_templates.h"
#include "problem/structure.h"
#include "strategy/kernel_launch/launch.h"
#include "strategy/params.h"
#include "strategy/strategy_list.h"

#include <stdlib.h>
#include <string.h>

#include <lab_recorder_dialect_h.h>
#include <lab_recorder_numbers_h.h>
#include <lab_recorder_work_c.h>

static const tsl_rung rungs[] = {
    {.op = TSL_OP_GEMM,
     .name = "element",
     .entry = "tsl_gemm_element",
     .small = "columns=4 rows=4",
     .file = "element.cl",
     .items_x = "columns",
     .items_y = "rows",
     .then = "item (x, y) adds A(y, l) B(l, x), which it has just loaded, to its own sum",
     .end = "item (x, y) writes its element of C"},
    {.op = TSL_OP_GEMM,
     .name = "row",
     .entry = "tsl_gemm_row",
     .small = "items=4",
     .file = "row.cl",
     .items_x = "items",
     .has_rows = true,
     .then = "item x adds A(x, l) B(l, j) to its sum for column j; the column done, it writes C(x, j)",
     .end = "every item has written its row of C"},
    {.op = TSL_OP_GEMM,
     .name = "row_private",
     .entry = "tsl_gemm_row_private",
     .small = "items=4 panel=8",
     .file = "row_private.cl",
     .items_x = "items",
     .has_rows = true,
     .then = "item x multiplies a column of B by its private numbers of A and adds the sum to C(x, j)",
     .end = "every item has written its row of C, once for each panel"},
    {.op = TSL_OP_GEMM,
     .name = "row_private_column_local",
     .entry = "tsl_gemm_row_private_column_local",
     .small = "items=4 panel=8",
     .file = "row_private_column_local.cl",
     .items_x = "items",
     .has_rows = true,
     .draws_whole = true,
     .then =
         "barrier; each item multiplies its private numbers of A with the column in local memory; barrier; "
         "C(x, j) gets the sum",
     .end = "every item has written its row of C, once for each panel"},
    {.op = TSL_OP_GEMM,
     .name = "tile_local",
     .entry = "tsl_gemm_tile_local",
     .small = "tile=4",
     .file = "tile_local.cl",
     .items_x = "tile",
     .items_y = "tile",
     .draws_whole = true,
     .then = "barrier; item (x, y) adds row y of A's tile times column x of B's tile to its sum; barrier",
     .end = "item (x, y) writes its element of C"},
    {.op = TSL_OP_GEMM,
     .name = "image_microtile",
     .entry = "tsl_gemm_image_microtile",
     .small = "columns=8 rows=8",
     .file = "image_microtile.cl",
     .items_x = "columns",
     .items_y = "rows",
     .is_image = true,
     .then = "each item adds products to its micro-tile of C in registers",
     .end = "every item writes its micro-tile of C"},
    {.op = TSL_OP_GEMM,
     .name = "blocked",
     .entry = "gemm",
     .plain = "BLOCK 4",
     .small = "",
     .then = "a row of a block of C gets the products of an element of A and a row of a block of B",
     .end = "C has all blocks' products"},
    {.op = TSL_OP_GEMM,
     .name = "host_packed",
     .entry = "gemm",
     .plain = "NC 8, KC 4, MC 4, NR 4, MR 2",
     .small = "",
     .draws_whole = true,
     .then = "loops 2 and 1: the micro-kernel multiplies the packed blocks, MR x NR sums at a time",
     .end = "loop 5 walks n by NC, loop 4 k by KC (B is packed), loop 3 m by MC (A is packed)"},
    {.op = TSL_OP_TRANSPOSE,
     .name = "element",
     .entry = "tsl_transpose_element",
     .small = "columns=4 rows=4",
     .file = "transpose_element.cl",
     .items_x = "columns",
     .items_y = "rows",
     .draws_whole = true,
     .then = "each item stores the element that it has loaded",
     .end = "C is A, transposed"},
    {.op = TSL_OP_TRANSPOSE,
     .name = "tile_local",
     .entry = "tsl_transpose_tile_local",
     .small = "tile=16",
     .file = "transpose_tile_local.cl",
     .draws_whole = true,
     .then = "barrier; each item stores elements that others have loaded",
     .end = "C is A, transposed"},
    {.op = TSL_OP_DOT,
     .name = "block_tree",
     .entry = "tsl_dot_block_tree",
     .small = "group=8",
     .file = "block_tree.cl",
     .items_x = "group",
     .draws_whole = true,
     .then = "each item adds its products to its own sum",
     .end = "the group adds its items' sums in local memory, half as many in each step"},
};
enum { RUNGS = sizeof rungs / sizeof *rungs };

const tsl_rung *tsl_rung_of(const tsl_strategy *strategy) {
  for (int i = 0; i < RUNGS; i++)
    if (rungs[i].op == strategy->op && strcmp(rungs[i].name, strategy->name) == 0)
      return &rungs[i];
  return NULL;
}

/* Appends the names of all rungs. */
static void rung_add_names(tsl_text *out) {
  for (int i = 0; i < RUNGS; i++)
    tsl_text_add(out, "%s%s%s%s", i == 0 ? "" : ", ",
                 rungs[i].op == TSL_OP_GEMM ? "" : tsl_op_name(rungs[i].op),
                 rungs[i].op == TSL_OP_GEMM ? "" : " ", rungs[i].name);
}

/* --- the launch --- */

static int64_t rung_parameter(const tsl_strategy *strategy, const tsl_config *config, const char *name) {
  for (int i = 0; name && i < tsl_strategy_params(strategy); i++)
    if (strcmp(strategy->params[i].name, name) == 0)
      return config->value[i];
  return 1;
}

static int64_t groups_for(int64_t elements, int64_t each) {
  return elements <= each ? 1 : (elements - 1) / each + 1;
}

/* Gets items and groups of the launch. */
static void rung_range(const tsl_rung *rung, const tsl_strategy *strategy, const tsl_config *config,
                       tsl_recording *recording) {
  const tsl_problem *problem = recording->problem;
  int64_t *items = recording->items, *groups = recording->groups;
  items[0] = rung_parameter(strategy, config, rung->items_x);
  items[1] = rung_parameter(strategy, config, rung->items_y);
  groups[0] = groups[1] = 1;
  if (rung->plain)
    return;
  if (rung->op == TSL_OP_DOT) {
    const int64_t most = rung_parameter(strategy, config, "groups"), busy = problem->k / items[0] + 1;
    groups[0] = busy < most ? busy : most;
  } else if (rung->op == TSL_OP_TRANSPOSE && !rung->items_x) {
    const int64_t tile = rung_parameter(strategy, config, "tile");
    items[0] = tile * tile / rung_parameter(strategy, config, "rows");
    groups[0] = groups_for(problem->n, tile);
    groups[1] = groups_for(problem->m, tile);
  } else if (rung->has_rows) {
    groups[0] = groups_for(problem->m, items[0]);
  } else {
    const int64_t height = rung->is_image ? rung_parameter(strategy, config, "height") : 1;
    groups[0] = groups_for(problem->n, items[0] * (rung->is_image ? 4 : 1));
    groups[1] = groups_for(problem->m, items[1] * height);
  }
}

/* --- the program --- */

static void add_operand_struct(const char *letter, const tsl_shape *shape, tsl_text *out) {
  tsl_text_add(out, "  g.%s_row_stride = %lld;\n  g.%s_col_stride = %lld;\n", letter,
               (long long)shape->row_stride, letter, (long long)shape->col_stride);
}

/* Appends the call of the kernel by one item. */
static void add_call(const tsl_rung *rung, const tsl_problem *problem, tsl_text *out) {
  const char *kind = rung->op == TSL_OP_TRANSPOSE ? "transpose" : "gemm";
  tsl_text_add(out, "\nvoid lab_call(void) {\n  tsl_%s_arguments g = {.m = %lld, .n = %lld};\n", kind,
               (long long)problem->m, (long long)problem->n);
  add_operand_struct("a", &problem->a, out);
  add_operand_struct("c", &problem->c, out);
  if (rung->op != TSL_OP_TRANSPOSE) {
    add_operand_struct("b", &problem->b, out);
    tsl_text_add(out, "  g.k = %lld;\n  g.alpha = 1;\n  g.beta = %g;\n", (long long)problem->k,
                 problem->beta[0]);
  }
  if (rung->op == TSL_OP_TRANSPOSE)
    tsl_text_add(out, "  %s(lab_operand(\"A\"), lab_operand(\"C\"), g);\n}\n", rung->entry);
  else if (rung->op == TSL_OP_DOT)
    tsl_text_add(out, "  %s(lab_operand(\"x\"), lab_operand(\"y\"), lab_operand(\"sums\"), g);\n}\n",
                 rung->entry);
  else if (rung->is_image)
    tsl_text_add(out,
                 "  const lab_image image = {lab_operand(\"B\"), %lld, %lld, %lld};\n"
                 "  %s(lab_operand(\"A\"), image, lab_operand(\"C\"), g);\n}\n",
                 (long long)problem->k, (long long)problem->n, (long long)problem->b.row_stride, rung->entry);
  else
    tsl_text_add(out, "  %s(lab_operand(\"A\"), lab_operand(\"B\"), lab_operand(\"C\"), g);\n}\n",
                 rung->entry);
}

/* Appends a definition's line, or the line that `plain` has in its place: "#define BLOCK 4". */
static void add_line(const char *line, size_t length, const char *plain, tsl_text *out) {
  static const char define[] = "#define ";
  const size_t name = strcspn(line + strlen(define) < line + length ? line + strlen(define) : line, " \n");
  for (const char *at = plain; strncmp(line, define, strlen(define)) == 0 && *at;) {
    const size_t end = strcspn(at, ",");
    if (strncmp(at, line + strlen(define), name) == 0 && at[name] == ' ') {
      tsl_text_add(out, "%s%.*s", define, (int)end, at);
      return;
    }
    at += end;
    at += strspn(at, ", ");
  }
  /* static arrays are the packed blocks, which are recorded like local memory */
  if (strncmp(line, "  static float ", 15) == 0)
    tsl_text_add(out, "  __shared__ float %.*s", (int)(length - 15), line + 15);
  else
    tsl_text_add(out, "%.*s", (int)length, line);
}

/* Appends the unit of a plain kernel, as C++ with numbers that record their products. */
static tesela_status add_plain_unit(const tsl_rung *rung, const tsl_problem *problem, tsl_text *out) {
  const tsl_lab_template *model = NULL;
  tsl_text kernel = {0}, text = {0};
  TSL_TRY(tsl_lab_template_find(rung->name, TSL_LAB_C, &model));
  tsl_lab_template_add(model, TSL_LAB_C, TESELA_F32, &kernel);
  for (const char *line = tsl_text_get(&kernel); *line;) {
    const size_t length = strcspn(line, "\n");
    add_line(line, length, rung->plain, &text);
    tsl_text_add(&text, "\n");
    line += length + (line[length] == '\n');
  }
  tsl_text_add(out, "#define LAB_REAL %s\n%s\n#define float lab_number\n",
               problem->c.type == TESELA_F64 ? "double" : "float", lab_recorder_numbers_h);
  tsl_lab_add_registered(TSL_LAB_CUDA, tsl_text_get(&text), out);
  tsl_text_add(out,
               "void lab_call(void) {\n  %s(%lld, %lld, %lld, 1, (float *)lab_operand(\"A\"), %lld, "
               "(float *)lab_operand(\"B\"), %lld, %g, (float *)lab_operand(\"C\"), %lld);\n}\n",
               rung->entry, (long long)problem->m, (long long)problem->n, (long long)problem->k,
               (long long)problem->a.row_stride, (long long)problem->b.row_stride, problem->beta[0],
               (long long)problem->c.row_stride);
  tsl_text_free(&kernel);
  tsl_text_free(&text);
  return tsl_text_status(out);
}

/* Appends the whole unit: definitions, the dialect as C, the kernel's text, and the call. */
static tesela_status add_unit(const tsl_rung *rung, const tsl_strategy *strategy, const tsl_problem *problem,
                              const tsl_config *config, const char *folder, tsl_text *out) {
  const char *const folders[] = {folder, "kernel", NULL};
  const tesela_type type = problem->c.type;
  char path[256];
  tsl_text text = {0};
  if (rung->plain)
    return add_plain_unit(rung, problem, out);
  tsl_launch_defines(rung->op == TSL_OP_TRANSPOSE ? TESELA_TYPE_DEFAULT : type, strategy, config, NULL, out);
  if (rung->op == TSL_OP_TRANSPOSE)
    tsl_text_add(out, "#define TSL_MOVED_BYTES %zu\n", tsl_type(type)->size);
  tsl_text_add(out, "#define LAB_REAL %s\n%s", type == TESELA_F64 ? "double" : "float",
               lab_recorder_dialect_h);
  snprintf(path, sizeof path, "%s/%s", tsl_strategy_folder(strategy), rung->file);
  const tesela_status status = tsl_source_flatten(path, folders, &text);
  if (status == TESELA_OK)
    tsl_lab_add_registered(TSL_LAB_OPENCL, tsl_text_get(&text), out);
  tsl_text_free(&text);
  TSL_TRY(status);
  tsl_text_add(out, "\n#line 1 \"call\"");
  add_call(rung, problem, out);
  return tsl_text_status(out);
}

/* --- the output --- */

static bool add_event(const char *line, tsl_recording *recording, size_t *room) {
  long long numbers[8] = {0};
  const long long *x = &numbers[2];
  char *at = (char *)(uintptr_t)(line + 1);
  for (int i = 0; i < 8 && *at == ' '; i++)
    numbers[i] = strtoll(at, &at, 10); /* sscanf() would look for the end of the whole text */
  if (recording->count == *room) {
    *room = *room ? 2 * *room : 1024;
    tsl_event *events = realloc(recording->events, *room * sizeof *events);
    if (!events)
      return false;
    recording->events = events;
  }
  tsl_event *event = &recording->events[recording->count++];
  *event = (tsl_event){.item = (int)numbers[0], .interval = (unsigned)numbers[1], .from = -1};
  if (line[0] == 'M') {
    event->kind = TSL_EVENT_ADD;
    event->row = x[0], event->col = x[1], event->b_row = x[2], event->b_col = x[3];
  } else {
    event->kind = line[0] == 'L' ? TSL_EVENT_LOAD : TSL_EVENT_STORE;
    event->array = (int)x[0], event->row = x[1], event->col = x[2];
    if (event->kind == TSL_EVENT_STORE)
      event->from = (int)x[3], event->b_row = x[4], event->b_col = x[5];
  }
  if (event->interval > recording->intervals)
    recording->intervals = event->interval;
  return true;
}

static void add_array(const char *line, tsl_recording *recording) {
  tsl_recorded_array *array = &recording->arrays[recording->array_count];
  long long rows, cols;
  int number, is_local;
  if (recording->array_count == TSL_RECORDED_ARRAYS_MAX ||
      sscanf(line + 1, "%d %d %lld %lld %31s", &number, &is_local, &rows, &cols, array->name) != 5)
    return;
  array->is_local = is_local != 0;
  array->rows = rows;
  array->cols = cols;
  const bool is_a = strcmp(array->name, "A") == 0 || strcmp(array->name, "x") == 0,
             is_b = strcmp(array->name, "B") == 0 || strcmp(array->name, "y") == 0;
  array->operand = is_local ? TSL_OPERANDS : is_a ? TSL_OPERAND_A : is_b ? TSL_OPERAND_B : TSL_OPERAND_C;
  recording->array_count++;
}

/* Reads the program's lines. Fails if the last one is missing. */
static tesela_status read_output(const char *text, tsl_recording *recording) {
  size_t room = 0;
  bool is_whole = false, has_room = true;
  for (const char *line = text; *line && has_room;) {
    if (line[0] == 'A')
      add_array(line, recording);
    else if (line[0] == 'L' || line[0] == 'S' || line[0] == 'M')
      has_room = add_event(line, recording, &room);
    else if (line[0] == 'G') {
      long long group = -1;
      sscanf(line + 1, "%lld %d", &group, &recording->item);
      recording->group = group;
    } else if (line[0] == 'E')
      is_whole = true;
    line += strcspn(line, "\n");
    line += *line == '\n';
  }
  if (!is_whole)
    return tsl_fail(TESELA_UNSUPPORTED,
                    "the trace is too long: smaller sizes or groups would be right, such as 8 8 8");
  return TESELA_OK;
}

/* Progress of an item in its present step. */
typedef struct step_state {
  int64_t step;
  bool has_added, has_stored; /* since the step began; `has_stored`: an element of C */
  int operand;                /* of the latest load from A or B */
} step_state;

/* Without barriers each item has steps of its own. One ends where a load follows multiply-adds, and is of A,
 * or of another operand than the load before, or after an element of C. */
static void number_items_steps(tsl_recording *recording, step_state *states) {
  for (size_t i = 0; i < recording->count; i++) {
    tsl_event *event = &recording->events[i];
    step_state *state = &states[event->item];
    const int operand = recording->arrays[event->array].operand;
    if (event->kind == TSL_EVENT_ADD)
      state->has_added = true;
    else if (event->kind == TSL_EVENT_STORE)
      state->has_stored |= operand == TSL_OPERAND_C && !recording->rung->plain;
    else if (operand < TSL_OPERAND_C) {
      if (state->has_added && (operand == TSL_OPERAND_A || operand != state->operand || state->has_stored))
        *state = (step_state){.step = state->step + 1};
      state->operand = operand;
    }
    event->step = state->step;
  }
}

/* Returns the end of the interval that begins with event `first`. */
static size_t interval_end(const tsl_recording *recording, size_t first) {
  size_t end = first;
  while (end < recording->count && recording->events[end].interval == recording->events[first].interval)
    end++;
  return end;
}

/* With barriers all items have the same steps. One ends in the interval whose loads from A or B follow
 * multiply-adds: for each item before the first such load. */
static void number_groups_steps(tsl_recording *recording, step_state *states) {
  int64_t step = 0;
  bool has_added = false;
  for (size_t first = 0, end; first < recording->count; first = end) {
    bool loads = false, adds = false;
    end = interval_end(recording, first);
    for (size_t i = first; i < end; i++) {
      const tsl_event *event = &recording->events[i];
      adds |= event->kind == TSL_EVENT_ADD;
      loads |= event->kind == TSL_EVENT_LOAD && recording->arrays[event->array].operand < TSL_OPERAND_C;
      states[event->item].step = step;
    }
    const bool is_next = loads && has_added;
    for (size_t i = first; i < end; i++) {
      tsl_event *event = &recording->events[i];
      if (is_next && event->kind == TSL_EVENT_LOAD && recording->arrays[event->array].operand < TSL_OPERAND_C)
        states[event->item].step = step + 1;
      event->step = states[event->item].step;
    }
    step += is_next;
    has_added = adds || (has_added && !is_next);
  }
}

static tesela_status number_steps(tsl_recording *recording) {
  step_state *states = calloc((size_t)(recording->items[0] * recording->items[1]), sizeof *states);
  if (!states)
    return tsl_fail(TESELA_OUT_OF_MEMORY, "no memory for a trace");
  if (recording->intervals > 1)
    number_groups_steps(recording, states);
  else
    number_items_steps(recording, states);
  for (size_t i = 0; i < recording->count; i++)
    if (recording->events[i].step >= recording->steps)
      recording->steps = recording->events[i].step + 1;
  free(states);
  return TESELA_OK;
}

/* --- the whole --- */

static const double run_seconds = 20;

/* Runs the program for the place. */
static tesela_status run_program(const char *program, const tsl_recording_place *place,
                                 tsl_recording *recording) {
  const tsl_problem *problem = recording->problem;
  char numbers[17][24];
  const char *words[19] = {program};
  tsl_text output = {0};
  int code = 0;
  const tsl_shape *shapes[] = {&problem->a, &problem->b, &problem->c};
  const int64_t values[16] = {(int64_t)tsl_type(problem->c.type)->size,
                              problem->m,
                              problem->n,
                              problem->k,
                              shapes[0]->col_stride != 1 && shapes[0]->row_stride == 1,
                              shapes[1]->col_stride != 1 && shapes[1]->row_stride == 1,
                              shapes[2]->col_stride != 1 && shapes[2]->row_stride == 1,
                              recording->groups[0],
                              recording->groups[1],
                              1,
                              recording->items[0],
                              recording->items[1],
                              1,
                              recording->group,
                              place->row,
                              place->col};
  snprintf(numbers[0], sizeof numbers[0], "%c", *tsl_op_name(recording->rung->op));
  for (int i = 0; i < 16; i++)
    snprintf(numbers[i + 1], sizeof numbers[0], "%lld", (long long)values[i]);
  for (int i = 0; i < 17; i++)
    words[i + 1] = numbers[i];
  tesela_status status = tsl_lab_command(words, run_seconds, &output, &code);
  if (status == TESELA_OK && code != 0)
    status = tsl_fail(TESELA_UNSUPPORTED, "%s: the recorded kernel ended with code %d", recording->rung->name,
                      code);
  if (status == TESELA_OK)
    status = read_output(tsl_text_get(&output), recording);
  tsl_text_free(&output);
  return status;
}

static tesela_status compile_program(const tsl_strategy *strategy, const tsl_config *config,
                                     const tsl_recording *recording, const char *folder,
                                     char program[TSL_LAB_PATH_MAX]) {
  tsl_text unit = {0}, output = {0};
  char path[TSL_LAB_PATH_MAX];
  int code = 0;
  tesela_status status;
  snprintf(path, sizeof path, "%.480s/dialect_impl.h", folder);
  TSL_GO(tsl_lab_write_new(path, "/* The dialect stands before the kernel's text. */\n"));
  TSL_GO(add_unit(recording->rung, strategy, recording->problem, config, folder, &unit));
  TSL_GO(tsl_lab_compile_recorded(folder, folder, recording->rung->plain ? TSL_LAB_CUDA : TSL_LAB_C,
                                  tsl_text_get(&unit), lab_recorder_work_c, program, &output, &code));
  const char *error = strstr(tsl_text_get(&output), "error"),
             *compiler = recording->rung->plain ? "c++" : "cc";
  if (code == 127)
    status = tsl_fail(TESELA_UNSUPPORTED, "a trace needs the compiler %s, which is not here", compiler);
  else if (code != 0)
    status = tsl_fail(TESELA_UNSUPPORTED, "%s cannot compile the recorded kernel: %.*s", compiler,
                      error ? (int)strcspn(error, "\n") : 0, error ? error : "");
out:
  tsl_text_free(&unit);
  tsl_text_free(&output);
  return status;
}

static tesela_status check_place(const tsl_recording_place *place, tsl_recording *recording) {
  const tsl_problem *problem = recording->problem;
  if (place->has_element) {
    recording->group = -1;
    const bool is_dot = problem->op == TSL_OP_DOT;
    if (is_dot)
      return tsl_fail(TESELA_BAD_CALL, "--element is of matrices; --group tells the work-group of a dot");
    if (place->row >= problem->m || place->col >= problem->n)
      return tsl_fail(TESELA_BAD_CALL, "--element: C has %lld rows and %lld columns, from (0, 0)",
                      (long long)problem->m, (long long)problem->n);
    return TESELA_OK;
  }
  if (place->group[0] >= recording->groups[0] || place->group[1] >= recording->groups[1])
    return tsl_fail(TESELA_BAD_CALL, "--group: there are %lld x %lld groups (rows x columns), from (0, 0)",
                    (long long)recording->groups[1], (long long)recording->groups[0]);
  recording->group = place->group[1] * recording->groups[0] + place->group[0];
  return TESELA_OK;
}

tesela_status tsl_record_rung(const tsl_strategy *strategy, const tsl_problem *problem,
                              const tsl_config *config, const tsl_recording_place *place,
                              tsl_recording *recording) {
  char folder[TSL_LAB_PATH_MAX], program[TSL_LAB_PATH_MAX];
  *recording = (tsl_recording){.rung = tsl_rung_of(strategy), .problem = problem, .item = -1};
  if (!recording->rung) {
    tsl_text names = {0};
    rung_add_names(&names);
    const tesela_status status = tsl_fail(TESELA_UNSUPPORTED, "%s has no trace; these have one: %s",
                                          strategy->name, tsl_text_get(&names));
    tsl_text_free(&names);
    return status;
  }
  if (problem->c.type != TESELA_F32 && (problem->c.type != TESELA_F64 || recording->rung->is_image))
    return tsl_fail(TESELA_UNSUPPORTED, "a trace of %s is of f32%s", strategy->name,
                    recording->rung->is_image ? ", the type of texels" : " or f64");
  if (recording->rung->plain && (problem->a.col_stride != 1 || problem->b.col_stride != 1))
    return tsl_fail(TESELA_UNSUPPORTED, "a trace of %s is of operands that lie row by row", strategy->name);
  rung_range(recording->rung, strategy, config, recording);
  TSL_TRY(check_place(place, recording));
  TSL_TRY(tsl_lab_temporary(folder));
  tesela_status status = compile_program(strategy, config, recording, folder, program);
  if (status == TESELA_OK)
    status = run_program(program, place, recording);
  tsl_lab_remove(folder);
  if (status == TESELA_OK)
    status = number_steps(recording);
  if (status != TESELA_OK)
    tsl_recording_free(recording);
  return status;
}

void tsl_recording_free(tsl_recording *recording) {
  free(recording->events);
  recording->events = NULL;
  recording->count = 0;
}

int64_t tsl_recording_line(const tsl_recording *recording, int operand, int64_t row, int64_t col) {
  return tsl_shape_offset(tsl_problem_shape(recording->problem, operand), row, col) / 64;
}
