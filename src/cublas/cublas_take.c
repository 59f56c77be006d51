/* Chooses the library for a call, and queues tesela's products. */
#include "cublas/cublas_take.h"

#include "core/env.h"
#include "core/log.h"
#include "cublas/cublas_describe.h"
#include "cublas/cublas_functions.h"
#include "cublas/cublas_kinds.h"
#include "cublas/cublas_route.h"
#include "cublas/cublas_symbol.h"
#include "cublas/cublas_thread.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Counts of calls for TESELA_LOG=calls, printed at the process's end. */
static _Atomic(tsl_cublas_symbol *) newest; /* names with calls, linked by `older` */

static void cublas_count(tsl_cublas_symbol *symbol, bool is_ours) {
  if (!tsl_log_may_want(TSL_LOG_CALLS) || !tsl_log_wants(TSL_LOG_CALLS))
    return;
  if (!atomic_exchange(&symbol->is_listed, true)) {
    tsl_cublas_symbol *older = atomic_load(&newest);
    do
      symbol->older = older;
    while (!atomic_compare_exchange_weak(&newest, &older, symbol));
  }
  atomic_fetch_add_explicit(&symbol->calls[is_ours], 1, memory_order_relaxed);
}

/* Returns true in the process that the tool started with --log, not in its children. */
static bool is_awaited(void) {
  return strtol(tsl_env_get(TSL_ENV_RUN), NULL, 10) == (long)getpid();
}

__attribute__((destructor)) static void print_counts(void) {
  if (!atomic_load(&newest) && is_awaited())
    fputs("tesela calls: no calls of cuBLAS's products\n", stderr);
  for (const tsl_cublas_symbol *symbol = atomic_load(&newest); symbol; symbol = symbol->older)
    fprintf(stderr, "tesela calls: %s: %lu by tesela, %lu by cuBLAS\n", symbol->name,
            atomic_load(&symbol->calls[true]), atomic_load(&symbol->calls[false]));
}

/* Call with the state of its handle. */
typedef struct take_state {
  const tsl_cublas_call *call;
  tsl_cublas_thread *thread;
  void *stream;
  const void *workspace;
  size_t workspace_bytes;
  tsl_cublas_kind *kind;
  bool is_refused; /* tesela has no such product */
} take_state;

/* Returns a workspace for a run; NULL: there is none now. A recorded graph may run at any time, so it must
 * not use the stream's own workspace. */
static tesela_buffer *find_workspace(const take_state *take, tsl_cublas_stream *stream) {
  const tsl_cublas_kind *kind = take->kind;
  if (take->workspace_bytes >= kind->workspace)
    return tsl_cublas_thread_wrap(take->thread, kind->device->context, kind->device->name,
                                  kind->device->ordinal, take->workspace, take->workspace_bytes);
  return tsl_cublas_is_capturing(take->stream) ? NULL : tsl_cublas_stream_workspace(stream, kind->workspace);
}

/* Queues a run. Returns false if cuBLAS must compute the call; then nothing is queued. */
static bool queue_run(const take_state *take, tsl_cublas_stream *stream, int *status) {
  tsl_cublas_kind *kind = take->kind;
  tsl_queue_operands operands;
  tesela_buffer *workspace = kind->workspace > 0 ? find_workspace(take, stream) : NULL;
  if (kind->workspace > 0 && !workspace)
    return false;
  tsl_cublas_describe_operands(take->call, &operands);
  const tesela_status queued =
      tsl_queue_run(kind->plan, stream->stream, kind->device->anchor, &operands, workspace);
  *status = queued == TESELA_OK ? TSL_CUBLAS_SUCCESS : TSL_CUBLAS_EXECUTION_FAILED;
  return queued == TESELA_OK || queued == TESELA_DEVICE_FAILED;
}

/* Computes a timed call, or leaves it to cuBLAS, whose entry ends the timing. Returns true if it is queued.
 */
