#include "explain/trace.h"

#include "core/status.h"
#include "problem/problem.h"

#include <stdlib.h>
#include <string.h>

static const char *array_name(const tsl_recording *recording, int operand) {
  for (int i = 0; i < recording->array_count; i++)
    if (recording->arrays[i].operand == operand)
      return recording->arrays[i].name;
  return "";
}

/* Maximum of elements of a list, and of an element's steps. */
enum { LIST_MAX = 12, SHOWN_MAX = 12 };

/* --- the drawing --- */

/* Maximum of m, n and k of a drawing; number of first steps drawn. */
enum { MOST = 16, STEPS = 3 };

/* Loads of one step. Each element shows the first work-item that loads it, and a plus for further items. */
typedef struct trace_picture {
  const tsl_recording *recording;
  bool is_line; /* work-items are numbered along one dimension */
  int loads[2];
  struct {
    int item, count;
  } by[2][MOST][MOST];
} trace_picture;

static void note_loads(int64_t step, trace_picture *drawn) {
  const tsl_recording *recording = drawn->recording;
  for (size_t i = 0; i < recording->count; i++) {
    const tsl_event *event = &recording->events[i];
    const int operand = recording->arrays[event->array].operand;
    if (event->kind != TSL_EVENT_LOAD || event->step != step || operand > TSL_OPERAND_B)
      continue;
    drawn->loads[operand]++;
    if (drawn->by[operand][event->row][event->col].count++ == 0)
      drawn->by[operand][event->row][event->col].item = event->item;
  }
}

static void draw_row(const trace_picture *drawn, int operand, int64_t row, int64_t cols, tsl_text *out) {
  const int wide = (int)drawn->recording->items[0];
  for (int64_t col = 0; col < cols; col++) {
    tsl_text cell = {0};
    const int count = drawn->by[operand][row][col].count, item = drawn->by[operand][row][col].item;
    if (count == 0)
      tsl_text_add(&cell, ".");
    else if (drawn->is_line)
      tsl_text_add(&cell, "%d%s", item, count > 1 ? "+" : "");
    else
      tsl_text_add(&cell, "%d,%d%s", item % wide, item / wide, count > 1 ? "+" : "");
    tsl_text_add(out, "%-*s", drawn->is_line ? 4 : 6, tsl_text_get(&cell));
    tsl_text_free(&cell);
  }
}

static void draw_operand(const trace_picture *drawn, int operand, tsl_text *out) {
  const tsl_shape *shape = tsl_problem_shape(drawn->recording->problem, operand);
  const bool is_dot = drawn->recording->rung->op == TSL_OP_DOT;
  const int64_t rows = is_dot ? 1 : shape->rows, cols = is_dot ? drawn->recording->problem->k : shape->cols;
  if (drawn->loads[operand] == 0)
    return;
  tsl_text_add(out, "  %s, %d loads\n", array_name(drawn->recording, operand), drawn->loads[operand]);
  for (int64_t row = 0; row < rows; row++) {
    tsl_text_add(out, "    ");
    draw_row(drawn, operand, row, cols, out);
    while (out->length > 0 && out->data[out->length - 1] == ' ')
      out->data[--out->length] = '\0';
    tsl_text_add(out, "\n");
  }
}

