/* Compares builds of tesela. Each build is a libtesela.so loaded by path. It is called only by functions of
 * the public header, with its own contexts, plans and threads. The program's own build is the same table,
 * filled by the linker. Used by the benchmarks and by tests/bits. */
#ifndef TSL_BENCH_BUILDS_H
#define TSL_BENCH_BUILDS_H

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <tesela/tesela.h>

/* Functions of a build: type, name after tesela_, suffix, arguments. X(type, name, suffix, arguments) */
#define BUILD_FUNCTIONS(X)                                                                                   \
  X(const char *, last_error, , (void))                                                                      \
  X(tesela_status, context_create, _sized,                                                                   \
    (const tesela_context_desc *desc, tesela_context **context, size_t desc_size))                           \
  X(void, context_destroy, , (tesela_context * context))                                                     \
  X(tesela_status, plan_create, _sized,                                                                      \
    (tesela_context * context, tesela_operation operation, const void *desc, tesela_plan **plan,             \
     size_t desc_size))                                                                                      \
  X(tesela_status, plan_parse, , (tesela_context * context, const char *text, tesela_plan **plan))           \
  X(void, plan_info, _sized, (const tesela_plan *plan, tesela_plan_info *info, size_t info_size))            \
  X(void, plan_destroy, , (tesela_plan * plan))                                                              \
  X(tesela_status, plan_run, _sized,                                                                         \
    (tesela_plan * plan, const tesela_operands *operands, tesela_record *record, size_t operands_size,       \
     size_t record_size))                                                                                    \
  X(tesela_status, pack, ,                                                                                   \
    (tesela_plan * plan, const tesela_matrix *a, const tesela_matrix *b, tesela_packed **packed))            \
  X(void, packed_destroy, , (tesela_packed * packed))                                                        \
  X(tesela_status, call, _sized,                                                                             \
    (tesela_context * context, tesela_operation operation, const void *desc, tesela_record *record,          \
     size_t desc_size, size_t record_size))                                                                  \
  X(tesela_status, gemm_batched, _sized,                                                                     \
    (tesela_context * context, const tesela_gemm_desc *desc, const tesela_batch *batch,                      \
     tesela_record *record, size_t desc_size, size_t batch_size, size_t record_size))

typedef struct build {
#define BUILD_MEMBER(type, name, end, arguments) type(*name) arguments;
  BUILD_FUNCTIONS(BUILD_MEMBER)
#undef BUILD_MEMBER
} build;

#define BUILD_LINKED(type, name, end, arguments) .name = tesela_##name##end,
static const build build_linked = {BUILD_FUNCTIONS(BUILD_LINKED)};
#undef BUILD_LINKED

/* Fills the table of functions. Returns NULL, or why the build cannot be compared. */
static inline const char *build_find(void *library, build *out) {
  if (dlsym(library, "tesela_gemm_sized"))
    return "has the interface before tesela_call_sized(): run its own benchmark by turns with this one";
#define BUILD_FIND(type, name, end, arguments)                                                               \
  if (!(*(void **)&out->name = dlsym(library, "tesela_" #name #end)))                                        \
    return "lacks tesela_" #name #end;
  BUILD_FUNCTIONS(BUILD_FIND)
#undef BUILD_FIND
  return NULL;
}

/* Opens a library whose symbols bind to itself, whatever was loaded before. Returns NULL on
 * failure; dlerror() has the reason. */
static inline void *build_open(const char *path) {
  return dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
}

#endif