static bool take_raced(const take_state *take, tsl_cublas_stream *stream, tsl_cublas_ticket *ticket,
                       int *status) {
  tsl_cublas_side side;
  if (tsl_cublas_is_capturing(take->stream) || !tsl_cublas_kind_start(take->kind, stream, &side))
    return false;
  if (side == TSL_CUBLAS_PEER) {
    ticket->raced = take->kind;
    return false;
  }
  const bool is_queued = queue_run(take, stream, status);
  tsl_cublas_kind_end(take->kind, is_queued && *status == TSL_CUBLAS_SUCCESS);
  return is_queued;
}

/* Returns true if tesela has queued the call. */
static bool take_kind(const take_state *take, tsl_cublas_ticket *ticket, int *status) {
  const int state = atomic_load_explicit(&take->kind->state, memory_order_acquire);
  if (state == TSL_CUBLAS_NEW)
    tsl_cublas_kinds_resume();
  if ((state != TSL_CUBLAS_OURS && state != TSL_CUBLAS_RACING) ||
      (state == TSL_CUBLAS_OURS && !take->kind->is_for_graphs && tsl_cublas_is_capturing(take->stream)))
    return false;
  tsl_cublas_stream *stream = tsl_cublas_stream_get(take->kind->device, take->stream);
  if (!stream)
    return false;
  return state == TSL_CUBLAS_OURS ? queue_run(take, stream, status)
                                  : take_raced(take, stream, ticket, status);
}

/* Reads the handle's stream, modes and workspace. Returns false if the call is cuBLAS's by these. */
static bool read_handle(take_state *take, tsl_next_function *next, int *math_mode) {
  const tsl_cublas_call *call = take->call;
  tsl_cublas_handle handle;
  *math_mode = 0;
  take->stream = call->stream;
  take->workspace = call->workspace;
  take->workspace_bytes = call->workspace_bytes;
  if (!call->handle)
    return true;
  if (!tsl_cublas_handle_read(next, call->handle, &handle) ||
      handle.pointer_mode != TSL_CUBLAS_POINTERS_HOST || handle.sm_count != 0)
    return false;
  *math_mode = handle.math_mode;
  take->stream = handle.stream;
  take->workspace = tsl_cublas_workspace_get(call->handle, &take->workspace_bytes);
  return true;
}

static bool take_call(take_state *take, tsl_next_function *next, tsl_cublas_ticket *ticket, int *status) {
  int math_mode;
  tsl_cublas_key key;
  if (!read_handle(take, next, &math_mode))
    return false;
  const int device = tsl_cublas_current_device();
  if (device < 0 || !tsl_cublas_key_fill(take->call, math_mode, device, &key))
    return false;
  take->is_refused = false;
  take->kind = tsl_cublas_kind_find(take->thread, &key, take->stream);
  return take->kind && take_kind(take, ticket, status);
}

/* Hashes a call without its scalars and addresses. */
static uint64_t hash_call(const tsl_cublas_symbol *symbol, const tsl_cublas_call *call) {
  const uint64_t words[] = {
      (uint64_t)(uintptr_t)symbol,
      (uint64_t)(uintptr_t)call->handle,
      (uint64_t)call->size.m << 32 ^ (uint64_t)call->size.n,
      (uint64_t)call->size.k << 32 ^ (uint64_t)call->size.batch,
      (uint64_t)call->a.ld << 32 ^ (uint64_t)call->b.ld,
      (uint64_t)call->c.ld << 32 ^ (uint64_t)call->a.step,
      (uint64_t)call->b.step << 32 ^ (uint64_t)call->c.step,
      (uint64_t)call->trans_a << 48 ^ (uint64_t)call->trans_b << 40 ^ (uint64_t)call->side << 36 ^
          (uint64_t)call->uplo << 32 ^ (uint64_t)call->diag << 28 ^ (uint64_t)call->a.type << 20 ^
          (uint64_t)call->b.type << 12 ^ (uint64_t)call->c.type << 4 ^ (uint64_t)call->compute << 52};
  return tsl_cublas_hash(words, sizeof words);
}

