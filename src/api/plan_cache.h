/* The plans of a context, by their problems: as many as groups of products whose sizes differ have, the least recently used goes first. Plans
 * keep their staging buffers, so they are few in bytes, too: those on one device may hold an eighth of its memory, besides the one in use. */
#ifndef TSL_API_PLAN_CACHE_H
#define TSL_API_PLAN_CACHE_H

#include "base/guard.h"
#include "plan/plan.h"

enum { TSL_DEVICE_NAME = sizeof((tsl_device *)0)->name, TSL_PLANS_CACHED = 512, TSL_PLAN_CHAINS = 256 };

/* What a call asks for. */
typedef struct tsl_call_key {
  tsl_problem problem;
  tsl_place place;
  tsl_spread *spread; /* of operands in pieces, which the cache copies; else NULL */
  char device[TSL_DEVICE_NAME];
  const char *strategy; /* the caller's text; NULL: the planner's choice */
  int64_t runs;         /* of a plan that the caller keeps; 0 in the cache */
  double effort;        /* in the cache only whether it is 0 counts */
} tsl_call_key;

typedef struct tsl_cached_plan tsl_cached_plan;
typedef struct tsl_plan_cache {
  tsl_guard lock; /* of all that follows */
  tsl_cached_plan *plans[TSL_PLANS_CACHED];
  uint64_t hashes[TSL_PLANS_CACHED]; /* of their keys, which are long */
  int16_t chains
      [TSL_PLAN_CHAINS]; /* by the hash: one more than the place of a chain's first plan; 0: it is empty */
  int16_t next[TSL_PLANS_CACHED]; /* the same of the one behind a plan in its chain */
  uint64_t calls;                 /* a clock for the least recently used plan */
  uint64_t generation;            /* counts what plans were made of: see tsl_plan_cache_renew() */
} tsl_plan_cache;

/* The cache begins as zeroes. The plans go with it. */
void tsl_plan_cache_init(tsl_plan_cache *cache);
void tsl_plan_cache_destroy(tsl_plan_cache *cache);

/* What is found is given back after the run; it may be evicted meanwhile, and is destroyed when the last user gave it back.
 * NULL: it is not there. */
tsl_cached_plan *tsl_plan_cache_find(tsl_plan_cache *cache, const tsl_call_key *key);
/* Takes a plan that was made for a key, with so many bytes on its device, and finds it; or the one that another thread was
 * sooner with, and destroys this one. One that was begun before the last tsl_plan_cache_renew() is not remembered, and goes when it is
 * given back. On failure the plan is destroyed, too. */
tesela_status tsl_plan_cache_add(tsl_plan_cache *cache, const tsl_call_key *key, uint64_t generation,
                                 tesela_plan *plan, const tsl_device *device, uint64_t bytes,
                                 tsl_cached_plan **cached);
/* What to ask before a plan is made; and after what plans are made of has changed: all of them go, those that run when they are
 * given back. */
uint64_t tsl_plan_cache_generation(tsl_plan_cache *cache);
void tsl_plan_cache_renew(tsl_plan_cache *cache);
/* One that was found before and is held, for another run. False: it was evicted meanwhile. */
bool tsl_plan_cache_use(tsl_plan_cache *cache, tsl_cached_plan *cached);
void tsl_plan_cache_give_back(tsl_plan_cache *cache, tsl_cached_plan *cached);
tesela_plan *tsl_plan_cache_plan(const tsl_cached_plan *cached);

/* Between these two, what is held has an address, though its plan may be evicted and its cache gone. */
tsl_cached_plan *tsl_plan_cache_hold(tsl_cached_plan *cached);
void tsl_plan_cache_release(tsl_cached_plan *cached); /* NULL: nothing */

/* What was found of batches of a plan's product: that no strategy takes them in one run. */
void tsl_plan_cache_refuse_batches(tsl_cached_plan *cached);
bool tsl_plan_cache_refuses_batches(const tsl_cached_plan *cached);

#endif
