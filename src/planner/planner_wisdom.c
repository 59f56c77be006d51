/* Wisdom in memory, sorted by strategy and device: a lookup reads one strategy's records on one device. */
#include "planner/planner_wisdom.h"

#include "core/hash.h"
#include "core/list_text.h"
#include "core/memory.h"
#include "core/reserve.h"
#include "core/status.h"
#include "core/warnings.h"
#include "strategy/strategy_list.h"
#include "strategy/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Maximum factor between sizes of a near record. */
static const double nearest_factor = 2;

typedef struct known {
  tsl_wisdom_record record;
  uint64_t device; /* hash of the device's key and units */
  bool own;        /* the record is the user's */
} known;

struct tsl_wisdom {
  known *items;
  int count, capacity;
  double least; /* smallest recorded work of the cpu's strategies; infinity: none */
};

static const char *const basis_names[] = {TSL_BASIS_LIST(TSL_LIST_TEXT)};

const char *tsl_basis_name(tsl_basis basis) {
  return basis_names[basis];
}

static uint64_t planner_wisdom_hash_of(const char *key, int64_t units) {
  const tsl_hash hash = tsl_hash_add(tsl_hash_start(), key, strlen(key));
  return tsl_hash_add(hash, &units, sizeof units).low;
}

/* Returns the multiply-adds, or a transpose's elements. */
static double planner_wisdom_work_of(const tsl_wisdom_class *problem) {
  return (double)problem->m * (double)problem->n * (problem->k > 0 ? (double)problem->k : 1);
}

typedef struct wisdom_loading {
  tsl_wisdom *target;
  const char *from; /* source, for the log */
  bool own;
  int unreadable, first; /* number of unreadable lines; line number of the first one */
  char wrong[256];       /* message about the first unreadable line */
} wisdom_loading;

/* Adds a line's record, if usable. */
static tesela_status load_line(void *argument, const tsl_wisdom_line *line) {
  wisdom_loading *job = argument;
  tsl_wisdom *target = job->target;
  if (!line->record && job->unreadable++ == 0) {
    job->first = line->number;
    snprintf(job->wrong, sizeof job->wrong, "%s", line->wrong);
  }
  const char *wrong = line->record ? line->record->stale : line->wrong;
  if (*wrong) {
    tsl_log(TSL_LOG_PLAN, "wisdom: %s: line %d is ignored: %s", job->from, line->number, wrong);
    return TESELA_OK;
  }
  TSL_TRY(tsl_list_reserve(&target->items, target->count, &target->capacity, sizeof *target->items,
                           "records of wisdom"));
  target->items[target->count++] =
      (known){*line->record, planner_wisdom_hash_of(line->record->key, line->record->units), job->own};
  return TESELA_OK;
}

/* Compares a record's strategy, then its device, with these: negative, 0 or positive. */
static int compare_strategy_and_device(const known *a, const tsl_strategy *strategy, uint64_t device) {
  const uintptr_t x = (uintptr_t)a->record.strategy, y = (uintptr_t)strategy;
  if (x != y)
    return x < y ? -1 : 1;
  return (a->device > device) - (a->device < device);
}

static int compare_items(const void *a, const void *b) {
  const known *other = b;
  return compare_strategy_and_device(a, other->record.strategy, other->device);
}

