#include "harness.h"

#include <time.h>

enum { PAGE = 4096 };
static const char *program = "bench";

/* --- ending, memory, time --- */

void bench_stop(const char *what, const char *why) {
  fflush(stdout);
  fprintf(stderr, "%s: %s: %s\n", program, what, why);
  exit(1);
}

void bench_must(tesela_status status, const char *what) {
  if (status != TESELA_OK)
    bench_stop(what, tesela_last_error());
}

void *bench_allocate(size_t count, size_t size) {
  const size_t bytes = (count * size / PAGE + 1) * PAGE;
  void *block = aligned_alloc(PAGE, bytes);
  if (!block)
    bench_stop("memory", "there is not enough");
  return memset(block, 0, bytes);
}

static double read_clock(clockid_t id) {
  struct timespec now;
  clock_gettime(id, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double bench_clock(void) {
  return read_clock(CLOCK_MONOTONIC);
}

double bench_processor_clock(void) {
  return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

int64_t bench_draw(uint64_t *state, int64_t low, int64_t high) {
  *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return low + (int64_t)((*state >> 33) % (uint64_t)(high - low + 1));
}

/* --- options --- */

static const bench_option *find_option(const bench_option *options, const char *name) {
  for (; options->name; options++)
    if (strcmp(options->name, name) == 0)
      return options;
  return NULL;
}

static _Noreturn void stop_with_names(const bench_option *options, const char *word) {
  fprintf(stderr, "%s: %s is none of", program, word);
  for (; options->name; options++)
    fprintf(stderr, " --%s", options->name);
  fprintf(stderr, "\n");
  exit(2);
}

static void set_option(const bench_option *option, const char *value, const char *next) {
  switch (option->kind) {
  case BENCH_FLAG:
    *(bool *)option->value = true;
    break;
  case BENCH_COUNT:
    *(int *)option->value = atoi(value);
    break;
  case BENCH_NUMBER:
    *(double *)option->value = atof(value);
    break;
  case BENCH_TEXT:
    *(const char **)option->value = value;
    break;
  case BENCH_CALL:
    option->take(value);
    break;
  case BENCH_PAIR:
    option->take_pair(value, next);
  }
}

void bench_read(int argc, char **argv, const char *name, const bench_option *options,
                void (*take_word)(char *word)) {
  program = name;
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--") == 0)
      continue;
    if (strncmp(argv[i], "--", 2) != 0) {
      if (!take_word)
        stop_with_names(options, argv[i]);
      take_word(argv[i]);
      continue;
    }
    const bench_option *option = find_option(options, argv[i] + 2);
    if (!option)
      stop_with_names(options, argv[i]);
    const int values = option->kind == BENCH_FLAG ? 0 : option->kind == BENCH_PAIR ? 2 : 1;
    if (i + values >= argc)
      bench_stop(argv[i], "has no value");
    set_option(option, values ? argv[i + 1] : NULL, values == 2 ? argv[i + 2] : NULL);
    i += values;
  }
}

char *bench_words[BENCH_WORDS];
int bench_word_count;

void bench_take_word(char *word) {
  if (bench_word_count == BENCH_WORDS)
    bench_stop(word, "is one word too many");
  bench_words[bench_word_count++] = word;
}

bool bench_next_word(const char **list, const char *separators, char *word, size_t size) {
  *list += strspn(*list, separators);
  const size_t length = strcspn(*list, separators);
  if (length == 0 || length >= size)
    return false;
  memcpy(word, *list, length);
  word[length] = '\0';
  *list += length;
  return true;
}

bool bench_has_word(const char *list, const char *word) {
  char one[64];
  if (!*list)
    return true;
  while (bench_next_word(&list, ", ", one, sizeof one))
    if (strcmp(one, word) == 0)
      return true;
  return false;
}

/* --- means --- */

void bench_mean_add(bench_mean *mean, double ratio, const char *where) {
  if (!isfinite(ratio))
    return;
  if (mean->count++ == 0 || ratio < mean->least) {
    mean->least = ratio;
    snprintf(mean->where, sizeof mean->where, "%s", where);
  }
  mean->logs += log(ratio);
}

double bench_mean_value(const bench_mean *mean) {
  return mean->count > 0 ? exp(mean->logs / mean->count) : NAN;
}

void bench_mean_print(const bench_mean *mean, const char *name, const char *other) {
  if (mean->count > 0)
    printf("%s over %s: geometric mean %.3f of %d rows, lowest %.3f (%s)\n", name, other,
           bench_mean_value(mean), mean->count, mean->least, mean->where);
}

static int compare_numbers(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Returns a sorted copy; the caller frees it. */
static double *sort_copy(const double *values, int count) {
  double *copy = bench_allocate((size_t)count, sizeof *copy);
  memcpy(copy, values, (size_t)count * sizeof *copy);
  qsort(copy, (size_t)count, sizeof *copy, compare_numbers);
  return copy;
}

double bench_median(const double *values, int count) {
  if (count == 0)
    return NAN;
  double *sorted = sort_copy(values, count);
  const double median = (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
  free(sorted);
  return median;
}

/* --- sides by turns --- */

void bench_refuse(bench_side *side, const char *why) {
  snprintf(side->why, sizeof side->why, "%s", why);
}

/* Returns the seconds of one call. */
static double time_calls(bench_side *side, int calls) {
  if (side->run)
    return side->run(side, calls) / calls;
  const double start = bench_clock();
  for (int i = 0; i < calls; i++)
    side->call(side);
  return (bench_clock() - start) / calls;
}

/* Makes two calls that do not count, and sets the number of calls in a sample. */
static void warm_up(bench_side *side, const bench_turns *turns) {
  if (turns->before)
    turns->before(side);
  double once = time_calls(side, 1);
  if (side->calls == 0 && !side->why[0]) {
    once = time_calls(side, once < turns->sample_seconds / 3 ? 3 : 1);
    const double wanted = ceil(turns->sample_seconds / fmax(once, 1e-9));
    side->calls = (int)fmax(1, fmin(wanted, turns->calls_max ? turns->calls_max : 1e6));
  }
  side->count = side->turns = 0, side->spent = 0;
}

static void take_sample(bench_side *side) {
  const double seconds = time_calls(side, side->calls);
  if (side->why[0])
    return;
  if (side->count == side->capacity) {
    side->capacity = side->capacity ? 2 * side->capacity : 64;
    side->samples = realloc(side->samples, (size_t)side->capacity * sizeof *side->samples);
    if (!side->samples)
      bench_stop("memory", "there is not enough");
  }
  side->samples[side->count++] = seconds;
  side->spent += seconds * side->calls;
}

static void take_turn(bench_side *side, const bench_turns *turns) {
  if (turns->before)
    turns->before(side);
  const double end = bench_clock() + turns->turn_seconds;
  do
    take_sample(side);
  while (!side->why[0] && bench_clock() < end);
  side->turns++;
}

static bool is_done(const bench_side *side, const bench_turns *turns) {
  return side->why[0] || side->turns >= turns->rounds_max ||
         (side->turns >= turns->rounds_min && side->spent >= turns->seconds) ||
         (!turns->is_paired && side->turns >= 3 && side->spent >= 3 * turns->seconds && turns->seconds > 0);
}

static void summarise(bench_side *side) {
  side->least = side->median = side->mean = side->spread = NAN;
  if (side->why[0] || side->count == 0)
    return;
  double *sorted = sort_copy(side->samples, side->count), sum = 0;
  for (int i = 0; i < side->count; i++)
    sum += sorted[i];
  side->least = sorted[0];
  side->median = bench_median(sorted, side->count);
  side->mean = sum / side->count;
  side->spread = (sorted[side->count * 3 / 4] - sorted[side->count / 4]) / side->median;
  free(sorted);
}

void bench_race(bench_side *sides, int count, const bench_turns *turns) {
  bool is_over = false;
  for (int i = 0; i < count; i++)
    if (!sides[i].why[0])
      warm_up(&sides[i], turns);
  for (int round = 0; !is_over; round++) {
    is_over = true;
    if (turns->before_round)
      turns->before_round();
    for (int i = 0; i < count; i++) {
      bench_side *side = &sides[((round % 2 ? count - 1 - i : i) + round / 2) % count];
      if (!side->why[0] && (turns->is_paired || !is_done(side, turns)))
        take_turn(side, turns);
    }
    for (int i = 0; i < count; i++)
      is_over = is_over && is_done(&sides[i], turns);
  }
  for (int i = 0; i < count; i++)
    summarise(&sides[i]);
}

double bench_paired(const bench_side *side, const bench_side *other, bool is_difference) {
  const int count = side->count < other->count ? side->count : other->count;
  double *values = bench_allocate((size_t)count + 1, sizeof *values);
  for (int i = 0; i < count; i++)
    values[i] = is_difference ? side->samples[i] - other->samples[i] : other->samples[i] / side->samples[i];
  const double median = bench_median(values, count);
  free(values);
  return median;
}

void bench_sides_free(bench_side *sides, int count) {
  for (int i = 0; i < count; i++) {
    free(sides[i].samples);
    sides[i].samples = NULL;
    sides[i].capacity = 0;
  }
}

void bench_print_number(double value, int width, int digits) {
  if (isfinite(value))
    printf(" %*.*f", width, digits, value);
  else
    printf(" %*s", width, "-");
}
