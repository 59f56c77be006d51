/* Who computes: tesela, the BLAS that the program had before, or a plain loop. */
#include "blas/blas.h"

#include "base/env.h"

#include <pthread.h>
#include <string.h>

/* From which size on tesela is the faster one, measured on one interleaved run; docs/BLAS.md says how. A product is
 * tesela's from `volume` = m n k on, where its shortest side is not below `side`; 0: never, as there is no strategy. */
typedef struct crossover {
  double volume;
  int64_t side;
} crossover;

typedef struct gemm_row {
  tesela_type type;
  crossover against[TSL_BLAS_PEER_TUNED + 1];
} gemm_row;

static const gemm_row gemm_rows[] = {
    {TESELA_F32, {[TSL_BLAS_PEER_PLAIN] = {16 * 16 * 16, 4}, [TSL_BLAS_PEER_TUNED] = {160 * 160 * 160, 64}}},
    {TESELA_F64, {[TSL_BLAS_PEER_PLAIN] = {16 * 16 * 16, 4}, [TSL_BLAS_PEER_TUNED] = {160 * 160 * 160, 64}}},
    {TESELA_C64, {{0, 0}}},
    {TESELA_C128, {{0, 0}}},
};

/* Elements from which on a dot or a transpose is tesela's; 0: never. */
typedef struct vector_row {
  tesela_type type;
  int64_t from[TSL_BLAS_PEER_TUNED + 1];
} vector_row;

static const vector_row vector_rows[TSL_BLAS_OPS][4] = {
    [TSL_BLAS_DOT] = {{TESELA_F32, {0}}, {TESELA_F64, {0}}, {TESELA_C64, {0}}, {TESELA_C128, {0}}},
    [TSL_BLAS_TRANSPOSE] = {{TESELA_F32, {0}}, {TESELA_F64, {0}}, {TESELA_C64, {0}}, {TESELA_C128, {0}}},
};

/* TESELA_BLAS, read once. */
#define WISH_LIST(X) X(AUTO, "auto") X(TESELA, "tesela") X(OTHER, "other") X(LOOPS, "loops")
typedef enum wish {
#define MEMBER(name, text) WISH_##name,
  WISH_LIST(MEMBER)
#undef MEMBER
} wish;

static const char *const wishes[] = {
#define ROW(name, text) text,
    WISH_LIST(ROW)
#undef ROW
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static wish wanted;

static void read_wish(void) {
  const char *word = tsl_env_get(TSL_ENV_BLAS);
  for (size_t i = 0; i < sizeof wishes / sizeof *wishes; i++)
    if (strcmp(wishes[i], word) == 0)
      wanted = (wish)i;
}

/* How many calls of ours this thread is inside of. */
static _Thread_local int depth;

bool tsl_blas_enter(void) {
  return depth++ == 0;
}
void tsl_blas_leave(void) {
  depth--;
}

/* What is decided without looking at sizes; true where that is all. */
static bool settled(tsl_blas_symbol *symbol, tsl_blas_peer *peer, tsl_blas_route *route) {
  pthread_once(&once, read_wish);
  *peer = wanted == WISH_TESELA && depth == 0 ? TSL_BLAS_PEER_NONE : tsl_blas_next_peer(symbol);
  *route = TSL_BLAS_TESELA;
  if (depth == 0 && wanted == WISH_LOOPS)
    *route = TSL_BLAS_LOOPS;
  else if (*peer != TSL_BLAS_PEER_NONE && (depth > 0 || wanted == WISH_OTHER))
    *route = TSL_BLAS_OTHER;
  else
    return *peer == TSL_BLAS_PEER_NONE;
  return true;
}

tsl_blas_route tsl_blas_route_gemm(tsl_blas_symbol *symbol, int64_t m, int64_t n, int64_t k) {
  tsl_blas_peer peer;
  tsl_blas_route route;
  if (settled(symbol, &peer, &route))
    return route;
  for (size_t i = 0; i < sizeof gemm_rows / sizeof *gemm_rows; i++) {
    const crossover *from = &gemm_rows[i].against[peer];
    if (gemm_rows[i].type != symbol->type || from->side == 0)
      continue;
    if (m >= from->side && n >= from->side && k >= from->side &&
        (double)m * (double)n * (double)k >= from->volume)
      return TSL_BLAS_TESELA;
  }
  return TSL_BLAS_OTHER;
}

tsl_blas_route tsl_blas_route_vector(int op, tsl_blas_symbol *symbol, int64_t elements) {
  tsl_blas_peer peer;
  tsl_blas_route route;
  if (settled(symbol, &peer, &route))
    return route;
  for (size_t i = 0; i < 4; i++) {
    const vector_row *row = &vector_rows[op][i];
    if (row->type == symbol->type && row->from[peer] > 0 && elements >= row->from[peer])
      return TSL_BLAS_TESELA;
  }
  return TSL_BLAS_OTHER;
}
