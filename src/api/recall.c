/* The plans that a context remembers for tesela_gemm(): a short list, the least recently used goes first. */
#include "api/api.h"

#include "base/memory.h"
#include "base/status.h"

#include <stdlib.h>
#include <string.h>

struct tsl_remembered {
  tsl_call_key key;
  tesela_plan *plan;
  int users;
  uint64_t used;  /* when, by the context's count of calls */
  bool forgotten; /* not in the list any more: the last user frees it */
};

static bool same_shape(const tsl_shape *a, const tsl_shape *b) {
  return a->type == b->type && a->rows == b->rows && a->cols == b->cols && a->row_stride == b->row_stride &&
         a->col_stride == b->col_stride;
}

static bool same_text(const char *a, const char *b) {
  return a == b || (a && b && strcmp(a, b) == 0);
}

/* Scalars are compared as bits: NaN equals itself, and a plan's text keeps what it was given. */
static bool same_key(const tsl_call_key *a, const tsl_call_key *b) {
  const tsl_problem *p = &a->problem, *q = &b->problem;
  return p->op == q->op && p->m == q->m && p->n == q->n && p->k == q->k && same_shape(&p->a, &q->a) &&
         same_shape(&p->b, &q->b) && same_shape(&p->c, &q->c) && a->place == b->place &&
         memcmp(p->alpha, q->alpha, sizeof p->alpha) == 0 && memcmp(p->beta, q->beta, sizeof p->beta) == 0 &&
         strcmp(a->device, b->device) == 0 && same_text(a->strategy, b->strategy);
}

static void destroy(tsl_remembered *remembered) {
  if (!remembered)
    return;
  tesela_plan_destroy(remembered->plan);
  free(remembered->key.strategy);
  tsl_free(remembered);
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

/* Puts it in the list, under the context's lock; returns what had to go, when nobody uses that. */
static tsl_remembered *insert(tesela_context *context, tsl_remembered *remembered) {
  int oldest = 0;
  for (int i = 0; i < TSL_PLANS_REMEMBERED; i++) {
    if (!context->plans[i]) {
      oldest = i;
      break;
    }
    if (context->plans[i]->used < context->plans[oldest]->used)
      oldest = i;
  }
  tsl_remembered *gone = context->plans[oldest];
  context->plans[oldest] = remembered;
  if (!gone)
    return NULL;
  gone->forgotten = true;
  return gone->users == 0 ? gone : NULL;
}

static tesela_status make(tesela_context *context, const tsl_call_key *key, tsl_remembered **out) {
  void *block;
  TSL_TRY(tsl_alloc_zeroed(sizeof **out, "a remembered plan", &block));
  tsl_remembered *made = block;
  made->key = *key;
  made->key.strategy = key->strategy ? strdup(key->strategy) : NULL;
  made->users = 1;
  tesela_status status = TESELA_OK;
  if (key->strategy && !made->key.strategy)
    status = tsl_fail(TESELA_OUT_OF_MEMORY, "no memory for a remembered plan");
  if (status == TESELA_OK)
    status = tsl_api_plan(context, key, &made->plan);
  if (status != TESELA_OK) {
    destroy(made);
    return status;
  }
  *out = made;
  return TESELA_OK;
}

/* Plans are made outside of the lock, since compilers take seconds. Of two threads that make the same one, the
 * second drops its own. */
tesela_status tsl_api_recall(tesela_context *context, const tsl_call_key *key, tsl_remembered **remembered) {
  tsl_remembered *made, *gone;
  pthread_mutex_lock(&context->lock);
  *remembered = find(context, key);
  pthread_mutex_unlock(&context->lock);
  if (*remembered)
    return TESELA_OK;
  TSL_TRY(make(context, key, &made));
  pthread_mutex_lock(&context->lock);
  *remembered = find(context, key);
  if (*remembered) {
    gone = made;
  } else {
    made->used = ++context->calls;
    gone = insert(context, made);
    *remembered = made;
  }
  pthread_mutex_unlock(&context->lock);
  destroy(gone);
  return TESELA_OK;
}

tesela_plan *tsl_api_recalled(tsl_remembered *remembered) {
  return remembered->plan;
}

void tsl_api_give_back(tesela_context *context, tsl_remembered *remembered) {
  pthread_mutex_lock(&context->lock);
  const bool last = --remembered->users == 0 && remembered->forgotten;
  pthread_mutex_unlock(&context->lock);
  if (last)
    destroy(remembered);
}

void tsl_api_forget_all(tesela_context *context) {
  for (int i = 0; i < TSL_PLANS_REMEMBERED; i++) {
    destroy(context->plans[i]);
    context->plans[i] = NULL;
  }
}
