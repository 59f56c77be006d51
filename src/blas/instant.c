/* Products that are done at once: what a call is asked before takes as long as a tiny product does, so that nothing is
 * looked at here but the arguments, and those of calls that come again are only compared. Whatever is unusual about them
 * is left to the long way, which knows the words. */
#include "blas/instant.h"

#include "base/memory.h"
#include "blas/context.h"
#include "blas/gemm.h"
#include "blas/known.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_transposed(int letter) {
  return letter == 'T' || letter == 'C';
}
static bool is_known(int letter) {
  return letter == 'N' || letter == 'R' || is_transposed(letter);
}

/* Strides of a matrix of these sizes as it takes part; false where the leading dimension is too small. */
static bool strides_of(bool by_row, int letter, int64_t rows, int64_t cols, int64_t ld, int64_t *row,
                       int64_t *col) {
  const bool along_rows = by_row != is_transposed(letter);
  *row = along_rows ? ld : 1;
  *col = along_rows ? 1 : ld;
  return ld >= (along_rows ? cols : rows);
}

/* A scalar's value, and what it is by its bits. */
static double scalar_of(tesela_type type, const void *at, bool *is_0, bool *is_1) {
  if (type == TESELA_F32) {
    uint32_t bits;
    memcpy(&bits, at, sizeof bits);
    *is_0 = bits << 1 == 0;
    *is_1 = bits == UINT32_C(0x3f800000);
    return *(const float *)at;
  }
  uint64_t bits;
  memcpy(&bits, at, sizeof bits);
  *is_0 = bits << 1 == 0;
  *is_1 = bits == UINT64_C(0x3ff0000000000000);
  return *(const double *)at;
}

/* --- products that come again --- */

tsl_blas_table tsl_blas_first_table;
tsl_blas_slot tsl_blas_first = {.table = &tsl_blas_first_table}, tsl_blas_slots[TSL_BLAS_SLOTS];
static pthread_key_t threads_end;
static bool threads_end_is_told;

static void forget(tsl_blas_known *known) {
  tsl_free(known->prepared);
  free(known);
}

/* A thread ends: what it knew goes, and its slot is free. */
static void leave(void *argument) {
  tsl_blas_slot *slot = argument;
  for (int i = 0; i < TSL_BLAS_PLACES; i++)
    for (tsl_blas_known *known = slot->table->places[i], *older; known; known = older) {
      older = known->older;
      forget(known);
    }
  memset(slot->table, 0, sizeof *slot->table);
  atomic_store_explicit(&slot->owner, 0, memory_order_release);
}

/* The child of a fork has one thread. What the others knew may be half written, and is left alone. */
static void stay_alone(void) {
  const uintptr_t thread = tsl_blas_thread();
  if (atomic_load_explicit(&tsl_blas_first.owner, memory_order_relaxed) != thread) {
    memset(&tsl_blas_first_table, 0, sizeof tsl_blas_first_table);
    atomic_store_explicit(&tsl_blas_first.owner, 0, memory_order_relaxed);
  }
  for (int i = 0; i < TSL_BLAS_SLOTS; i++)
    if (atomic_load_explicit(&tsl_blas_slots[i].owner, memory_order_relaxed) != thread) {
      tsl_blas_slots[i].table = NULL;
      atomic_store_explicit(&tsl_blas_slots[i].owner, 0, memory_order_relaxed);
    }
}

__attribute__((constructor)) static void ask_for_threads_ends(void) {
  threads_end_is_told =
      pthread_key_create(&threads_end, leave) == 0 && pthread_atfork(NULL, NULL, stay_alone) == 0;
}

static bool claim(tsl_blas_slot *slot, uintptr_t thread) {
  uintptr_t owner = 0;
  return atomic_compare_exchange_strong_explicit(&slot->owner, &owner, thread, memory_order_acquire,
                                                 memory_order_relaxed);
}

/* This thread's own table; NULL where another thread has its slot, or there is no memory. */
static tsl_blas_table *own_table(void) {
  const uintptr_t thread = tsl_blas_thread();
  tsl_blas_slot *slot = &tsl_blas_first;
  tsl_blas_table *table = tsl_blas_known_calls();
  if (table || !threads_end_is_told)
    return table;
  if (!claim(slot, thread)) {
    slot = tsl_blas_slot_of(thread);
    if (!claim(slot, thread))
      return NULL;
  }
  if (!slot->table)
    slot->table = calloc(1, sizeof *slot->table);
  if (slot->table && pthread_setspecific(threads_end, slot) == 0)
    return slot->table;
  atomic_store_explicit(&slot->owner, 0, memory_order_release);
  return NULL;
}

/* A letter as known calls have it. */
static int said(const tsl_blas_symbol *symbol, int letter) {
  return symbol->cblas ? tsl_blas_cblas_trans(letter) : letter;
}

static unsigned place_of(const tsl_blas_known *call, tesela_type type) {
  return tsl_blas_place(type, call->trans_a, call->trans_b, call->m, call->n, call->k);
}

static uint64_t hash_of(const tsl_blas_known *call) {
  const uint64_t parts[] = {(uint64_t)call->m,
                            (uint64_t)call->n,
                            (uint64_t)call->k,
                            (uint64_t)call->lda,
                            (uint64_t)call->ldb,
                            (uint64_t)call->ldc,
                            call->alpha,
                            call->beta,
                            (uint64_t)call->kind,
                            (uint64_t)call->trans_a,
                            (uint64_t)call->trans_b};
  uint64_t hash = 1;
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    hash = (hash ^ parts[i]) * UINT64_C(0x9e3779b97f4a7c15);
  return hash | 1; /* never that of no call */
}

