#include "lab/lab_strategy.h"

#include "core/status.h"
#include "device/jit_cache.h"
#include "strategy/kernel_launch/launch.h"
#include "strategy/params.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Entry of the shared object of a kernel in C: sizes, scalars and operands in the order of its arguments. */
typedef void lab_entry(const long long *sizes, const double *scalars, void *const *operands);

/* Hooks of a strategy get no pointer of its own, so this process has one kernel. */
static struct {
  const tsl_lab_kernel *kernel;
  lab_entry *entry;
  tsl_strategy strategy;
} current;

static int64_t groups_of(const tsl_lab_range *range) {
  return range->groups[0] * range->groups[1] * range->groups[2];
}

/* Returns NULL if the kernel takes the problem's scalars and layout, else the reason. */
static const char *lab_kernel_refuse(const tsl_lab_kernel *kernel, const tsl_problem *problem) {
  static const struct {
    tsl_lab_meaning meaning;
    const char *why;
  } leading[] = {{TSL_LAB_ARG_LDA, "takes no lda"},
                 {TSL_LAB_ARG_LDB, "takes no ldb"},
                 {TSL_LAB_ARG_LDC, "takes no ldc"}};
  if (problem->op != kernel->op || problem->batch || problem->in_place || problem->alpha[1] != 0 ||
      problem->beta[1] != 0)
    return "the kernel computes single products, dots or transposes of real numbers";
  if (problem->alpha[0] != 1 && !tsl_lab_takes(kernel, TSL_LAB_ARG_ALPHA))
    return "the kernel takes no alpha";
  if (problem->beta[0] != 0 && !tsl_lab_takes(kernel, TSL_LAB_ARG_BETA))
    return "the kernel takes no beta";
  for (int i = 0; i < TSL_OPERANDS && problem->op != TSL_OP_DOT; i++) {
    const tsl_shape *shape = tsl_problem_shape(problem, i);
    if (shape->rows == 0 || shape->cols == 0)
      continue;
    if (shape->col_stride != 1 || shape->row_stride < shape->cols)
      return "the kernel takes matrices that lie row by row";
    if (shape->row_stride != shape->cols && !tsl_lab_takes(kernel, leading[i].meaning))
      return tsl_refusal("the kernel %s", leading[i].why);
  }
  if (problem->op == TSL_OP_DOT && (problem->a.col_stride != 1 || problem->b.row_stride != 1))
    return "the kernel takes vectors without gaps";
  return NULL;
}

static const char *strategy_refuse(const tsl_problem *problem, const tsl_config *config,
                                   const tsl_device *device) {
  tsl_lab_range range;
  (void)config;
  const char *why = lab_kernel_refuse(current.kernel, problem);
  if (why || current.kernel->language == TSL_LAB_C)
    return why;
  if (tsl_lab_range_of(current.kernel, problem, &range) != TESELA_OK)
    return tsl_refusal("%s", tesela_last_error());
  const int64_t items = range.items[0] * range.items[1] * range.items[2];
  if (items > device->group_items_max)
    return tsl_refusal("a group of %lld x %lld x %lld items is more than the %d that %s takes",
                       (long long)range.items[0], (long long)range.items[1], (long long)range.items[2],
                       device->group_items_max, device->name);
  for (int d = 0; d < 3; d++)
    if (range.items[d] > device->group_size_max[d] || (uint64_t)range.groups[d] > device->group_count_max[d])
      return tsl_refusal("dimension %d has %lld groups of %lld items, more than %s takes", d,
                         (long long)range.groups[d], (long long)range.items[d], device->name);
  return NULL;
}

static double strategy_score(const tsl_problem *problem, const tsl_config *config, const tsl_device *device) {
  (void)config;
  (void)device;
  return (tsl_problem_flops(problem) + tsl_problem_bytes(problem)) * 1e-9;
}

static tsl_accuracy strategy_accuracy(const tsl_problem *problem, const tsl_config *config) {
  return tsl_accuracy_in_order(problem, config);
}

/* Bytes of the groups' sums of a dot. */
static uint64_t strategy_scratch(const tsl_problem *problem, const tsl_config *config,
                                 const tsl_device *device) {
  tsl_lab_range range;
  (void)config;
  (void)device;
  if (current.kernel->op != TSL_OP_DOT || current.kernel->language == TSL_LAB_C ||
      tsl_lab_range_of(current.kernel, problem, &range) != TESELA_OK)
    return 0;
  return (uint64_t)groups_of(&range) * tsl_type(problem->c.type)->size;
}

void tsl_lab_add_source(const tsl_lab_kernel *kernel, tsl_text *out) {
  const char *text = kernel->text, *mark = NULL, *at = text;
  if (kernel->language == TSL_LAB_CUDA && !strstr(text, "extern \"C\""))
    while ((at = strstr(at, "__global__")) != NULL) {
      const char *name = strstr(at, kernel->function), *brace = strchr(at, '{');
      mark = name && (!brace || name < brace) ? at : mark;
      at++;
    }
  tsl_text_add(out, "#line 1 \"%s\"\n", kernel->base);
  if (mark)
    tsl_text_add(out, "%.*sextern \"C\" %s", (int)(mark - text), text, mark);
  else
    tsl_text_add(out, "%s", text);
}

