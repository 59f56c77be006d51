/* TESELA_LOG=calls: a table of calls, written to stderr at the process's end. */
#include "blas/call_log.h"

#include "blas/blas_threads.h"
#include "blas/blas_view.h"
#include "core/call_sample.h"
#include "core/call_table.h"
#include "core/env.h"
#include "core/library.h"
#include "core/locale.h"
#include "core/log.h"
#include "core/text.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROWS_MAX = 256, WHO = 48, SHAPES = TSL_CALLS_SIZES };

const char tsl_blas_loops_name[] = "plain loops";

/* The library's own log of single calls would hide the table. */
bool tsl_blas_logging;
static bool writes_table;

__attribute__((constructor)) static void read_topics(void) {
  writes_table = tsl_log_wants(TSL_LOG_CALLS);
  if (writes_table)
    tsl_log_mute(TSL_LOG_CALLS);
  tsl_calls_start(writes_table);
  tsl_blas_logging = tsl_calls_are_kept();
}

_Thread_local int tsl_blas_depth;

/* Routine and reason of the call that this thread begins; tsl_calls_description() has its operands. */
static _Thread_local struct described {
  const tsl_blas_symbol *symbol; /* NULL: none */
  const char *why;
  unsigned calls; /* finished calls of the thread */
} described __attribute__((tls_model("initial-exec")));

/* Returns the memory of the call that this thread begins; NULL: the call is not counted. */
static tsl_called *call_log_description(void) {
  return tsl_blas_logging && tsl_calls_depth == 0 ? tsl_calls_description() : NULL;
}

void tsl_blas_set_why(const char *reason) {
  if (tsl_calls_depth == 0)
    described.why = reason;
}

void tsl_blas_log_begin(tsl_blas_call *call) {
  call->began = true;
  call->started = tsl_blas_logging ? tsl_calls_begin() : 0;
}

static bool is_turned(int letter) {
  return letter == 'T' || letter == 'C';
}

/* Sets strides of op(matrix) and returns true if the leading dimension is valid. */
static bool call_log_strides(const tsl_blas_multiply *product, int letter, int64_t rows, int64_t cols,
                             int64_t ld, int64_t *row, int64_t *col) {
  const bool along_rows = (product->order == TSL_BLAS_ROW_MAJOR) != is_turned(letter);
  *row = along_rows ? ld : 1;
  *col = along_rows ? 1 : ld;
  return ld >= (along_rows ? cols : rows);
}

/* Returns the properties of a plain product's factors; the caller's struct lives until its call ends. */
static unsigned call_log_sample(const void *argument) {
  const tsl_blas_multiply *product = argument;
  const tesela_type type = (tesela_type)tsl_calls_description()->key.type;
  tsl_calls_factors f = {type, {product->m, product->n, product->k}, product->a, product->b, 0, 0, 0, 0};
  const bool is_valid =
      call_log_strides(product, product->trans_a, f.size[0], f.size[2], product->lda, &f.a_row, &f.a_col) &&
      call_log_strides(product, product->trans_b, f.size[2], f.size[1], product->ldb, &f.b_row, &f.b_col) &&
      f.size[0] > 0 && f.size[1] > 0 && f.size[2] > 0 && !tsl_blas_is(type, product->alpha, 0);
  return is_valid ? tsl_calls_sample(&f) : 0;
}

static int8_t call_log_beta(const tsl_blas_symbol *symbol, const tsl_blas_multiply *product, bool is_real) {
  const tesela_type type = !is_real ? symbol->type : symbol->type == TESELA_C64 ? TESELA_F32 : TESELA_F64;
  return !product->beta                        ? 0
         : tsl_blas_is(type, product->beta, 0) ? 0
         : tsl_blas_is(type, product->beta, 1) ? 1
                                               : 2;
}

static void call_log_set_kind(const tsl_blas_call *call, tsl_calls_key *key) {
  key->type = (int32_t)call->symbol->type;
  key->sizes = (int8_t)call->sizes;
  key->count = 1;
}

