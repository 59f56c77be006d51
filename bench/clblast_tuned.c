/* clblast_tuned: a library that loads CLBlast and sets the parameters that CLBlast's own tuner found. A
 * packaged CLBlast accepts such parameters only at run time. For tesela the library is a CLBlast:
 *
 *   clblast_tuner_xgemm -precision 32        writes "best_parameters" to clblast_xgemm_*_32.json
 *   CLBLAST_PARAMETERS="Xgemm GEMMK=0 KREG=1 ...; Copy COPY_DIMX=8 ..."
 *                                            kernels with their parameters, separated by semicolons
 *   TESELA_CLBLAST=build/release/lib/libclblast_tuned.so
 *     tesela explore --peers --devices opencl:0 --sizes 1024,2048
 *
 * CLBLAST_LIBRARY is the CLBlast to load (libclblast.so.1). Parameters are set before the first product of
 * each precision. If CLBlast refuses them the program ends, since other parameters would be measured as
 * tuned. */
#include "strategy/gemm/peer/vendor_clblast/clblast_api.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PARAMETERS_MAX = 64, SINGLE = 32, DOUBLE = 64, QUEUE_DEVICE = 0x1091 };

typedef int override_call(void *device, const char *kernel, int precision, size_t count, const char **names,
                          const size_t *values);
typedef int queue_call(void *queue, unsigned what, size_t bytes, void *value, size_t *got);

static tsl_clblast_api clblast;
static override_call *override;
static queue_call *queue_info;

static _Noreturn void stop(const char *what, const char *why) {
  fprintf(stderr, "clblast_tuned: %s: %s\n", what, why);
  exit(1);
}

static void *open_library(const char *name) {
  void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!library)
    stop(name, dlerror());
  return library;
}

/* Stores a symbol's address in a function pointer. ISO C has no such conversion; POSIX guarantees
 * equal representations. */
static void find(void *library, const char *symbol, void *function) {
  void *address = dlsym(library, symbol);
  if (!address)
    stop(symbol, dlerror());
  memcpy(function, &address, sizeof address);
}

/* Passes one kernel's parameters, such as "Xgemm GEMMK=0 KREG=1", to CLBlast. Modifies the text. */
static void give(char *text, void *device, int precision) {
  const char *names[PARAMETERS_MAX];
  size_t values[PARAMETERS_MAX], count = 0;
  char *rest = NULL, *kernel = strtok_r(text, " \n", &rest), why[32];
  for (char *word; kernel && (word = strtok_r(NULL, " \n", &rest)) != NULL && count < PARAMETERS_MAX;
       count++) {
    char *value = strchr(word, '=');
    if (!value)
      stop(word, "not NAME=VALUE");
    *value = '\0';
    names[count] = word;
    values[count] = strtoul(value + 1, NULL, 10);
  }
  const int code = kernel ? override(device, kernel, precision, count, names, values) : 0;
  snprintf(why, sizeof why, "CLBlast's error %d", code);
  if (code != 0)
    stop(kernel, why);
  if (kernel)
    fprintf(stderr, "clblast_tuned: %s has %zu parameters\n", kernel, count);
}

static void prepare(void *queue, int precision) {
  const char *parameters = getenv("CLBLAST_PARAMETERS"), *path = getenv("CLBLAST_LIBRARY");
  void *device;
  if (!clblast.sgemm) {
    void *library = open_library(path ? path : "libclblast.so.1");
#define FIND(member, symbol, types) find(library, #symbol, &clblast.member);
    TSL_CLBLAST_LIST(FIND)
#undef FIND
    find(library, "CLBlastOverrideParameters", &override);
    find(open_library("libOpenCL.so.1"), "clGetCommandQueueInfo", &queue_info);
  }
  if (!parameters || !*parameters)
    stop("CLBLAST_PARAMETERS", "is not set");
  if (queue_info(queue, QUEUE_DEVICE, sizeof device, &device, NULL) != 0)
    stop("the queue", "has no device");
  char *copy = strdup(parameters), *rest = NULL;
  for (char *kernel = strtok_r(copy, ";", &rest); kernel; kernel = strtok_r(NULL, ";", &rest))
    give(kernel, device, precision);
  free(copy);
}

int CLBlastSgemm(int layout, int a_transpose, int b_transpose, size_t m, size_t n, size_t k, float alpha,
                 void *a, size_t a_offset, size_t a_leading, void *b, size_t b_offset, size_t b_leading,
                 float beta, void *c, size_t c_offset, size_t c_leading, void **queue, void **event);
int CLBlastDgemm(int layout, int a_transpose, int b_transpose, size_t m, size_t n, size_t k, double alpha,
                 void *a, size_t a_offset, size_t a_leading, void *b, size_t b_offset, size_t b_leading,
                 double beta, void *c, size_t c_offset, size_t c_leading, void **queue, void **event);

int CLBlastSgemm(int layout, int a_transpose, int b_transpose, size_t m, size_t n, size_t k, float alpha,
                 void *a, size_t a_offset, size_t a_leading, void *b, size_t b_offset, size_t b_leading,
                 float beta, void *c, size_t c_offset, size_t c_leading, void **queue, void **event) {
  static int prepared;
  if (!prepared++)
    prepare(*queue, SINGLE);
  return clblast.sgemm(layout, a_transpose, b_transpose, m, n, k, alpha, a, a_offset, a_leading, b, b_offset,
                       b_leading, beta, c, c_offset, c_leading, queue, event);
}

int CLBlastDgemm(int layout, int a_transpose, int b_transpose, size_t m, size_t n, size_t k, double alpha,
                 void *a, size_t a_offset, size_t a_leading, void *b, size_t b_offset, size_t b_leading,
                 double beta, void *c, size_t c_offset, size_t c_leading, void **queue, void **event) {
  static int prepared;
  if (!prepared++)
    prepare(*queue, DOUBLE);
  return clblast.dgemm(layout, a_transpose, b_transpose, m, n, k, alpha, a, a_offset, a_leading, b, b_offset,
                       b_leading, beta, c, c_offset, c_leading, queue, event);
}
