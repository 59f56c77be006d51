#include "peers.h"

#include <sched.h>

/* --- the environment --- */

void bench_warn(void) {
  static const char *const variables[] = {"OPENBLAS_CORETYPE",  "OPENBLAS_L2_SIZE", "OPENBLAS_BLOCK_FACTOR",
                                          "BLIS_ARCH_TYPE",     "BLIS_MODEL_TYPE",  "MKL_ENABLE_INSTRUCTIONS",
                                          "MKL_DEBUG_CPU_TYPE", "MKL_CBWR",         "ONEDNN_MAX_CPU_ISA",
                                          "DNNL_MAX_CPU_ISA",   "TESELA_ISA"};
  for (int i = 0; i < COUNT_OF(variables); i++) {
    const char *value = getenv(variables[i]);
    if (value && *value)
      fprintf(stderr, "warning: %s=%s is set, which changes the measurement: env -u %s\n", variables[i],
              value, variables[i]);
  }
}

void bench_set_threads(int threads) {
  static const char *const names[] = {"OPENBLAS_NUM_THREADS", "BLIS_NUM_THREADS", "MKL_NUM_THREADS",
                                      "OMP_NUM_THREADS", "TESELA_THREADS"};
  char text[16];
  snprintf(text, sizeof text, "%d", threads);
  for (int i = 0; i < COUNT_OF(names); i++)
    setenv(names[i], text, 1);
  setenv("MKL_DYNAMIC", "FALSE", 1);
}

void bench_pin(int threads) {
  cpu_set_t allowed, chosen;
  int taken = 0;
  CPU_ZERO(&chosen);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
    bench_stop("sched_getaffinity", "failed");
  for (int i = 0; i < CPU_SETSIZE && taken < threads; i++)
    if (CPU_ISSET(i, &allowed)) {
      CPU_SET(i, &chosen);
      taken++;
    }
  if (taken < threads || sched_setaffinity(0, sizeof chosen, &chosen) != 0)
    bench_stop("--threads", "there are not so many processors");
}

/* --- what libraries report --- */

typedef union peer_function {
  void *symbol;
  const char *(*text)(void);
  void (*fill)(char *buffer, int size);
  int (*number)(void);
  const char *(*name_of)(int number);
  const int *(*numbers)(void);
} peer_function;

static peer_function find_one(void *library, const char *const *names) {
  peer_function found = {NULL};
  for (; *names && !found.symbol; names++)
    found.symbol = dlsym(library, *names);
  return found;
}

/* Writes version and kernels, such as "OpenBLAS 0.3.34 ... kernels SkylakeX". A library that uses kernels for
 * another processor is no fair peer. */
static void describe(void *library, char *out, size_t size) {
  static const char *const versions[] = {"openblas_get_config",       "openblas_get_config64_",
                                         "scipy_openblas_get_config", "scipy_openblas_get_config64_",
                                         "bli_info_get_version_str",  NULL};
  static const char *const cores[] = {"openblas_get_corename", "openblas_get_corename64_",
                                      "scipy_openblas_get_corename", "scipy_openblas_get_corename64_", NULL};
  static const char *const filled[] = {"mkl_get_version_string", "MKL_Get_Version_String", NULL};
  static const char *const ids[] = {"bli_arch_query_id", NULL}, *const id_names[] = {"bli_arch_string", NULL};
  static const char *const isas[] = {"dnnl_get_effective_cpu_isa", NULL}, *const dnnl[] = {"dnnl_version",
                                                                                           NULL};
  const peer_function version = find_one(library, versions), core = find_one(library, cores),
                      fill = find_one(library, filled), id = find_one(library, ids),
                      id_name = find_one(library, id_names), isa = find_one(library, isas),
                      numbers = find_one(library, dnnl);
  out[0] = '\0';
  if (fill.symbol) {
    fill.fill(out, (int)size - 1);
    char *padding = strstr(out, "  "); /* MKL pads its text */
    if (padding)
      *padding = '\0';
  }
  if (version.symbol)
    snprintf(out, size, "%s", version.text());
  if (numbers.symbol) /* a struct that starts with three version numbers */
    snprintf(out, size, "oneDNN %d.%d.%d", numbers.numbers()[0], numbers.numbers()[1], numbers.numbers()[2]);
  const size_t used = strlen(out);
  if (core.symbol)
    snprintf(out + used, size - used, ", kernels %s", core.text());
  else if (id.symbol && id_name.symbol)
    snprintf(out + used, size - used, ", kernels %s", id_name.name_of(id.number()));
  else if (isa.symbol)
    snprintf(out + used, size - used, ", instructions 0x%x", (unsigned)isa.number());
}

