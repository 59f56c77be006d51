#include "dispatch/plan_cache.h"

#include "core/memory.h"
#include "core/status.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct tsl_cached_plan {
  tsl_call_key key;
  char *strategy; /* copy of the text that key.strategy points to */
  tesela_plan *plan;
  atomic_int holders;    /* references: one of cache or users, one of each dispatch entry */
  int users;             /* runs that use the plan now */
  int place;             /* slot, from 1 */
  bool evicted;          /* true: no longer in the list, and the last user frees the plan */
  atomic_bool alone;     /* true: no strategy supports a batch of this product in one run */
  tsl_cached_plan *next; /* next plan in a chain of evicted plans */
};

static bool plan_cache_same_shape(const tsl_shape *a, const tsl_shape *b) {
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
         p->batch == q->batch && plan_cache_same_shape(&p->a, &q->a) && plan_cache_same_shape(&p->b, &q->b) &&
         plan_cache_same_shape(&p->c, &q->c) && p->bias_axis == q->bias_axis &&
         plan_cache_same_shape(&p->bias, &q->bias) && p->scaling_a == q->scaling_a &&
         p->scaling_b == q->scaling_b && plan_cache_same_shape(&p->scale_a, &q->scale_a) &&
         plan_cache_same_shape(&p->scale_b, &q->scale_b) && p->activation == q->activation &&
         a->place == b->place && (a->effort > 0) == (b->effort > 0) && same_scalar(p->alpha, q->alpha) &&
         same_scalar(p->beta, q->beta) && tsl_numeric_requirements_same(&p->ask, &q->ask) &&
         tsl_sharding_same(a->spread, b->spread) && strcmp(a->device, b->device) == 0 &&
         same_text(a->strategy, b->strategy);
}

