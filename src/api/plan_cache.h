/* The plans of a context, by their problems: chains of equal hashes, and the least recently used of all goes
 * first. There are as many as a group of products whose sizes differ may have. Plans keep their staging
 * buffers, so they are few in bytes: those on one device may hold an eighth of its memory, besides the one in
 * use. */
#ifndef TSL_API_PLAN_CACHE_H
#define TSL_API_PLAN_CACHE_H

#include "base/fork_mutex.h"
#include "plan/plan.h"

enum { TSL_DEVICE_NAME = sizeof((tsl_device *)0)->name, TSL_PLANS_CACHED = 512, TSL_PLAN_CHAINS = 512 };

/* What a call asks for. */
typedef struct tsl_call_key {
  tsl_problem problem;
  tsl_text_place place;
  tsl_sharding *spread; /* of operands in pieces, which the cache copies; else NULL */
  char device[TSL_DEVICE_NAME];
  const char *strategy; /* the caller's text; NULL: the planner's choice */
  int64_t runs;         /* of a plan that the caller keeps; 0 in the cache */
  double effort;        /* in the cache only whether it is 0 counts */
} tsl_call_key;

typedef struct tsl_cached_plan tsl_cached_plan;
/* What is asked of many plans at a time lies side by side. */
typedef struct tsl_plan_place {
  tsl_cached_plan *plan; /* NULL: nobody's */
  const tsl_device *device;
  uint64_t hash;    /* of the key, which is long */
  uint64_t bytes;   /* on the device */
  int next;         /* in a chain of plans, or of places that are free: a place, counted from 1; 0 ends it */
  int newer, older; /* by when they were used last, likewise */
} tsl_plan_place;

typedef struct tsl_plan_cache {
  tsl_fork_mutex lock; /* of all that follows */
  tsl_plan_place places[TSL_PLANS_CACHED];
  int chains[TSL_PLAN_CHAINS]; /* as `next` is */
  int free, begun;             /* places that were given up, likewise; and how many were ever taken */
  int newest, oldest;
  uint64_t bytes;      /* of all plans, on whatever devices */
  uint64_t generation; /* counts what plans were made of: see tsl_plan_cache_renew() */
} tsl_plan_cache;

/* The cache begins as zeroes. The plans go with it. */
void tsl_plan_cache_init(tsl_plan_cache *cache);
void tsl_plan_cache_destroy(tsl_plan_cache *cache);

/* What is found is given back after the run; it may be evicted meanwhile, and is destroyed when the last user
 * gave it back. NULL: it is not there. */
tsl_cached_plan *tsl_plan_cache_find(tsl_plan_cache *cache, const tsl_call_key *key);
/* Remembers a plan that was made for a key, and finds the remembered plan as tsl_plan_cache_find() does. `bytes`
 * are the plan's on its device. Where the key has a plan already, `replaces` evicts the older plan; otherwise the
 * older plan stays and the new plan is destroyed. A plan that was begun before the last tsl_plan_cache_renew() is
 * not remembered, and goes when it is given back. On failure the plan is destroyed, too. */
tesela_status tsl_plan_cache_add(tsl_plan_cache *cache, const tsl_call_key *key, uint64_t generation,
                                 tesela_plan *plan, const tsl_device *device, uint64_t bytes, bool replaces,
                                 tsl_cached_plan **cached);
/* What to ask before a plan is made; and after what plans are made of has changed: all of them go, those that
 * run when they are given back. */
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
