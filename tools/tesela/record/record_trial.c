/* Measures advice on operands with the sizes, layout and alignment of the program's. Calls with and without
 * the advice take turns, so that both see the same state of the machine; see set_times(). */
#include "record/record_replay.h"

#include "core/clock.h"
#include "core/memory.h"
#include "core/status.h"
#include "core/types.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  PRODUCTS = 5,
  TURNS_MIN = 5,
  TURNS = 15,
  TURNS_MAX = 200,
  PAGE = 4096,
  BATCH_MAX = 1000,
  BATCH_BYTES = 64 << 20,
  CALLERS_MAX = 64
};
static const double turn_seconds = 0.004, warm_seconds = 0.25, seconds_max = 3;
static const int64_t bytes_max = (int64_t)2 << 30;

/* Operands of a trial and the two calls. */
typedef struct trial {
  const tsl_recorded *recorded;
  tsl_replay base, other; /* without and with the advice */
  char *blocks[6];
  int block_count;
  int64_t repeats;                                 /* calls of the base for one call of the other */
  int64_t steps[TSL_CALLS_OPERANDS];               /* bytes between operands of the base's calls */
  tesela_status (*run)(const struct trial *trial); /* the advised work */
  int callers, threads;                            /* of the advice about threads */
} trial;

static int64_t size_of(tesela_type type) {
  return type == TESELA_F32 ? 4 : 8;
}

/* Returns lines x ld elements of an operand, which is rows x cols. */
static int64_t elements_of(char order, char trans, int64_t rows, int64_t cols, int64_t ld) {
  return ((order == 'R') != (trans != 'N') ? rows : cols) * ld;
}

/* Allocates numbers between -1 and 1 at an address with this alignment. */
static tesela_status add_block(trial *state, tesela_type type, int64_t count, int align, void **out) {
  const int64_t bytes = count * size_of(type);
  void *block;
  uint64_t draw = 1;
  if (bytes > bytes_max)
    return tsl_fail(TESELA_UNSUPPORTED, "the operands are too large to try");
  TSL_TRY(tsl_alloc_aligned((size_t)bytes + 2 * PAGE, 2 * PAGE, "a trial's operand", &block));
  state->blocks[state->block_count++] = block;
  char *const start = (char *)block + (align < TSL_CALLS_ALIGNED ? (1 << align) : 0);
  for (int64_t i = 0; i < count; i++) {
    draw = draw * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    const double number = (double)(int32_t)(draw >> 32) * 0x1p-31;
    if (type == TESELA_F32)
      ((float *)start)[i] = (float)number;
    else
      ((double *)start)[i] = number;
  }
  *out = start;
  return TESELA_OK;
}

static tesela_status add_operands(trial *state, tsl_replay *call, const int8_t align[TSL_CALLS_OPERANDS]) {
  void *a, *b, *c;
  const int64_t more = call->count > 1 ? call->count : 1;
  const int64_t elements[] = {elements_of(call->order, call->trans_a, call->m, call->k, call->lda),
                              elements_of(call->order, call->trans_b, call->k, call->n, call->ldb),
                              elements_of(call->order, 'N', call->m, call->n, call->ldc)};
  int64_t counts[TSL_CALLS_OPERANDS];
  for (int i = 0; i < TSL_CALLS_OPERANDS; i++)
    counts[i] = elements[i] + (more - 1) * call->distance[i];
  TSL_TRY(add_block(state, call->type, counts[0], align[0], &a));
  TSL_TRY(add_block(state, call->type, counts[1], align[1], &b));
  TSL_TRY(add_block(state, call->type, counts[2], align[2], &c));
  call->a = a;
  call->b = b;
  call->c = c;
  return TESELA_OK;
}

/* Sets the recorded call with operands of its own. */
static tesela_status set_base(trial *state) {
  const tsl_calls_row *row = &state->recorded->row;
  const tsl_calls_key *key = &row->key;
  tsl_replay *base = &state->base;
  *base = (tsl_replay){.order = key->layout[0],
                       .trans_a = key->layout[1] == 'N' ? 'N' : 'T',
                       .trans_b = key->layout[2] == 'N' ? 'N' : 'T',
                       .m = key->size[0],
                       .n = key->size[1],
                       .k = key->size[2],
                       .count = 1,
                       .lda = key->ld[0],
                       .ldb = key->ld[1],
                       .ldc = key->ld[2],
                       .beta = key->beta == 0 ? 0 : 1};
  state->repeats = 1;
  if (key->type != TESELA_F32 && key->type != TESELA_F64)
    return tsl_fail(TESELA_UNSUPPORTED, "only products of f32 and f64 are tried");
  if (!tsl_replay_name(row->name, "gemm", (tesela_type)key->type, base))
    return tsl_fail(TESELA_UNSUPPORTED, "%s cannot be called here", row->name);
  return TESELA_OK;
}

