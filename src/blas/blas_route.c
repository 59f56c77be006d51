#include "blas/blas_route.h"

#include "blas/peer_rating.h"
#include "dispatch/crossovers.h"
#include "interpose/route_request.h"

#include <math.h>

/* Crossover (docs/BLAS.md): a product is tesela's if m n k >= volume, m and n >= side, and k >= side or k <=
 * shallow. */
typedef struct crossover {
  int64_t volume, side, shallow;
} crossover;

static crossover get_crossover(tesela_type type, tsl_blas_peer peer) {
  const tsl_crossover_table *table = &tsl_crossovers;
  if (peer == TSL_BLAS_PEER_PLAIN)
    return (crossover){table->peer_plain_volume, table->peer_plain_side, 0};
  return type != TESELA_F32 && type != TESELA_F64
             ? (crossover){table->peer_volume_complex, table->peer_side, 0}
             : (crossover){table->peer_volume, table->peer_side, table->peer_shallow};
}

/* Returns the elements from which a transposed copy is tesela's. */
static double get_transpose_crossover(tesela_type type, tsl_blas_peer peer) {
  const tsl_crossover_table *table = &tsl_crossovers;
  return (double)(type == TESELA_C128           ? table->peer_transpose_c128
                  : type != TESELA_F32          ? table->peer_transpose
                  : peer == TSL_BLAS_PEER_PLAIN ? table->peer_plain_transpose_f32
                                                : table->peer_transpose_f32);
}

static tsl_route_request requested_route;
static bool has_numeric_requirements;
static bool may_leave_cpu;         /* TESELA_DEVICE=auto: products may leave the CPU */
static atomic_bool has_other_word; /* TESELA_BLAS is no word of its list, and no call has told it */
atomic_bool tsl_blas_owns_small;

__attribute__((constructor)) static void read_request(void) {
  requested_route = tsl_route_request_read(TSL_ENV_BLAS);
  /* Only tesela guarantees accuracy and bits. */
  has_numeric_requirements =
      strcmp(tsl_env_get(TSL_ENV_ACCURACY), "default") != 0 || strcmp(tsl_env_get(TSL_ENV_BITS), "any") != 0;
  if (requested_route == TSL_REQUEST_AUTO && has_numeric_requirements)
    requested_route = TSL_REQUEST_TESELA;
  const char *device = tsl_env_get_or_null(TSL_ENV_DEVICE);
  may_leave_cpu = device && strcmp(device, "auto") == 0;
  bool owns_small = requested_route == TSL_REQUEST_AUTO || requested_route == TSL_REQUEST_TESELA;
  /* The first call of any size is to reach blas_route_peer_of(). */
  if (requested_route == TSL_REQUEST_AUTO && tsl_env_check(TSL_ENV_BLAS) != TESELA_OK) {
    owns_small = false;
    atomic_store_explicit(&has_other_word, true, memory_order_relaxed);
  }
  atomic_store_explicit(&tsl_blas_owns_small, owns_small, memory_order_relaxed);
}

/* Warns of an unknown word in TESELA_BLAS, once. */
static void blas_route_warn(void) {
  tsl_route_request_check(TSL_ENV_BLAS);
  atomic_store_explicit(&has_other_word, false, memory_order_relaxed);
  atomic_store_explicit(&tsl_blas_owns_small, true, memory_order_relaxed);
}

static bool is_real(const tsl_blas_symbol *symbol) {
  return symbol->type == TESELA_F32 || symbol->type == TESELA_F64;
}

/* Begins to rate the symbol's host BLAS if it is unknown and needed. */
static tsl_blas_peer blas_route_peer_of(tsl_blas_symbol *symbol) {
  if (atomic_load_explicit(&has_other_word, memory_order_relaxed))
    blas_route_warn();
  if (tsl_host_blas_kind(symbol) == TSL_BLAS_PEER_UNKNOWN && requested_route == TSL_REQUEST_AUTO &&
      !tsl_blas_is_nested())
    tsl_blas_rate(symbol);
  return tsl_host_blas_kind(symbol);
}

