#include "api/plan_cache.h"

#include "base/memory.h"
#include "base/status.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct tsl_cached_plan {
  tsl_call_key key;
  char *strategy; /* the copy that the key points to */
  tesela_plan *plan;
  const tsl_device *device;
  uint64_t bytes;     /* on it */
  atomic_int holders; /* who knows its address: the list or its users, and entries of the dispatch cache */
  int users;
  uint64_t used;         /* when, by the cache's count of calls */
  bool evicted;          /* not in the list any more: the last user frees it */
  atomic_bool alone;     /* no strategy takes batches of it in one run */
  tsl_cached_plan *next; /* in a chain of those that go */
};

static bool same_shape(const tsl_shape *a, const tsl_shape *b) {
  return a->type == b->type && a->rows == b->rows && a->cols == b->cols && a->row_stride == b->row_stride &&
         a->col_stride == b->col_stride && a->structure == b->structure && a->triangle == b->triangle;
}

static bool same_text(const char *a, const char *b) {
  return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_scalar(const double a[2], const double b[2]) {
  return a[0] == b[0] && a[1] == b[1];
}

static bool same_key(const tsl_call_key *a, const tsl_call_key *b) {
  const tsl_problem *p = &a->problem, *q = &b->problem;
  return p->op == q->op && p->in_place == q->in_place && p->conjugate_a == q->conjugate_a &&
         p->conjugate_b == q->conjugate_b && p->m == q->m && p->n == q->n && p->k == q->k &&
         p->batch == q->batch && same_shape(&p->a, &q->a) && same_shape(&p->b, &q->b) &&
         same_shape(&p->c, &q->c) && p->bias_along == q->bias_along && same_shape(&p->bias, &q->bias) &&
         p->scaling_a == q->scaling_a && p->scaling_b == q->scaling_b &&
         same_shape(&p->scale_a, &q->scale_a) && same_shape(&p->scale_b, &q->scale_b) &&
         p->activation == q->activation && a->place == b->place && (a->effort > 0) == (b->effort > 0) &&
         same_scalar(p->alpha, q->alpha) && same_scalar(p->beta, q->beta) && tsl_ask_same(&p->ask, &q->ask) &&
         tsl_spread_same(a->spread, b->spread) && strcmp(a->device, b->device) == 0 &&
         same_text(a->strategy, b->strategy);
}

/* Of what keys mostly differ by. */
static uint64_t hash_of(const tsl_call_key *key) {
  const tsl_problem *p = &key->problem;
  const int64_t parts[] = {p->op,
                           p->in_place,
                           p->bias_along * TESELA_ACTIVATIONS + p->activation,
                           p->scaling_a * TESELA_SCALINGS + p->scaling_b,
                           p->a.structure * TESELA_TRIANGLES + p->a.triangle,
                           p->b.structure * TESELA_TRIANGLES + p->b.triangle,
                           p->c.structure * TESELA_TRIANGLES + p->c.triangle,
                           p->m,
                           p->n,
                           p->k,
                           p->batch,
                           p->a.type,
                           p->b.type,
                           p->c.type,
                           p->a.row_stride,
                           p->a.col_stride,
                           p->b.row_stride,
                           p->b.col_stride,
                           p->c.row_stride,
                           p->c.col_stride};
  uint64_t hash = 1;
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    hash = (hash ^ (uint64_t)parts[i]) * UINT64_C(0x9e3779b97f4a7c15);
  return hash;
}

tsl_cached_plan *tsl_plan_cache_hold(tsl_cached_plan *cached) {
  atomic_fetch_add_explicit(&cached->holders, 1, memory_order_relaxed);
  return cached;
}

void tsl_plan_cache_release(tsl_cached_plan *cached) {
  if (cached && atomic_fetch_sub_explicit(&cached->holders, 1, memory_order_acq_rel) == 1)
    tsl_free(cached);
}

/* Frees a chain; NULL is an empty one. */
static void destroy(tsl_cached_plan *cached) {
  while (cached) {
    tsl_cached_plan *next = cached->next;
    tesela_plan_destroy(cached->plan);
    free(cached->strategy);
    tsl_free(cached->key.spread);
    tsl_plan_cache_release(cached);
    cached = next;
  }
}

/* --- the list, under the lock --- */

/* The upper bits of a product are the mixed ones. */
static int16_t *chain_of(tsl_plan_cache *cache, uint64_t hash) {
  return &cache->chains[(hash >> 32) % TSL_PLAN_CHAINS];
}

static tsl_cached_plan *find(tsl_plan_cache *cache, const tsl_call_key *key) {
  const uint64_t hash = hash_of(key);
  for (int at = *chain_of(cache, hash); at > 0; at = cache->next[at - 1]) {
    tsl_cached_plan *cached = cache->plans[at - 1];
    if (cache->hashes[at - 1] != hash || !same_key(&cached->key, key))
      continue;
    cached->users++;
    cached->used = ++cache->calls;
    return cached;
  }
  return NULL;
}

static void put(tsl_plan_cache *cache, int at, tsl_cached_plan *cached) {
  const uint64_t hash = hash_of(&cached->key);
  int16_t *chain = chain_of(cache, hash);
  cache->plans[at] = cached;
  cache->hashes[at] = hash;
  cache->next[at] = *chain;
  *chain = (int16_t)(at + 1);
}

static tsl_cached_plan *take_out(tsl_plan_cache *cache, int at) {
  tsl_cached_plan *cached = cache->plans[at];
  int16_t *link = chain_of(cache, cache->hashes[at]);
  while (*link != at + 1)
    link = &cache->next[*link - 1];
  *link = cache->next[at];
  cache->plans[at] = NULL;
  return cached;
}

/* Takes a plan out of the list, and adds it to the chain unless somebody still runs it. */
static void evict(tsl_plan_cache *cache, int at, tsl_cached_plan **gone) {
  tsl_cached_plan *cached = take_out(cache, at);
  cached->evicted = true;
  if (cached->users > 0)
    return;
  cached->next = *gone;
  *gone = cached;
}

/* The place of the least recently used plan on a device, -1 when there is none, and the bytes of all there. */
static int oldest_on(const tsl_plan_cache *cache, const tsl_device *device, uint64_t *bytes) {
  int oldest = -1;
  *bytes = 0;
  for (int i = 0; i < TSL_PLANS_CACHED; i++) {
    const tsl_cached_plan *cached = cache->plans[i];
    if (!cached || (device && cached->device != device))
      continue;
    *bytes += cached->bytes;
    if (oldest < 0 || cached->used < cache->plans[oldest]->used)
      oldest = i;
  }
  return oldest;
}

static int free_place(const tsl_plan_cache *cache) {
  for (int i = 0; i < TSL_PLANS_CACHED; i++)
    if (!cache->plans[i])
      return i;
  return -1;
}

/* Puts it in the list, under the lock; returns the chain of what had to go. */
static tsl_cached_plan *insert(tsl_plan_cache *cache, tsl_cached_plan *cached) {
  tsl_cached_plan *gone = NULL;
  const tsl_device *device = cached->device;
  uint64_t bytes;
  int oldest = oldest_on(cache, device, &bytes);
  while (oldest >= 0 && bytes > device->memory_bytes / 8) {
    evict(cache, oldest, &gone);
    oldest = oldest_on(cache, device, &bytes);
  }
  int place = free_place(cache);
  if (place < 0) {
    place = oldest_on(cache, NULL, &bytes);
    evict(cache, place, &gone);
  }
  put(cache, place, cached);
  return gone;
}

void tsl_plan_cache_init(tsl_plan_cache *cache) {
  tsl_guard_init(&cache->lock);
}

void tsl_plan_cache_destroy(tsl_plan_cache *cache) {
  for (int i = 0; i < TSL_PLANS_CACHED; i++)
    destroy(cache->plans[i]);
  tsl_guard_destroy(&cache->lock);
}

tsl_cached_plan *tsl_plan_cache_find(tsl_plan_cache *cache, const tsl_call_key *key) {
  tsl_guard_lock(&cache->lock);
  tsl_cached_plan *cached = find(cache, key);
  tsl_guard_unlock(&cache->lock);
  return cached;
}

/* NULL: there is no memory, and the plan is destroyed. */
static tsl_cached_plan *wrap(const tsl_call_key *key, tesela_plan *plan) {
  void *block;
  if (tsl_alloc_zeroed(sizeof(tsl_cached_plan), "a cached plan", &block) != TESELA_OK) {
    tesela_plan_destroy(plan);
    return NULL;
  }
  tsl_cached_plan *made = block;
  made->key = *key;
  made->key.strategy = made->strategy = key->strategy ? strdup(key->strategy) : NULL;
  made->key.spread = NULL;
  made->plan = plan;
  made->users = 1;
  atomic_init(&made->holders, 1);
  if (tsl_spread_copy(key->spread, &made->key.spread) != TESELA_OK || (key->strategy && !made->strategy)) {
    destroy(made);
    tsl_fail(TESELA_OUT_OF_MEMORY, "no memory for a cached plan");
    return NULL;
  }
  return made;
}

tesela_status tsl_plan_cache_add(tsl_plan_cache *cache, const tsl_call_key *key, uint64_t generation,
                                 tesela_plan *plan, const tsl_device *device, uint64_t bytes,
                                 tsl_cached_plan **cached) {
  tsl_cached_plan *made = wrap(key, plan), *gone = NULL;
  if (!made)
    return TESELA_OUT_OF_MEMORY;
  made->device = device;
  made->bytes = bytes;
  tsl_guard_lock(&cache->lock);
  const bool is_old = generation != cache->generation;
  *cached = is_old ? made : find(cache, key);
  if (is_old) {
    made->evicted = true;
  } else if (*cached) {
    gone = made;
  } else {
    made->used = ++cache->calls;
    gone = insert(cache, made);
    *cached = made;
  }
  tsl_guard_unlock(&cache->lock);
  destroy(gone);
  return TESELA_OK;
}

uint64_t tsl_plan_cache_generation(tsl_plan_cache *cache) {
  tsl_guard_lock(&cache->lock);
  const uint64_t generation = cache->generation;
  tsl_guard_unlock(&cache->lock);
  return generation;
}

void tsl_plan_cache_renew(tsl_plan_cache *cache) {
  tsl_cached_plan *gone = NULL;
  tsl_guard_lock(&cache->lock);
  cache->generation++;
  for (int i = 0; i < TSL_PLANS_CACHED; i++)
    if (cache->plans[i])
      evict(cache, i, &gone);
  tsl_guard_unlock(&cache->lock);
  destroy(gone);
}

bool tsl_plan_cache_use(tsl_plan_cache *cache, tsl_cached_plan *cached) {
  tsl_guard_lock(&cache->lock);
  const bool is_there = !cached->evicted;
  if (is_there) {
    cached->users++;
    cached->used = ++cache->calls;
  }
  tsl_guard_unlock(&cache->lock);
  return is_there;
}

void tsl_plan_cache_give_back(tsl_plan_cache *cache, tsl_cached_plan *cached) {
  tsl_guard_lock(&cache->lock);
  const bool last = --cached->users == 0 && cached->evicted;
  tsl_guard_unlock(&cache->lock);
  if (last)
    destroy(cached);
}

tesela_plan *tsl_plan_cache_plan(const tsl_cached_plan *cached) {
  return cached->plan;
}

void tsl_plan_cache_refuse_batches(tsl_cached_plan *cached) {
  atomic_store_explicit(&cached->alone, true, memory_order_relaxed);
}

bool tsl_plan_cache_refuses_batches(const tsl_cached_plan *cached) {
  return atomic_load_explicit(&cached->alone, memory_order_relaxed);
}