static tesela_status open_base(trial *state) {
  TSL_TRY(set_base(state));
  return add_operands(state, &state->base, state->recorded->row.key.align);
}

/* --- the advised work --- */

static tesela_status run_gemm(const trial *state) {
  return tsl_replay_gemm(&state->other);
}
static tesela_status run_symm(const trial *state) {
  return tsl_replay_symm(&state->other);
}

static void copy_element(tesela_type type, void *matrix, int64_t source, int64_t target) {
  if (type == TESELA_F32)
    ((float *)matrix)[target] = ((float *)matrix)[source];
  else
    ((double *)matrix)[target] = ((double *)matrix)[source];
}

/* Copies the computed triangle to the other one, in blocks that stay in the cache, as a program must that
 * needs all of C. */
static void mirror(const tsl_replay *call) {
  enum { BLOCK = 32 };
  const int64_t n = call->m, row = call->order == 'R' ? call->ldc : 1,
                col = call->order == 'R' ? 1 : call->ldc;
  for (int64_t i0 = 0; i0 < n; i0 += BLOCK)
    for (int64_t j0 = 0; j0 <= i0; j0 += BLOCK)
      for (int64_t i = i0; i < i0 + BLOCK && i < n; i++)
        for (int64_t j = j0; j < j0 + BLOCK && j < i; j++)
          copy_element(call->type, call->c, i * row + j * col, j * row + i * col);
}

static tesela_status run_syrk(const trial *state) {
  TSL_TRY(tsl_replay_syrk(&state->other));
  mirror(&state->other);
  return TESELA_OK;
}

/* Copies the general factor to C, where trmm works in place. */
static tesela_status run_trmm(const trial *state) {
  const tsl_replay *call = &state->other;
  const bool left = call->side == 'L', by_row = call->order == 'R';
  const void *general = left ? call->b : call->a;
  const int64_t ld = left ? call->ldb : call->lda, lines = by_row ? call->m : call->n,
                length = (by_row ? call->n : call->m) * size_of(call->type);
  for (int64_t i = 0; i < lines; i++)
    memcpy((char *)call->c + i * call->ldc * size_of(call->type),
           (const char *)general + i * ld * size_of(call->type), (size_t)length);
  return tsl_replay_trmm(call);
}

/* Computes `repeats` recorded calls, whose operands are `steps` bytes apart. */
static tesela_status run_base(const trial *state) {
  tsl_replay call = state->base;
  for (int64_t i = 0; i < state->repeats; i++) {
    TSL_TRY(tsl_replay_gemm(&call));
    call.a = (const char *)call.a + state->steps[0];
    call.b = (const char *)call.b + state->steps[1];
    call.c = (char *)call.c + state->steps[2];
  }
  return TESELA_OK;
}

/* --- preparation by kind --- */

static tesela_status routine(trial *state, const char *word, tesela_type type) {
  return tsl_replay_name(state->recorded->row.name, word, type, &state->other)
             ? TESELA_OK
             : tsl_fail(TESELA_UNSUPPORTED, "there is no %s in the form of %s", word,
                        state->recorded->row.name);
}

static tesela_status prepare_transposed(trial *state) {
  TSL_TRY(open_base(state));
  state->other = state->base;
  if (state->recorded->row.key.same)
    state->base.b = state->base.a;
  state->other.b = state->other.a;
  state->other.ldb = state->other.lda;
  state->other.trans_b = state->other.trans_a == 'N' ? 'T' : 'N';
  state->run = run_syrk;
  return routine(state, "syrk", state->base.type);
}

static tesela_status prepare_factor(trial *state, const char *word, bool right, bool is_lower) {
  TSL_TRY(open_base(state));
  state->other = state->base;
  state->other.side = right ? 'R' : 'L';
  const char trans = right ? state->base.trans_b : state->base.trans_a;
  state->other.uplo = is_lower == (trans == 'N') ? 'L' : 'U';
  if ((right ? state->base.trans_a : state->base.trans_b) != 'N')
    return tsl_fail(TESELA_UNSUPPORTED, "the other factor is transposed");
  return routine(state, word, state->base.type);
}

