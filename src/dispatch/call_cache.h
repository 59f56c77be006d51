/* Dispatch cache: finds the kernel or plan for a product of one real type by its arguments. The public
 * calls and the BLAS entries look here first, since full planning takes longer than a tiny product.
 *
 *     call -> the thread's table -> a kernel | a plan | the next BLAS
 *             unknown            -> the context's plans (plan_cache.h), which all threads share
 *
 * Each thread has a table of its own. So nothing is locked, and no other thread can free a kernel that
 * is running. An entry owns its kernel's state. A plan belongs to its context, so a call first checks
 * that the plan still exists.
 *
 * A table is a set-associative cache whose sets keep the last calls, the latest first. A call enters
 * when it comes an eighth time in a row in its set without being known. So calls whose scalars always
 * change evict nothing, and a few shapes in random order seldom do. */
#ifndef TSL_DISPATCH_CALL_CACHE_H
#define TSL_DISPATCH_CALL_CACHE_H

#include "dispatch/fast_call.h"

#include <stdatomic.h>
#include <string.h>

/* Arguments of a call, without addresses. The layout of a public call is expressed in CBLAS's terms. */
typedef struct tsl_dispatch_key {
  int64_t m, n, k, lda, ldb, ldc;
  uint64_t alpha, beta;        /* bit patterns of the scalars */
  uint32_t kind;               /* tsl_dispatch_kind() */
  int order, trans_a, trans_b; /* CBLAS's numbers or Fortran's capital letters, as in the call */
} tsl_dispatch_key;

/* Returns the key's kind. caller is 0 for BLAS names, else the number of a context, below 2^24. */
static inline uint32_t tsl_dispatch_kind(tesela_type type, uint64_t caller) {
  return (uint32_t)(caller << 8) | (uint32_t)type;
}

/* Returns an unused number for a context; 0: all are used. */
uint64_t tsl_dispatch_number(void);

/* Action for a known call: the first of kernel, direct, plan and the next BLAS that is set. */
typedef struct tsl_dispatch_entry {
  tsl_fast_kernel *kernel; /* kernel of a BLAS call: any aligned addresses, no failure */
  void *state;             /* state of the kernel, freed with the entry */
  tsl_dispatch_key key;
  tsl_fast_call direct;         /* shortcut with the same state, which checks addresses or may fail */
  struct tsl_cached_plan *plan; /* plan of the context that the key names; the entry holds a reference */
  const void *next_of;          /* symbol whose next library computes such calls */
} tsl_dispatch_entry;

enum { TSL_DISPATCH_SETS = 256, TSL_DISPATCH_WAYS = 2 };
/* Set of the cache: half a cache line, which is all that a miss reads. */
typedef struct tsl_dispatch_set {
  tsl_dispatch_entry *entries[TSL_DISPATCH_WAYS]; /* latest call first; NULL: none */
  uint64_t sizes;                   /* tsl_dispatch_sizes() of the first entry; 0: compare the whole key */
  uint32_t seen;                    /* tag of the last unknown call, plus how often it came in a row */
  uint16_t tags[TSL_DISPATCH_WAYS]; /* tsl_dispatch_tag() of each entry; 0: none */
} tsl_dispatch_set;
typedef struct tsl_dispatch_table {
  tsl_dispatch_set sets[TSL_DISPATCH_SETS];
} tsl_dispatch_table;

/* Slot of a thread's table. If two threads hash to one slot, the first one has it until it ends. */
typedef struct tsl_dispatch_slot {
  _Atomic uintptr_t owner;   /* tsl_dispatch_thread(); 0: free */
  tsl_dispatch_table *table; /* the owner's table; an empty one, or NULL, if the slot is free */
} tsl_dispatch_slot;
enum { TSL_DISPATCH_SLOT_BITS = 8, TSL_DISPATCH_SLOTS = 1 << TSL_DISPATCH_SLOT_BITS };
extern tsl_dispatch_slot tsl_dispatch_first, tsl_dispatch_slots[TSL_DISPATCH_SLOTS];
extern tsl_dispatch_table tsl_dispatch_first_table;

/* Returns the address of the thread control block. A thread-local variable could cost a call. */
static inline uintptr_t tsl_dispatch_thread(void) {
#if defined(__x86_64__)
  uintptr_t thread_pointer;
  __asm__("mov %%fs:0, %0" : "=r"(thread_pointer));
  return thread_pointer;
#elif defined(__aarch64__)
  uintptr_t thread_pointer;
  __asm__("mrs %0, tpidr_el0" : "=r"(thread_pointer));
  return thread_pointer;
#else
  static _Thread_local char thread_pointer;
  return (uintptr_t)&thread_pointer;
#endif
}

