/* Nothing but the public headers, twice, and what users write with them; compiled as C and as C++. */
#include <tesela/blas.h>
#include <tesela/tesela.h>
#include <tesela/tesela_layout.h>
#include <tesela/tesela_level3.h>

#include <tesela/blas.h>

#include <tesela/tesela.h>

#ifdef __cplusplus
#define ZERO                                                                                                 \
  {}
#else
#define ZERO                                                                                                 \
  { 0 }
#endif

tesela_status multiply(tesela_context *context, float *a, float *b, float *c);

tesela_status multiply(tesela_context *context, float *a, float *b, float *c) {
  const double alpha = 2;
  tesela_record record = ZERO;
#ifdef __cplusplus
  tesela_gemm_desc desc = ZERO;
  desc.m = desc.n = desc.k = 4;
  desc.a.data = a;
  desc.b.data = b;
  desc.b.row_stride = TESELA_STRIDE_ZERO;
  desc.b.col_stride = 1;
  desc.c.data = c;
  desc.alpha = &alpha;
#else
  const tesela_gemm_desc desc = {.m = 4,
                                 .n = 4,
                                 .k = 4,
                                 .a = {.data = a},
                                 .b = {.data = b, .row_stride = TESELA_STRIDE_ZERO, .col_stride = 1},
                                 .c = {.data = c},
                                 .alpha = &alpha};
#endif
  const tesela_status status = tesela_gemm(context, &desc, &record);
  return status == TESELA_OK && record.seconds < 0 ? TESELA_INTERNAL : status;
}

/* The version is there for the preprocessor too. */
#if TESELA_VERSION_MAJOR < 0 || TESELA_VERSION_MINOR < 0 || TESELA_VERSION_PATCH < 0
#error "the version is not a number"
#endif

const char *version(void);
const char *version(void) {
  return TESELA_VERSION;
}

/* The list of statuses can be used by programs. */
int count_statuses(void);
int count_statuses(void) {
  int count = 0;
#define COUNT_STATUS(name, value, meaning) count += TESELA_##name == (value);
  TESELA_STATUS_LIST(COUNT_STATUS)
#undef COUNT_STATUS
  return count;
}
