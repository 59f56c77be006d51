/* Versions and kernels that compared libraries report. A library that uses kernels for another processor is
 * no fair peer. */
#ifndef TSL_BENCH_PEERS_H
#define TSL_BENCH_PEERS_H

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef union peer_function {
  void *symbol;
  const char *(*text)(void);
  void (*fill)(char *buffer, int size);
  int (*number)(void);
  const char *(*name_of)(int number);
} peer_function;

static peer_function peer_find(void *library, const char *const *names) {
  peer_function found = {NULL};
  for (; *names && !found.symbol; names++)
    found.symbol = dlsym(library, *names);
  return found;
}

/* Writes version and kernels of a library, such as "OpenBLAS 0.3.34 ... kernels SkylakeX"; "" if
 * the program cannot ask it. */
static void peer_says(void *library, char *out, size_t size) {
  static const char *const versions[] = {"openblas_get_config",       "openblas_get_config64_",
                                         "scipy_openblas_get_config", "scipy_openblas_get_config64_",
                                         "bli_info_get_version_str",  NULL};
  static const char *const cores[] = {"openblas_get_corename", "openblas_get_corename64_",
                                      "scipy_openblas_get_corename", "scipy_openblas_get_corename64_", NULL};
  static const char *const filled[] = {"mkl_get_version_string", "MKL_Get_Version_String", NULL};
  static const char *const ids[] = {"bli_arch_query_id", NULL}, *const id_names[] = {"bli_arch_string", NULL};
  static const char *const isas[] = {"dnnl_get_effective_cpu_isa", NULL};
  const peer_function version = peer_find(library, versions), core = peer_find(library, cores),
                      fill = peer_find(library, filled), id = peer_find(library, ids),
                      id_name = peer_find(library, id_names), isa = peer_find(library, isas);
  out[0] = '\0';
  if (fill.symbol)
    fill.fill(out, (int)size - 1); /* MKL's text names its instruction set */
  if (version.symbol)
    snprintf(out, size, "%s", version.text());
  const size_t used = strlen(out);
  if (core.symbol)
    snprintf(out + used, size - used, ", kernels %s", core.text());
  else if (id.symbol && id_name.symbol)
    snprintf(out + used, size - used, ", kernels %s", id_name.name_of(id.number()));
  else if (isa.symbol)
    snprintf(out + used, size - used, "instructions 0x%x", (unsigned)isa.number());
}

/* Prints a line for each set variable that makes a library, or tesela, use other kernels than it
 * would choose; some halve the rate. */
static void peers_warn(void) {
  static const char *const variables[] = {"OPENBLAS_CORETYPE",  "OPENBLAS_L2_SIZE", "OPENBLAS_BLOCK_FACTOR",
                                          "BLIS_ARCH_TYPE",     "BLIS_MODEL_TYPE",  "MKL_ENABLE_INSTRUCTIONS",
                                          "MKL_DEBUG_CPU_TYPE", "MKL_CBWR",         "ONEDNN_MAX_CPU_ISA",
                                          "DNNL_MAX_CPU_ISA",   "TESELA_ISA"};
  for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
    const char *value = getenv(variables[i]);
    if (value && *value)
      fprintf(stderr, "warning: %s=%s is set, which changes the measurement: env -u %s\n", variables[i],
              value, variables[i]);
  }
}

#endif