/* Puts a call first in its place; the last one there goes. */
static void put_first(tsl_blas_table *table, unsigned place, tsl_blas_known *call) {
  tsl_blas_known *last = call;
  call->older = table->places[place];
  table->places[place] = call;
  for (int i = 1; last && i < TSL_BLAS_OF_A_PLACE; i++)
    last = last->older;
  if (last && last->older) {
    forget(last->older);
    last->older = NULL;
  }
}

static void learn(const tsl_blas_symbol *symbol, const tsl_blas_multiply *given, const tsl_instant *product,
                  const tsl_instant_way *way) {
  tsl_blas_known call = {.m = given->m,
                         .n = given->n,
                         .k = given->k,
                         .lda = given->lda,
                         .ldb = given->ldb,
                         .ldc = given->ldc,
                         .alpha = tsl_blas_bits(symbol->type, given->alpha),
                         .beta = tsl_blas_bits(symbol->type, given->beta),
                         .kind = tsl_blas_kind(symbol->type, given->order),
                         .trans_a = said(symbol, given->trans_a),
                         .trans_b = said(symbol, given->trans_b)};
  tsl_blas_table *table =
      tsl_blas_listens ? NULL : own_table(); /* an entry that knows a call does not tell of it */
  if (!table)
    return;
  const unsigned place = place_of(&call, symbol->type);
  const uint64_t hash = hash_of(&call);
  const bool again = table->seen[place] == hash;
  table->seen[place] = hash;
  tsl_blas_known *made = again ? malloc(sizeof *made) : NULL;
  if (!made)
    return;
  *made = call;
  made->prepared = way->strategy->prepare(product, way->device, &made->surely);
  put_first(table, place, made);
}

/* What is known of a call, which is put first in its place. */
static const tsl_blas_known *recall(const tsl_blas_symbol *symbol, const tsl_blas_multiply *given) {
  tsl_blas_table *table = tsl_blas_known_calls();
  if (!table)
    return NULL;
  const tesela_type type = symbol->type;
  const int trans_a = said(symbol, given->trans_a), trans_b = said(symbol, given->trans_b);
  tsl_blas_known **at = &table->places[tsl_blas_place(type, trans_a, trans_b, given->m, given->n, given->k)],
                 *first = *at;
  for (tsl_blas_known **from = at; *from; from = &(*from)->older) {
    tsl_blas_known *was = *from;
    if (!tsl_blas_is_known(was, type, tsl_blas_kind(type, given->order), trans_a, trans_b, given->m, given->n,
                           given->k, given->alpha, given->lda, given->ldb, given->beta, given->ldc))
      continue;
    if (was != first) {
      *from = was->older;
      was->older = first;
      *at = was;
    }
    return was;
  }
  return NULL;
}

/* --- a call --- */

static bool do_unknown(const tsl_blas_symbol *symbol, const tsl_blas_multiply *given,
                       const tsl_instant_way *way) {
  const bool by_row = given->order == TSL_BLAS_ROW_MAJOR;
  if ((!by_row && given->order != TSL_BLAS_COLUMN_MAJOR) || given->m <= 0 || given->n <= 0 || given->k <= 0 ||
      !is_known(given->trans_a) || !is_known(given->trans_b))
    return false;
  /* One by one: clearing a struct first takes longer than a tiny product. */
  tsl_instant product;
  product.type = symbol->type;
  product.m = given->m;
  product.n = given->n;
  product.k = given->k;
  product.a = given->a;
  product.b = given->b;
  product.c = given->c;
  bool beta_is_1;
  product.alpha = scalar_of(symbol->type, given->alpha, &product.alpha_is_0, &product.alpha_is_1);
  product.beta = scalar_of(symbol->type, given->beta, &product.beta_is_0, &beta_is_1);
  if (!strides_of(by_row, given->trans_a, given->m, given->k, given->lda, &product.a_row, &product.a_col) ||
      !strides_of(by_row, given->trans_b, given->k, given->n, given->ldb, &product.b_row, &product.b_col) ||
      !strides_of(by_row, 'N', given->m, given->n, given->ldc, &product.c_row, &product.c_col))
    return false;
  learn(symbol, given, &product, way);
  return way->strategy->instant(&product, way->device);
}

bool tsl_blas_instant(tsl_blas_symbol *symbol, const tsl_blas_multiply *given) {
  const tsl_instant_way *way = tsl_blas_instant_way();
  if (!way || !tsl_blas_aligned(symbol->type, given->a, given->b, given->c))
    return false;
  const tsl_blas_known *was = recall(symbol, given);
  if (!was)
    return do_unknown(symbol, given, way);
  return was->prepared &&
         way->strategy->run_prepared(was->prepared, given->a, given->b, given->c) == TESELA_OK;
}

bool tsl_blas_instant_heard(tsl_blas_symbol *symbol, const tsl_blas_multiply *given) {
  tsl_blas_call call = {.symbol = symbol};
  char who[48];
  tsl_blas_describe(&call, given);
  tsl_blas_hear(&call);
  const bool done = tsl_blas_instant(symbol, given);
  if (done)
    snprintf(who, sizeof who, "tesela %s cpu", tsl_blas_instant_way()->strategy->name);
  tsl_blas_end(&call, done ? who : NULL);
  return done;
}
