/* Products that come again: what an entry compares its arguments with before it does anything else, for a call takes
 * longer than a tiny product. The product's kernel is called with no function between. instant.c learns and owns. */
#ifndef TSL_BLAS_KNOWN_H
#define TSL_BLAS_KNOWN_H

#include "api/instant.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

/* A call that came, and what is known about it. */
typedef struct tsl_blas_known {
  void *prepared;      /* NULL: it is nothing for run_prepared() */
  tsl_at_once *surely; /* as prepare() says it; NULL: nothing for an entry to call */
  int64_t m, n, k, lda, ldb, ldc;
  uint64_t alpha, beta;         /* bits */
  int kind;                     /* tsl_blas_kind() */
  int trans_a, trans_b;         /* CBLAS's numbers or Fortran's capitals, as the entry has them */
  struct tsl_blas_known *older; /* was called before this one, and has the same place */
} tsl_blas_known;

/* Each place has the calls that came last of those that belong there. A call is learnt when it comes twice in a row there
 * without being known, so that one whose scalars change every time drives nothing out. */
enum { TSL_BLAS_PLACES = 256, TSL_BLAS_OF_A_PLACE = 2 };
typedef struct tsl_blas_table {
  tsl_blas_known *places[TSL_BLAS_PLACES];
  uint64_t seen[TSL_BLAS_PLACES]; /* what came last and was not known, by a hash */
} tsl_blas_table;

/* Each thread has its own table, which it alone looks into: nothing that a call runs on can go meanwhile. The first one's
 * lies where no load has to say; of two others with one slot the first has it, until it ends. */
typedef struct tsl_blas_slot {
  _Atomic uintptr_t owner; /* tsl_blas_thread(); 0: nobody */
  tsl_blas_table *table;   /* the owner's, or one that is empty, or NULL */
} tsl_blas_slot;
enum { TSL_BLAS_SLOT_BITS = 8, TSL_BLAS_SLOTS = 1 << TSL_BLAS_SLOT_BITS };
extern tsl_blas_slot tsl_blas_first, tsl_blas_slots[TSL_BLAS_SLOTS];
extern tsl_blas_table tsl_blas_first_table;

/* The running thread, by an address that no other has: that of its own memory, which a register holds. A thread-local
 * variable of a library that is opened late costs a call. */
static inline uintptr_t tsl_blas_thread(void) {
#if defined(__x86_64__)
  uintptr_t own;
  __asm__("mov %%fs:0, %0" : "=r"(own));
  return own;
#elif defined(__aarch64__)
  uintptr_t own;
  __asm__("mrs %0, tpidr_el0" : "=r"(own));
  return own;
#else
  static _Thread_local char own;
  return (uintptr_t)&own;
#endif
}

static inline tsl_blas_slot *tsl_blas_slot_of(uintptr_t thread) {
  return &tsl_blas_slots[(uint64_t)thread * UINT64_C(0x9e3779b97f4a7c15) >> (64 - TSL_BLAS_SLOT_BITS)];
}

/* The running thread's own table; NULL where it has none. */
static inline tsl_blas_table *tsl_blas_known_calls(void) {
  const uintptr_t thread = tsl_blas_thread();
  if (atomic_load_explicit(&tsl_blas_first.owner, memory_order_relaxed) == thread)
    return &tsl_blas_first_table;
  const tsl_blas_slot *slot = tsl_blas_slot_of(thread);
  return atomic_load_explicit(&slot->owner, memory_order_relaxed) == thread ? slot->table : NULL;
}

/* The order and the type. */
static inline int tsl_blas_kind(tesela_type type, int order) {
  return (int)((unsigned)order + 1024 * (unsigned)type);
}

static inline uint64_t tsl_blas_bits(tesela_type type, const void *scalar) {
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
static inline unsigned tsl_blas_place(tesela_type type, int trans_a, int trans_b, int64_t m, int64_t n,
                                      int64_t k) {
  const unsigned letters = (unsigned)trans_a + 2 * (unsigned)trans_b + 4 * (unsigned)type;
  return ((unsigned)m + 4 * (unsigned)n + 16 * (unsigned)k + 32 * letters) % TSL_BLAS_PLACES;
}

/* Whether a call is this one; its scalars are of a real type and lie at alpha and beta. The arguments one by one, as they are
 * in registers: a struct of them that was just written takes time to reach the cache. */
static inline bool tsl_blas_is_known(const tsl_blas_known *was, tesela_type type, int kind, int trans_a,
                                     int trans_b, int64_t m, int64_t n, int64_t k, const void *alpha,
                                     int64_t lda, int64_t ldb, const void *beta, int64_t ldc) {
  return was->m == m && was->n == n && was->k == k && was->lda == lda && was->ldb == ldb && was->ldc == ldc &&
         was->kind == kind && was->trans_a == trans_a && was->trans_b == trans_b &&
         was->alpha == tsl_blas_bits(type, alpha) && was->beta == tsl_blas_bits(type, beta);
}

/* Whether addresses are multiples of an element's size, as compilers assume. */
static inline bool tsl_blas_aligned(tesela_type type, const void *a, const void *b, const void *c) {
  return (((uintptr_t)a | (uintptr_t)b | (uintptr_t)c) & (type == TESELA_F32 ? 3 : 7)) == 0;
}

/* What an entry of any type may call at once: what is returned has `surely`. NULL: the long way. */
static inline const tsl_blas_known *tsl_blas_hurry(tesela_type type, int order, int trans_a, int trans_b,
                                                   int64_t m, int64_t n, int64_t k, const void *alpha,
                                                   const void *a, int64_t lda, const void *b, int64_t ldb,
                                                   const void *beta, const void *c, int64_t ldc) {
  if ((type != TESELA_F32 && type != TESELA_F64) || !tsl_blas_aligned(type, a, b, c))
    return NULL;
  const tsl_blas_table *table = tsl_blas_known_calls();
  if (!table)
    return NULL;
  const tsl_blas_known *was = table->places[tsl_blas_place(type, trans_a, trans_b, m, n, k)];
  return was && was->surely &&
                 tsl_blas_is_known(was, type, tsl_blas_kind(type, order), trans_a, trans_b, m, n, k, alpha,
                                   lda, ldb, beta, ldc)
             ? was
             : NULL;
}

#endif