static tesela_status strategy_build(tsl_work *work) {
  const tsl_lab_kernel *kernel = current.kernel;
  tsl_text source = {0};
  tsl_module *module = NULL;
  tsl_kernel *found = NULL;
  double seconds = 0;
  tesela_status status;
  char name[64];
  if (kernel->language == TSL_LAB_C)
    return TESELA_OK;
  snprintf(name, sizeof name, "lab/%.56s", kernel->name);
  tsl_lab_add_source(kernel, &source);
  TSL_GO(tsl_text_status(&source));
  const tsl_build build = {
      .name = name, .text = tsl_text_get(&source), .options = "", .loaded_only = work->forbid_compile};
  TSL_GO(tsl_jit_module(work->device, &build, &module, &seconds));
  TSL_GO(work->device->ops->kernel_get(module, kernel->function, &found));
  work->build_seconds += seconds;
  work->source_count = 1;
  work->source_hash = kernel->hash;
  work->state = found;
out:
  tsl_text_free(&source);
  return status;
}

/* Arguments of one call, with the storage that their values need. */
typedef struct lab_values {
  tsl_argument arguments[TSL_LAB_ARGUMENTS_MAX];
  union {
    int32_t i32;
    int64_t i64;
    float f32;
    double f64;
    char *address;
  } values[TSL_LAB_ARGUMENTS_MAX];
} lab_values;

static const tsl_operand *operand_of(const tsl_operands *operands, tsl_lab_meaning meaning) {
  return meaning == TSL_LAB_ARG_A || meaning == TSL_LAB_ARG_X   ? &operands->a
         : meaning == TSL_LAB_ARG_B || meaning == TSL_LAB_ARG_Y ? &operands->b
                                                                : &operands->c;
}

/* Returns the problem of a run, whose operands may have other strides. */
static tsl_problem problem_of(const tsl_work *work, const tsl_operands *operands) {
  tsl_problem problem = work->problem;
  if (problem.op != TSL_OP_DOT) {
    problem.a.row_stride = operands->a.row_stride;
    problem.b.row_stride = operands->b.row_stride;
    problem.c.row_stride = operands->c.row_stride;
  }
  if (problem.alpha[0] == 0)
    problem.k = problem.op == TSL_OP_GEMM ? 0 : problem.k;
  return problem;
}

static double scalar_of(const tsl_problem *problem, tsl_lab_meaning meaning) {
  return meaning == TSL_LAB_ARG_BETA ? problem->beta[0] : problem->k == 0 ? 0 : problem->alpha[0];
}

static tesela_status set_operand(const tsl_work *work, const tsl_operands *operands, tsl_lab_meaning meaning,
                                 lab_values *values, int i) {
  const tsl_operand *operand = operand_of(operands, meaning);
  tsl_buffer *buffer = meaning == TSL_LAB_ARG_SUMS ? operands->scratch : operand->buffer;
  if (!buffer) { /* an operand without elements: any buffer will do */
    values->arguments[i] = TSL_ARG_BUFFER(operands->c.buffer);
    return TESELA_OK;
  }
  if (meaning == TSL_LAB_ARG_SUMS || operand->offset == 0) {
    values->arguments[i] = TSL_ARG_BUFFER(buffer);
    return TESELA_OK;
  }
  if (!(work->device->capabilities & TSL_CAN_CUDA))
    return tsl_fail(TESELA_UNSUPPORTED, "%s: the kernel takes operands at the start of a buffer",
                    work->device->name);
  values->values[i].address = (char *)work->device->ops->native_buffer(buffer) +
                              operand->offset * (int64_t)tsl_type(work->problem.c.type)->size;
  values->arguments[i] = TSL_ARG_VALUE(values->values[i].address);
  return TESELA_OK;
}

static tesela_status set_argument(const tsl_work *work, const tsl_problem *problem,
                                  const tsl_operands *operands, lab_values *values, int i) {
  const tsl_lab_argument *argument = &current.kernel->arguments[i];
  const size_t size = tsl_type(problem->c.type)->size;
  int64_t elements = 0;
  switch (tsl_lab_role_of(argument->meaning)) {
  case TSL_LAB_OPERAND:
    return set_operand(work, operands, argument->meaning, values, i);
  case TSL_LAB_LOCAL:
    TSL_TRY(tsl_lab_evaluate(current.kernel, argument->local, problem, &elements));
    values->arguments[i] = (tsl_argument){.bytes = (size_t)(elements > 0 ? elements : 1) * size};
    return TESELA_OK;
  case TSL_LAB_SCALAR:
    if (argument->bytes == 8)
      values->values[i].f64 = scalar_of(problem, argument->meaning);
    else
      values->values[i].f32 = (float)scalar_of(problem, argument->meaning);
    break;
  case TSL_LAB_SIZE:
    if (argument->bytes == 8)
      values->values[i].i64 = tsl_lab_size(problem, argument->meaning);
    else
      values->values[i].i32 = (int32_t)tsl_lab_size(problem, argument->meaning);
  }
  values->arguments[i] = (tsl_argument){.value = &values->values[i], .bytes = (size_t)argument->bytes};
  return TESELA_OK;
}