/* Appends the sums in local memory, for each interval between barriers. */
static void draw_fold(const tsl_recording *recording, tsl_text *out) {
  unsigned interval = 1;
  int count = 0;
  for (size_t i = 0; i < recording->count; i++) {
    const tsl_event *event = &recording->events[i];
    const bool is_local = recording->arrays[event->array].is_local;
    if (event->interval == 1 || event->kind != TSL_EVENT_STORE)
      continue;
    count = event->interval == interval ? count + 1 : 1;
    if (count == 1)
      tsl_text_add(out, "%s  barrier; ", interval > 1 ? "\n" : "");
    interval = event->interval;
    if (count > LIST_MAX)
      continue;
    tsl_text_add(out, count == 1 ? "" : ", ");
    const char *name = recording->arrays[event->array].name;
    tsl_text_add(out, "%s[%lld] %s", name, (long long)event->col, is_local ? "+=" : "=");
    size_t first = i;
    while (first > 0 && recording->events[first - 1].kind == TSL_EVENT_LOAD &&
           recording->events[first - 1].item == event->item &&
           recording->events[first - 1].interval == event->interval)
      first--;
    bool has_other = false;
    for (size_t l = first; l < i && !has_other; l++)
      if (recording->events[l].col != event->col || !is_local) {
        tsl_text_add(out, " %s[%lld]", recording->arrays[recording->events[l].array].name,
                     (long long)recording->events[l].col);
        has_other = true;
      }
  }
  tsl_text_add(out, "\n");
}

/* Returns true if item (x, y) of group (g, h) has one element of C, at the place of their numbers. */
static bool has_one_element(const tsl_rung *rung) {
  return rung->op != TSL_OP_DOT && rung->items_x && rung->items_y && !rung->is_image;
}

static void draw_heading(const tsl_recording *recording, tsl_text *out) {
  const long long wide = (long long)recording->groups[0], high = (long long)recording->groups[1];
  const int x = (int)recording->items[0], y = (int)recording->items[1];
  const int64_t group = recording->group;
  if (recording->rung->plain) {
    tsl_text_add(out, "the plain program with %s, on one thread:\n", recording->rung->plain);
    tsl_text_add(out, "each 0 below is an element that is loaded, + if more than once\n");
    return;
  }
  if (recording->items[1] > 1)
    tsl_text_add(out, "%lld x %lld groups of %d x %d items", wide, high, x, y);
  else if (high > 1)
    tsl_text_add(out, "%lld x %lld groups of %d items", wide, high, x);
  else
    tsl_text_add(out, "%lld group%s of %d items", wide, wide == 1 ? "" : "s", x);
  if (has_one_element(recording->rung))
    tsl_text_add(out, ", item (x, y) of group (g, h) has C(%d h + y, %d g + x)", y, x);
  else if (recording->rung->has_rows)
    tsl_text_add(out, ", item x of group g has row %d g + x of C", x);
  if (high > 1)
    tsl_text_add(out, ". Group (%lld, %lld):\n", (long long)(group % wide), (long long)(group / wide));
  else
    tsl_text_add(out, ". Group %lld:\n", (long long)group);
  tsl_text_add(out, "each number below is the item that loads the element, + where others load it too\n");
}

tesela_status tsl_trace_draw(const tsl_recording *recording, tsl_text *out) {
  const tsl_problem *problem = recording->problem;
  const tsl_rung *rung = recording->rung;
  if (problem->m > MOST || problem->n > MOST || problem->k > MOST)
    return tsl_fail(TESELA_UNSUPPORTED,
                    "a drawing has room for a product of at most %d x %d x %d, such as 8 8 8; --element R,C "
                    "traces one element of a larger product",
                    MOST, MOST, MOST);
  trace_picture *drawn = malloc(sizeof *drawn);
  if (!drawn)
    return tsl_fail(TESELA_OUT_OF_MEMORY, "no memory for a drawing");
  draw_heading(recording, out);
  for (int64_t step = 0; step < recording->steps; step++) {
    if (!rung->draws_whole && step >= STEPS && step + 1 < recording->steps)
      continue;
    memset(drawn, 0, sizeof *drawn);
    drawn->recording = recording;
    drawn->is_line = recording->items[1] == 1;
    note_loads(step, drawn);
    if (!rung->draws_whole && step + 1 == recording->steps && step > STEPS)
      tsl_text_add(out, "\n... and so on, to\n");
    tsl_text_add(out, "\nstep %lld of %lld\n", (long long)step + 1, (long long)recording->steps);
    draw_operand(drawn, TSL_OPERAND_A, out);
    draw_operand(drawn, TSL_OPERAND_B, out);
    tsl_text_add(out, "  %s\n", rung->then);
  }
  if (rung->op == TSL_OP_DOT)
    draw_fold(recording, out);
  free(drawn);
  tsl_text_add(out, "\n%s\n", rung->end);
  return tsl_text_status(out);
}

