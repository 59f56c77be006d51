/* Idea: A vendor's gemm on the host's cores, for comparison: OpenBLAS, or another library with CBLAS's
 * interface (BLIS, MKL), loaded at run time. Not on the ladder.
 *
 *   C (m x n, row- or column-major) = alpha A B + beta C        cblas_sgemm, cblas_dgemm, column-major;
 *                                                               a row-major C is C' = B' A'
 *
 * The library: TESELA_CBLAS, else the names below. Its number of threads is set to that of this process's
 * pool, in the whole process. A library without such a function uses its own number, and its name tells so.
 *
 * Limits: each operand has one unit stride; the other is positive and at least the length of the line; sizes
 * have 32 bits unless the library reports 64-bit integers. No equal bits from run to run. */
#include "core/status.h"
#include "strategy/gemm/peer/vendor_openblas/cblas_api.h"
#include "strategy/vendor.h"

#include <stdio.h>
#include <string.h>

static tsl_cblas_api cblas;
static int64_t size_max = INT32_MAX; /* maximum of the library's integers */

static const tsl_library_symbol symbols[] = {
#define SYMBOL(type, member, symbol, optional, parameters)                                                   \
  {#symbol, offsetof(tsl_cblas_api, member), optional},
    TSL_CBLAS_LIST(SYMBOL)
#undef SYMBOL
};
static const char *const names[] = {"libopenblas.so.0", "libblis.so.4",   "libblis.so.5",
                                    "libmkl_rt.so.3",   "libmkl_rt.so.2", NULL};

static bool is_openblas(void) {
  return cblas.openblas_config && cblas.openblas_threads;
}
static bool is_blis(void) {
  return cblas.blis_version && cblas.blis_threads;
}
static bool is_mkl(void) {
  return cblas.mkl_version && cblas.mkl_threads;
}

static void name_openblas(tsl_vendor *found) {
  const char *config = cblas.openblas_config(), *core = cblas.openblas_core ? cblas.openblas_core() : "";
  const size_t product = strcspn(config, " "),
               version = strcspn(config + product + (config[product] != 0), " ");
  snprintf(found->name, sizeof found->name, "%.*s%s%.20s", (int)(product + 1 + version), config,
           *core ? " " : "", core);
  size_max = strstr(config, "USE64BITINT") ? INT64_MAX : INT32_MAX;
}

static void name_blis(tsl_vendor *found) {
  const bool knows = cblas.blis_architecture && cblas.blis_architecture_name;
  const char *core = knows ? cblas.blis_architecture_name(cblas.blis_architecture()) : "";
  snprintf(found->name, sizeof found->name, "BLIS %.30s%s%.20s", cblas.blis_version(), *core ? " " : "",
           core);
  size_max = cblas.blis_integer_bits && cblas.blis_integer_bits() == 64 ? INT64_MAX : INT32_MAX;
}

static void name_mkl(tsl_vendor *found) {
  static const char before[] = "Version ";
  char text[200] = "";
  cblas.mkl_version(text, sizeof text - 1);
  const char *version = strstr(text, before);
  version = version ? version + strlen(before) : "";
  snprintf(found->name, sizeof found->name, "MKL %.*s", (int)strcspn(version, "- "), version);
}

static void vendor_openblas_name(tsl_vendor *found) {
  if (is_openblas())
    name_openblas(found);
  else if (is_blis())
    name_blis(found);
  else if (is_mkl())
    name_mkl(found);
  else
    snprintf(found->name, sizeof found->name, "a CBLAS of unknown make, with threads of its own choice");
}

static tsl_vendor_library library = {.what = "a CBLAS library",
                                     .path = TSL_ENV_CBLAS,
                                     .names = names,
                                     .symbols = symbols,
                                     .count = sizeof symbols / sizeof *symbols,
                                     .table = &cblas,
                                     .name = vendor_openblas_name};

static const tsl_vendor *vendor_openblas_vendor(void) {
  return tsl_vendor_find(&library);
}

static const char *vendor_openblas_refuse(const tsl_problem *problem, const tsl_config *config,
                                          const tsl_device *device) {
  (void)config;
  (void)device;
  return tsl_blas_refuse(problem, size_max);
}

static double vendor_openblas_score(const tsl_problem *problem, const tsl_config *config,
                                    const tsl_device *device) {
  (void)config;
  return tsl_vendor_seconds(problem, device, 0.7, 1e-6, 64);
}

/* Sets the threads before each run, since some builds of BLIS store the number per thread. */
static void set_threads(int threads) {
  if (is_openblas())
    cblas.openblas_threads(threads);
  else if (is_blis())
    cblas.blis_threads(threads);
  else if (is_mkl())
    cblas.mkl_threads(threads);
}

static tesela_status vendor_openblas_run(const tsl_work *work, const tsl_operands *operands,
                                         tsl_stream *stream) {
  (void)stream;
  tsl_blas_product p;
  TSL_TRY(tsl_blas_product_of(work, operands, &p));
  const int a_transpose = p.a_transposed ? TSL_CBLAS_TRANSPOSE : TSL_CBLAS_NO_TRANSPOSE;
  const int b_transpose = p.b_transposed ? TSL_CBLAS_TRANSPOSE : TSL_CBLAS_NO_TRANSPOSE;
  set_threads(tsl_team_threads(operands->team));
  if (work->problem.c.type == TESELA_F64)
    cblas.dgemm(TSL_CBLAS_COLUMN_MAJOR, a_transpose, b_transpose, p.m, p.n, p.k, p.alpha, p.a->host,
                p.a_leading, p.b->host, p.b_leading, p.beta, p.c->host, p.c_leading);
  else
    cblas.sgemm(TSL_CBLAS_COLUMN_MAJOR, a_transpose, b_transpose, p.m, p.n, p.k, (float)p.alpha, p.a->host,
                p.a_leading, p.b->host, p.b_leading, (float)p.beta, p.c->host, p.c_leading);
  return TESELA_OK;
}

const tsl_strategy tsl_gemm_vendor_openblas = {
    .name = "vendor_openblas",
    .idea = "the gemm of a CBLAS library: OpenBLAS, BLIS or MKL",
    .op = TSL_OP_GEMM,
    .version = 1,
    .needs = TSL_CAN_HOST,
    .accuracy = tsl_vendor_accuracy,
    .refuse = vendor_openblas_refuse,
    .score = vendor_openblas_score,
    .run = vendor_openblas_run,
    .vendor = {.load = vendor_openblas_vendor},
};