/* Returns false while a route may change, so that no shortcut is stored. */
static bool is_rated(const tsl_blas_symbol *symbol) {
  const int peer = atomic_load_explicit(&symbol->peer, memory_order_relaxed);
  return peer != TSL_BLAS_PEER_UNKNOWN && peer != TSL_BLAS_PEER_PENDING;
}

/* Returns false if sizes decide. */
static bool is_route_fixed(tsl_blas_peer peer, tsl_blas_route *route) {
  *route = TSL_BLAS_OTHER;
  if (peer == TSL_BLAS_PEER_WIDE) {
    tsl_blas_why("the other BLAS has 64-bit integers under these names");
    return true;
  }
  if (requested_route == TSL_REQUEST_AUTO && !tsl_blas_is_nested() && peer != TSL_BLAS_PEER_NONE)
    return false;
  *route = TSL_BLAS_TESELA;
  if (requested_route == TSL_REQUEST_LOOPS && !tsl_blas_is_nested())
    *route = TSL_BLAS_LOOPS;
  else if (peer != TSL_BLAS_PEER_NONE && (tsl_blas_is_nested() || requested_route == TSL_REQUEST_OTHER))
    *route = TSL_BLAS_OTHER;
  tsl_blas_why(peer == TSL_BLAS_PEER_NONE              ? "the process has no other BLAS"
               : requested_route == TSL_REQUEST_TESELA ? "the environment asks for tesela"
               : requested_route == TSL_REQUEST_LOOPS  ? "TESELA_BLAS asks for loops"
                                                       : "TESELA_BLAS asks for the other BLAS");
  return true;
}

/* Forwards calls with less work from now on without checks; 0: all calls. */
static void forward_below(tsl_blas_symbol *symbol, double below) {
  if (!tsl_blas_logging && is_rated(symbol))
    atomic_store_explicit(&symbol->pass_below, below > 0 ? below : INFINITY, memory_order_release);
}

tsl_blas_route tsl_blas_route_gemm(tsl_blas_symbol *symbol, int64_t m, int64_t n, int64_t k) {
  const tsl_blas_peer peer = blas_route_peer_of(symbol);
  tsl_blas_route route;
  if (is_route_fixed(peer, &route))
    return route;
  const crossover from = get_crossover(symbol->type, peer);
  if (!(is_real(symbol) && tsl_blas_takes_small()))
    forward_below(symbol, (double)from.volume);
  const int64_t few = m < n ? m : n, many = m < n ? n : m;
  const bool is_thin = is_real(symbol) && from.side > few && few <= tsl_crossovers.peer_thin_side &&
                       (double)many * (double)k >= (double)tsl_crossovers.peer_thin,
             is_large = few >= from.side && (k >= from.side || k <= from.shallow) &&
                        (double)m * (double)n * (double)k >= (double)from.volume;
  tsl_blas_why(is_thin || is_large ? "by its size (table of crossovers) tesela's"
                                   : "by its size (table of crossovers) the other BLAS's");
  return is_thin || is_large ? TSL_BLAS_TESELA : TSL_BLAS_OTHER;
}

/* The CPU finishes smaller products before another device begins. */
bool tsl_blas_may_go_elsewhere(tsl_blas_symbol *symbol, const tsl_blas_multiply *product) {
  return may_leave_cpu && requested_route == TSL_REQUEST_AUTO && !tsl_blas_is_nested() &&
         tsl_blas_volume(product) > (double)tsl_crossovers.small_volume &&
         tsl_host_blas_kind(symbol) != TSL_BLAS_PEER_WIDE;
}

bool tsl_blas_is_always_forwarded(const tsl_blas_symbol *symbol) {
  return is_real(symbol) && requested_route == TSL_REQUEST_AUTO && !may_leave_cpu && !tsl_blas_is_nested() &&
         !tsl_blas_logging && is_rated(symbol);
}

