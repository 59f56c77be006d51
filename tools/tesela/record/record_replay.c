#include "record/record_replay.h"

#include "cli/library_paths.h"
#include "core/status.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#define DROP_IN "libtesela_blas.so.2"

static void *drop_in, *others[TSL_CALLS_LIBRARIES];
static tesela_context *context;

/* Opens the other libraries first: the drop-in looks for loaded ones. */
tesela_status tsl_replay_open(const tsl_run_record *recording) {
  char path[PATH_MAX];
  if (drop_in)
    return TESELA_OK;
  for (int i = 0; i < TSL_CALLS_LIBRARIES && recording->libraries[i][0]; i++)
    if (!(others[i] = dlopen(recording->libraries[i], RTLD_NOW | RTLD_LOCAL)))
      return tsl_fail(TESELA_IO_FAILED, "%s", dlerror());
  TSL_TRY(tsl_library_beside(DROP_IN, path));
  drop_in = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!drop_in)
    return tsl_fail(TESELA_IO_FAILED, "%s", dlerror());
  return tesela_context_create(&(tesela_context_desc){.device = NULL}, &context);
}

static bool is_own(const char *name) {
  return strncmp(name, "tesela_", strlen("tesela_")) == 0;
}

static void (*find(const char *name))(void) {
  union {
    void *object;
    void (*function)(void);
  } symbol = {.object = dlsym(drop_in, name)};
  return symbol.function;
}

bool tsl_replay_name(const char *gemm, const char *word, tesela_type type, tsl_replay *out) {
  const char *at = strstr(gemm, "gemm");
  out->type = type;
  if (is_own(gemm)) {
    snprintf(out->name, sizeof out->name, "tesela_gemm");
    out->function = NULL;
    return true;
  }
  if (!at || at == gemm)
    return false;
  snprintf(out->name, sizeof out->name, "%.*s%c%s%s", (int)(at - gemm) - 1, gemm,
           type == TESELA_F32 ? 's' : 'd', word, at + strlen("gemm"));
  out->function = find(out->name);
  return out->function != NULL;
}

void tsl_replay_threads(int threads) {
  static const char *const names[] = {"openblas_set_num_threads", "openblas_set_num_threads64_",
                                      "scipy_openblas_set_num_threads64_", "scipy_openblas_set_num_threads"};
  typedef void set_threads(int);
  set_threads *own = (set_threads *)find("tesela_set_num_threads");
  if (own)
    own(threads);
  for (int l = 0; l < TSL_CALLS_LIBRARIES && others[l] && threads > 0; l++)
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
      union {
        void *object;
        set_threads *function;
      } symbol = {.object = dlsym(others[l], names[i])};
      if (symbol.function)
        symbol.function(threads);
    }
}

/* --- calls of tesela's interface --- */

static tesela_matrix matrix_of(const tsl_replay *call, const void *data, int64_t ld, char trans) {
  const bool by_row = (call->order == 'R') != (trans != 'N');
  return (tesela_matrix){
      .data = data, .row_stride = by_row ? ld : 1, .col_stride = by_row ? 1 : ld, .type = call->type};
}

static tesela_status call_own(const tsl_replay *call, tesela_structures structure) {
  const bool by_row = call->order == 'R';
  const tesela_gemm_desc desc = {.m = call->m,
                                 .n = call->n,
                                 .k = call->k,
                                 .a = matrix_of(call, call->a, call->lda, call->trans_a),
                                 .b = matrix_of(call, call->b, call->ldb, call->trans_b),
                                 .c = {.data = call->c,
                                       .row_stride = by_row ? call->ldc : 1,
                                       .col_stride = by_row ? 1 : call->ldc,
                                       .type = call->type},
                                 .beta = &call->beta,
                                 .structure = structure};
  if (call->count == 1)
    return tesela_gemm(context, &desc, NULL);
  const tesela_batch batch = {.count = call->count,
                              .a_stride = call->distance[0],
                              .b_stride = call->distance[1],
                              .c_stride = call->distance[2]};
  return tesela_gemm_batched(context, &desc, &batch, NULL);
}

/* --- calls of BLAS: integers of 64 bits suit both widths, as the sizes are positive and small --- */