/* --- one element --- */

/* The life of one element of C. */
typedef struct trace_life {
  const tsl_recording *recording;
  int64_t row, col;
  bool *is_shown; /* of each step */
} trace_life;

static bool is_operand_load(const tsl_recording *recording, const tsl_event *event) {
  return event->kind == TSL_EVENT_LOAD && recording->arrays[event->array].operand <= TSL_OPERAND_B;
}

static bool is_own_add(const trace_life *life, const tsl_event *event) {
  return event->kind == TSL_EVENT_ADD && event->row == life->row && event->b_col == life->col;
}

/* Finds the latest load of an element of A or B before event `end`: by one item, or by any (-1). NULL: none.
 */
static const tsl_event *find_load(const tsl_recording *recording, size_t end, int item, int operand,
                                  int64_t row, int64_t col) {
  for (size_t i = end; i-- > 0;) {
    const tsl_event *event = &recording->events[i];
    if (event->kind == TSL_EVENT_LOAD && recording->arrays[event->array].operand == operand &&
        event->row == row && event->col == col && (item < 0 || event->item == item))
      return event;
  }
  return NULL;
}

/* Marks the steps that add to the element, or in which its item loads a factor. */
static void mark_steps(const trace_life *life) {
  const tsl_recording *recording = life->recording;
  for (size_t i = 0; i < recording->count; i++) {
    const tsl_event *event = &recording->events[i];
    if (recording->rung->op == TSL_OP_TRANSPOSE)
      life->is_shown[event->step] |= event->item == recording->item;
    if (event->kind == TSL_EVENT_STORE && recording->arrays[event->array].operand == TSL_OPERAND_C)
      life->is_shown[event->step] |= event->row == life->row && event->col == life->col;
    if (!is_own_add(life, event))
      continue;
    const tsl_event *loads[] = {
        find_load(recording, i, event->item, TSL_OPERAND_A, event->row, event->col),
        find_load(recording, i, event->item, TSL_OPERAND_B, event->b_row, event->b_col)};
    life->is_shown[event->step] = true;
    for (int f = 0; f < 2; f++)
      if (loads[f])
        life->is_shown[loads[f]->step] = true;
  }
}

/* Returns true if the second event is the next element of the same row (or column) as the first. */
static bool is_next(const tsl_event *a, const tsl_event *b, bool by_row) {
  return a->array == b->array && b->row == a->row + !by_row && b->col == a->col + by_row;
}

/* A list of elements, whose neighbours are joined: "A(5, 0..3)". */
typedef struct trace_list {
  const trace_life *life;
  const tsl_event *first, *last;
  bool by_row;
  int count;
  tsl_text text;
} trace_list;

static void list_close(trace_list *list) {
  const tsl_recording *recording = list->life->recording;
  const tsl_event *first = list->first, *last = list->last;
  list->first = NULL;
  if (!first || ++list->count > LIST_MAX)
    return;
  const tsl_recorded_array *array = &recording->arrays[first->array];
  char row[64], col[64];
  snprintf(row, sizeof row, first->row == last->row ? "%lld" : "%lld..%lld", (long long)first->row,
           (long long)last->row);
  snprintf(col, sizeof col, first->col == last->col ? "%lld" : "%lld..%lld", (long long)first->col,
           (long long)last->col);
  tsl_text_add(&list->text, "%s", list->count > 1 ? ", " : "");
  if (array->rows == 1)
    tsl_text_add(&list->text, "%s[%s]", array->name, col);
  else
    tsl_text_add(&list->text, array->is_local ? "%s[%s][%s]" : "%s(%s, %s)", array->name, row, col);
  if (array->operand > TSL_OPERAND_C)
    return;
  const int64_t lines[] = {tsl_recording_line(recording, array->operand, first->row, first->col),
                           tsl_recording_line(recording, array->operand, last->row, last->col)};
  tsl_text_add(&list->text, lines[0] == lines[1] ? " of line %lld" : " of lines %lld to %lld",
               (long long)lines[0], (long long)lines[1]);
}