/* Counts a call that the program's function computes. Calls of cuBLAS that are in progress in this thread
 * make calls of their own, which pass through. */
static tsl_next_function *forward(tsl_cublas_symbol *symbol, tsl_cublas_thread *thread,
                                  tsl_next_function *next, tsl_cublas_ticket *ticket) {
  cublas_count(symbol, false);
  ticket->thread = thread;
  thread->forwarding++;
  return next;
}

/* Returns true if a call goes on without being read. */
static bool may_pass(const tsl_cublas_passed *passed) {
  return passed->calls > 0 && !(passed->undecided && tsl_cublas_kind_takes_calls(passed->undecided));
}

/* Decides how many next calls go on without being read, after a call that went on. Without a kind: tesela has
 * no such product, or the kind has few calls. */
static void pass_next(tsl_cublas_passed *passed, const take_state *take, const tsl_cublas_ticket *ticket) {
  const tsl_cublas_kind *kind = take->kind;
  const int state = kind ? atomic_load_explicit(&kind->state, memory_order_relaxed) : (int)TSL_CUBLAS_THEIRS;
  const bool is_read =
      kind ? ticket->raced || state == TSL_CUBLAS_OURS : !take->is_refused || tsl_cublas_is_forced();
  passed->calls = is_read ? 0 : TSL_CUBLAS_PASSED_CALLS;
  passed->undecided = state == TSL_CUBLAS_THEIRS ? NULL : kind;
}

static tsl_next_function *take(tsl_cublas_symbol *symbol, const tsl_cublas_call *call,
                               const tsl_lt_arguments *lt, tsl_cublas_ticket *ticket, int *status) {
  tsl_next_function *next = tsl_interpose_next(&symbol->next, symbol->name);
  tsl_cublas_call lt_call;
  *ticket = (tsl_cublas_ticket){.raced = NULL};
  *status = TSL_CUBLAS_NOT_INITIALIZED;
  if (!next || tsl_cublas_is_off())
    return next;
  take_state state = {.call = call ? call : &lt_call, .thread = tsl_cublas_thread_get(), .is_refused = true};
  if (!state.thread || state.thread->forwarding > 0)
    return next;
  if (!call && !lt)
    return forward(symbol, state.thread, next, ticket);
  const uint64_t hash = call ? hash_call(symbol, call) : tsl_cublas_lt_hash(next, lt);
  tsl_cublas_passed *passed = tsl_cublas_passed_get(state.thread, hash);
  if (may_pass(passed)) {
    passed->calls--;
    return forward(symbol, state.thread, next, ticket);
  }
  if ((call || tsl_cublas_lt_read(lt, hash, state.thread, &lt_call)) &&
      take_call(&state, next, ticket, status)) {
    cublas_count(symbol, true);
    return NULL;
  }
  pass_next(passed, &state, ticket);
  return forward(symbol, state.thread, next, ticket);
}

tsl_next_function *tsl_cublas_take(tsl_cublas_symbol *symbol, const tsl_cublas_call *call,
                                   tsl_cublas_ticket *ticket, int *status) {
  return take(symbol, call, NULL, ticket, status);
}

tsl_next_function *tsl_cublas_take_lt(tsl_cublas_symbol *symbol, const tsl_lt_arguments *arguments,
                                      tsl_cublas_ticket *ticket, int *status) {
  return take(symbol, NULL, arguments, ticket, status);
}

int tsl_cublas_end(const tsl_cublas_ticket *ticket, int status) {
  if (ticket->thread)
    ticket->thread->forwarding--;
  if (ticket->raced)
    tsl_cublas_kind_end(ticket->raced, status == TSL_CUBLAS_SUCCESS);
  return status;
}
