/* Products that are done at once: what a call is asked before takes as long as a tiny product does, so that nothing is
 * looked at here but the arguments, and those of calls that come again are only compared. Whatever is unusual about them
 * is left to the long way, which knows the words. */
#include "blas/blas.h"

#include "blas/known.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Atomic(tsl_blas_known *) tsl_blas_known_calls[TSL_BLAS_PLACES];

/* Ways of the process's contexts, the newest first, each with what was known by the one before. None is freed: calls may
 * be under way in it. */
typedef struct link {
  tsl_instant_way way;
  tsl_blas_known *known_before[TSL_BLAS_PLACES];
  struct link *older;
} link;
static _Atomic(link *) newest;
static atomic_bool looked; /* for a context */

void tsl_blas_set_instant(tesela_context *context) {
  link *made = malloc(sizeof *made);
  for (int i = 0; i < TSL_BLAS_PLACES; i++) {
    tsl_blas_known *known = atomic_exchange(&tsl_blas_known_calls[i], NULL);
    if (made)
      made->known_before[i] = known;
  }
  if (!made)
    return;
  made->older = atomic_load_explicit(&newest, memory_order_relaxed);
  if (!context || !tsl_api_instant(context, &made->way))
    made->way.strategy = NULL;
  atomic_store_explicit(&newest, made, memory_order_release);
}

static const tsl_instant_way *find_way(void) {
  if (!atomic_load_explicit(&looked, memory_order_acquire)) {
    (void)tsl_blas_context(0);
    atomic_store_explicit(&looked, true, memory_order_release);
  }
  const link *now = atomic_load_explicit(&newest, memory_order_acquire);
  return now && now->way.strategy ? &now->way : NULL;
}

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

enum { KNOWN_MOST = 512 };
static atomic_int known_count;

/* A letter as known calls have it. */
static int said(const tsl_blas_symbol *symbol, int letter) {
  return symbol->cblas ? tsl_blas_cblas_trans(letter) : letter;
}

static void learn(const tsl_blas_symbol *symbol, const tsl_blas_multiply *given, const tsl_instant *product,
                  const tsl_instant_way *way) {
  if (atomic_load_explicit(&known_count, memory_order_relaxed) >= KNOWN_MOST ||
      tsl_blas_listens) /* an entry that knows a call does not tell of it */
    return;
  tsl_blas_known *made = malloc(sizeof *made);
  if (!made)
    return;
  atomic_fetch_add_explicit(&known_count, 1, memory_order_relaxed);
  const int trans_a = said(symbol, given->trans_a), trans_b = said(symbol, given->trans_b);
  _Atomic(tsl_blas_known *) *at =
      &tsl_blas_known_calls[tsl_blas_place(symbol->type, trans_a, trans_b, given->m, given->n, given->k)];
  *made = (tsl_blas_known){.m = given->m,
                           .n = given->n,
                           .k = given->k,
                           .lda = given->lda,
                           .ldb = given->ldb,
                           .ldc = given->ldc,
                           .alpha = tsl_blas_bits(symbol->type, given->alpha),
                           .beta = tsl_blas_bits(symbol->type, given->beta),
                           .kind = tsl_blas_kind(symbol->type, given->order),
                           .trans_a = trans_a,
                           .trans_b = trans_b,
                           .older = atomic_load_explicit(at, memory_order_acquire)};
  made->prepared = way->strategy->prepare(product, way->device, &made->surely);
  while (!atomic_compare_exchange_weak_explicit(at, &made->older, made, memory_order_release,
                                                memory_order_acquire))
    continue;
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
  const tsl_instant_way *way = find_way();
  if (!way || !tsl_blas_aligned(symbol->type, given->a, given->b, given->c))
    return false;
  const tsl_blas_known *was = tsl_blas_recall(symbol->type, given->order, said(symbol, given->trans_a),
                                              said(symbol, given->trans_b), given->m, given->n, given->k,
                                              given->alpha, given->lda, given->ldb, given->beta, given->ldc);
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
    snprintf(who, sizeof who, "tesela %s cpu", find_way()->strategy->name);
  tsl_blas_end(&call, done ? who : NULL);
  return done;
}