static tesela_status prepare_triangular(trial *state) {
  const unsigned seen = state->recorded->row.seen;
  const bool left = (seen & (TSL_SEEN_A_LOWER | TSL_SEEN_A_UPPER)) != 0;
  state->run = run_trmm;
  return prepare_factor(state, "trmm", !left, (seen & (left ? TSL_SEEN_A_LOWER : TSL_SEEN_B_LOWER)) != 0);
}

static tesela_status prepare_symmetric(trial *state) {
  state->run = run_symm;
  return prepare_factor(state, "symm", !(state->recorded->row.seen & TSL_SEEN_A_SYMMETRIC), true);
}

/* Returns the calls of a run to try, as many as fit. */
static int64_t run_length(const trial *state) {
  const tsl_calls_row *row = &state->recorded->row;
  const int64_t calls = (int64_t)(row->calls / (row->calls > row->followed ? row->calls - row->followed : 1));
  int64_t apart = 1;
  for (int i = 0; i < TSL_CALLS_OPERANDS; i++)
    apart += llabs((long long)row->distance[i]);
  const int64_t fit = BATCH_BYTES / apart + 2;
  return calls < fit ? (calls < BATCH_MAX ? calls : BATCH_MAX) : fit < BATCH_MAX ? fit : BATCH_MAX;
}

static tesela_status prepare_join(trial *state) {
  TSL_TRY(set_base(state));
  tsl_replay *base = &state->base, *other = &state->other;
  const bool by_row = base->order == 'R';
  const int64_t count = run_length(state);
  tsl_replay all = *base;
  *(by_row ? &all.m : &all.n) *= count;
  all.ldc = by_row ? all.n : all.m;
  TSL_TRY(add_operands(state, &all, state->recorded->row.key.align));
  base->a = all.a;
  base->b = all.b;
  base->c = all.c;
  base->ldc = all.ldc;
  *other = all;
  state->repeats = count;
  state->steps[by_row ? 0 : 1] = (by_row ? base->m * base->lda : base->n * base->ldb) * size_of(base->type);
  state->steps[2] = (by_row ? base->m : base->n) * base->ldc * size_of(base->type);
  state->run = run_gemm;
  return TESELA_OK;
}

static tesela_status prepare_batch(trial *state) {
  TSL_TRY(set_base(state));
  const int64_t size = size_of(state->base.type);
  tsl_replay all = state->base;
  all.count = run_length(state);
  for (int i = 0; i < TSL_CALLS_OPERANDS; i++) {
    state->steps[i] = state->recorded->row.distance[i];
    all.distance[i] = state->steps[i] / size;
    if (state->steps[i] < 0 || state->steps[i] % size != 0)
      return tsl_fail(TESELA_UNSUPPORTED, "the operands lie backwards");
  }
  TSL_TRY(add_operands(state, &all, state->recorded->row.key.align));
  state->base.a = all.a;
  state->base.b = all.b;
  state->base.c = all.c;
  state->repeats = all.count;
  state->other = all;
  state->run = run_gemm;
  return routine(state, "gemm_batch_strided", state->base.type);
}

static tesela_status prepare_deepen(trial *state) {
  const tsl_calls_row *row = &state->recorded->row;
  const int64_t run = (int64_t)(row->calls / (row->calls > row->continued ? row->calls - row->continued : 1)),
                count = run < 2    ? 2
                        : run > 64 ? 64
                                   : run;
  TSL_TRY(open_base(state));
  state->repeats = count;
  state->other = state->base;
  tsl_replay *other = &state->other;
  other->k *= count;
  other->lda = (other->order == 'R') != (other->trans_a != 'N') ? other->k : other->m;
  other->ldb = (other->order == 'R') != (other->trans_b != 'N') ? other->n : other->k;
  state->run = run_gemm;
  return add_operands(state, other, row->key.align);
}

static int64_t aligned_ld(int64_t ld, int64_t size) {
  const int64_t line = 64 / size, whole = (ld + line - 1) / line * line;
  return whole * size % PAGE == 0 ? whole + line : whole;
}

static tesela_status prepare_align(trial *state) {
  static const int8_t lines[TSL_CALLS_OPERANDS] = {6, 6, 6};
  TSL_TRY(open_base(state));
  state->other = state->base;
  const int64_t size = size_of(state->base.type);
  state->other.lda = aligned_ld(state->base.lda, size);
  state->other.ldb = aligned_ld(state->base.ldb, size);
  state->other.ldc = aligned_ld(state->base.ldc, size);
  state->run = run_gemm;
  return add_operands(state, &state->other, lines);
}

