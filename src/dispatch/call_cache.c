#include "dispatch/call_cache.h"

#include "core/memory.h"
#include "dispatch/plan_cache.h"

#include <pthread.h>
#include <stdlib.h>

tsl_dispatch_table tsl_dispatch_first_table;
tsl_dispatch_slot tsl_dispatch_first = {.table = &tsl_dispatch_first_table},
                  tsl_dispatch_slots[TSL_DISPATCH_SLOTS];
static pthread_key_t thread_exit_key;
static bool thread_exit_key_is_valid;

/* Frees an entry with its state, and releases its plan. NULL is allowed. */
static void api_dispatch_evict(tsl_dispatch_entry *entry) {
  if (!entry)
    return;
  tsl_free(entry->state);
  tsl_plan_cache_release(entry->plan);
  free(entry);
}

/* Frees the calling thread's entries and its slot; runs at the thread's end. */
static void dispatch_drop_table(void *argument) {
  tsl_dispatch_slot *slot = argument;
  for (int i = 0; i < TSL_DISPATCH_SETS; i++)
    for (int way = 0; way < TSL_DISPATCH_WAYS; way++)
      api_dispatch_evict(slot->table->sets[i].entries[way]);
  memset(slot->table, 0, sizeof *slot->table);
  atomic_store_explicit(&slot->owner, 0, memory_order_release);
}

/* Drops other threads' tables in the child of a fork. Their entries may be half written and are leaked. */
static void drop_other_tables(void) {
  const uintptr_t thread = tsl_dispatch_thread();
  if (atomic_load_explicit(&tsl_dispatch_first.owner, memory_order_relaxed) != thread) {
    memset(&tsl_dispatch_first_table, 0, sizeof tsl_dispatch_first_table);
    atomic_store_explicit(&tsl_dispatch_first.owner, 0, memory_order_relaxed);
  }
  for (int i = 0; i < TSL_DISPATCH_SLOTS; i++)
    if (atomic_load_explicit(&tsl_dispatch_slots[i].owner, memory_order_relaxed) != thread) {
      tsl_dispatch_slots[i].table = NULL;
      atomic_store_explicit(&tsl_dispatch_slots[i].owner, 0, memory_order_relaxed);
    }
}

__attribute__((constructor)) static void register_thread_exit(void) {
  thread_exit_key_is_valid = pthread_key_create(&thread_exit_key, dispatch_drop_table) == 0 &&
                             pthread_atfork(NULL, NULL, drop_other_tables) == 0;
}

/* Makes `thread` the slot's owner; false: the slot already has an owner. */
static bool dispatch_claim_slot(tsl_dispatch_slot *slot, uintptr_t thread) {
  uintptr_t owner = 0;
  return atomic_compare_exchange_strong_explicit(&slot->owner, &owner, thread, memory_order_acquire,
                                                 memory_order_relaxed);
}

/* Returns a table for a thread that has none. NULL: another thread has its slot, or memory ran out. */
static __attribute__((noinline)) tsl_dispatch_table *dispatch_begin_table(void) {
  const uintptr_t thread = tsl_dispatch_thread();
  tsl_dispatch_slot *slot = &tsl_dispatch_first;
  if (!thread_exit_key_is_valid)
    return NULL;
  if (!dispatch_claim_slot(slot, thread)) {
    slot = tsl_dispatch_slot_of(thread);
    if (!dispatch_claim_slot(slot, thread))
      return NULL;
  }
  if (!slot->table)
    slot->table = calloc(1, sizeof *slot->table);
  if (slot->table && pthread_setspecific(thread_exit_key, slot) == 0)
    return slot->table;
  atomic_store_explicit(&slot->owner, 0, memory_order_release);
  return NULL;
}

static tsl_dispatch_set *dispatch_get_set(tsl_dispatch_table *table, const tsl_dispatch_key *key) {
  const tesela_type type = (tesela_type)(key->kind & 0xff);
  return &table->sets[tsl_dispatch_set_of(type, key->trans_a, key->trans_b, key->m, key->n, key->k)];
}

