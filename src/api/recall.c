/* The plans that a context remembers for tesela_gemm(): a short list, the least recently used goes first. Plans
 * keep their staging buffers, so the list is short in bytes, too: those on one device may hold an eighth of its
 * memory, besides the one in use. */
#include "api/api.h"

#include "base/memory.h"
#include "base/status.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct tsl_remembered {
  tsl_call_key key;
  char *strategy; /* the copy that the key points to */
  tesela_plan *plan;
  uint64_t bytes; /* on its device */
  int users;
  uint64_t used;        /* when, by the context's count of calls */
  bool forgotten;       /* not in the list any more: the last user frees it */
  atomic_bool alone;    /* no strategy takes batches of it in one run */
  tsl_remembered *next; /* in a chain of those that go */
};

static bool same_shape(const tsl_shape *a, const tsl_shape *b) {
  return a->type == b->type && a->rows == b->rows && a->cols == b->cols && a->row_stride == b->row_stride &&
         a->col_stride == b->col_stride;
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
         same_shape(&p->c, &q->c) && a->place == b->place && same_scalar(p->alpha, q->alpha) &&
         same_scalar(p->beta, q->beta) && strcmp(a->device, b->device) == 0 &&
         same_text(a->strategy, b->strategy);
}

/* Frees a chain; NULL is an empty one. */
static void destroy(tsl_remembered *remembered) {
  while (remembered) {
    tsl_remembered *next = remembered->next;
    tesela_plan_destroy(remembered->plan);
    free(remembered->strategy);
    tsl_free(remembered);
    remembered = next;
  }
}

/* Under the context's lock. */
static tsl_remembered *find(tesela_context *context, const tsl_call_key *key) {
  for (int i = 0; i < TSL_PLANS_REMEMBERED; i++) {
    tsl_remembered *remembered = context->plans[i];
    if (!remembered || !same_key(&remembered->key, key))
      continue;
    remembered->users++;
    remembered->used = ++context->calls;
    return remembered;
  }
  return NULL;
}

/* Takes a place's plan out of the list, and adds it to the chain unless somebody still runs it. */
static void forget(tesela_context *context, int place, tsl_remembered **gone) {
  tsl_remembered *remembered = context->plans[place];
  context->plans[place] = NULL;
  remembered->forgotten = true;
  if (remembered->users > 0)
    return;
  remembered->next = *gone;
  *gone = remembered;
}

static const tsl_device *device_of(const tsl_remembered *remembered) {
  return remembered->plan->plan->work.device;
}

/* The place of the least recently used plan on a device, -1 when there is none, and the bytes of all there. */
static int oldest_on(const tesela_context *context, const tsl_device *device, uint64_t *bytes) {
  int oldest = -1;
  *bytes = 0;
  for (int i = 0; i < TSL_PLANS_REMEMBERED; i++) {
    const tsl_remembered *remembered = context->plans[i];
    if (!remembered || (device && device_of(remembered) != device))
      continue;
    *bytes += remembered->bytes;
    if (oldest < 0 || remembered->used < context->plans[oldest]->used)
      oldest = i;
  }
  return oldest;
}

static int free_place(const tesela_context *context) {
  for (int i = 0; i < TSL_PLANS_REMEMBERED; i++)
    if (!context->plans[i])
      return i;
  return -1;
}

/* Puts it in the list, under the context's lock; returns the chain of what had to go. */
static tsl_remembered *insert(tesela_context *context, tsl_remembered *remembered) {
  tsl_remembered *gone = NULL;
  const tsl_device *device = device_of(remembered);
  uint64_t bytes;
  int oldest = oldest_on(context, device, &bytes);
  while (oldest >= 0 && bytes > device->memory_bytes / 8) {
    forget(context, oldest, &gone);
    oldest = oldest_on(context, device, &bytes);
  }
  int place = free_place(context);
  if (place < 0) {
    place = oldest_on(context, NULL, &bytes);
    forget(context, place, &gone);
  }
  context->plans[place] = remembered;
  return gone;
}

static tesela_status make(tesela_context *context, const tsl_call_key *key, tsl_remembered **out) {
  void *block;
  TSL_TRY(tsl_alloc_zeroed(sizeof **out, "a remembered plan", &block));
  tsl_remembered *made = block;
  made->key = *key;
  made->key.strategy = made->strategy = key->strategy ? strdup(key->strategy) : NULL;
  made->users = 1;
  tesela_status status = TESELA_OK;
  if (key->strategy && !made->strategy)
    status = tsl_fail(TESELA_OUT_OF_MEMORY, "no memory for a remembered plan");
  if (status == TESELA_OK)
    status = tsl_api_plan(context, key, &made->plan);
  if (status == TESELA_OK)
    made->bytes = tsl_plan_bytes(made->plan->plan);
  if (status != TESELA_OK) {
    destroy(made);
    return status;
  }
  *out = made;
  return TESELA_OK;
}

tsl_remembered *tsl_api_known(tesela_context *context, const tsl_call_key *key) {
  tsl_guard_lock(&context->lock);
  tsl_remembered *remembered = find(context, key);
  tsl_guard_unlock(&context->lock);
  return remembered;
}

/* Plans are made outside of the lock, since compilers take seconds. Of two threads that make the same one, the
 * second drops its own. */
tesela_status tsl_api_recall(tesela_context *context, const tsl_call_key *key, tsl_remembered **remembered) {
  tsl_remembered *made, *gone;
  *remembered = tsl_api_known(context, key);
  if (*remembered)
    return TESELA_OK;
  TSL_TRY(make(context, key, &made));
  tsl_guard_lock(&context->lock);
  *remembered = find(context, key);
  if (*remembered) {
    gone = made;
  } else {
    made->used = ++context->calls;
    gone = insert(context, made);
    *remembered = made;
  }
  tsl_guard_unlock(&context->lock);
  destroy(gone);
  return TESELA_OK;
}

tesela_plan *tsl_api_recalled(const tsl_remembered *remembered) {
  return remembered->plan;
}

void tsl_api_give_back(tesela_context *context, tsl_remembered *remembered) {
  tsl_guard_lock(&context->lock);
  const bool last = --remembered->users == 0 && remembered->forgotten;
  tsl_guard_unlock(&context->lock);
  if (last)
    destroy(remembered);
}

void tsl_api_refuse_batches(tsl_remembered *remembered) {
  atomic_store_explicit(&remembered->alone, true, memory_order_relaxed);
}

bool tsl_api_refuses_batches(const tsl_remembered *remembered) {
  return atomic_load_explicit(&remembered->alone, memory_order_relaxed);
}

void tsl_api_forget_all(tesela_context *context) {
  for (int i = 0; i < TSL_PLANS_REMEMBERED; i++) {
    destroy(context->plans[i]);
    context->plans[i] = NULL;
  }
}