static int order_of(const tsl_replay *call) {
  return call->order == 'R' ? 101 : 102;
}
static int trans_of(char letter) {
  return letter == 'N' ? 111 : 112;
}
static int uplo_of(char letter) {
  return letter == 'U' ? 121 : 122;
}
static int side_of(char letter) {
  return letter == 'L' ? 141 : 142;
}

static bool is_cblas(const tsl_replay *call) {
  return strstr(call->name, "cblas_") != NULL;
}

/* Defines the calls of one type: NAME_gemm and so on. */
#define CALLS_OF(NAME, REAL)                                                                                 \
  static void NAME##_gemm(const tsl_replay *r) {                                                             \
    typedef void cblas(int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, REAL, const void *, int64_t,    \
                       const void *, int64_t, REAL, void *, int64_t);                                        \
    typedef void fortran(const char *, const char *, const int64_t *, const int64_t *, const int64_t *,      \
                         const REAL *, const void *, const int64_t *, const void *, const int64_t *,         \
                         const REAL *, void *, const int64_t *, size_t, size_t);                             \
    const REAL one = 1, beta = (REAL)r->beta;                                                                \
    if (is_cblas(r))                                                                                         \
      ((cblas *)r->function)(order_of(r), trans_of(r->trans_a), trans_of(r->trans_b), r->m, r->n, r->k, one, \
                             r->a, r->lda, r->b, r->ldb, beta, r->c, r->ldc);                                \
    else                                                                                                     \
      ((fortran *)r->function)(&r->trans_a, &r->trans_b, &r->m, &r->n, &r->k, &one, r->a, &r->lda, r->b,     \
                               &r->ldb, &beta, r->c, &r->ldc, 1, 1);                                         \
  }                                                                                                          \
  static void NAME##_batch(const tsl_replay *r) {                                                            \
    typedef void cblas(int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, REAL, const void *, int64_t,    \
                       int64_t, const void *, int64_t, int64_t, REAL, void *, int64_t, int64_t, int64_t);    \
    typedef void fortran(const char *, const char *, const int64_t *, const int64_t *, const int64_t *,      \
                         const REAL *, const void *, const int64_t *, const int64_t *, const void *,         \
                         const int64_t *, const int64_t *, const REAL *, void *, const int64_t *,            \
                         const int64_t *, const int64_t *, size_t, size_t);                                  \
    const REAL one = 1, beta = (REAL)r->beta;                                                                \
    const int64_t *apart = r->distance;                                                                      \
    if (is_cblas(r))                                                                                         \
      ((cblas *)r->function)(order_of(r), trans_of(r->trans_a), trans_of(r->trans_b), r->m, r->n, r->k, one, \
                             r->a, r->lda, apart[0], r->b, r->ldb, apart[1], beta, r->c, r->ldc, apart[2],   \
                             r->count);                                                                      \
    else                                                                                                     \
      ((fortran *)r->function)(&r->trans_a, &r->trans_b, &r->m, &r->n, &r->k, &one, r->a, &r->lda,           \
                               &apart[0], r->b, &r->ldb, &apart[1], &beta, r->c, &r->ldc, &apart[2],         \
                               &r->count, 1, 1);                                                             \
  }                                                                                                          \
  static void NAME##_syrk(const tsl_replay *r) {                                                             \
    typedef void cblas(int64_t, int64_t, int64_t, int64_t, int64_t, REAL, const void *, int64_t, REAL,       \
                       void *, int64_t);                                                                     \
    typedef void fortran(const char *, const char *, const int64_t *, const int64_t *, const REAL *,         \
                         const void *, const int64_t *, const REAL *, void *, const int64_t *, size_t,       \
                         size_t);                                                                            \
    const REAL one = 1, beta = (REAL)r->beta;                                                                \
    if (is_cblas(r))                                                                                         \
      ((cblas *)r->function)(order_of(r), uplo_of('L'), trans_of(r->trans_a), r->m, r->k, one, r->a, r->lda, \
                             beta, r->c, r->ldc);                                                            \
    else                                                                                                     \
      ((fortran *)r->function)("L", &r->trans_a, &r->m, &r->k, &one, r->a, &r->lda, &beta, r->c, &r->ldc, 1, \
                               1);                                                                           \
  }                                                                                                          \
  static void NAME##_symm(const tsl_replay *r) {                                                             \
    typedef void cblas(int64_t, int64_t, int64_t, int64_t, int64_t, REAL, const void *, int64_t,             \
                       const void *, int64_t, REAL, void *, int64_t);                                        \
    typedef void fortran(const char *, const char *, const int64_t *, const int64_t *, const REAL *,         \
                         const void *, const int64_t *, const void *, const int64_t *, const REAL *, void *, \
                         const int64_t *, size_t, size_t);                                                   \
    const REAL one = 1, beta = (REAL)r->beta;                                                                \
    const bool left = r->side == 'L';                                                                        \
    const void *factor = left ? r->a : r->b, *other = left ? r->b : r->a;                                    \
    const int64_t *ld = left ? &r->lda : &r->ldb, *ld_other = left ? &r->ldb : &r->lda;                      \
    if (is_cblas(r))                                                                                         \
      ((cblas *)r->function)(order_of(r), side_of(r->side), uplo_of('L'), r->m, r->n, one, factor, *ld,      \
                             other, *ld_other, beta, r->c, r->ldc);                                          \
    else                                                                                                     \
      ((fortran *)r->function)(&r->side, "L", &r->m, &r->n, &one, factor, ld, other, ld_other, &beta, r->c,  \
                               &r->ldc, 1, 1);                                                               \
  }                                                                                                          \
  static void NAME##_trmm(const tsl_replay *r) {                                                             \
    typedef void cblas(int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, REAL, const void *,    \
                       int64_t, void *, int64_t);                                                            \
    typedef void fortran(const char *, const char *, const char *, const char *, const int64_t *,            \
                         const int64_t *, const REAL *, const void *, const int64_t *, void *,               \
                         const int64_t *, size_t, size_t, size_t, size_t);                                   \
    const REAL one = 1;                                                                                      \
    const bool left = r->side == 'L';                                                                        \
    const char trans = left ? r->trans_a : r->trans_b;                                                       \
    const void *factor = left ? r->a : r->b;                                                                 \
    const int64_t *ld = left ? &r->lda : &r->ldb;                                                            \
    if (is_cblas(r))                                                                                         \
      ((cblas *)r->function)(order_of(r), side_of(r->side), uplo_of(r->uplo), trans_of(trans), 131, r->m,    \
                             r->n, one, factor, *ld, r->c, r->ldc);                                          \
    else                                                                                                     \
      ((fortran *)r->function)(&r->side, &r->uplo, &trans, "N", &r->m, &r->n, &one, factor, ld, r->c,        \
                               &r->ldc, 1, 1, 1, 1);                                                         \
  }