static tesela_status prepare_single(trial *state) {
  TSL_TRY(open_base(state));
  state->other = state->base;
  state->run = run_gemm;
  TSL_TRY(routine(state, "gemm", TESELA_F32));
  return add_operands(state, &state->other, state->recorded->row.key.align);
}

/* --- threads --- */

static void *call_often(void *argument) {
  const trial *state = argument;
  for (int64_t i = 0; i < state->repeats; i++)
    (void)tsl_replay_gemm(&state->base);
  return NULL;
}

/* Lets `callers` threads call at once, each with operands that it reads in common and a C of its own. */
static tesela_status run_together(const trial *state, int threads) {
  pthread_t ids[CALLERS_MAX];
  trial each[CALLERS_MAX];
  int started = 0;
  tsl_replay_threads(threads);
  const int64_t c_bytes = elements_of(state->base.order, 'N', state->base.m, state->base.n, state->base.ldc) *
                          size_of(state->base.type);
  for (; started < state->callers; started++) {
    each[started] = *state;
    each[started].base.c = (char *)state->base.c + started * c_bytes;
    if (pthread_create(&ids[started], NULL, call_often, &each[started]) != 0)
      break;
  }
  for (int i = 0; i < started; i++)
    pthread_join(ids[i], NULL);
  tsl_replay_threads(0);
  return started == state->callers ? TESELA_OK : tsl_fail(TESELA_OUT_OF_MEMORY, "no thread for a trial");
}

static tesela_status run_crowded(const trial *state) {
  return run_together(state,
                      state->recorded->threads > 0 ? state->recorded->threads : state->recorded->processors);
}
static tesela_status run_spared(const trial *state) {
  return run_together(state, state->threads);
}

static tesela_status prepare_threads(trial *state) {
  const tsl_recorded *recorded = state->recorded;
  TSL_TRY(set_base(state));
  const double callers = 1 + (double)recorded->row.others / (double)recorded->row.looks;
  state->callers = (int)fmin(CALLERS_MAX, fmax(2, round(callers)));
  state->threads = recorded->processors / state->callers > 1 ? recorded->processors / state->callers : 1;
  tsl_replay all = state->base;
  all.count = state->callers;
  all.distance[2] = elements_of(all.order, 'N', all.m, all.n, all.ldc);
  TSL_TRY(add_operands(state, &all, recorded->row.key.align));
  state->base.a = all.a;
  state->base.b = all.b;
  state->base.c = all.c;
  const double seconds = recorded->row.seconds / (double)recorded->row.calls;
  state->repeats = 1 + (int64_t)(4 * turn_seconds / seconds);
  state->run = run_spared;
  return TESELA_OK;
}

/* --- measuring --- */

static tesela_status (*const preparations[])(trial *state) = {
    [TSL_ADVICE_TRANSPOSED] = prepare_transposed, [TSL_ADVICE_TRIANGULAR] = prepare_triangular,
    [TSL_ADVICE_SYMMETRIC] = prepare_symmetric,   [TSL_ADVICE_JOIN] = prepare_join,
    [TSL_ADVICE_BATCH] = prepare_batch,           [TSL_ADVICE_DEEPEN] = prepare_deepen,
    [TSL_ADVICE_ALIGN] = prepare_align,           [TSL_ADVICE_THREADS] = prepare_threads,
    [TSL_ADVICE_SINGLE] = prepare_single,         [TSL_ADVICE_ROUND] = prepare_single,
};

typedef tesela_status work(const trial *state);

/* Calls for some time: caches fill, and races of the libraries end. */
static tesela_status warm_up(const trial *state, work *first, work *second) {
  const double start = tsl_clock();
  do {
    TSL_TRY(first(state));
    TSL_TRY(second(state));
  } while (tsl_clock() - start < warm_seconds);
  return TESELA_OK;
}

/* Returns the seconds of one call, from as many calls as take a turn. */
static tesela_status time_turn(const trial *state, work *run, int64_t calls, double *seconds) {
  const double start = tsl_clock();
  for (int64_t i = 0; i < calls; i++)
    TSL_TRY(run(state));
  *seconds = (tsl_clock() - start) / (double)calls;
  return TESELA_OK;
}