static bool api_dispatch_is_same(const tsl_dispatch_key *a, const tsl_dispatch_key *b) {
  return a->m == b->m && a->n == b->n && a->k == b->k && a->alpha == b->alpha && a->beta == b->beta &&
         a->lda == b->lda && a->ldb == b->ldb && a->ldc == b->ldc && a->kind == b->kind &&
         a->order == b->order && a->trans_a == b->trans_a && a->trans_b == b->trans_b;
}

/* Computes the tag from arguments: the key was just written, and a load would wait for the store. */
static uint32_t dispatch_compute_tag(const tsl_dispatch_key *key) {
  return tsl_dispatch_tag(key->m, key->n, key->k, key->lda, key->ldb, key->ldc, key->alpha, key->beta,
                          key->kind, key->order, key->trans_a, key->trans_b);
}

/* Puts the entry in front and moves entries before position `way` one further. Returns the entry. */
static tsl_dispatch_entry *dispatch_move_first(tsl_dispatch_set *set, int way, tsl_dispatch_entry *entry,
                                               uint32_t tag) {
  for (; way > 0; way--) {
    set->entries[way] = set->entries[way - 1];
    set->tags[way] = set->tags[way - 1];
  }
  set->entries[0] = entry;
  set->tags[0] = (uint16_t)tag;
  const uint64_t sizes = tsl_dispatch_sizes(entry->key.m, entry->key.n, entry->key.k);
  set->sizes = sizes == TSL_DISPATCH_NO_ROOM ? 0 : sizes;
  return entry;
}

/* Returns the set's entry with this key, moved to the front; NULL: none. */
static tsl_dispatch_entry *api_dispatch_find(tsl_dispatch_set *set, uint32_t tag,
                                             const tsl_dispatch_key *key) {
  for (int way = 0; way < TSL_DISPATCH_WAYS; way++)
    if (set->tags[way] == (uint16_t)tag && api_dispatch_is_same(&set->entries[way]->key, key))
      return way == 0 ? set->entries[0] : dispatch_move_first(set, way, set->entries[way], tag);
  return NULL;
}

tsl_dispatch_entry *tsl_dispatch_find(const tsl_dispatch_key *key) {
  tsl_dispatch_table *table = tsl_dispatch_calls();
  return table ? api_dispatch_find(dispatch_get_set(table, key), dispatch_compute_tag(key), key) : NULL;
}

/* Evicts the set's last entry. Returns NULL if memory ran out. */
static __attribute__((noinline)) tsl_dispatch_entry *dispatch_begin_entry(tsl_dispatch_set *set, uint32_t tag,
                                                                          const tsl_dispatch_key *key) {
  enum { LAST = TSL_DISPATCH_WAYS - 1 };
  tsl_dispatch_entry *new_entry = calloc(1, sizeof *new_entry);
  if (!new_entry)
    return NULL;
  new_entry->key = *key;
  api_dispatch_evict(set->entries[LAST]);
  return dispatch_move_first(set, LAST, new_entry, tag);
}

tsl_dispatch_entry *tsl_dispatch_find_or_learn(const tsl_dispatch_key *key, bool *is_new) {
  tsl_dispatch_table *table = tsl_dispatch_calls();
  *is_new = false;
  if (!table)
    table = dispatch_begin_table();
  if (!table)
    return NULL;
  tsl_dispatch_set *set = dispatch_get_set(table, key);
  const uint32_t tag = dispatch_compute_tag(key);
  tsl_dispatch_entry *known = api_dispatch_find(set, tag, key);
  if (known)
    return known;
  if (set->seen - tag > TSL_DISPATCH_LEARNT)
    set->seen = tag;
  *is_new = set->seen - tag == TSL_DISPATCH_LEARNT;
  if (*is_new)
    return dispatch_begin_entry(set, tag, key);
  set->seen++;
  return NULL;
}

/* Returns 0 after 2^24 - 1 contexts, since a dispatch key has 24 bits for the number. */
uint64_t tsl_dispatch_number(void) {
  static atomic_uint_least64_t last;
  const uint64_t number = atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1;
  return number < UINT64_C(1) << 24 ? number : 0;
}