CALLS_OF(single, float)
CALLS_OF(wide, double)

tesela_status tsl_replay_gemm(const tsl_replay *call) {
  const bool is_single = call->type == TESELA_F32;
  if (!call->function)
    return call_own(call, (tesela_structures){.a = TESELA_GENERAL});
  if (call->count > 1)
    (is_single ? single_batch : wide_batch)(call);
  else
    (is_single ? single_gemm : wide_gemm)(call);
  return TESELA_OK;
}

tesela_status tsl_replay_syrk(const tsl_replay *call) {
  if (!call->function)
    return call_own(call, (tesela_structures){.c_triangle = TESELA_LOWER});
  (call->type == TESELA_F32 ? single_syrk : wide_syrk)(call);
  return TESELA_OK;
}

tesela_status tsl_replay_symm(const tsl_replay *call) {
  const bool left = call->side == 'L';
  if (!call->function)
    return call_own(call, left ? (tesela_structures){.a = TESELA_SYMMETRIC, .a_triangle = TESELA_LOWER}
                               : (tesela_structures){.b = TESELA_SYMMETRIC, .b_triangle = TESELA_LOWER});
  (call->type == TESELA_F32 ? single_symm : wide_symm)(call);
  return TESELA_OK;
}

tesela_status tsl_replay_trmm(const tsl_replay *call) {
  if (!call->function)
    return tsl_fail(TESELA_UNSUPPORTED, "products in place are not tried by tesela's interface");
  (call->type == TESELA_F32 ? single_trmm : wide_trmm)(call);
  return TESELA_OK;
}