static int by_value(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

/* Turns of both works, as the times become shorter. */
typedef struct timing {
  double without[TURNS_MAX], with[TURNS_MAX], best_without, best_with;
  int turns, unchanged; /* turns; turns since the last shorter time */
} timing;

static tesela_status add_turn(const trial *state, work *base, int64_t calls, timing *times) {
  static const double shorter = 0.99;
  double without, with;
  TSL_TRY(time_turn(state, base, calls, &without));
  TSL_TRY(time_turn(state, state->run, calls, &with));
  times->without[times->turns] = without;
  times->with[times->turns++] = with;
  times->unchanged++;
  if (without < shorter * times->best_without || with < shorter * times->best_with)
    times->unchanged = 0;
  times->best_without = fmin(times->best_without, without);
  times->best_with = fmin(times->best_with, with);
  return TESELA_OK;
}

/* Sets the advice's times: the shortest, as other programs only delay. The medians must show at least half of
 * the gain; else they are taken. */
static void set_times(timing *times, tsl_advice *advice) {
  const size_t count = (size_t)times->turns;
  qsort(times->without, count, sizeof(double), by_value);
  qsort(times->with, count, sizeof(double), by_value);
  const double without = times->without[count / 2], with = times->with[count / 2],
               gain = times->best_without / times->best_with;
  const bool is_confirmed = without / with >= 1 + (gain - 1) / 2;
  advice->without = is_confirmed ? times->best_without : without;
  advice->with = is_confirmed ? times->best_with : with;
}

static tesela_status measure(const trial *state, work *base, tsl_advice *advice) {
  timing times = {.best_without = INFINITY, .best_with = INFINITY};
  double once;
  TSL_TRY(warm_up(state, base, state->run));
  TSL_TRY(time_turn(state, base, 1, &once));
  const int64_t calls = 1 + (int64_t)(turn_seconds / once);
  const double start = tsl_clock();
  while (times.turns < TURNS_MAX && (times.turns < TURNS || times.unchanged < TURNS) &&
         (times.turns < TURNS_MIN || tsl_clock() - start < seconds_max))
    TSL_TRY(add_turn(state, base, calls, &times));
  set_times(&times, advice);
  advice->repeats = state->repeats;
  advice->is_tried = true;
  return TESELA_OK;
}

/* Compares both results on equal factors. Dense copies are not needed: leading dimensions are equal. */
static double error_of_single(const trial *state) {
  const tsl_replay *base = &state->base, *other = &state->other;
  const int64_t sizes[] = {elements_of(base->order, base->trans_a, base->m, base->k, base->lda),
                           elements_of(base->order, base->trans_b, base->k, base->n, base->ldb),
                           elements_of(base->order, 'N', base->m, base->n, base->ldc)};
  const double *from[] = {base->a, base->b};
  float *to[] = {tsl_writable(other->a), tsl_writable(other->b)};
  for (int f = 0; f < 2; f++)
    for (int64_t i = 0; i < sizes[f]; i++)
      to[f][i] = (float)from[f][i];
  memset(base->c, 0, (size_t)(sizes[2] * size_of(TESELA_F64)));
  memset(other->c, 0, (size_t)(sizes[2] * size_of(TESELA_F32)));
  if (tsl_replay_gemm(base) != TESELA_OK || tsl_replay_gemm(other) != TESELA_OK)
    return NAN;
  double most = 0, error = 0;
  for (int64_t i = 0; i < sizes[2]; i++) {
    const double exact = ((const double *)base->c)[i],
                 off = fabs((double)((const float *)other->c)[i] - exact);
    most = fabs(exact) > most ? fabs(exact) : most;
    error = off > error ? off : error;
  }
  return most > 0 ? error / most : NAN;
}

static tesela_status try_advice(const tsl_run_record *recording, tsl_advice *advice) {
  trial state = {.recorded = &recording->products[advice->product]};
  tesela_status status;
  TSL_GO(preparations[advice->kind](&state));
  TSL_GO(measure(&state, advice->kind == TSL_ADVICE_THREADS ? run_crowded : run_base, advice));
  if (advice->kind == TSL_ADVICE_SINGLE || advice->kind == TSL_ADVICE_ROUND)
    advice->error = error_of_single(&state);
out:
  for (int i = 0; i < state.block_count; i++)
    tsl_free(state.blocks[i]);
  return status;
}

tesela_status tsl_record_try(const tsl_run_record *recording, tsl_advice_list *list) {
  TSL_TRY(tsl_replay_open(recording));
  for (int i = 0; i < list->count; i++)
    if (list->items[i].product < PRODUCTS)
      (void)try_advice(recording, &list->items[i]); /* what cannot be tried keeps its limit */
  tsl_advice_sort(recording, list);
  return TESELA_OK;
}