void tsl_blas_note_operands(const tsl_blas_call *call, const tsl_blas_multiply *product, bool has_real_beta) {
  tsl_called *called = call_log_description();
  if (!called)
    return;
  const bool is_row_major = product->order == TSL_BLAS_ROW_MAJOR;
  const void *const c = product->c ? product->c : product->b;
  const int64_t ldc = product->c ? product->ldc : product->ldb;
  tsl_calls_key *key = &called->key;
  described.symbol = call->symbol;
  /* Member by member: clearing the struct takes longer than the rest of the description. */
  called->data[0] = product->a;
  called->data[1] = product->c ? product->b : NULL;
  called->data[2] = c;
  called->c_bytes =
      ldc * (is_row_major ? product->m : product->n) * (int64_t)tsl_blas_size(call->symbol->type);
  called->sample = NULL;
  call_log_set_kind(call, key);
  key->ld[0] = product->lda;
  key->ld[1] = product->b ? product->ldb : 0;
  key->ld[2] = ldc;
  key->beta = call_log_beta(call->symbol, product, has_real_beta && tsl_blas_is_complex(call->symbol->type));
  memcpy(key->layout,
         (const char[]){is_row_major ? 'R' : 'C', (char)product->trans_a, (char)product->trans_b,
                        (char)product->uplo, (char)product->side, (char)product->diag},
         6);
  key->align[0] = (int8_t)tsl_calls_alignment(product->a);
  key->align[1] = (int8_t)(product->b ? tsl_calls_alignment(product->b) : 0);
  key->align[2] = (int8_t)tsl_calls_alignment(c);
  key->same = product->a == product->b;
}

void tsl_blas_describe(tsl_blas_call *call, const tsl_blas_multiply *product) {
  call->sizes = 3;
  call->shape[0] = product->m;
  call->shape[1] = product->n;
  call->shape[2] = product->k;
  call->flops = (tsl_blas_is_complex(call->symbol->type) ? 8.0 : 2.0) * (double)product->m *
                (double)product->n * (double)product->k;
  tsl_blas_note_operands(call, product, false);
  tsl_called *called = call_log_description();
  if (called && (call->symbol->type == TESELA_F32 || call->symbol->type == TESELA_F64)) {
    called->sample = call_log_sample;
    called->argument = product;
  }
}

void tsl_blas_begin(tsl_blas_call *call) {
  tsl_blas_depth++;
  call->entered = true;
  tsl_blas_log_begin(call);
}

/* Returns the seconds of a call to count; 0: do not count. */
static double call_log_finish(const tsl_blas_call *call) {
  if (call->entered)
    tsl_blas_depth--;
  return tsl_blas_logging ? tsl_calls_end(call->started) : 0;
}

tesela_record *tsl_blas_record(const tsl_blas_call *call, tesela_record *record) {
  return call->started > 0 ? record : NULL;
}

static void call_log_add(const tsl_blas_call *call, double seconds, const char *who) {
  enum { THREADS_EVERY = 64 };
  tsl_called *called = tsl_calls_description();
  if (!called)
    return;
  if (described.symbol != call->symbol) {
    *called = (tsl_called){.sample = NULL};
    call_log_set_kind(call, &called->key);
  }
  if (described.calls++ % THREADS_EVERY == 0)
    tsl_calls_set_threads(tsl_blas_threads());
  called->name = call->symbol->name;
  called->who = who;
  called->why = described.why;
  called->seconds = seconds;
  called->flops = call->flops;
  for (int i = 0; i < SHAPES; i++)
    called->key.size[i] = call->shape[i];
  tsl_calls_add(called);
  described.symbol = NULL;
  described.why = NULL;
}

void tsl_blas_note_count(int64_t count) {
  tsl_called *called = call_log_description();
  if (!called)
    return;
  called->key.count = count;
  called->sample = NULL;
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
  tsl_calls_plan_name(record->plan, who);
  call_log_add(call, seconds, who);
}

/* Returns the file name of the host BLAS function's library, found once. */
static const char *call_log_library(tsl_blas_symbol *symbol) {
  char path[PATH_MAX];
  const char *known = atomic_load_explicit(&symbol->library, memory_order_acquire);
  if (known)
    return known;
  tsl_library_file(atomic_load_explicit(&symbol->next.found, memory_order_relaxed), path, sizeof path);
  tsl_calls_note_library(path);
  const char *slash = strrchr(path, '/'), *kept = slash ? strdup(slash + 1) : NULL;
  known = kept ? kept : "another library";
  atomic_store_explicit(&symbol->library, known, memory_order_release); /* never freed, as the symbol */
  return known;
}