static tesela_status planner_wisdom_load(const char *shipped, const char *user_text, const char *own_name,
                                         tsl_wisdom **out) {
  void *block;
  TSL_TRY(tsl_alloc_zeroed(sizeof **out, "wisdom", &block));
  tsl_wisdom *wisdom = block;
  tesela_status status;
  wisdom_loading from_library = {.target = wisdom, .from = "the library's"};
  wisdom_loading from_user = {.target = wisdom, .from = own_name, .own = true};
  TSL_GO(tsl_wisdom_each(shipped, load_line, &from_library));
  TSL_GO(tsl_wisdom_each(user_text, load_line, &from_user));
  if (from_user.unreadable > 0)
    tsl_notice(TSL_LOG_PLAN, "wisdom: %s: %d line%s no record%s; the first is line %d: %s", own_name,
               from_user.unreadable, from_user.unreadable == 1 ? " is" : "s are",
               from_user.unreadable == 1 ? "" : "s", from_user.first, from_user.wrong);
  if (wisdom->count > 0)
    qsort(wisdom->items, (size_t)wisdom->count, sizeof *wisdom->items, compare_items);
  wisdom->least = INFINITY;
  for (int i = 0; i < wisdom->count; i++)
    if (wisdom->items[i].record.problem.op == TSL_OP_GEMM &&
        wisdom->items[i].record.strategy->needs & TSL_CAN_HOST)
      wisdom->least = fmin(wisdom->least, planner_wisdom_work_of(&wisdom->items[i].record.problem));
  *out = wisdom;
  return TESELA_OK;
out:
  tsl_wisdom_close(wisdom);
  return status;
}

tesela_status tsl_wisdom_from(const char *shipped, const char *user_text, tsl_wisdom **wisdom) {
  *wisdom = NULL;
  return planner_wisdom_load(shipped, user_text, "the user's", wisdom);
}

tesela_status tsl_wisdom_open_texts(tsl_wisdom **wisdom, tsl_text *text, const char **shipped) {
  tsl_text path = {0};
  tsl_status_saved saved;
  *wisdom = NULL;
  tsl_status_save(&saved);
  tesela_status status = tsl_wisdom_path(&path);
  const bool off = status == TESELA_UNSUPPORTED;
  if (status == TESELA_OK)
    status = tsl_wisdom_read_own(tsl_text_get(&path), text);
  if (status == TESELA_OUT_OF_MEMORY) { /* the next call reads it again */
    tsl_text_free(&path);
    tsl_text_free(text);
    return status;
  }
  if (off || (status == TESELA_IO_FAILED && !path.length)) {
    tsl_log(TSL_LOG_PLAN, "wisdom: %s", tesela_last_error());
  } else if (status != TESELA_OK) {
    tsl_notice(TSL_LOG_PLAN, "wisdom is not used: %s", tesela_last_error());
    tsl_text_free(text);
  }
  tsl_status_restore(&saved);
  *shipped = off ? "" : tsl_wisdom_shipped();
  status = planner_wisdom_load(*shipped, tsl_text_get(text), tsl_text_get(&path), wisdom);
  tsl_text_free(&path);
  return status;
}

tesela_status tsl_wisdom_open(tsl_wisdom **wisdom) {
  tsl_text own = {0};
  const char *shipped;
  const tesela_status status = tsl_wisdom_open_texts(wisdom, &own, &shipped);
  tsl_text_free(&own);
  return status;
}

void tsl_wisdom_close(tsl_wisdom *wisdom) {
  if (!wisdom)
    return;
  free(wisdom->items);
  tsl_free(wisdom);
}

