/* A context's own wisdom: records of the user's file, imported ones, and measured ones. */
#include "api/api.h"
#include "dispatch/call_cache.h"

#include "core/floats.h"
#include "core/status.h"

#include <stdlib.h>

/* Closes wisdom after a failure. */
static tesela_status api_wisdom_wrap(tsl_wisdom *wisdom, tsl_shared_wisdom **known) {
  void *block;
  const tesela_status status = tsl_alloc_zeroed(sizeof **known, "wisdom", &block);
  if (status != TESELA_OK) {
    tsl_wisdom_close(wisdom);
    return status;
  }
  *known = block;
  (*known)->wisdom = wisdom;
  atomic_init(&(*known)->holders, 1);
  return TESELA_OK;
}

void tsl_api_wisdom_release(tsl_shared_wisdom *known) {
  if (!known || atomic_fetch_sub_explicit(&known->holders, 1, memory_order_acq_rel) != 1)
    return;
  tsl_wisdom_close(known->wisdom);
  tsl_free(known);
}

void tsl_api_wisdom_end(tesela_context *context) {
  tsl_api_wisdom_release(context->known);
  free(context->own_wisdom);
}

/* Reads the library's and the user's records at the first call. The caller holds the lock. */
static tesela_status open_wisdom(tesela_context *context) {
  tsl_text own_records = {0};
  tsl_wisdom *wisdom;
  if (context->known)
    return TESELA_OK;
  tesela_status status = tsl_wisdom_open_texts(&wisdom, &own_records, &context->shipped_wisdom);
  if (status == TESELA_OK)
    status = api_wisdom_wrap(wisdom, &context->known);
  if (status == TESELA_OK && own_records.length > 0)
    context->own_wisdom = tsl_text_take(&own_records);
  tsl_text_free(&own_records);
  return status;
}

static const char *own_text(const tesela_context *context) {
  return context->own_wisdom ? context->own_wisdom : "";
}

tesela_status tsl_api_wisdom(tesela_context *context, tsl_shared_wisdom **known) {
  tsl_fork_mutex_lock(&context->lock);
  const tesela_status status = open_wisdom(context);
  *known = status == TESELA_OK ? context->known : NULL;
  if (*known)
    atomic_fetch_add_explicit(&(*known)->holders, 1, memory_order_relaxed);
  tsl_fork_mutex_unlock(&context->lock);
  return status;
}

/* Replaces the context's own records by text. The caller holds the lock and releases *old. */
static tesela_status api_wisdom_replace(tesela_context *context, tsl_text *text, tsl_shared_wisdom **old) {
  tsl_wisdom *wisdom;
  tsl_shared_wisdom *known;
  TSL_TRY(tsl_text_status(text));
  TSL_TRY(tsl_wisdom_from(context->shipped_wisdom, tsl_text_get(text), &wisdom));
  TSL_TRY(api_wisdom_wrap(wisdom, &known));
  free(context->own_wisdom);
  context->own_wisdom = text->length > 0 ? tsl_text_take(text) : NULL;
  *old = context->known;
  context->known = known;
  return TESELA_OK;
}

typedef tesela_status combination(const char *state, const char *text, tsl_text *out);

/* Hides earlier plans: renews the plan cache, and gives the context a new number for the dispatch cache. */
static tesela_status change_own_records(tesela_context *context, combination *combine, const char *text) {
  tsl_text own_records = {0};
  tsl_shared_wisdom *old = NULL;
  tsl_fork_mutex_lock(&context->lock);
  tesela_status status = open_wisdom(context);
  if (status == TESELA_OK)
    status = combine(own_text(context), text, &own_records);
  if (status == TESELA_OK)
    status = api_wisdom_replace(context, &own_records, &old);
  tsl_fork_mutex_unlock(&context->lock);
  if (status == TESELA_OK) {
    tsl_plan_cache_renew(&context->cache);
    atomic_store_explicit(&context->number, tsl_dispatch_number(), memory_order_release);
  }
  tsl_api_wisdom_release(old);
  tsl_text_free(&own_records);
  return status;
}

/* Merges both texts, keeping the faster record of each identity. Invalid lines are dropped. */
static tesela_status add_better(const char *existing, const char *text, tsl_text *out) {
  tsl_text records = {0};
  tsl_wisdom_merged merged;
  tesela_status status = tsl_wisdom_merge_texts("", existing, &records, &merged);
  if (status == TESELA_OK)
    status = tsl_wisdom_merge_texts(tsl_text_get(&records), text, out, &merged);
  tsl_text_free(&records);
  return status;
}

static tesela_status api_wisdom_forget_all(const char *existing, const char *text, tsl_text *out) {
  (void)existing;
  (void)text;
  (void)out;
  return TESELA_OK;
}

tesela_status tsl_api_wisdom_learn(tesela_context *context, const char *records) {
  return change_own_records(context, tsl_wisdom_update_texts, records);
}

static tesela_status check_line(void *argument, const tsl_wisdom_line *line) {
  (void)argument;
  return line->record ? TESELA_OK : tsl_fail(TESELA_BAD_INPUT, "line %d: %s", line->number, line->wrong);
}

tesela_status tesela_wisdom_import(tesela_context *context, const char *text) {
  TSL_NOT_CANCELLED;
  TSL_DEFAULT_FLOATS;
  if (!context || !text)
    return tsl_fail(TESELA_BAD_CALL, "%s is NULL", !context ? "context" : "text");
  TSL_TRY(tsl_wisdom_each(text, check_line, NULL));
  return change_own_records(context, add_better, text);
}

tesela_status tesela_wisdom_forget(tesela_context *context) {
  TSL_NOT_CANCELLED;
  TSL_DEFAULT_FLOATS;
  if (!context)
    return tsl_fail(TESELA_BAD_CALL, "context is NULL");
  return change_own_records(context, api_wisdom_forget_all, "");
}

tesela_status tesela_wisdom_export(tesela_context *context, char **text) {
  TSL_NOT_CANCELLED;
  TSL_DEFAULT_FLOATS;
  tsl_text records = {0};
  if (text)
    *text = NULL;
  if (!context || !text)
    return tsl_fail(TESELA_BAD_CALL, "%s is NULL", !context ? "context" : "text");
  tsl_fork_mutex_lock(&context->lock);
  tesela_status status = open_wisdom(context);
  if (status == TESELA_OK)
    status = add_better(own_text(context), "", &records);
  tsl_fork_mutex_unlock(&context->lock);
  if (status == TESELA_OK) {
    *text = tsl_text_take(&records);
    if (!*text)
      status = tsl_fail(TESELA_OUT_OF_MEMORY, "no memory for the text of wisdom");
  }
  tsl_text_free(&records);
  return status;
}

void tesela_text_free(char *text) {
  free(text);
}