void tsl_blas_note_forwarded(tsl_blas_call *call) {
  const double seconds = call_log_finish(call);
  if (seconds > 0)
    call_log_add(call, seconds, call_log_library(call->symbol));
}

/* --- the table of TESELA_LOG=calls --- */

/* Calls of one routine and implementation whose sizes have equal next powers of two. */
typedef struct log_row {
  const char *name;                                   /* "others": calls without a free row */
  int sizes;                                          /* used numbers of the arrays */
  int64_t power[SHAPES], least[SHAPES], most[SHAPES]; /* of each size: next power of two, smallest, largest */
  char who[WHO];
  uint64_t calls;
  double seconds, flops;
} log_row;

static log_row rows[ROWS_MAX];
static int row_count;

/* Finds or adds the row for a call. */
static log_row *call_log_row_of(const log_row *like) {
  for (int i = 0; i < row_count; i++)
    if (strcmp(rows[i].name, like->name) == 0 &&
        memcmp(rows[i].power, like->power, sizeof like->power) == 0 && strcmp(rows[i].who, like->who) == 0)
      return &rows[i];
  if (row_count == ROWS_MAX)
    return &rows[ROWS_MAX - 1];
  rows[row_count] = row_count == ROWS_MAX - 1 ? (log_row){.name = "others", .who = "several"} : *like;
  return &rows[row_count++];
}

static void call_log_collect(const tsl_calls_row *counted, void *unused) {
  log_row like = {.name = counted->name, .sizes = counted->key.sizes};
  (void)unused;
  for (int i = 0; i < SHAPES; i++) {
    like.power[i] = tsl_calls_round_size(counted->most[i]);
    like.least[i] = counted->least[i];
    like.most[i] = counted->most[i];
  }
  snprintf(like.who, sizeof like.who, "%s", counted->who);
  log_row *found = call_log_row_of(&like);
  found->calls += counted->calls;
  found->seconds += counted->seconds;
  found->flops += counted->flops;
  for (int i = 0; i < SHAPES; i++) {
    found->least[i] = like.least[i] < found->least[i] ? like.least[i] : found->least[i];
    found->most[i] = like.most[i] > found->most[i] ? like.most[i] : found->most[i];
  }
}

static int call_log_by_seconds(const void *a, const void *b) {
  const double x = ((const log_row *)a)->seconds, y = ((const log_row *)b)->seconds;
  return x < y ? 1 : x > y ? -1 : 0;
}

enum { SHAPE = 128 };

/* Prints "300 x 200 x 17..32". */
static int print_shape(const log_row *row, char out[SHAPE]) {
  int used = snprintf(out, SHAPE, "%s", row->sizes > 0 ? "" : "-");
  for (int i = 0; i < row->sizes; i++) {
    const long long least = row->least[i], most = row->most[i];
    const char *between = i ? " x " : "";
    used += least == most ? snprintf(out + used, SHAPE - (size_t)used, "%s%lld", between, most)
                          : snprintf(out + used, SHAPE - (size_t)used, "%s%lld..%lld", between, least, most);
  }
  return used;
}

static void call_log_add_row(const log_row *row, int width, tsl_text *out) {
  char shape[SHAPE], speed[24] = "-";
  (void)print_shape(row, shape);
  if (row->seconds > 0 && row->flops > 0)
    tsl_locale_print(speed, sizeof speed, "%.3g", row->flops / row->seconds * 1e-9);
  tsl_text_add(out, "%-24s  %-*s  %10llu  %-28s  %11.6f  %8s\n", row->name, width, shape,
               (unsigned long long)row->calls, row->who, row->seconds, speed);
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
  if (!writes_table)
    return;
  tsl_calls_each(call_log_collect, NULL);
  if (row_count > 0)
    call_log_add_table(&out);
  else if (is_awaited())
    tsl_text_add(&out, "\ntesela: no BLAS calls of %s (process %ld)\n", program_invocation_short_name,
                 (long)getpid());
  call_log_write_all(&out);
  tsl_text_free(&out);
}