/* Returns the first item that is not before this strategy and device. */
static int first_at(const tsl_wisdom *wisdom, const tsl_strategy *strategy, uint64_t device) {
  int low = 0, high = wisdom->count;
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (compare_strategy_and_device(&wisdom->items[middle], strategy, device) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Returns true if a record's accuracy requirement serves the wanted one. */
static bool planner_wisdom_serves(const tsl_wisdom_class *old, const tsl_wisdom_class *wanted) {
  return old->accuracy == TSL_ACCURACY_DEFAULT ||
         (old->accuracy == wanted->accuracy && old->precision == wanted->precision &&
          old->number == wanted->number);
}

static bool same_class(const tsl_wisdom_class *a, const tsl_wisdom_class *b) {
  return a->op == b->op && a->beta == b->beta && a->in_place == b->in_place &&
         memcmp(a->types, b->types, sizeof a->types) == 0 && strcmp(a->layout, b->layout) == 0 &&
         memcmp(a->structures, b->structures, sizeof a->structures) == 0 &&
         memcmp(a->triangles, b->triangles, sizeof a->triangles) == 0;
}

/* Returns a size's class: 2 if divisible by 16, 1 if by 4, else 0. */
static int divisibility(int64_t size) {
  return size % 16 == 0 ? 2 : size % 4 == 0;
}

/* Returns the logarithm of the sizes' ratio; infinity: not comparable. */
static double size_distance(int64_t value, int64_t other) {
  if (value == other)
    return 0;
  if (value < 1 || other < 1 || divisibility(value) != divisibility(other))
    return INFINITY;
  const double distance = fabs(log2((double)value / (double)other));
  return distance <= log2(nearest_factor) ? distance : INFINITY;
}

/* Returns the distance of two problems' sizes; infinity if their classes differ. */
static double planner_wisdom_distance(const tsl_wisdom_class *wisdom_class, const tsl_wisdom_class *other) {
  if (!same_class(wisdom_class, other) || !planner_wisdom_serves(wisdom_class, other))
    return INFINITY;
  return size_distance(wisdom_class->m, other->m) + size_distance(wisdom_class->n, other->n) +
         size_distance(wisdom_class->k, other->k);
}

/* Returns true if a config has the values of `fixed` in fixed_bits. */
static bool planner_wisdom_fits(const tsl_config *config, const tsl_config *fixed, unsigned fixed_bits) {
  for (int i = 0; i < TSL_PARAMS_MAX; i++)
    if (fixed_bits & 1u << i && config->value[i] != fixed->value[i])
      return false;
  return true;
}

/* Returns true if alpha and all sizes are nonzero. */
static bool is_ordinary(const tsl_problem *problem) {
  return problem->m > 0 && problem->n > 0 && (problem->k > 0 || problem->op == TSL_OP_TRANSPOSE) &&
         (problem->alpha[0] != 0 || problem->alpha[1] != 0);
}

static tsl_shape resize_shape(const tsl_shape *like, const tsl_shape *size) {
  const bool by_columns = like->row_stride == 1 && like->col_stride != 1;
  tsl_shape wisdom = *like;
  wisdom.rows = size->rows;
  wisdom.cols = size->cols;
  wisdom.row_stride = by_columns ? 1 : wisdom.cols;
  wisdom.col_stride = by_columns ? wisdom.rows : 1;
  return wisdom;
}

/* Returns the problem with a record's sizes and dense operands. */
static tsl_problem resize_problem(const tsl_problem *problem, const tsl_wisdom_class *sizes) {
  const tsl_problem dense = tsl_problem_of(problem->op, sizes->m, sizes->n, sizes->k, problem->a.type);
  tsl_problem wisdom = *problem;
  wisdom.m = dense.m;
  wisdom.n = dense.n;
  wisdom.k = dense.k;
  wisdom.a = resize_shape(&problem->a, &dense.a);
  wisdom.b = resize_shape(&problem->b, &dense.b);
  wisdom.c = resize_shape(&problem->c, &dense.c);
  return wisdom;
}

/* Scales a record's seconds by the model, which knows fixed costs; without a model returns by_work. */
static double scale_seconds(const tsl_problem *problem, const tsl_wisdom_record *record,
                            const tsl_device *device, double by_work) {
  const tsl_problem measured = resize_problem(problem, &record->problem);
  const double then = tsl_strategy_seconds(record->strategy, &measured, &record->config, device,
                                           tsl_strategy_at),
               now =
                   tsl_strategy_seconds(record->strategy, problem, &record->config, device, tsl_strategy_at);
  return then > 0 && now > 0 && isfinite(now / then) ? record->seconds * now / then : by_work;
}

/* Returns true, with a warning, if no such device can reach the record's speed. */
static bool is_implausible(const known *item, const tsl_device *device) {
  const char *why = tsl_wisdom_refuse(&item->record, device);
  if (why)
    tsl_notice(TSL_LOG_PLAN, "wisdom: %s record is implausible and ignored: %s",
               item->own ? "your" : "the library's", why);
  return why != NULL;
}

bool tsl_wisdom_find(const tsl_wisdom *wisdom, const tsl_problem *problem, const tsl_device *device,
                     const tsl_strategy *strategy, const tsl_config *fixed, unsigned fixed_bits,
                     tsl_wisdom_hit *hit) {
  tsl_problem room;
  problem = tsl_problem_without_epilogue(problem, &room);
  if (!wisdom || wisdom->count == 0 || !is_ordinary(problem))
    return false;
  const tsl_wisdom_class wanted = tsl_wisdom_class_of(problem);
  const uint64_t place = planner_wisdom_hash_of(device->key, tsl_wisdom_units(device));
  const known *best = NULL;
  double nearest = INFINITY, seconds = INFINITY;
  for (int i = first_at(wisdom, strategy, place);
       i < wisdom->count && compare_strategy_and_device(&wisdom->items[i], strategy, place) == 0; i++) {
    const known *item = &wisdom->items[i];
    const double away = planner_wisdom_distance(&item->record.problem, &wanted);
    const double scaled = item->record.seconds * planner_wisdom_work_of(&wanted) /
                          planner_wisdom_work_of(&item->record.problem);
    const bool as_near = best && away == nearest;
    if (!(away < nearest) && !(as_near && (item->own != best->own ? item->own : scaled < seconds)))
      continue;
    if (!tsl_wisdom_is_for(&item->record, device) ||
        !planner_wisdom_fits(&item->record.config, fixed, fixed_bits) ||
        tsl_strategy_refuse(strategy, problem, &item->record.config, device) || is_implausible(item, device))
      continue;
    best = item;
    nearest = away;
    seconds = scaled;
  }
  if (!best)
    return false;
  const bool exact = nearest == 0;
  *hit = (tsl_wisdom_hit){exact ? TSL_BASIS_EXACT : TSL_BASIS_NEAR,
                          best->record.config,
                          exact ? seconds : scale_seconds(problem, &best->record, device, seconds),
                          &best->record,
                          best->own,
                          nearest};
  return true;
}

bool tsl_wisdom_is_near(const tsl_wisdom *wisdom, const tsl_problem *problem, const tsl_device *device) {
  const double work = (double)problem->m * (double)problem->n * (double)problem->k,
               farthest = nearest_factor * nearest_factor * nearest_factor;
  if (!wisdom || wisdom->count == 0 || (problem->op == TSL_OP_GEMM && work * farthest < wisdom->least))
    return false;
  const tsl_wisdom_class wanted = tsl_wisdom_class_of(problem);
  const uint64_t place = planner_wisdom_hash_of(device->key, tsl_wisdom_units(device));
  for (int i = 0; i < wisdom->count; i++)
    if (wisdom->items[i].device == place &&
        isfinite(planner_wisdom_distance(&wisdom->items[i].record.problem, &wanted)))
      return true;
  return false;
}

bool tsl_wisdom_has_others(const tsl_wisdom *wisdom, tsl_op op, const tsl_device *device) {
  for (int i = 0; wisdom && i < wisdom->count; i++)
    if (wisdom->items[i].own && wisdom->items[i].record.problem.op == op &&
        strcmp(wisdom->items[i].record.key, device->key) != 0)
      return true;
  return false;
}

int tsl_wisdom_count(const tsl_wisdom *wisdom, const tsl_device *device, int *of_device) {
  *of_device = 0;
  for (int i = 0; wisdom && i < wisdom->count; i++)
    *of_device += tsl_wisdom_is_for(&wisdom->items[i].record, device);
  return wisdom ? wisdom->count : 0;
}