/* Returns the slot to which a thread hashes; another thread may own the slot. */
static inline tsl_dispatch_slot *tsl_dispatch_slot_of(uintptr_t thread) {
  return &tsl_dispatch_slots[(uint64_t)thread * UINT64_C(0x9e3779b97f4a7c15) >>
                             (64 - TSL_DISPATCH_SLOT_BITS)];
}

/* Returns the running thread's table; NULL if it has none. */
static inline tsl_dispatch_table *tsl_dispatch_calls(void) {
  const uintptr_t thread = tsl_dispatch_thread();
  if (atomic_load_explicit(&tsl_dispatch_first.owner, memory_order_relaxed) == thread)
    return &tsl_dispatch_first_table;
  const tsl_dispatch_slot *slot = tsl_dispatch_slot_of(thread);
  return atomic_load_explicit(&slot->owner, memory_order_relaxed) == thread ? slot->table : NULL;
}

/* Returns the bit pattern of a scalar: an f32 if `type` is f32, else an f64. */
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

/* Returns the set of a call by a few fast operations. 256 consecutive cubes have different sets. */
static inline unsigned tsl_dispatch_set_of(tesela_type type, int trans_a, int trans_b, int64_t m, int64_t n,
                                           int64_t k) {
  const unsigned letters = (unsigned)trans_a + 2 * (unsigned)trans_b + 4 * (unsigned)type;
  return ((unsigned)m + 4 * (unsigned)n + 16 * (unsigned)k + 32 * letters) % TSL_DISPATCH_SETS;
}

/* Packs the sizes into one word, never 0; TSL_DISPATCH_NO_ROOM if a size needs more than 21 bits. */
#define TSL_DISPATCH_NO_ROOM UINT64_MAX
enum { TSL_DISPATCH_SIZE_BITS = 21 };
static inline uint64_t tsl_dispatch_sizes(int64_t m, int64_t n, int64_t k) {
  const uint64_t all = (uint64_t)m | (uint64_t)n | (uint64_t)k;
  return all >> TSL_DISPATCH_SIZE_BITS ? TSL_DISPATCH_NO_ROOM
                                       : (uint64_t)m | (uint64_t)n << TSL_DISPATCH_SIZE_BITS |
                                             (uint64_t)k << 2 * TSL_DISPATCH_SIZE_BITS | UINT64_C(1) << 63;
}

/* Returns true if the addresses are multiples of the element size of f32 or f64. */
static inline bool tsl_dispatch_aligned(tesela_type type, const void *a, const void *b, const void *c) {
  return (((uintptr_t)a | (uintptr_t)b | (uintptr_t)c) & (type == TESELA_F32 ? 3 : 7)) == 0;
}

/* Calls that differ only in the type must have different sets, since the type is not compared. */
_Static_assert(128 * (TESELA_F64 - TESELA_F32) % TSL_DISPATCH_SETS != 0, "see tsl_dispatch_set_of()");

/* Repetitions in a row before a call is stored; calls in random order rarely reach them. */
enum { TSL_DISPATCH_TIMES_BITS = 3, TSL_DISPATCH_LEARNT = 7 };

/* Returns a hash, never 0, whose last three bits are 0. The multiplications are independent of each other. */
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

/* Counts an unknown call and returns true, or false if it is time to store it. A known call that is not first
 * in its set counts as unknown: finding it takes as long as a small product. */
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

/* Returns the first entry of the call's set if it is this call and has a kernel, else NULL. Arguments come in
 * registers: a struct that was just written takes time to reach the cache. */
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
  const tsl_dispatch_entry *first = set->entries[0];
  return first->kernel && first->key.lda == lda && first->key.ldb == ldb && first->key.ldc == ldc &&
                 first->key.order == order && first->key.trans_a == trans_a &&
                 first->key.trans_b == trans_b && first->key.alpha == tsl_dispatch_bits(type, alpha) &&
                 first->key.beta == tsl_dispatch_bits(type, beta)
             ? first
             : NULL;
}

/* Returns the entry of a call, moved to the front of its set; NULL: unknown. The entry is valid until this
 * thread's next tsl_dispatch_find_or_learn(). */
tsl_dispatch_entry *tsl_dispatch_find(const tsl_dispatch_key *key);
/* Returns the entry of a call, or a new entry (*is_new) if it is time to store the call, else NULL. The
 * caller fills a new entry; without any action it means that no shortcut exists. */
tsl_dispatch_entry *tsl_dispatch_find_or_learn(const tsl_dispatch_key *key, bool *is_new);

#endif
