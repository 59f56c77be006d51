#include "core/status.h"
#include "planner/planner_wisdom.h"
#include "problem/structure.h"
#include "strategy/params.h"
#include "strategy/strategy_list.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* Relative difference below which two measurements are equal. */
static const double least_noise = 0.02;

/* Returns an operand's layout letter: r, c or g. */
static char wisdom_record_layout_of(const tsl_shape *shape) {
  const bool is_column = shape->cols <= 1 && shape->rows > 1;
  const int64_t step = is_column ? shape->row_stride : shape->col_stride;
  if (step == 1 || (shape->rows <= 1 && shape->cols <= 1))
    return 'r';
  return !is_column && shape->rows > 1 && shape->row_stride == 1 ? 'c' : 'g';
}

/* Returns true if the operation has this operand for any scalars. */
static bool has_operand(const tsl_problem *problem, int operand) {
  if (problem->op != TSL_OP_TRANSPOSE)
    return true;
  return operand == TSL_OPERAND_C || (operand == TSL_OPERAND_A && !problem->in_place);
}

tsl_wisdom_class tsl_wisdom_class_of(const tsl_problem *problem) {
  tsl_wisdom_class made;
  memset(&made, 0, sizeof made); /* classes are compared as bytes */
  made.op = problem->op;
  made.beta = problem->beta[0] != 0 || problem->beta[1] != 0;
  made.in_place = problem->in_place;
  made.m = problem->m;
  made.n = problem->n;
  made.k = problem->k;
  made.accuracy = problem->ask.accuracy;
  made.precision = problem->ask.precision;
  made.number = problem->ask.number;
  for (int i = 0; i < TSL_OPERANDS; i++) {
    const tsl_shape *shape = tsl_problem_shape(problem, i);
    made.types[i] = shape->type;
    made.structures[i] = shape->structure;
    made.triangles[i] = shape->triangle;
    made.layout[i] = has_operand(problem, i) ? wisdom_record_layout_of(shape) : '-';
  }
  return made;
}

int64_t tsl_wisdom_units(const tsl_device *device) {
  return device->threads > 0 ? device->threads : device->compute_units;
}

