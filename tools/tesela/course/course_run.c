#include "course/course_run.h"

#include "core/list_text.h"
#include "core/status.h"

#include <math.h>
#include <string.h>

static tsl_course_place place_of_device(const tsl_device *device) {
  return device->is_cpu ? TSL_COURSE_CPU : TSL_COURSE_GPU;
}

/* Returns the first device of a place with these capabilities; one of `kind` if there is one. */
static const tsl_device *find_device(const tsl_device_list *list, tsl_course_place place,
                                     unsigned capabilities, const char *kind) {
  const tsl_device *found = NULL;
  for (int i = 0; i < list->count; i++) {
    const tsl_device *device = list->items[i];
    if (device->member_count > 0 || place_of_device(device) != place ||
        (device->capabilities & capabilities) != capabilities)
      continue;
    if (strcmp(device->kind, kind) == 0)
      return device;
    found = found ? found : device;
  }
  return found;
}

/* Appends the names of the devices that take part: the host, its processor by kernels, and a GPU. */
static tesela_status add_devices(tsl_course_run *run, const tsl_device_list *list, tsl_text *names) {
  const tsl_device *devices[] = {
      find_device(list, TSL_COURSE_CPU, TSL_CAN_HOST, "cpu"),
      find_device(list, TSL_COURSE_CPU, TSL_CAN_KERNELS, run->document->kind),
      find_device(list, TSL_COURSE_GPU, TSL_CAN_KERNELS, run->document->kind),
  };
  for (size_t i = 0; i < sizeof devices / sizeof *devices; i++)
    if (devices[i]) {
      tsl_text_add(names, "%s%s", names->length ? "," : "", devices[i]->name);
      run->has_place[place_of_device(devices[i])] = true;
    }
  if (names->length == 0)
    return tsl_fail(TESELA_NO_DEVICE, "none of the named devices takes part in this document");
  return tsl_text_status(names);
}

static tesela_status prepare_table(const tsl_course_table *table, const tsl_explore_options *options,
                                   bool quick, tsl_devices *devices, tsl_exploration *all) {
  tsl_text strategies = {0};
  all->op = table->op;
  for (int row = 0; row < tsl_course_rows(table); row++)
    tsl_text_add(&strategies, "%s%s", row ? "," : "", table->rows[row].strategy);
  tesela_status status = tsl_text_status(&strategies);
  if (status == TESELA_OK)
    status = tsl_select_strategies(all->op, tsl_text_get(&strategies), false, &all->strategies);
  if (status == TESELA_OK)
    status = tsl_explore_prepare(options, quick ? table->quick_size : table->size, devices, all);
  tsl_text_free(&strategies);
  return status;
}

tesela_status tsl_course_prepare(const tsl_course_document *document, const tsl_explore_options *options,
                                 bool quick, tsl_devices *devices, tsl_course_run *run) {
  tsl_device_list list;
  tsl_text names = {0};
  tsl_explore_options own = *options;
  tesela_status status = TESELA_OK;
  run->document = document;
  TSL_TRY(tsl_select_devices(devices, options->devices, &list));
  TSL_GO(add_devices(run, &list, &names));
  own.devices = tsl_text_get(&names);
  for (int i = 0; i < TSL_COURSE_TABLES_MAX && document->tables[i].title; i++) {
    own.types = document->tables[i].type;
    TSL_GO(prepare_table(&document->tables[i], &own, quick, devices, &run->tables[i]));
    run->table_count = i + 1;
  }
out:
  tsl_text_free(&names);
  return status;
}

tesela_status tsl_course_measure(tsl_course_run *run, tsl_devices *devices) {
  for (int i = 0; i < run->table_count; i++) {
    run->progress = tsl_progress_start(true);
    const tesela_status status = tsl_explore_run(&run->tables[i], devices, run->progress);
    tsl_progress *const progress = run->progress;
    run->progress = NULL;
    tsl_progress_end(progress);
    if (status != TESELA_OK || tsl_explore_is_cut_short(&run->tables[i]))
      return status;
  }
  return TESELA_OK;
}

