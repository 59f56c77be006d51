/* The dispatch cache: what to do for a product of one real type, by what its call says. The public calls and
 * the entries of BLAS's names look here before they do anything else, for finding out takes longer than a
 * tiny product.
 *
 *   call -> the thread's last calls -> a kernel | a plan | the next BLAS
 *           not there               -> the context's plans (plan_cache.h), which all threads share
 *
 * Each thread has a table of its own, which it alone looks into: nothing is locked, and no kernel that a call
 * runs on can go meanwhile. A kernel's state is the entry's; a plan is its context's, and whoever runs it
 * asks whether it is there still.
 *
 * A table is a set-associative cache: a set has the calls that came last of those that belong there, the last
 * one first. A call enters when it comes an eighth time in a row there without being known, so that one whose
 * scalars change every time evicts nothing, and shapes drawn from few seldom do. */
#ifndef TSL_API_API_DISPATCH_H
#define TSL_API_API_DISPATCH_H

#include "api/fast_call.h"

#include <stdatomic.h>
#include <string.h>

/* A call but for its addresses. A public call's layout is said in CBLAS's words. */
typedef struct tsl_dispatch_key {
  int64_t m, n, k, lda, ldb, ldc;
  uint64_t alpha, beta;        /* bits */
  uint32_t kind;               /* tsl_dispatch_kind() */
  int order, trans_a, trans_b; /* CBLAS's numbers or Fortran's capitals, as the call has them */
} tsl_dispatch_key;

/* The type, and who calls: 0 for BLAS's names, else a context's number below 2^24. */
static inline uint32_t tsl_dispatch_kind(tesela_type type, uint64_t caller) {
  return (uint32_t)(caller << 8) | (uint32_t)type;
}

/* A number for a caller, which no key has yet; 0 where there are no more. */
uint64_t tsl_dispatch_number(void);

/* What to do: the first of these that there is. */
typedef struct tsl_dispatch_entry {
  tsl_fast_kernel *kernel; /* of a call by BLAS's names: takes any aligned addresses and cannot fail */
  void *state;             /* the kernel's; freed with the entry */
  tsl_dispatch_key key;
  tsl_fast_call direct;         /* with the same state: a kernel that looks at addresses, or may fail */
  struct tsl_cached_plan *plan; /* held; of the context that the key names */
  const void *next_of;          /* the symbol whose next library has such calls */
} tsl_dispatch_entry;

enum { TSL_DISPATCH_SETS = 256, TSL_DISPATCH_WAYS = 2 };
/* Half a cache line: for what is not known nothing else is read. */
typedef struct tsl_dispatch_set {
  tsl_dispatch_entry *entries[TSL_DISPATCH_WAYS]; /* what was called last comes first; NULL: none */
  uint64_t sizes;                   /* tsl_dispatch_sizes() of the first; 0: not by these words */
  uint32_t seen;                    /* of the call that came last and was not known: its tag and times */
  uint16_t tags[TSL_DISPATCH_WAYS]; /* of the entries' calls: tsl_dispatch_tag(); 0: none */
} tsl_dispatch_set;
typedef struct tsl_dispatch_table {
  tsl_dispatch_set sets[TSL_DISPATCH_SETS];
} tsl_dispatch_table;

/* The first thread's table lies where no load has to say; of two others with one slot the first has it, until
 * it ends. */
typedef struct tsl_dispatch_slot {
  _Atomic uintptr_t owner;   /* tsl_dispatch_thread(); 0: nobody */
  tsl_dispatch_table *table; /* the owner's, or one that is empty, or NULL */
} tsl_dispatch_slot;
enum { TSL_DISPATCH_SLOT_BITS = 8, TSL_DISPATCH_SLOTS = 1 << TSL_DISPATCH_SLOT_BITS };
extern tsl_dispatch_slot tsl_dispatch_first, tsl_dispatch_slots[TSL_DISPATCH_SLOTS];
extern tsl_dispatch_table tsl_dispatch_first_table;

