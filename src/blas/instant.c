/* Products that are done at once: what a call is asked before takes as long as a tiny product does, so that nothing is
 * looked at here but the arguments, and those of calls that come again are only compared. Whatever is unusual about them
 * is left to the long way, which knows the words. */
#include "blas/blas.h"

#include "api/instant.h"

#include <stdlib.h>
#include <string.h>

/* Ways of the process's contexts, the newest first. None is freed: calls may be under way in it. */
typedef struct link {
  tsl_instant_way way;
  struct link *older;
} link;
static _Atomic(link *) newest;
static atomic_bool looked; /* for a context */

void tsl_blas_set_instant(tesela_context *context) {
  link *made = malloc(sizeof *made);
  if (!made)
    return;
  made->older = atomic_load_explicit(&newest, memory_order_relaxed);
  if (!context || !tsl_api_instant(context, &made->way))
    made->way.strategy = NULL;
  atomic_store_explicit(&newest, made, memory_order_release);
}

static const tsl_instant_way *find_way(void) {
  if (!atomic_load_explicit(&looked, memory_order_acquire)) {
    (void)tsl_blas_context();
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

/* A call that came, and what is known about it. Never changed and never freed: any number of threads may read it. */
typedef struct known {
  tesela_type type;
  int order, trans_a, trans_b;
  int64_t m, n, k, lda, ldb, ldc;
  uint64_t alpha, beta; /* bits */
  const tsl_instant_way *way;
  void *prepared;      /* NULL: it is nothing for run_prepared() */
  struct known *older; /* what had the place before */
} known;

/* Each place of the table has the last call that was not there before, until so many are known. */
enum { PLACES = 256, KNOWN_MOST = 512 };
static _Atomic(known *) table[PLACES];
static atomic_int known_count;

static uint64_t bits_of(tesela_type type, const void *scalar) {
  uint32_t single;
  uint64_t bits;
  if (type == TESELA_F32) {
    memcpy(&single, scalar, sizeof single);
    return single;
  }
  memcpy(&bits, scalar, sizeof bits);
  return bits;
}

/* Few and quick operations: the product waits for them. Cubes of 256 sizes in a row have places of their own. */
static unsigned place_of(const tsl_blas_multiply *given, tesela_type type) {
  const unsigned letters = (unsigned)given->trans_a + 2 * (unsigned)given->trans_b + 4 * (unsigned)type;
  return ((unsigned)given->m + 4 * (unsigned)given->n + 16 * (unsigned)given->k + 32 * letters) % PLACES;
}

/* With the operands where they are: what is written to a copy just before it is compared has not reached the cache. */
static bool is_known_call(const known *was, const tsl_blas_multiply *given, tesela_type type) {
  return was->type == type && was->m == given->m && was->n == given->n && was->k == given->k &&
         was->order == given->order && was->trans_a == given->trans_a && was->trans_b == given->trans_b &&
         was->lda == given->lda && was->ldb == given->ldb && was->ldc == given->ldc &&
         was->alpha == bits_of(type, given->alpha) && was->beta == bits_of(type, given->beta);
}

static void learn(const tsl_blas_multiply *given, unsigned place, const tsl_instant *product,
                  const tsl_instant_way *way) {
  if (atomic_load_explicit(&known_count, memory_order_relaxed) >= KNOWN_MOST)
    return;
  known *made = malloc(sizeof *made);
  if (!made)
    return;
  atomic_fetch_add_explicit(&known_count, 1, memory_order_relaxed);
  *made = (known){.type = product->type,
                  .order = given->order,
                  .trans_a = given->trans_a,
                  .trans_b = given->trans_b,
                  .m = given->m,
                  .n = given->n,
                  .k = given->k,
                  .lda = given->lda,
                  .ldb = given->ldb,
                  .ldc = given->ldc,
                  .alpha = bits_of(product->type, given->alpha),
                  .beta = bits_of(product->type, given->beta),
                  .way = way,
                  .prepared = way->strategy->prepare(product, way->device),
                  .older = atomic_load_explicit(&table[place], memory_order_acquire)};
  while (!atomic_compare_exchange_weak_explicit(&table[place], &made->older, made, memory_order_release,
                                                memory_order_acquire))
    continue;
}

/* --- a call --- */

static __attribute__((noinline)) bool do_unknown(const tsl_blas_symbol *symbol,
                                                 const tsl_blas_multiply *given, unsigned place,
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
  learn(given, place, &product, way);
  return way->strategy->instant(&product, way->device);
}

bool tsl_blas_instant(const tsl_blas_symbol *symbol, const tsl_blas_multiply *given) {
  const tsl_instant_way *way = find_way();
  const tesela_type type = symbol->type;
  const uintptr_t addresses = (uintptr_t)given->a | (uintptr_t)given->b | (uintptr_t)given->c;
  if (!way || (addresses & (type == TESELA_F32 ? 3 : 7)) != 0)
    return false;
  const unsigned place = place_of(given, type);
  const known *was = atomic_load_explicit(&table[place], memory_order_acquire);
  if (!was || !is_known_call(was, given, type) || was->way != way)
    return do_unknown(symbol, given, place, way);
  return was->prepared &&
         way->strategy->run_prepared(was->prepared, given->a, given->b, given->c) == TESELA_OK;
}