bool tsl_course_is_cut_short(const tsl_course_run *run) {
  bool cut = false;
  for (int i = 0; i < run->table_count; i++)
    cut = cut || tsl_explore_is_cut_short(&run->tables[i]);
  return cut;
}

bool tsl_course_has_times(const tsl_course_run *run) {
  bool has_times = false;
  for (int i = 0; i < run->table_count; i++)
    has_times = has_times || tsl_explore_has_times(&run->tables[i]);
  return has_times;
}

void tsl_course_free(tsl_course_run *run) {
  for (int i = 0; i < run->table_count; i++)
    tsl_explore_free(&run->tables[i]);
}

/* Returns true if a point's device is of the kind for which its strategy is made: the host, or kernels. */
static bool is_on_its_kind(const tsl_exploration *all, const tsl_point *point) {
  const unsigned device = all->devices.items[point->device]->capabilities;
  return (point->entry.strategy->needs & TSL_CAN_HOST) == (device & TSL_CAN_HOST);
}

/* Returns true if point `a` says more than `b`: a time, the shorter time, a failure, or the better reason. */
static bool says_more(const tsl_exploration *all, const tsl_point *a, const tsl_point *b) {
  const bool a_right = a->entry.result == TSL_CASE_RIGHT, b_right = b->entry.result == TSL_CASE_RIGHT;
  if (a_right && b_right)
    return a->entry.timing.median < b->entry.timing.median;
  if (a->entry.result != TSL_CASE_REFUSED || b->entry.result != TSL_CASE_REFUSED)
    return b->entry.result == TSL_CASE_REFUSED;
  return is_on_its_kind(all, a) && !is_on_its_kind(all, b);
}

const tsl_point *tsl_course_point(const tsl_course_run *run, tsl_course_cell cell, tsl_course_place place) {
  const tsl_exploration *all = &run->tables[cell.table];
  const tsl_point *best = NULL;
  for (int d = 0; d < all->devices.count && all->point_count > 0; d++) {
    const tsl_point *point = tsl_explore_at(all, 0, 0, cell.row, d);
    if (place_of_device(all->devices.items[d]) == place && (!best || says_more(all, point, best)))
      best = point;
  }
  return best;
}

double tsl_course_value(const tsl_course_table *table, const tsl_point *point) {
  return table->unit == TSL_COURSE_MFLOPS ? tsl_point_flops(point) / 1e6 : point->entry.timing.median * 1e3;
}

const char *tsl_course_verdict_name(tsl_course_verdict verdict) {
  static const char *const names[] = {TSL_COURSE_VERDICT_LIST(TSL_LIST_TEXT)};
  return names[verdict];
}

static const tsl_point *answer_point(const tsl_course_run *run, tsl_course_cell cell,
                                     tsl_course_place place) {
  const bool cpu_only = run->document->tables[cell.table].rows[cell.row].cpu_only;
  return run->has_place[place] ? tsl_course_point(run, cell, cpu_only ? TSL_COURSE_CPU : place) : NULL;
}

tsl_course_check tsl_course_check_answer(const tsl_course_run *run, const tsl_course_question *question,
                                         tsl_course_place place) {
  tsl_course_check check = {.verdict = TSL_COURSE_UNCHECKED, .factor = NAN, .low = NAN, .high = NAN};
  const double max = question->max > 0 ? question->max : INFINITY;
  check.fast = answer_point(run, question->fast, place);
  check.slow = answer_point(run, question->slow, place);
  if (!check.fast || !check.slow || check.fast->entry.result != TSL_CASE_RIGHT ||
      check.slow->entry.result != TSL_CASE_RIGHT)
    return check;
  const tsl_measurement *fast = &check.fast->entry.timing, *slow = &check.slow->entry.timing;
  check.factor = slow->median / fast->median;
  check.low = slow->first_quartile / fast->third_quartile;
  check.high = slow->third_quartile / fast->first_quartile;
  check.verdict = check.low >= question->min && check.high <= max   ? TSL_COURSE_HOLDS
                  : check.high >= question->min && check.low <= max ? TSL_COURSE_NOISY
                                                                    : TSL_COURSE_CONTRADICTED;
  return check;
}