/* The running thread, by an address that no other has: that of its own memory, which a register holds. A
 * thread-local variable of a library that is opened late costs a call. */
static inline uintptr_t tsl_dispatch_thread(void) {
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

static inline tsl_dispatch_slot *tsl_dispatch_slot_of(uintptr_t thread) {
  return &tsl_dispatch_slots[(uint64_t)thread * UINT64_C(0x9e3779b97f4a7c15) >>
                             (64 - TSL_DISPATCH_SLOT_BITS)];
}

/* The running thread's own table; NULL where it has none. */
static inline tsl_dispatch_table *tsl_dispatch_calls(void) {
  const uintptr_t thread = tsl_dispatch_thread();
  if (atomic_load_explicit(&tsl_dispatch_first.owner, memory_order_relaxed) == thread)
    return &tsl_dispatch_first_table;
  const tsl_dispatch_slot *slot = tsl_dispatch_slot_of(thread);
  return atomic_load_explicit(&slot->owner, memory_order_relaxed) == thread ? slot->table : NULL;
}

static inline uint64_t tsl_dispatch_bits(tesela_type type, const void *scalar) {
  uint32_t single;
  uint64_t bits;
  if (type == TESELA_F32) {
    memcpy(&single, scalar, sizeof single);
    return single;
  }
  memcpy(&bits, scalar, sizeof bits);
  return bits;
}

/* Few and quick operations: the product waits for them. Cubes of 256 sizes in a row have sets of their own.
 */
static inline unsigned tsl_dispatch_set_of(tesela_type type, int trans_a, int trans_b, int64_t m, int64_t n,
                                           int64_t k) {
  const unsigned letters = (unsigned)trans_a + 2 * (unsigned)trans_b + 4 * (unsigned)type;
  return ((unsigned)m + 4 * (unsigned)n + 16 * (unsigned)k + 32 * letters) % TSL_DISPATCH_SETS;
}

/* All three in one word, never 0; where they have no room in it, TSL_DISPATCH_NO_ROOM. */
#define TSL_DISPATCH_NO_ROOM UINT64_MAX
enum { TSL_DISPATCH_SIZE_BITS = 21 };
static inline uint64_t tsl_dispatch_sizes(int64_t m, int64_t n, int64_t k) {
  const uint64_t all = (uint64_t)m | (uint64_t)n | (uint64_t)k;
  return all >> TSL_DISPATCH_SIZE_BITS ? TSL_DISPATCH_NO_ROOM
                                       : (uint64_t)m | (uint64_t)n << TSL_DISPATCH_SIZE_BITS |
                                             (uint64_t)k << 2 * TSL_DISPATCH_SIZE_BITS | UINT64_C(1) << 63;
}

/* Whether addresses are multiples of an element's size, as compilers assume. */
static inline bool tsl_dispatch_aligned(tesela_type type, const void *a, const void *b, const void *c) {
  return (((uintptr_t)a | (uintptr_t)b | (uintptr_t)c) & (type == TESELA_F32 ? 3 : 7)) == 0;
}

/* Calls that differ by their type alone, f32 or f64, have different sets, and are not compared by it. */
_Static_assert(128 * (TESELA_F64 - TESELA_F32) % TSL_DISPATCH_SETS != 0, "see tsl_dispatch_set_of()");

/* A call is learnt at the eighth time in a row: nearly as soon as it pays, and of calls that are drawn from a
 * few by chance, which would evict each other, seldom one. */
enum { TSL_DISPATCH_TIMES_BITS = 3, TSL_DISPATCH_LEARNT = 7 };

/* A hash of all that a key says; its last three bits are 0, and it is never 0. Products that
 * wait for nothing but their word. */
static inline uint32_t tsl_dispatch_tag(int64_t m, int64_t n, int64_t k, int64_t lda, int64_t ldb,
                                        int64_t ldc, uint64_t alpha, uint64_t beta, uint32_t kind, int order,
                                        int trans_a, int trans_b) {
  const uint64_t sizes = (uint64_t)m ^ (uint64_t)n << 21 ^ (uint64_t)k << 42,
                 strides = (uint64_t)lda ^ (uint64_t)ldb << 21 ^ (uint64_t)ldc << 42,
                 words = kind ^ (uint64_t)order << 32 ^ (uint64_t)trans_a << 40 ^ (uint64_t)trans_b << 48;
  const uint64_t hash = sizes * UINT64_C(0x9e3779b97f4a7c15) ^ strides * UINT64_C(0xd1b54a32d192ed03) ^
                        words * UINT64_C(0x8cb92ba72f3d8dd7) ^ alpha * UINT64_C(0xaef17502108ef2d9) ^
                        beta * UINT64_C(0xdb4f0b9175ae2165);
  return ((uint32_t)(hash >> 32) | 1) << TSL_DISPATCH_TIMES_BITS;
}

/* Whether a call is neither the first of its set nor to be learnt, as most whose shapes change are: then it
 * was counted. One that is known, but did not come last, counts as news, too: finding it takes as long as a
 * small product's way without it. */
static inline bool tsl_dispatch_is_unknown(tesela_type type, int trans_a, int trans_b, int64_t m, int64_t n,
                                           int64_t k, uint32_t tag) {
  tsl_dispatch_table *table = tsl_dispatch_calls();
  if (!table)
    return false;
  tsl_dispatch_set *set = &table->sets[tsl_dispatch_set_of(type, trans_a, trans_b, m, n, k)];
  if (set->tags[0] == (uint16_t)tag || set->seen - tag == TSL_DISPATCH_LEARNT)
    return false;
  set->seen = set->seen - tag < TSL_DISPATCH_LEARNT ? set->seen + 1 : tag + 1;
  return true;
}

/* The entry of a call that came last in its set, if it has a kernel: what BLAS's entries of a constant type
 * may call; its scalars lie at alpha and beta. The arguments one by one, as they are in registers: a struct
 * of them that was just written takes time to reach the cache. NULL: the long way. */
static inline const tsl_dispatch_entry *tsl_dispatch_kernel(tesela_type type, int order, int trans_a,
                                                            int trans_b, int64_t m, int64_t n, int64_t k,
                                                            const void *alpha, const void *a, int64_t lda,
                                                            const void *b, int64_t ldb, const void *beta,
                                                            const void *c, int64_t ldc) {
  if ((type != TESELA_F32 && type != TESELA_F64) || !tsl_dispatch_aligned(type, a, b, c))
    return NULL;
  const tsl_dispatch_table *table = tsl_dispatch_calls();
  if (!table)
    return NULL;
  const tsl_dispatch_set *set = &table->sets[tsl_dispatch_set_of(type, trans_a, trans_b, m, n, k)];
  if (set->sizes != tsl_dispatch_sizes(m, n, k))
    return NULL;
  const tsl_dispatch_entry *was = set->entries[0];
  return was->kernel && was->key.lda == lda && was->key.ldb == ldb && was->key.ldc == ldc &&
                 was->key.order == order && was->key.trans_a == trans_a && was->key.trans_b == trans_b &&
                 was->key.alpha == tsl_dispatch_bits(type, alpha) &&
                 was->key.beta == tsl_dispatch_bits(type, beta)
             ? was
             : NULL;
}

/* The entry of any call, which is now the first in its set; NULL: it is not known. It lives until this
 * thread's next tsl_dispatch_find_or_learn(). */
tsl_dispatch_entry *tsl_dispatch_find(const tsl_dispatch_key *key);
/* The same, or where it is time to learn the call an entry that is `new`: the caller fills in what to do. An
 * entry without anything says that there is nothing to try. */
tsl_dispatch_entry *tsl_dispatch_find_or_learn(const tsl_dispatch_key *key, bool *is_new);

#endif