/* --- loading --- */

void *bench_symbol(const bench_library *library, const char *name) {
  static const char *const prefixes[] = {"cblas_", "scipy_cblas_", "", "scipy_"};
  const bool is_fortran = name[strlen(name) - 1] == '_';
  void *found = NULL;
  for (int i = is_fortran ? 2 : 0; i < COUNT_OF(prefixes) && !found; i++) {
    char full[64];
    snprintf(full, sizeof full, "%s%s", prefixes[i], name);
    found = dlsym(library->handle, full);
  }
  return found;
}

bool bench_has_cblas(const bench_library *library) {
  return library->sgemm && library->dgemm && library->cgemm && library->zgemm;
}

void bench_build_must(const bench_library *library, tesela_status status) {
  if (status != TESELA_OK)
    bench_stop(library->name, library->tesela.last_error());
}

/* Fills the table of functions and makes a context. */
static void begin_build(int threads, bench_library *library) {
  library->tesela = build_linked;
  const char *lacks = library->handle ? build_find(library->handle, &library->tesela) : NULL;
  if (lacks)
    bench_stop(library->name, lacks);
  bench_build_must(library,
                   library->tesela.context_create(&(tesela_context_desc){.device = "cpu", .threads = threads},
                                                  &library->context, sizeof(tesela_context_desc)));
}

static void load(const char *path, bench_library *library) {
  library->handle = build_open(path);
  if (!library->handle)
    bench_stop(path, dlerror());
}

void bench_build_open(const char *name, const char *path, int threads, bench_library *out) {
  *out = (bench_library){.name = name};
  if (path)
    load(path, out);
  if (path)
    printf("%s: %s\n", name, path);
  begin_build(threads, out);
}

void bench_library_open(char *word, int threads, bench_library *out) {
  char *path = strchr(word, '=');
  *out = (bench_library){.name = path ? word : "drop-in"};
  if (path)
    *path++ = '\0';
  load(path ? path : word, out);
  if (dlsym(out->handle, "tesela_plan_create_sized")) {
    snprintf(out->version, sizeof out->version, "tesela, %s", path ? path : word);
    begin_build(threads, out);
  } else {
    describe(out->handle, out->version, sizeof out->version);
    *(void **)&out->sgemm = bench_symbol(out, "sgemm");
    *(void **)&out->dgemm = bench_symbol(out, "dgemm");
    *(void **)&out->cgemm = bench_symbol(out, "cgemm");
    *(void **)&out->zgemm = bench_symbol(out, "zgemm");
  }
  if (out->version[0])
    printf("%s: %s\n", out->name, out->version);
}

const char *bench_plan_text(const bench_library *library, const tesela_plan *plan) {
  tesela_plan_info info;
  library->tesela.plan_info(plan, &info, sizeof info);
  return info.text;
}

void bench_library_close(bench_library *library) {
  if (library->context)
    library->tesela.context_destroy(library->context);
}

void bench_cblas(const bench_library *library, char letter, const char *layout, const int64_t size[3],
                 const void *a, const void *b, void *c) {
  static const float one_f32[2] = {1}, zero_f32[2];
  static const double one_f64[2] = {1}, zero_f64[2];
  const int m = (int)size[0], n = (int)size[1], k = (int)size[2],
            trans_a = layout[0] == 'T' ? CBLAS_TRANS : CBLAS_NO_TRANS,
            trans_b = layout[1] == 'T' ? CBLAS_TRANS : CBLAS_NO_TRANS, lda = layout[0] == 'T' ? m : k,
            ldb = layout[1] == 'T' ? k : n;
  if (letter == 's')
    library->sgemm(CBLAS_ROW_MAJOR, trans_a, trans_b, m, n, k, 1, a, lda, b, ldb, 0, c, n);
  else if (letter == 'd')
    library->dgemm(CBLAS_ROW_MAJOR, trans_a, trans_b, m, n, k, 1, a, lda, b, ldb, 0, c, n);
  else if (letter == 'c')
    library->cgemm(CBLAS_ROW_MAJOR, trans_a, trans_b, m, n, k, one_f32, a, lda, b, ldb, zero_f32, c, n);
  else
    library->zgemm(CBLAS_ROW_MAJOR, trans_a, trans_b, m, n, k, one_f64, a, lda, b, ldb, zero_f64, c, n);
}
