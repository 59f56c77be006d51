/* libtesela_cublas.so: tesela under the names of cuBLAS, in front of the program's own cuBLAS.
 *
 *   entries/          one exported function per name; fills cublas_call.h
 *   cublas_lt         reads cublasLt's descriptions into cublas_call.h
 *   cublas_take       chooses the library for a call, and queues tesela's products
 *   cublas_problem    checks a call, and makes the key of its kind
 *   cublas_describe   describes a kind and its operands to tesela
 *   cublas_kinds      kinds of calls: a table of each thread, and what was decided of a kind
 *   cublas_race       compares tesela's plan with cuBLAS on the program's own calls
 *   cublas_race_rule  decides by the times which one is faster for the program
 *   cublas_queue      streams, workspaces and plans on the devices
 *   cublas_workspace  workspaces that the program sets
 *   cublas_thread     state of each thread
 *   cublas_route      request of TESELA_CUBLAS_CALLS
 *   cublas_counts     log of TESELA_LOG=calls
 *   cublas_functions  functions of the program's cuBLAS and of CUDA's driver
 *   dlsym_names       the same names for programs that look functions up at run time
 *
 * An entry calls tsl_cublas_take(), which returns NULL if the product is queued, else the program's function
 * for the entry to call. */
#ifndef TSL_CUBLAS_CUBLAS_SYMBOL_H
#define TSL_CUBLAS_CUBLAS_SYMBOL_H

#include "interpose/next_symbol.h"

/* Exported name: a static variable of its entry. */
typedef struct tsl_cublas_symbol {
  const char *name; /* "cublasSgemm_v2" */
  tsl_lazy_symbol next;
  atomic_ulong calls[2]; /* calls by cuBLAS and by tesela, if calls are logged */
  atomic_bool is_listed;
  struct tsl_cublas_symbol *older;
} tsl_cublas_symbol;

#endif