tsl_blas_route tsl_blas_route_batch(tsl_blas_symbol *symbol, const tsl_blas_multiply *product) {
  const bool is_small = is_real(symbol) && requested_route == TSL_REQUEST_AUTO && !tsl_blas_is_nested() &&
                        tsl_blas_volume(product) <= (double)tsl_crossovers.small_volume &&
                        tsl_host_blas_kind(symbol) != TSL_BLAS_PEER_WIDE;
  return is_small ? TSL_BLAS_TESELA : tsl_blas_route_gemm(symbol, product->m, product->n, product->k);
}

tsl_blas_route tsl_blas_route_vector(int op, tsl_blas_symbol *symbol, double elements) {
  const tsl_blas_peer peer = blas_route_peer_of(symbol);
  tsl_blas_route route;
  if (is_route_fixed(peer, &route))
    return route;
  /* sums of dots have twice the precision, which takes longer */
  const double from = op == TSL_BLAS_TRANSPOSE ? get_transpose_crossover(symbol->type, peer) : INFINITY;
  forward_below(symbol, from);
  tsl_blas_why("by its size (table of crossovers)");
  return elements >= from ? TSL_BLAS_TESELA : TSL_BLAS_OTHER;
}

bool tsl_blas_asks_of_sums(void) {
  return has_numeric_requirements;
}

/* Returns true if tesela's route is final: the search for a host BLAS, over 32 calls, has ended. */
static bool blas_route_is_final(tsl_blas_symbol *symbol, tsl_blas_peer peer) {
  enum { CALLS = 32 };
  const bool waits =
      peer == TSL_BLAS_PEER_NONE && atomic_load_explicit(&symbol->next.tries, memory_order_relaxed) < CALLS;
  return !waits && requested_route != TSL_REQUEST_OTHER && !tsl_blas_logging && !tsl_blas_is_nested();
}

tsl_blas_route tsl_blas_route_class(tsl_blas_class class, tsl_blas_symbol *symbol, double elements) {
  const tsl_blas_peer peer = blas_route_peer_of(symbol);
  tsl_blas_route route;
  if (is_route_fixed(peer, &route)) {
    if (route != TSL_BLAS_OTHER && blas_route_is_final(symbol, peer))
      atomic_store_explicit(&symbol->own_below, INFINITY, memory_order_release);
    return route;
  }
  const bool is_far = peer == TSL_BLAS_PEER_TUNED && class == TSL_BLAS_CLASS_SYMMETRIC;
  const double from = is_far ? (double)tsl_crossovers.peer_symmetric : 0; /* else always tesela */
  if (!tsl_blas_logging) {
    atomic_store_explicit(&symbol->own_from, from, memory_order_relaxed);
    atomic_store_explicit(&symbol->own_below, INFINITY, memory_order_release);
  }
  tsl_blas_why(is_far ? "by its size (table of crossovers)" : "tesela's at every size");
  return elements >= from ? TSL_BLAS_TESELA : TSL_BLAS_OTHER;
}

tsl_blas_route tsl_blas_route_level3(tsl_blas_routine routine, tsl_blas_symbol *symbol, double volume) {
  const tsl_blas_peer peer = blas_route_peer_of(symbol);
  tsl_blas_route route;
  if (is_route_fixed(peer, &route))
    return route;
  const double plain_from = (double)tsl_crossovers.peer_plain_level3;
  const tsl_blas_share share = peer == TSL_BLAS_PEER_PLAIN
                                   ? (tsl_blas_share){plain_from, volume >= plain_from}
                                   : tsl_blas_share_of_level3(routine, symbol, volume);
  forward_below(symbol, share.from);
  tsl_blas_why(share.is_ours ? "tesela was measured as faster"
                             : "tesela was not measured as faster, or not yet");
  return share.is_ours ? TSL_BLAS_TESELA : TSL_BLAS_OTHER;
}
