/* Cache of a context's plans by their problems, with eviction of the least recently used plan. Plans own
 * staging buffers: on one device at most an eighth of its memory, in addition to the plan in use. */
#ifndef TSL_DISPATCH_PLAN_CACHE_H
#define TSL_DISPATCH_PLAN_CACHE_H

#include "core/fork_mutex.h"
#include "plan/plan.h"

enum { TSL_DEVICE_NAME = sizeof((tsl_device *)0)->name, TSL_PLANS_CACHED = 512, TSL_PLAN_CHAINS = 512 };

typedef struct tsl_call_key {
  tsl_problem problem;
  tsl_memory_place place;
  tsl_sharding *spread; /* operands on several devices; the cache copies it; NULL: none */
  char device[TSL_DEVICE_NAME];
  const char *strategy; /* borrowed text of the caller; NULL: the planner chooses */
  int64_t runs;         /* expected runs of a plan that the caller owns; 0 in the cache */
  double effort;        /* seconds for measurements; in the cache only zero or nonzero counts */
} tsl_call_key;

typedef struct tsl_cached_plan tsl_cached_plan;
typedef struct tsl_plan_place {
  tsl_cached_plan *plan; /* NULL: the slot is free */
  const tsl_device *device;
  uint64_t hash;
  uint64_t bytes;   /* bytes on the device */
  int next;         /* next slot in a hash chain or in the list of free slots, counted from 1; 0: none */
  int newer, older; /* neighbours in the order of last use, counted from 1; 0: none */
} tsl_plan_place;

typedef struct tsl_plan_cache {
  tsl_fork_mutex lock; /* protects all members below */
  tsl_plan_place places[TSL_PLANS_CACHED];
  int chains[TSL_PLAN_CHAINS]; /* first slot of each hash chain, counted from 1; 0: none */
  int free, begun;             /* first free slot, from 1 (0: none), and number of slots ever used */
  int newest, oldest;
  uint64_t bytes;      /* bytes of all plans on all devices */
  uint64_t generation; /* number of tsl_plan_cache_renew() calls */
} tsl_plan_cache;

/* Initialises a zeroed cache. */
void tsl_plan_cache_init(tsl_plan_cache *cache);
void tsl_plan_cache_destroy(tsl_plan_cache *cache);

/* Finds a plan; NULL: none. An evicted plan lives until its last user gives it back. */
tsl_cached_plan *tsl_plan_cache_find(tsl_plan_cache *cache, const tsl_call_key *key);
/* Adds a plan with `bytes` bytes on its device; after a failure the plan is destroyed. A plan that the key
 * already has is evicted if `replaces`; else it is returned and `plan` is destroyed. `generation` was read
 * before planning: after a renewal the plan is not stored and lives until it is given back. */
tesela_status tsl_plan_cache_add(tsl_plan_cache *cache, const tsl_call_key *key, uint64_t generation,
                                 tesela_plan *plan, const tsl_device *device, uint64_t bytes, bool replaces,
                                 tsl_cached_plan **cached);
/* Returns the generation; read it before planning. */
uint64_t tsl_plan_cache_generation(tsl_plan_cache *cache);
/* Evicts all plans, because wisdom changed. Plans in use live until they are given back. */
void tsl_plan_cache_renew(tsl_plan_cache *cache);
/* Uses a held entry for another run. Returns false if it was evicted. */
bool tsl_plan_cache_use(tsl_plan_cache *cache, tsl_cached_plan *cached);
/* Ends one use of an entry. The last user of an evicted plan destroys it. */
void tsl_plan_cache_give_back(tsl_plan_cache *cache, tsl_cached_plan *cached);
tesela_plan *tsl_plan_cache_plan(const tsl_cached_plan *cached);

/* Adds a reference and returns cached. The entry stays valid after eviction, though its plan may be gone. */
tsl_cached_plan *tsl_plan_cache_hold(tsl_cached_plan *cached);
void tsl_plan_cache_release(tsl_cached_plan *cached); /* NULL is allowed */

/* Marks that no strategy supports a batch of the plan's product in one run. */
void tsl_plan_cache_refuse_batches(tsl_cached_plan *cached);
bool tsl_plan_cache_refuses_batches(const tsl_cached_plan *cached);

#endif
