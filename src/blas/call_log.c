/* TESELA_LOG=calls: a table of calls, written to stderr at the process's end. */
#include "blas/call_log.h"

#include "blas/reference_blas.h"
#include "core/cancel.h"
#include "core/clock.h"
#include "core/env.h"
#include "core/library.h"
#include "core/locale.h"
#include "core/log.h"
#include "core/text.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROWS_MAX = 256, WHO = 48, SHAPES = 3 };

const char tsl_blas_loops_name[] = "plain loops";

/* Calls of one routine and implementation whose sizes have equal next powers of two. */
typedef struct row {
  const tsl_blas_symbol *symbol;                      /* NULL: calls without a free row */
  int sizes;                                          /* used numbers of the arrays */
  int64_t power[SHAPES], least[SHAPES], most[SHAPES]; /* of each size: next power of two, smallest, largest */
  char who[WHO];
  uint64_t calls;
  double seconds, flops;
} row;

/* The library's own log of single calls would hide the table. */
bool tsl_blas_logging;

__attribute__((constructor)) static void read_topics(void) {
  tsl_blas_logging = tsl_log_wants(TSL_LOG_CALLS);
  tsl_log_mute(TSL_LOG_CALLS);
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static row rows[ROWS_MAX];
static int row_count;

void tsl_blas_forget_calls(void) {
  pthread_mutex_init(&lock, NULL); /* a missing thread may hold the lock */
  row_count = 0;
}

/* Nesting depth of logged calls; inner calls are not the program's and not counted. */
static _Thread_local int inside;
_Thread_local int tsl_blas_depth;

void tsl_blas_log_begin(tsl_blas_call *call) {
  call->began = true;
  call->started = tsl_blas_logging && inside++ == 0 ? tsl_clock() : 0;
}

void tsl_blas_describe(tsl_blas_call *call, const tsl_blas_multiply *product) {
  call->sizes = 3;
  call->shape[0] = product->m;
  call->shape[1] = product->n;
  call->shape[2] = product->k;
  call->flops = (tsl_blas_is_complex(call->symbol->type) ? 8.0 : 2.0) * (double)product->m *
                (double)product->n * (double)product->k;
}

void tsl_blas_begin(tsl_blas_call *call) {
  tsl_blas_depth++;
  call->entered = true;
  tsl_blas_log_begin(call);
}

/* Returns the seconds of a call to count; 0: do not count. */
static double call_log_finish(const tsl_blas_call *call) {
  const double seconds = call->started > 0 ? tsl_clock() - call->started : 0;
  if (call->entered)
    tsl_blas_depth--;
  if (tsl_blas_logging)
    inside--;
  return call->started > 0 && seconds <= 0 ? 1e-9 : seconds;
}

tesela_record *tsl_blas_record(const tsl_blas_call *call, tesela_record *record) {
  return call->started > 0 ? record : NULL;
}

static int64_t next_power_of_two(int64_t size) {
  int64_t power = 1;
  while (power < size && power < INT64_MAX / 2)
    power *= 2;
  return size == 0 ? 0 : power;
}

/* Finds or adds the row for a call. Needs the lock. */
static row *call_log_row_of(const row *like) {
  for (int i = 0; i < row_count; i++)
    if (rows[i].symbol == like->symbol && memcmp(rows[i].power, like->power, sizeof like->power) == 0 &&
        strcmp(rows[i].who, like->who) == 0)
      return &rows[i];
  if (row_count == ROWS_MAX)
    return &rows[ROWS_MAX - 1];
  rows[row_count] = row_count == ROWS_MAX - 1 ? (row){.who = "several"} : *like;
  return &rows[row_count++];
}

static void call_log_add(const tsl_blas_call *call, double seconds, const char *who) {
  TSL_NOT_CANCELLED;
  row like = {.symbol = call->symbol, .sizes = call->sizes};
  for (int i = 0; i < SHAPES; i++) {
    like.power[i] = next_power_of_two(call->shape[i]);
    like.least[i] = like.most[i] = call->shape[i];
  }
  snprintf(like.who, sizeof like.who, "%s", who);
  pthread_mutex_lock(&lock);
  row *found = call_log_row_of(&like);
  found->calls++;
  found->seconds += seconds;
  found->flops += call->flops;
  for (int i = 0; i < SHAPES; i++) {
    found->least[i] = call->shape[i] < found->least[i] ? call->shape[i] : found->least[i];
    found->most[i] = call->shape[i] > found->most[i] ? call->shape[i] : found->most[i];
  }
  pthread_mutex_unlock(&lock);
}

void tsl_blas_end(tsl_blas_call *call, const char *who) {
  const double seconds = call_log_finish(call);
  if (seconds > 0 && who)
    call_log_add(call, seconds, who);
}

/* Converts "gemm host_packed version=1 depth=512 device=cpu ..." to "tesela host_packed cpu". */
void tsl_blas_end_plan(tsl_blas_call *call, const tesela_record *record) {
  char who[WHO] = "tesela";
  const double seconds = call_log_finish(call);
  if (seconds == 0)
    return;
  const char *name = record->plan ? strchr(record->plan, ' ') : NULL;
  const char *device = record->plan ? strstr(record->plan, " device=") : NULL;
  if (name && device) {
    device += strlen(" device=");
    snprintf(who, sizeof who, "tesela %.*s %.*s", (int)strcspn(name + 1, " "), name + 1,
             (int)strcspn(device, " "), device);
  }
  call_log_add(call, seconds, who);
}

void tsl_blas_note_forwarded(tsl_blas_call *call) {
  char path[PATH_MAX];
  const double seconds = call_log_finish(call);
  if (seconds == 0)
    return;
  tsl_library_file(atomic_load_explicit(&call->symbol->next.found, memory_order_relaxed), path, sizeof path);
  const char *slash = strrchr(path, '/');
  call_log_add(call, seconds, slash ? slash + 1 : "another library");
}

static int call_log_by_seconds(const void *a, const void *b) {
  const double x = ((const row *)a)->seconds, y = ((const row *)b)->seconds;
  return x < y ? 1 : x > y ? -1 : 0;
}

enum { SHAPE = 128 };

/* Prints "300 x 200 x 17..32". */
static int print_shape(const row *row_in, char out[SHAPE]) {
  int used = snprintf(out, SHAPE, "%s", row_in->symbol ? "" : "-");
  for (int i = 0; row_in->symbol && i < row_in->sizes; i++) {
    const long long least = row_in->least[i], most = row_in->most[i];
    const char *between = i ? " x " : "";
    used += least == most ? snprintf(out + used, SHAPE - (size_t)used, "%s%lld", between, most)
                          : snprintf(out + used, SHAPE - (size_t)used, "%s%lld..%lld", between, least, most);
  }
  return used;
}

static void call_log_add_row(const row *row_in, int width, tsl_text *out) {
  char shape[SHAPE], speed[24] = "-";
  (void)print_shape(row_in, shape);
  if (row_in->seconds > 0 && row_in->flops > 0)
    tsl_locale_print(speed, sizeof speed, "%.3g", row_in->flops / row_in->seconds * 1e-9);
  tsl_text_add(out, "%-24s  %-*s  %10llu  %-28s  %11.6f  %8s\n",
               row_in->symbol ? row_in->symbol->name : "others", width, shape,
               (unsigned long long)row_in->calls, row_in->who, row_in->seconds, speed);
}

static void call_log_write_all(const tsl_text *text) {
  size_t done = 0;
  while (!text->failed && done < text->length) {
    const ssize_t count = write(STDERR_FILENO, text->data + done, text->length - done);
    if (count < 0 && errno != EINTR)
      return;
    done += count > 0 ? (size_t)count : 0;
  }
}

/* Returns true in the process that the tool started, not in its children. */
static bool is_awaited(void) {
  return strtol(tsl_env_get(TSL_ENV_RUN), NULL, 10) == (long)getpid();
}

static void call_log_add_table(tsl_text *out) {
  char shape[SHAPE];
  int width = 5;
  qsort(rows, (size_t)row_count, sizeof *rows, call_log_by_seconds);
  for (int i = 0; i < row_count; i++) {
    const int own = print_shape(&rows[i], shape);
    width = own > width ? own : width;
  }
  tsl_text_add(out, "\ntesela: BLAS calls of %s (process %ld)\n", program_invocation_short_name,
               (long)getpid());
  tsl_text_add(out, "%-24s  %-*s  %10s  %-28s  %11s  %8s\n", "routine", width, "sizes", "calls",
               "computed by", "seconds", "GFLOP/s");
  for (int i = 0; i < row_count; i++)
    call_log_add_row(&rows[i], width, out);
}

__attribute__((destructor)) static void write_report(void) {
  tsl_text out = {0};
  if (!tsl_blas_logging)
    return;
  pthread_mutex_lock(&lock);
  if (row_count > 0)
    call_log_add_table(&out);
  else if (is_awaited())
    tsl_text_add(&out, "\ntesela: no BLAS calls of %s (process %ld)\n", program_invocation_short_name,
                 (long)getpid());
  pthread_mutex_unlock(&lock);
  call_log_write_all(&out);
  tsl_text_free(&out);
}