static void list_add(trace_list *list, const tsl_event *event) {
  for (int by_row = 0; by_row < 2 && list->first; by_row++)
    if (is_next(list->last, event, by_row != 0) &&
        (list->first == list->last || list->by_row == (by_row != 0))) {
      list->by_row = by_row != 0;
      list->last = event;
      return;
    }
  list_close(list);
  list->first = list->last = event;
}

/* Appends a line: a word, and the item's accesses of one kind in a step, to local or global memory. */
static void add_accesses(const trace_life *life, int64_t step, const char *word, tsl_event_kind kind,
                         bool is_local, tsl_text *out) {
  const tsl_recording *recording = life->recording;
  trace_list list = {.life = life};
  for (size_t i = 0; i < recording->count; i++) {
    const tsl_event *event = &recording->events[i];
    const tsl_recorded_array *array = &recording->arrays[event->array];
    const bool is_other = recording->rung->plain && array->operand == TSL_OPERAND_C &&
                          (event->row != life->row || event->col != life->col);
    if (event->item == recording->item && event->step == step && event->kind == kind &&
        array->is_local == is_local && !is_other)
      list_add(&list, event);
  }
  list_close(&list);
  if (list.count > 0)
    tsl_text_add(out, "  %-8s%s%s\n", word, tsl_text_get(&list.text), list.count > LIST_MAX ? ", ..." : "");
  tsl_text_free(&list.text);
}

/* Appends the products that join the element's sum in a step, and how many are in it then. */
static void add_products(const trace_life *life, int64_t step, int64_t *sum, tsl_text *out) {
  const tsl_recording *recording = life->recording;
  int count = 0, by_others = 0;
  for (size_t i = 0; i < recording->count; i++) {
    const tsl_event *event = &recording->events[i];
    if (event->step != step || !is_own_add(life, event))
      continue;
    if (count++ < LIST_MAX)
      tsl_text_add(out, "%sA(%lld, %lld) B(%lld, %lld)", count == 1 ? "  adds    " : " + ",
                   (long long)event->row, (long long)event->col, (long long)event->b_row,
                   (long long)event->b_col);
    for (int operand = TSL_OPERAND_A; operand <= TSL_OPERAND_B; operand++) {
      const tsl_event *load = operand == TSL_OPERAND_A
                                  ? find_load(recording, i, -1, operand, event->row, event->col)
                                  : find_load(recording, i, -1, operand, event->b_row, event->b_col);
      by_others += load && load->item != event->item &&
                   !find_load(recording, i, event->item, operand, load->row, load->col);
    }
  }
  *sum += count;
  if (count > 0)
    tsl_text_add(out, "%s: the sum has %lld of %lld products\n", count > LIST_MAX ? " + ..." : "",
                 (long long)*sum, (long long)recording->problem->k);
  if (by_others > 0)
    tsl_text_add(out, "          %d of these %d factors were loaded by other items of the group\n", by_others,
                 2 * count);
}