static uint64_t plan_cache_hash_of(const tsl_call_key *key) {
  const tsl_problem *p = &key->problem;
  const int64_t parts[] = {p->op,
                           p->in_place,
                           p->bias_axis * TESELA_ACTIVATIONS + p->activation,
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

static void plan_cache_destroy(tsl_cached_plan *cached) {
  while (cached) {
    tsl_cached_plan *next = cached->next;
    tesela_plan_destroy(cached->plan);
    free(cached->strategy);
    tsl_free(cached->key.spread);
    tsl_plan_cache_release(cached);
    cached = next;
  }
}

static int *get_chain(tsl_plan_cache *cache, uint64_t hash) {
  return &cache->chains[(hash >> 32) % TSL_PLAN_CHAINS];
}

static tsl_plan_place *get_slot(tsl_plan_cache *cache, int number) {
  return &cache->places[number - 1];
}

/* Removes a slot (from 1) from the order of last use. */
static void unlink_use(tsl_plan_cache *cache, int index) {
  const tsl_plan_place *place = get_slot(cache, index);
  *(place->newer ? &get_slot(cache, place->newer)->older : &cache->newest) = place->older;
  *(place->older ? &get_slot(cache, place->older)->newer : &cache->oldest) = place->newer;
}
/* Adds a slot (from 1) to the order of last use as the newest. */
static void link_use(tsl_plan_cache *cache, int index) {
  tsl_plan_place *place = get_slot(cache, index);
  place->newer = 0;
  place->older = cache->newest;
  *(cache->newest ? &get_slot(cache, cache->newest)->newer : &cache->oldest) = index;
  cache->newest = index;
}

static void add_user(tsl_plan_cache *cache, tsl_cached_plan *cached) {
  cached->users++;
  unlink_use(cache, cached->place);
  link_use(cache, cached->place);
}

/* Finds a plan and counts one more user; NULL: none. Needs the lock. */
static tsl_cached_plan *plan_cache_find(tsl_plan_cache *cache, const tsl_call_key *key) {
  const uint64_t hash = plan_cache_hash_of(key);
  for (int at = *get_chain(cache, hash); at > 0; at = get_slot(cache, at)->next) {
    const tsl_plan_place *place = get_slot(cache, at);
    if (place->hash != hash || !same_key(&place->plan->key, key))
      continue;
    add_user(cache, place->plan);
    return place->plan;
  }
  return NULL;
}

/* Removes a plan; if no run uses it, adds it to the chain `gone`, which the caller frees. */
static void plan_cache_evict(tsl_plan_cache *cache, int index, tsl_cached_plan **gone) {
  tsl_plan_place *place = get_slot(cache, index);
  tsl_cached_plan *cached = place->plan;
  int *link = get_chain(cache, place->hash);
  while (*link != index)
    link = &get_slot(cache, *link)->next;
  *link = place->next;
  unlink_use(cache, index);
  cache->bytes -= place->bytes;
  *place = (tsl_plan_place){.next = cache->free};
  cache->free = index;
  cached->evicted = true;
  if (cached->users > 0)
    return;
  cached->next = *gone;
  *gone = cached;
}

/* Evicts the device's least recently used plans until its plans hold at most `most` bytes. */
static void make_room(tsl_plan_cache *cache, const tsl_device *device, uint64_t most,
                      tsl_cached_plan **gone) {
  uint64_t bytes = 0;
  if (cache->bytes <= most)
    return;
  for (int at = cache->newest; at > 0; at = get_slot(cache, at)->older)
    bytes += get_slot(cache, at)->device == device ? get_slot(cache, at)->bytes : 0;
  for (int at = cache->oldest, newer; at > 0 && bytes > most; at = newer) {
    const tsl_plan_place *place = get_slot(cache, at);
    newer = place->newer;
    if (place->device != device)
      continue;
    bytes -= place->bytes;
    plan_cache_evict(cache, at, gone);
  }
}

/* Removes a slot from the free ones, which must not be empty. Returns its number, from 1. */
static int take_slot(tsl_plan_cache *cache) {
  const int free_slot = cache->free;
  if (free_slot == 0)
    return ++cache->begun;
  cache->free = get_slot(cache, free_slot)->next;
  return free_slot;
}

/* Needs the lock. Returns the chain of evicted plans, which the caller frees. */
static tsl_cached_plan *plan_cache_insert(tsl_plan_cache *cache, tsl_cached_plan *cached,
                                          const tsl_device *device, uint64_t bytes) {
  tsl_cached_plan *gone = NULL;
  const uint64_t hash = plan_cache_hash_of(&cached->key);
  int *chain = get_chain(cache, hash);
  make_room(cache, device, device->memory_bytes / 8, &gone);
  if (cache->free == 0 && cache->begun == TSL_PLANS_CACHED)
    plan_cache_evict(cache, cache->oldest, &gone);
  cached->place = take_slot(cache);
  *get_slot(cache, cached->place) =
      (tsl_plan_place){.plan = cached, .device = device, .hash = hash, .bytes = bytes, .next = *chain};
  *chain = cached->place;
  cache->bytes += bytes;
  link_use(cache, cached->place);
  return gone;
}

void tsl_plan_cache_init(tsl_plan_cache *cache) {
  tsl_fork_mutex_init(&cache->lock);
}

void tsl_plan_cache_destroy(tsl_plan_cache *cache) {
  for (int i = 0; i < cache->begun; i++)
    plan_cache_destroy(cache->places[i].plan);
  tsl_fork_mutex_destroy(&cache->lock);
}

tsl_cached_plan *tsl_plan_cache_find(tsl_plan_cache *cache, const tsl_call_key *key) {
  tsl_fork_mutex_lock(&cache->lock);
  tsl_cached_plan *cached = plan_cache_find(cache, key);
  tsl_fork_mutex_unlock(&cache->lock);
  return cached;
}

/* Takes ownership of the plan; destroys it and returns NULL if memory ran out. */
static tsl_cached_plan *plan_cache_wrap(const tsl_call_key *key, tesela_plan *plan) {
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
  if (tsl_sharding_copy(key->spread, &made->key.spread) != TESELA_OK || (key->strategy && !made->strategy)) {
    plan_cache_destroy(made);
    tsl_fail(TESELA_OUT_OF_MEMORY, "no memory for a cached plan");
    return NULL;
  }
  return made;
}

tesela_status tsl_plan_cache_add(tsl_plan_cache *cache, const tsl_call_key *key, uint64_t generation,
                                 tesela_plan *plan, const tsl_device *device, uint64_t bytes, bool replaces,
                                 tsl_cached_plan **cached) {
  tsl_cached_plan *made = plan_cache_wrap(key, plan), *gone = NULL, *old = NULL;
  if (!made)
    return TESELA_OUT_OF_MEMORY;
  tsl_fork_mutex_lock(&cache->lock);
  const bool is_old = generation != cache->generation;
  *cached = is_old ? made : plan_cache_find(cache, key);
  if (*cached && !is_old && replaces) {
    (*cached)->users--;
    plan_cache_evict(cache, (*cached)->place, &old);
    *cached = NULL;
  }
  if (is_old) {
    made->evicted = true;
  } else if (*cached) {
    gone = made;
  } else {
    gone = plan_cache_insert(cache, made, device, bytes);
    *cached = made;
  }
  tsl_fork_mutex_unlock(&cache->lock);
  plan_cache_destroy(old);
  plan_cache_destroy(gone);
  return TESELA_OK;
}

uint64_t tsl_plan_cache_generation(tsl_plan_cache *cache) {
  tsl_fork_mutex_lock(&cache->lock);
  const uint64_t generation = cache->generation;
  tsl_fork_mutex_unlock(&cache->lock);
  return generation;
}

void tsl_plan_cache_renew(tsl_plan_cache *cache) {
  tsl_cached_plan *gone = NULL;
  tsl_fork_mutex_lock(&cache->lock);
  cache->generation++;
  while (cache->newest > 0)
    plan_cache_evict(cache, cache->newest, &gone);
  tsl_fork_mutex_unlock(&cache->lock);
  plan_cache_destroy(gone);
}

bool tsl_plan_cache_use(tsl_plan_cache *cache, tsl_cached_plan *cached) {
  tsl_fork_mutex_lock(&cache->lock);
  const bool is_there = !cached->evicted;
  if (is_there)
    add_user(cache, cached);
  tsl_fork_mutex_unlock(&cache->lock);
  return is_there;
}

void tsl_plan_cache_give_back(tsl_plan_cache *cache, tsl_cached_plan *cached) {
  tsl_fork_mutex_lock(&cache->lock);
  const bool last = --cached->users == 0 && cached->evicted;
  tsl_fork_mutex_unlock(&cache->lock);
  if (last)
    plan_cache_destroy(cached);
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