static double sum_of(tesela_type type, const void *sums, int64_t count) {
  double sum = 0;
  for (int64_t i = 0; i < count; i++)
    sum += type == TESELA_F64 ? ((const double *)sums)[i] : ((const float *)sums)[i];
  return sum;
}

/* Adds the groups' sums on the host, as the documents do, and stores the result. */
static tesela_status add_sums(const tsl_work *work, const tsl_operands *operands, int64_t count,
                              tsl_stream *stream) {
  const tesela_type type = work->problem.c.type;
  const size_t size = tsl_type(type)->size;
  void *sums = calloc((size_t)count, size);
  if (!sums)
    return tsl_fail(TESELA_OUT_OF_MEMORY, "no memory for the groups' sums");
  tesela_status status = tsl_device_read(stream, operands->scratch, 0, sums, (size_t)count * size);
  const double sum = sum_of(type, sums, count);
  const float narrow = (float)sum;
  free(sums);
  if (status == TESELA_OK)
    status = tsl_device_write(stream, operands->c.buffer, (size_t)operands->c.offset * size,
                              type == TESELA_F64 ? (const void *)&sum : (const void *)&narrow, size);
  return status;
}

static tesela_status strategy_launch(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream) {
  const tsl_problem problem = problem_of(work, operands);
  lab_values values;
  tsl_lab_range range;
  tsl_grid grid;
  TSL_TRY(tsl_lab_range_of(current.kernel, &problem, &range));
  for (int d = 0; d < 3; d++) {
    grid.groups[d] = (uint64_t)range.groups[d];
    grid.items[d] = (int)range.items[d];
  }
  for (int i = 0; i < current.kernel->argument_count; i++)
    TSL_TRY(set_argument(work, &problem, operands, &values, i));
  TSL_TRY(work->device->ops->launch(stream, work->state, &grid, values.arguments,
                                    current.kernel->argument_count));
  return problem.op == TSL_OP_DOT ? add_sums(work, operands, groups_of(&range), stream) : TESELA_OK;
}

static tesela_status strategy_call(const tsl_work *work, const tsl_operands *operands) {
  const tsl_problem problem = problem_of(work, operands);
  long long sizes[TSL_LAB_ARGUMENTS_MAX];
  double scalars[TSL_LAB_ARGUMENTS_MAX];
  void *pointers[TSL_LAB_ARGUMENTS_MAX];
  for (int i = 0; i < current.kernel->argument_count; i++) {
    const tsl_lab_meaning meaning = current.kernel->arguments[i].meaning;
    sizes[i] = tsl_lab_size(&problem, meaning);
    scalars[i] = scalar_of(&problem, meaning);
    pointers[i] = operand_of(operands, meaning)->host;
  }
  current.entry(sizes, scalars, pointers);
  return TESELA_OK;
}

static tesela_status strategy_run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream) {
  return current.kernel->language == TSL_LAB_C ? strategy_call(work, operands)
                                               : strategy_launch(work, operands, stream);
}

tesela_status tsl_lab_strategy_make(const tsl_lab_kernel *kernel, const char *library,
                                    const tsl_strategy **strategy) {
  static const unsigned needs[] = {[TSL_LAB_OPENCL] = TSL_CAN_KERNELS | TSL_CAN_OPENCL,
                                   [TSL_LAB_CUDA] = TSL_CAN_KERNELS | TSL_CAN_CUDA,
                                   [TSL_LAB_C] = TSL_CAN_HOST};
  current.kernel = kernel;
  current.strategy = (tsl_strategy){.name = kernel->name,
                                    .idea = "a kernel of one's own",
                                    .op = kernel->op,
                                    .version = 1,
                                    .needs = needs[kernel->language],
                                    .accuracy = strategy_accuracy,
                                    .refuse = strategy_refuse,
                                    .score = strategy_score,
                                    .build = strategy_build,
                                    .run = strategy_run,
                                    .resources = {.scratch = strategy_scratch}};
  *strategy = &current.strategy;
  if (!library)
    return TESELA_OK;
  void *const object = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  void *const found = object ? dlsym(object, "tsl_lab_entry") : NULL;
  if (!found)
    return tsl_fail(TESELA_BUILD_FAILED, "%s: %s", kernel->file, dlerror());
  memcpy(&current.entry, &found, sizeof found);
  return TESELA_OK;
}