static int compare_lines(const void *a, const void *b) {
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

/* Appends loads and lines of memory of the whole group in a step. */
static void add_group(const tsl_recording *recording, int64_t step, tsl_text *out) {
  int64_t *lines = malloc((recording->count + 1) * sizeof *lines);
  bool is_first = true;
  for (int operand = TSL_OPERAND_A; operand <= TSL_OPERAND_B && lines; operand++) {
    size_t count = 0;
    int64_t touched = 0;
    for (size_t i = 0; i < recording->count; i++) {
      const tsl_event *event = &recording->events[i];
      if (event->step == step && is_operand_load(recording, event) &&
          recording->arrays[event->array].operand == operand)
        lines[count++] = tsl_recording_line(recording, operand, event->row, event->col);
    }
    if (count == 0)
      continue;
    qsort(lines, count, sizeof *lines, compare_lines);
    for (size_t i = 0; i < count; i++)
      touched += i == 0 || lines[i] != lines[i - 1];
    tsl_text_add(out, "%s%s %zu load%s in %lld line%s",
                 is_first ? !recording->rung->plain ? "  group   " : "  in all  " : ", ",
                 array_name(recording, operand), count, count == 1 ? "" : "s", (long long)touched,
                 touched == 1 ? "" : "s");
    is_first = false;
  }
  if (!is_first)
    tsl_text_add(out, " of 64 bytes\n");
  free(lines);
}

static void add_item(const tsl_recording *recording, int item, tsl_text *out) {
  const int wide = (int)recording->items[0];
  if (recording->items[1] > 1)
    tsl_text_add(out, "item (%d, %d)", item / wide, item % wide);
  else
    tsl_text_add(out, "item %d", item);
}

/* Returns a number that the plain kernel defines: of "NC 8, KC 4" and "KC" 4. */
static int64_t plain_number(const char *plain, const char *name) {
  const char *at = strstr(plain, name);
  return at ? atoll(at + strlen(name)) : 0;
}

/* Appends the element's rounds of the five loops around the micro-kernel. */
static void add_five_loops(const trace_life *life, tsl_text *out) {
  const char *plain = life->recording->rung->plain;
  const int64_t nc = plain_number(plain, "NC"), kc = plain_number(plain, "KC"),
                mc = plain_number(plain, "MC"), nr = plain_number(plain, "NR"),
                mr = plain_number(plain, "MR");
  tsl_text_add(out, "loop 5 jc = %lld, loop 4 pc = ", (long long)(life->col / nc * nc));
  for (int64_t pc = 0; pc < life->recording->problem->k; pc += kc)
    tsl_text_add(out, "%s%lld", pc > 0 ? " and " : "", (long long)pc);
  tsl_text_add(out, ", loop 3 ic = %lld, loop 2 jr = %lld, loop 1 ir = %lld\n",
               (long long)(life->row / mc * mc), (long long)(life->col % nc / nr * nr),
               (long long)(life->row % mc / mr * mr));
}

static void add_life_heading(const trace_life *life, tsl_text *out) {
  const tsl_recording *recording = life->recording;
  const int64_t wide = recording->groups[0], x = recording->group % wide, y = recording->group / wide;
  const int item_x = recording->item % (int)recording->items[0],
            item_y = recording->item / (int)recording->items[0];
  if (recording->rung->plain) {
    tsl_text_add(out, "C(%lld, %lld) in the plain program with %s, on one thread\n", (long long)life->row,
                 (long long)life->col, recording->rung->plain);
    if (strstr(recording->rung->plain, "MR"))
      add_five_loops(life, out);
    return;
  }
  tsl_text_add(out, "C(%lld, %lld) is stored by ", (long long)life->row, (long long)life->col);
  add_item(recording, recording->item, out);
  if (recording->groups[1] > 1 || recording->items[1] > 1)
    tsl_text_add(out, " of group (%lld, %lld), as (row, column)", (long long)y, (long long)x);
  else
    tsl_text_add(out, " of group %lld", (long long)x);
  if (has_one_element(recording->rung))
    tsl_text_add(out, ": %lld = %lld * %lld + %d, %lld = %lld * %lld + %d", (long long)life->row,
                 (long long)recording->items[1], (long long)y, item_y, (long long)life->col,
                 (long long)recording->items[0], (long long)x, item_x);
  tsl_text_add(out, "\nget_group_id(0) = %lld, get_local_id(0) = %d", (long long)x, item_x);
  if (recording->groups[1] > 1 || recording->items[1] > 1)
    tsl_text_add(out, "; get_group_id(1) = %lld, get_local_id(1) = %d", (long long)y, item_y);
  tsl_text_add(out, "\n");
}

void tsl_trace_element(const tsl_recording *recording, int64_t row, int64_t col, tsl_text *out) {
  trace_life life = {.recording = recording, .row = row, .col = col};
  life.is_shown = calloc((size_t)recording->steps + 1, sizeof *life.is_shown);
  if (!life.is_shown)
    return;
  int64_t shown = 0, printed = 0, previous = -1, sum = 0;
  mark_steps(&life);
  for (int64_t step = 0; step < recording->steps; step++)
    shown += life.is_shown[step];
  add_life_heading(&life, out);
  for (int64_t step = 0; step < recording->steps; step++) {
    tsl_text lines = {0};
    if (!life.is_shown[step])
      continue;
    add_accesses(&life, step, "loads", TSL_EVENT_LOAD, false, &lines);
    add_accesses(&life, step, "keeps", TSL_EVENT_STORE, true, &lines);
    add_products(&life, step, &sum, &lines);
    add_accesses(&life, step, "stores", TSL_EVENT_STORE, false, &lines);
    add_group(recording, step, &lines);
    if (++printed < SHOWN_MAX || printed == shown) {
      if (step != previous + 1)
        tsl_text_add(out, "...\n");
      tsl_text_add(out, "step %lld of %lld\n%s", (long long)step + 1, (long long)recording->steps,
                   tsl_text_get(&lines));
      previous = step;
    }
    tsl_text_free(&lines);
  }
  if (recording->rung->op == TSL_OP_TRANSPOSE) {
    const tsl_event *load = find_load(recording, recording->count, -1, TSL_OPERAND_A, col, row);
    tsl_text_add(out, "A(%lld, %lld) was loaded by ", (long long)col, (long long)row);
    add_item(recording, load ? load->item : -1, out);
    tsl_text_add(out, "\n");
  }
  free(life.is_shown);
}

/* --- JSON --- */

/* Returns [word, item, array, row, column, line] of a load or a store, [word, item, i, l, j] of an addition.
 */
static json_t *event_json(const tsl_recording *recording, const tsl_event *event) {
  static const char *const words[] = {"load", "store", "add"};
  const tsl_recorded_array *array = &recording->arrays[event->array];
  const bool is_dot = recording->rung->op == TSL_OP_DOT;
  if (event->kind == TSL_EVENT_ADD)
    return json_pack("[s, i, I, I, I]", words[event->kind], event->item, (json_int_t)event->row,
                     (json_int_t)event->col, (json_int_t)(is_dot ? 0 : event->b_col));
  const bool has_line = !array->is_local && !is_dot;
  json_t *all =
      json_pack("[s, i, i, I, I, o]", words[event->kind], event->item, event->array, (json_int_t)event->row,
                (json_int_t)event->col,
                has_line ? json_integer(tsl_recording_line(recording, array->operand, event->row, event->col))
                         : json_null());
  if (event->from >= 0) {
    json_array_append_new(all, json_string(array_name(recording, event->from)));
    json_array_append_new(all, json_integer(event->b_row));
    json_array_append_new(all, json_integer(event->b_col));
  }
  return all;
}

/* Returns the steps; an interval is an object of a step, so that barriers are between objects. */
static json_t *steps_json(const tsl_recording *recording) {
  json_t *steps = json_array();
  for (int64_t step = 0; step < recording->steps; step++) {
    json_t *intervals = json_array(), *events = NULL;
    unsigned interval = 0;
    for (size_t i = 0; i < recording->count; i++) {
      const tsl_event *event = &recording->events[i];
      if (event->step != step)
        continue;
      if (event->interval != interval) {
        events = json_array();
        json_array_append_new(intervals, events);
        interval = event->interval;
      }
      json_array_append_new(events, event_json(recording, event));
    }
    json_array_append_new(steps, intervals);
  }
  return steps;
}

/* Returns the columns of an array that events touch: of a local array those without its rows' padding. */
static int64_t count_touched_columns(const tsl_recording *recording, int array) {
  int64_t columns = 0;
  for (size_t i = 0; i < recording->count; i++) {
    const tsl_event *event = &recording->events[i];
    if (event->kind != TSL_EVENT_ADD && event->array == array && event->col >= columns)
      columns = event->col + 1;
  }
  return columns;
}

static json_t *arrays_json(const tsl_recording *recording) {
  json_t *arrays = json_array();
  for (int i = 0; i < recording->array_count; i++) {
    const tsl_recorded_array *array = &recording->arrays[i];
    const int64_t columns =
        array->is_local && array->rows > 1 ? count_touched_columns(recording, i) : array->cols;
    json_array_append_new(arrays,
                          json_pack("{s:s, s:s, s:I, s:I, s:I}", "name", array->name, "memory",
                                    array->is_local ? "local" : "global", "rows", (json_int_t)array->rows,
                                    "columns", (json_int_t)columns, "pitch", (json_int_t)array->cols));
  }
  return arrays;
}

void tsl_trace_add_name(const tsl_chosen_strategy *chosen, const tsl_recording *recording, tsl_text *out) {
  if (recording->rung->plain)
    tsl_text_add(out, "%s", chosen->strategy->name);
  else
    tsl_config_print(chosen->strategy, &chosen->config, out);
}

json_t *tsl_trace_json(const tsl_chosen_strategy *chosen, const tsl_recording *recording,
                       const tsl_recording_place *place) {
  const tsl_problem *problem = recording->problem;
  const int wide = (int)recording->items[0];
  const bool has_item = place->has_element && recording->item >= 0;
  tsl_text config = {0};
  tsl_trace_add_name(chosen, recording, &config);
  json_t *const json = json_pack(
      "{s:s, s:s, s:I, s:I, s:I, s:s, s:[I, I], s:[I, I], s:[I, I], s:o, s:o, s:i, s:o, s:o, s:s, s:s?}",
      "op", tsl_op_name(problem->op), "strategy", recording->rung->name, "m", (json_int_t)problem->m, "n",
      (json_int_t)problem->n, "k", (json_int_t)problem->k, "type", tsl_type(problem->c.type)->name, "groups",
      (json_int_t)recording->groups[0], (json_int_t)recording->groups[1], "items",
      (json_int_t)recording->items[0], (json_int_t)recording->items[1], "group",
      (json_int_t)(recording->group % recording->groups[0]),
      (json_int_t)(recording->group / recording->groups[0]), "element",
      has_item ? json_pack("[I, I]", (json_int_t)place->row, (json_int_t)place->col) : json_null(), "item",
      has_item ? json_pack("[i, i]", recording->item % wide, recording->item / wide) : json_null(),
      "line_bytes", 64, "arrays", arrays_json(recording), "steps", steps_json(recording), "config",
      tsl_text_get(&config), "plain", recording->rung->plain);
  tsl_text_free(&config);
  return json;
}

tesela_status tsl_trace_small(const tsl_rung *rung, json_t **trace) {
  const tsl_recording_place first = {.has_element = false};
  const tsl_problem problem = rung->op == TSL_OP_DOT ? tsl_problem_dot(16, TESELA_F32)
                                                     : tsl_problem_of(rung->op, 8, 8, 8, TESELA_F32);
  tsl_recording recording = {0};
  tsl_strategy_list list;
  tsl_text name = {0};
  tesela_status status;
  tsl_text_add(&name, "%s %s", rung->name, rung->small);
  TSL_GO(tsl_select_strategies(rung->op, tsl_text_get(&name), false, &list));
  TSL_GO(tsl_record_rung(list.items[0].strategy, &problem, &list.items[0].config, &first, &recording));
  *trace = tsl_trace_json(&list.items[0], &recording, &first);
  status = *trace ? TESELA_OK : tsl_fail(TESELA_OUT_OF_MEMORY, "no memory for a trace");
out:
  tsl_recording_free(&recording);
  tsl_text_free(&name);
  return status;
}