tsl_wisdom_record tsl_wisdom_record_of(const tsl_problem *problem, const tsl_strategy *strategy,
                                       const tsl_config *config, const tsl_device *device, double seconds,
                                       double spread) {
  const time_t now = time(NULL);
  struct tm utc;
  tsl_wisdom_record made = {.units = tsl_wisdom_units(device),
                            .problem = tsl_wisdom_class_of(problem),
                            .strategy = strategy,
                            .version = strategy->version,
                            .config = *config,
                            .seconds = seconds,
                            .spread = spread};
  snprintf(made.key, sizeof made.key, "%s", device->key);
  snprintf(made.name, sizeof made.name, "%s", strategy->name);
  strftime(made.date, sizeof made.date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
  return made;
}

static const char *const structure_keys[TSL_OPERANDS] = {"a_is", "b_is", "c_is"};

static void print_structures(const tsl_wisdom_class *problem, tsl_text *text) {
  for (int i = 0; i < TSL_OPERANDS; i++) {
    if (problem->structures[i] == TESELA_GENERAL && problem->triangles[i] == TESELA_WHOLE)
      continue;
    tsl_text_add(text, " %s=", structure_keys[i]);
    tsl_structure_print(problem->structures[i], problem->triangles[i], text);
  }
}

void tsl_wisdom_print(const tsl_wisdom_record *record, tsl_text *text) {
  const tsl_wisdom_class *problem = &record->problem;
  tsl_text_add(text, "%s %s version=%lld", tsl_op_name(problem->op), record->name,
               (long long)record->version);
  for (int i = 0; i < tsl_strategy_params(record->strategy); i++) {
    tsl_text_add(text, " ");
    tsl_config_print_one(record->strategy, i, &record->config, text);
  }
  tsl_text_add(text, " key=%s units=%lld m=%lld n=%lld k=%lld types=%s,%s,%s layout=%s beta=%d", record->key,
               (long long)record->units, (long long)problem->m, (long long)problem->n, (long long)problem->k,
               tsl_type(problem->types[0])->name, tsl_type(problem->types[1])->name,
               tsl_type(problem->types[2])->name, problem->layout, problem->beta);
  print_structures(problem, text);
  if (problem->in_place)
    tsl_text_add(text, " in_place=1");
  if (problem->accuracy != TSL_ACCURACY_DEFAULT) {
    tsl_text_add(text, " accuracy=");
    tsl_numeric_requirements_print_accuracy(&(tsl_numeric_requirements){problem->accuracy, problem->number,
                                                                        problem->precision,
                                                                        TSL_REPRODUCIBILITY_ANY},
                                            text);
  }
  tsl_text_add(text, " seconds=%.6g spread=%.3g date=%s", record->seconds, record->spread, record->date);
}

/* Minimum seconds of any run. */
static const double least_seconds = 1e-9;
/* Maximum operations per second of any device's unit: several times today's best matrix units. */
static const double most_of_a_unit = 1e14;
/* Factors over the device's peak, for higher clocks, matrix units in narrow types, and caches. */
static const double over_peak = 4, over_peak_narrow = 64, over_bandwidth = 128;

static tsl_problem wisdom_record_problem_of(const tsl_wisdom_class *class) {
  tsl_problem made = tsl_problem_of(class->op, class->m, class->n, class->k, class->types[0]);
  made.b.type = class->types[1];
  made.c.type = class->types[2];
  made.in_place = class->in_place;
  tsl_shape *const shapes[TSL_OPERANDS] = {&made.a, &made.b, &made.c};
  for (int i = 0; i < TSL_OPERANDS; i++) {
    shapes[i]->structure = class->structures[i];
    shapes[i]->triangle = class->triangles[i];
  }
  return made;
}

/* Returns TESELA_BAD_INPUT if no device with this number of units can be so fast. */
static tesela_status check_rate(const tsl_wisdom_record *record) {
  const tsl_problem problem = wisdom_record_problem_of(&record->problem);
  const double units = record->units > 0 ? (double)record->units : 1,
               rate = tsl_problem_flops(&problem) / record->seconds;
  if (record->seconds < least_seconds)
    return tsl_fail(TESELA_BAD_INPUT, "seconds=%g is less than a nanosecond: nothing runs that fast",
                    record->seconds);
  if (rate > units * most_of_a_unit)
    return tsl_fail(TESELA_BAD_INPUT,
                    "seconds=%g makes %.3g operations a second on %lld units: nothing runs that fast",
                    record->seconds, rate, (long long)record->units);
  return TESELA_OK;
}

/* Returns a device's maximum plausible rate in this type; infinity: unknown peak. */
static double most_operations(tesela_type sum, const tsl_device *device) {
  const bool is_double = sum == TESELA_F64 || sum == TESELA_C128;
  const bool is_single = sum == TESELA_F32 || sum == TESELA_C64;
  const double peak = is_double ? device->peak_f64 : device->peak_f32;
  return peak > 0 ? peak * (is_double || is_single ? over_peak : over_peak_narrow) : INFINITY;
}

const char *tsl_wisdom_refuse(const tsl_wisdom_record *record, const tsl_device *device) {
  const tsl_problem problem = wisdom_record_problem_of(&record->problem);
  const double operations = tsl_problem_flops(&problem) / record->seconds,
               bytes = tsl_problem_bytes(&problem) / record->seconds;
  const double most = most_operations(record->problem.types[0], device),
               most_bytes = device->bandwidth > 0 ? device->bandwidth * over_bandwidth : INFINITY;
  const bool computes = operations > most;
  if (!computes && !(bytes > most_bytes))
    return NULL;
  return tsl_refusal("%.24s in %.3g s would be %.3g %s a second, but %s can do at most %.3g", record->name,
                     record->seconds, computes ? operations : bytes, computes ? "operations" : "bytes",
                     device->name, computes ? most : most_bytes);
}

/* Keys of every record besides the strategy's parameters. */
static const char *const own_keys[] = {"version", "key",      "units",   "m",        "n",    "k",
                                       "types",   "layout",   "beta",    "in_place", "a_is", "b_is",
                                       "c_is",    "accuracy", "seconds", "spread",   "date"};

/* Returns true for a key of records; other keys are a strategy's parameters. */
static bool is_own_key(const char *key) {
  for (size_t i = 0; i < sizeof own_keys / sizeof *own_keys; i++)
    if (strcmp(own_keys[i], key) == 0)
      return true;
  return false;
}

static tesela_status wisdom_record_read_text(const tsl_record *record, const char *key, size_t size,
                                             char *out) {
  const char *value = tsl_record_get(record, key);
  if (!value || !*value)
    return tsl_fail(TESELA_BAD_INPUT, "%s= is missing", key);
  if (strlen(value) >= size)
    return tsl_fail(TESELA_BAD_INPUT, "%s= is longer than %zu characters", key, size - 1);
  memcpy(out, value, strlen(value) + 1);
  return TESELA_OK;
}

static tesela_status wisdom_record_read_whole(const tsl_record *record, const char *key, int64_t minimum,
                                              int64_t *out) {
  const char *value = tsl_record_get(record, key);
  if (!value)
    return tsl_fail(TESELA_BAD_INPUT, "%s= is missing", key);
  if (!tsl_parse_i64(value, out) || *out < minimum)
    return tsl_fail(TESELA_BAD_INPUT, "%s=%.40s is not a whole number from %lld up", key, value,
                    (long long)minimum);
  return TESELA_OK;
}

static tesela_status wisdom_record_read_number(const tsl_record *record, const char *key, bool positive,
                                               double *out) {
  const char *value = tsl_record_get(record, key);
  if (!value)
    return tsl_fail(TESELA_BAD_INPUT, "%s= is missing", key);
  if (!tsl_parse_double(value, out) || !isfinite(*out) || *out < 0 || (positive && *out == 0))
    return tsl_fail(TESELA_BAD_INPUT, "%s=%.40s is not a %s number", key, value,
                    positive ? "positive" : "non-negative");
  return TESELA_OK;
}

static tesela_status wisdom_record_read_flag(const tsl_record *record, const char *key, bool *out) {
  const char *value = tsl_record_get(record, key);
  if (value && strcmp(value, "0") != 0 && strcmp(value, "1") != 0)
    return tsl_fail(TESELA_BAD_INPUT, "%s=%.40s is neither 0 nor 1", key, value);
  *out = value && *value == '1';
  return TESELA_OK;
}

static tesela_status wisdom_record_read_types(const tsl_record *record, tesela_type types[TSL_OPERANDS]) {
  char text[64], *rest = NULL;
  int count = 0;
  TSL_TRY(wisdom_record_read_text(record, "types", sizeof text, text));
  for (char *word = strtok_r(text, ",", &rest); word; word = strtok_r(NULL, ",", &rest), count++) {
    const tesela_type type = tsl_type_parse(word);
    if (type == TESELA_TYPE_DEFAULT || count == TSL_OPERANDS)
      return tsl_fail(TESELA_BAD_INPUT, "types= has \"%s\": it takes three of %s", word, tsl_type_names());
    types[count] = type;
  }
  if (count != TSL_OPERANDS)
    return tsl_fail(TESELA_BAD_INPUT, "types= has %d types, not three", count);
  return TESELA_OK;
}

static tesela_status wisdom_record_read_accuracy(const tsl_record *record, tsl_wisdom_class *out) {
  const char *value = tsl_record_get(record, "accuracy");
  tsl_numeric_requirements ask = {.bits = TSL_REPRODUCIBILITY_ANY};
  if (value && tsl_numeric_requirements_parse_accuracy(value, &ask) != TESELA_OK)
    return tsl_fail_in(TESELA_BAD_INPUT, "accuracy=");
  out->accuracy = ask.accuracy;
  out->precision = ask.precision;
  out->number = ask.number;
  return TESELA_OK;
}

/* Checks only a record with structures as a problem; others count as dense. */
static tesela_status read_structures(const tsl_record *record, tsl_wisdom_class *out) {
  bool is_any = false;
  for (int i = 0; i < TSL_OPERANDS; i++) {
    const char *value = tsl_record_get(record, structure_keys[i]);
    is_any |= value != NULL;
    if (value && !tsl_structure_parse(value, &out->structures[i], &out->triangles[i]))
      return tsl_fail(TESELA_BAD_INPUT, "%s=%.40s is neither a structure nor a triangle", structure_keys[i],
                      value);
  }
  const tsl_problem problem = wisdom_record_problem_of(out);
  return is_any && tsl_problem_check(&problem) != TESELA_OK ? tsl_fail_in(TESELA_BAD_INPUT, "its problem")
                                                            : TESELA_OK;
}

static tesela_status read_class(const tsl_record *record, tsl_wisdom_class *out) {
  const char *op = tsl_record_word(record, 0);
  memset(out, 0, sizeof *out);
  out->op = TSL_OP_COUNT;
  for (int i = 0; i < TSL_OP_COUNT; i++)
    if (strcmp(op, tsl_op_name((tsl_op)i)) == 0)
      out->op = (tsl_op)i;
  if (out->op == TSL_OP_COUNT)
    return tsl_fail(TESELA_BAD_INPUT, "\"%.40s\" is no operation: use gemm, dot, transpose or solve", op);
  TSL_TRY(wisdom_record_read_whole(record, "m", 1, &out->m));
  TSL_TRY(wisdom_record_read_whole(record, "n", 1, &out->n));
  TSL_TRY(wisdom_record_read_whole(record, "k", 0, &out->k));
  TSL_TRY(wisdom_record_read_types(record, out->types));
  TSL_TRY(wisdom_record_read_text(record, "layout", sizeof out->layout, out->layout));
  if (strspn(out->layout, "rcg-") != TSL_OPERANDS)
    return tsl_fail(TESELA_BAD_INPUT, "layout=%s is not three letters of r, c, g and -", out->layout);
  TSL_TRY(wisdom_record_read_flag(record, "beta", &out->beta));
  TSL_TRY(wisdom_record_read_flag(record, "in_place", &out->in_place));
  TSL_TRY(read_structures(record, out));
  return wisdom_record_read_accuracy(record, out);
}

/* Parses strategy and config, or stores why they are stale. */
static void wisdom_record_read_plan(const tsl_record *record, tsl_wisdom_record *out) {
  unsigned given_bits = 0;
  out->strategy = tsl_strategy_find(out->problem.op, out->name);
  if (!out->strategy) {
    snprintf(out->stale, sizeof out->stale, "this library has no strategy %s %s",
             tsl_op_name(out->problem.op), out->name);
    return;
  }
  if (out->version != out->strategy->version) {
    snprintf(out->stale, sizeof out->stale, "version %lld of %s is retired, this library has version %d",
             (long long)out->version, out->name, out->strategy->version);
    return;
  }
  int known = 0;
  for (int i = 0; i < record->count; i++)
    known += !record->fields[i].key || is_own_key(record->fields[i].key);
  out->config = tsl_strategy_defaults(out->strategy);
  if (tsl_config_parse(out->strategy, record, &out->config, &given_bits) != TESELA_OK) {
    snprintf(out->stale, sizeof out->stale, "%.*s", (int)sizeof out->stale - 1, tesela_last_error());
    return;
  }
  unsigned needed = 0;
  for (int i = 0; i < tsl_strategy_params(out->strategy); i++) {
    /* Parameters that no search sets may be missing. */
    needed |= tsl_param_values(&out->strategy->params[i]) > 0 ? 1u << i : 0;
    known += (given_bits >> i & 1) != 0;
  }
  if ((given_bits & needed) != needed || known != record->count)
    snprintf(out->stale, sizeof out->stale, "%s has other parameters now", out->name);
}

static tesela_status read_record(const tsl_record *record, tsl_wisdom_record *out) {
  const char *name = tsl_record_word(record, 1);
  if (!name || tsl_record_word(record, 2))
    return tsl_fail(TESELA_BAD_INPUT, "a record starts with an operation and a strategy, such as "
                                      "'gemm sequential', and goes on with key=value");
  if (strlen(name) >= sizeof out->name)
    return tsl_fail(TESELA_BAD_INPUT, "the strategy's name is longer than %zu characters",
                    sizeof out->name - 1);
  memcpy(out->name, name, strlen(name) + 1);
  TSL_TRY(read_class(record, &out->problem));
  TSL_TRY(wisdom_record_read_whole(record, "version", 0, &out->version));
  TSL_TRY(wisdom_record_read_text(record, "key", sizeof out->key, out->key));
  TSL_TRY(wisdom_record_read_whole(record, "units", 0, &out->units));
  TSL_TRY(wisdom_record_read_number(record, "seconds", true, &out->seconds));
  TSL_TRY(wisdom_record_read_number(record, "spread", false, &out->spread));
  TSL_TRY(wisdom_record_read_text(record, "date", sizeof out->date, out->date));
  TSL_TRY(check_rate(out));
  wisdom_record_read_plan(record, out);
  return TESELA_OK;
}

tesela_status tsl_wisdom_parse(const char *line, tsl_wisdom_record *out) {
  tsl_record record;
  memset(out, 0, sizeof *out);
  TSL_TRY(tsl_record_parse(line, &record));
  const tesela_status status = read_record(&record, out);
  tsl_record_free(&record);
  return status;
}

bool tsl_wisdom_is_for(const tsl_wisdom_record *record, const tsl_device *device) {
  return record->units == tsl_wisdom_units(device) && strcmp(record->key, device->key) == 0;
}

bool tsl_wisdom_same(const tsl_wisdom_record *record, const tsl_wisdom_record *other) {
  return record->version == other->version && record->units == other->units &&
         memcmp(&record->problem, &other->problem, sizeof record->problem) == 0 &&
         strcmp(record->name, other->name) == 0 && strcmp(record->key, other->key) == 0;
}

bool tsl_wisdom_supersedes(const tsl_wisdom_record *old, const tsl_wisdom_record *fresh) {
  const double noise = fmax(fmax(old->spread, fresh->spread), least_noise);
  const bool differ = fabs(old->seconds - fresh->seconds) > noise * fmin(old->seconds, fresh->seconds);
  const bool one_plan =
      !old->stale[0] && !fresh->stale[0] && memcmp(&old->config, &fresh->config, sizeof old->config) == 0;
  const int newer = strcmp(fresh->date, old->date);
  if ((differ && !one_plan) || newer == 0)
    return fresh->seconds < old->seconds;
  return newer > 0;
}
