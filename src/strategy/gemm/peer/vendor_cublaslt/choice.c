#include "strategy/gemm/peer/vendor_cublaslt/choice.h"

#include "core/clock.h"
#include "core/memory.h"
#include "core/status.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>

/* Maximum number of timed algorithms; counted runs of each; seconds after which no further one is timed. */
enum { PROPOSALS = 16, RUNS = 3 };
static const double timing_seconds = 1;

bool tsl_lt_choice_fits(const tsl_lt_choice *choice, const tsl_blas_product *product) {
  const tsl_blas_product *chosen = &choice->product;
  return choice->steps[0] == product->a->batch_step && choice->steps[1] == product->b->batch_step &&
         choice->steps[2] == product->c->batch_step && chosen->m == product->m && chosen->n == product->n &&
         chosen->k == product->k && chosen->a_transposed == product->a_transposed &&
         chosen->b_transposed == product->b_transposed && chosen->a_leading == product->a_leading &&
         chosen->b_leading == product->b_leading && chosen->c_leading == product->c_leading;
}

typedef struct choice_number {
  tesela_type type;
  int number, compute; /* cuBLASLt's numbers of the type, and of sums in it; 0: no sums */
} choice_number;

static const choice_number *choice_number_of(tesela_type type) {
  static const choice_number numbers[] = {{TESELA_F32, TSL_LT_REAL_F32, TSL_LT_COMPUTE_F32},
                                          {TESELA_F64, TSL_LT_REAL_F64, TSL_LT_COMPUTE_F64},
                                          {TESELA_C64, TSL_LT_COMPLEX_F32, TSL_LT_COMPUTE_F32},
                                          {TESELA_C128, TSL_LT_COMPLEX_F64, TSL_LT_COMPUTE_F64},
                                          {TESELA_I32, TSL_LT_INTEGER_32, TSL_LT_COMPUTE_I32},
                                          {TESELA_I8, TSL_LT_INTEGER_8, 0},
                                          {TESELA_F16, TSL_LT_REAL_F16, 0},
                                          {TESELA_BF16, TSL_LT_REAL_BF16, 0},
                                          {TESELA_E4M3, TSL_LT_REAL_E4M3, 0}};
  size_t i = 0;
  while (numbers[i].type != type)
    i++;
  return &numbers[i];
}

static tesela_type choice_sums_of(const tsl_work *work) {
  return tsl_type(work->problem.c.type)->sums;
}

typedef union scalar {
  double f64[2];
  float f32[2];
  int32_t i32;
} scalar;

static scalar choice_scalar_of(tesela_type type, const double value[2]) {
  const tsl_type_info *info = tsl_type(type);
  return info->is_integer                ? (scalar){.i32 = (int32_t)value[0]}
         : info->component == TESELA_F64 ? (scalar){.f64 = {value[0], value[1]}}
                                         : (scalar){.f32 = {(float)value[0], (float)value[1]}};
}

int tsl_lt_multiply(const tsl_work *work, tsl_lt_handle handle, const tsl_lt_choice *choice,
                    const tsl_lt_answer *answer, const tsl_lt_addresses *addresses, tsl_stream *stream) {
  const scalar alpha = choice_scalar_of(choice_sums_of(work), work->problem.alpha),
               beta = choice_scalar_of(choice_sums_of(work), work->problem.beta);
  return tsl_lt.matmul(handle, choice->operation, &alpha, addresses->a, choice->a, addresses->b, choice->b,
                       &beta, addresses->c, choice->c, addresses->c, choice->c, &answer->algorithm,
                       answer->workspace > 0 ? addresses->workspace : NULL, answer->workspace,
                       work->device->ops->native_stream(stream));
}

/* Creates the layout of a stored column-major matrix; for a transpose rows and columns are exchanged. */
static int make_layout(tesela_type type, bool transposed, int64_t rows, int64_t cols, int64_t leading,
                       int64_t count, int64_t step, tsl_lt_layout *layout) {
  const int32_t matrices = (int32_t)count;
  int code =
      tsl_lt.layout_create(layout, choice_number_of(type)->number, (uint64_t)(transposed ? cols : rows),
                           (uint64_t)(transposed ? rows : cols), leading);
  if (code == TSL_CUBLAS_SUCCESS && count > 1)
    code = tsl_lt.layout_set(*layout, TSL_LT_BATCH_COUNT, &matrices, sizeof matrices);
  if (code == TSL_CUBLAS_SUCCESS && count > 1)
    code = tsl_lt.layout_set(*layout, TSL_LT_BATCH_STEP, &step, sizeof step);
  return code;
}

static tesela_status choice_describe(const tsl_work *work, tsl_lt_choice *choice) {
  const tsl_blas_product *p = &choice->product;
  const tsl_device *device = work->device;
  const tesela_type sums = choice_sums_of(work), factors = work->problem.a.type;
  const int32_t a_transpose = p->a_transposed, b_transpose = p->b_transposed;
  TSL_TRY(tsl_lt_check(device, "cublasLtMatmulDescCreate",
                       tsl_lt.operation_create(&choice->operation,
                                               tsl_lt_takes_tf32(&work->problem)
                                                   ? TSL_LT_COMPUTE_TF32
                                                   : choice_number_of(sums)->compute,
                                               choice_number_of(sums)->number)));
  TSL_TRY(tsl_lt_check(
      device, "cublasLtMatmulDescSetAttribute",
      tsl_lt.operation_set(choice->operation, TSL_LT_A_TRANSPOSE, &a_transpose, sizeof a_transpose)));
  TSL_TRY(tsl_lt_check(
      device, "cublasLtMatmulDescSetAttribute",
      tsl_lt.operation_set(choice->operation, TSL_LT_B_TRANSPOSE, &b_transpose, sizeof b_transpose)));
  const int64_t count = tsl_problem_batch(&work->problem), *steps = choice->steps;
  int code = make_layout(factors, p->a_transposed, p->m, p->k, p->a_leading, count, steps[0], &choice->a);
  if (code == TSL_CUBLAS_SUCCESS)
    code = make_layout(factors, p->b_transposed, p->k, p->n, p->b_leading, count, steps[1], &choice->b);
  if (code == TSL_CUBLAS_SUCCESS)
    code = make_layout(work->problem.c.type, false, p->m, p->n, p->c_leading, count, steps[2], &choice->c);
  return tsl_lt_check(device, "cublasLtMatrixLayoutCreate", code);
}

void tsl_lt_choice_free(tsl_lt_choice *choice) {
  const tsl_lt_layout layouts[] = {choice->a, choice->b, choice->c};
  for (int i = 0; i < 3; i++)
    if (layouts[i])
      tsl_lt.layout_destroy(layouts[i]);
  if (choice->operation)
    tsl_lt.operation_destroy(choice->operation);
  tsl_free(choice);
}

static int set_preference(const tsl_work *work, tsl_lt_preference preference, uint64_t workspace,
                          uint32_t alignment) {
  const bool is_wide = work->problem.c.type == choice_sums_of(work);
  const uint32_t reductions = TSL_LT_REDUCTIONS_PRECISE | (is_wide ? TSL_LT_REDUCTIONS_IN_C : 0);
  int code = tsl_lt.preference_set(preference, TSL_LT_WORKSPACE_MAX, &workspace, sizeof workspace);
  if (code == TSL_CUBLAS_SUCCESS)
    code = tsl_lt.preference_set(preference, TSL_LT_REDUCTIONS, &reductions, sizeof reductions);
  const uint64_t made_by = ~TSL_LT_BY_THREE_PRODUCTS;
  if (code == TSL_CUBLAS_SUCCESS && tsl_type(work->problem.c.type)->is_complex)
    code = tsl_lt.preference_set(preference, TSL_LT_MADE_BY, &made_by, sizeof made_by);
  for (int i = TSL_LT_ALIGNMENT_OF_A; i <= TSL_LT_ALIGNMENT_OF_D && code == TSL_CUBLAS_SUCCESS; i++)
    code = tsl_lt.preference_set(preference, i, &alignment, sizeof alignment);
  return code;
}

/* Asks for at most `most` proposals; fails if there is none. */
static tesela_status choice_propose(const tsl_work *work, tsl_lt_handle handle, const tsl_lt_choice *choice,
                                    uint64_t workspace, uint32_t alignment, int most, tsl_lt_answer *answers,
                                    int *count) {
  tsl_lt_preference preference;
  *count = 0;
  TSL_TRY(
      tsl_lt_check(work->device, "cublasLtMatmulPreferenceCreate", tsl_lt.preference_create(&preference)));
  int code = set_preference(work, preference, workspace, alignment);
  if (code == TSL_CUBLAS_SUCCESS)
    code = tsl_lt.heuristic(handle, choice->operation, choice->a, choice->b, choice->c, choice->c, preference,
                            most, answers, count);
  tsl_lt.preference_destroy(preference);
  if (code == TSL_CUBLAS_SUCCESS && (*count == 0 || answers[0].state != TSL_CUBLAS_SUCCESS))
    code = TSL_CUBLAS_NOT_SUPPORTED;
  return tsl_lt_check(work->device, "cublasLtMatmulAlgoGetHeuristic", code);
}

enum { A, B, C, WORKSPACE, BUFFERS };

typedef struct choice_bench {
  const tsl_work *work;
  tsl_lt_handle handle;
  const tsl_lt_choice *choice;
  tsl_buffer *buffers[BUFFERS];
  tsl_stream *stream;
  tsl_event *begin, *end;
  tsl_lt_addresses addresses;
} choice_bench;

/* Fills the operands with numbers other than zero, since zeros would let the device run faster. */
static tesela_status choice_fill(choice_bench *self) {
  const tsl_device_ops *ops = self->work->device->ops;
  for (int i = 0; i < WORKSPACE; i++)
    TSL_TRY(ops->fill(self->stream, self->buffers[i], 0, 0x3c, self->buffers[i]->bytes));
  return TESELA_OK;
}

static tesela_status bench_make(choice_bench *self, uint64_t workspace) {
  const tsl_blas_product *p = &self->choice->product;
  tsl_device *device = self->work->device;
  const int64_t size = (int64_t)tsl_type(self->work->problem.a.type)->size,
                c_size = (int64_t)tsl_type(self->work->problem.c.type)->size;
  const int64_t others = tsl_problem_batch(&self->work->problem) - 1, *steps = self->choice->steps;
  const size_t bytes[BUFFERS] = {
      (size_t)((others * steps[0] + p->a_leading * (p->a_transposed ? p->m : p->k)) * size),
      (size_t)((others * steps[1] + p->b_leading * (p->b_transposed ? p->k : p->n)) * size),
      (size_t)((others * steps[2] + p->c_leading * p->n) * c_size), (size_t)workspace};
  for (int i = 0; i < BUFFERS; i++)
    TSL_TRY(device->ops->buffer_create(device, bytes[i], &self->buffers[i]));
  TSL_TRY(device->ops->stream_create(device, &self->stream));
  TSL_TRY(device->ops->event_create(device, &self->begin));
  TSL_TRY(device->ops->event_create(device, &self->end));
  self->addresses = (tsl_lt_addresses){
      device->ops->native_buffer(self->buffers[A]), device->ops->native_buffer(self->buffers[B]),
      device->ops->native_buffer(self->buffers[C]), device->ops->native_buffer(self->buffers[WORKSPACE])};
  return choice_fill(self);
}

static void bench_free(choice_bench *self) {
  const tsl_device_ops *ops = self->work->device->ops;
  if (self->stream)
    ops->stream_destroy(self->stream);
  if (self->begin)
    ops->event_destroy(self->begin);
  if (self->end)
    ops->event_destroy(self->end);
  for (int i = 0; i < BUFFERS; i++)
    if (self->buffers[i])
      ops->buffer_destroy(self->buffers[i]);
}

/* Times an algorithm: the fastest of RUNS runs, after a warm-up. A proposal that fails gets infinity. */
static tesela_status time_answer(choice_bench *self, const tsl_lt_answer *answer, double *seconds) {
  const tsl_device_ops *ops = self->work->device->ops;
  *seconds = INFINITY;
  for (int i = 0; i <= RUNS; i++) {
    double elapsed;
    TSL_TRY(ops->event_record(self->stream, self->begin));
    if (tsl_lt_multiply(self->work, self->handle, self->choice, answer, &self->addresses, self->stream) !=
        TSL_CUBLAS_SUCCESS)
      return TESELA_OK;
    TSL_TRY(ops->event_record(self->stream, self->end));
    TSL_TRY(ops->event_seconds(self->begin, self->end, &elapsed));
    if (i > 0)
      *seconds = fmin(*seconds, elapsed);
  }
  return TESELA_OK;
}

static tesela_status choice_time_all(choice_bench *self, const tsl_lt_answer *answers, int count, int *best) {
  const double end = tsl_clock() + timing_seconds;
  double least = INFINITY, seconds;
  for (int i = 0; i < count && (i == 0 || tsl_clock() < end); i++) {
    if (answers[i].state != TSL_CUBLAS_SUCCESS)
      continue;
    TSL_TRY(time_answer(self, &answers[i], &seconds));
    if (seconds < least) {
      least = seconds;
      *best = i;
    }
  }
  return TESELA_OK;
}

/* Finds the fastest of the algorithms; the first one if memory for the timing is short. */
static tesela_status choice_fastest(const tsl_work *work, tsl_lt_handle handle, const tsl_lt_choice *choice,
                                    uint64_t workspace, const tsl_lt_answer *answers, int count, int *best) {
  choice_bench self = {.work = work, .handle = handle, .choice = choice};
  tsl_status_saved saved;
  *best = 0;
  tsl_status_save(&saved);
  tesela_status status = bench_make(&self, workspace);
  if (status == TESELA_OK) {
    status = choice_time_all(&self, answers, count, best);
  } else if (status == TESELA_OUT_OF_MEMORY) {
    tsl_status_restore(&saved);
    status = TESELA_OK;
  }
  bench_free(&self);
  return status;
}

/* Returns the alignment that all products of a batch have: the steps limit it. */
static uint32_t alignment_of(const tsl_work *work, const tsl_lt_choice *choice) {
  const uint64_t element = tsl_type(work->problem.a.type)->size,
                 c_element = tsl_type(work->problem.c.type)->size;
  const uint64_t all = (uint64_t)choice->steps[0] * element | (uint64_t)choice->steps[1] * element |
                       (uint64_t)choice->steps[2] * c_element | TSL_LT_ALIGNMENT;
  return (uint32_t)(all & (~all + 1));
}

static tesela_status choice_choose(const tsl_work *work, tsl_lt_handle handle, uint64_t workspace, bool timed,
                                   tsl_lt_choice *choice) {
  tsl_lt_answer answers[PROPOSALS];
  const uint32_t element = tsl_lt_element_alignment(&work->problem);
  int count, best = 0;
  TSL_TRY(choice_propose(work, handle, choice, workspace, element, 1, answers, &count));
  choice->any = answers[0];
  TSL_TRY(choice_propose(work, handle, choice, workspace, alignment_of(work, choice), timed ? PROPOSALS : 1,
                         answers, &count));
  if (timed && count > 1)
    TSL_TRY(choice_fastest(work, handle, choice, workspace, answers, count, &best));
  choice->aligned = answers[best];
  return TESELA_OK;
}

tesela_status tsl_lt_choice_make(const tsl_work *work, tsl_lt_handle handle, const tsl_blas_product *product,
                                 uint64_t workspace, bool timed, tsl_lt_choice **choice) {
  void *block;
  *choice = NULL;
  TSL_TRY(tsl_alloc_zeroed(sizeof **choice, "an algorithm of cuBLASLt", &block));
  tsl_lt_choice *result = block;
  result->product = *product;
  result->product.a = result->product.b = result->product.c = NULL;
  result->steps[0] = product->a->batch_step, result->steps[1] = product->b->batch_step,
  result->steps[2] = product->c->batch_step;
  tesela_status status = choice_describe(work, result);
  if (status == TESELA_OK)
    status = choice_choose(work, handle, workspace, timed, result);
  if (status != TESELA_OK) {
    tsl_lt_choice_free(result);
    return status;
  }
  *choice = result;
  return TESELA_OK;
}

tsl_lt_api tsl_lt;

static const tsl_library_symbol symbols[] = {
#define SYMBOL(type, member, symbol, parameters) {#symbol, offsetof(tsl_lt_api, member), 0},
    TSL_LT_LIST(SYMBOL)
#undef SYMBOL
};
static const char *const names[] = {"libcublasLt.so.13", "/usr/local/cuda/lib64/libcublasLt.so.13",
                                    "libcublasLt.so.12", "/usr/local/cuda/lib64/libcublasLt.so.12", NULL};

/* Sets the name; cublasLtGetVersion() returns 130100 for 13.1.0. */
static void cublaslt_library_name(tsl_vendor *found) {
  const unsigned version = (unsigned)tsl_lt.version();
  snprintf(found->name, sizeof found->name, "cuBLASLt %u.%u.%u", version / 10000, version / 100 % 100,
           version % 100);
}

static tsl_vendor_library library = {.what = "cuBLASLt",
                                     .path = TSL_ENV_CUBLASLT,
                                     .names = names,
                                     .symbols = symbols,
                                     .count = sizeof symbols / sizeof *symbols,
                                     .table = &tsl_lt,
                                     .name = cublaslt_library_name};

const tsl_vendor *tsl_lt_vendor(void) {
  return tsl_vendor_find(&library);
}

tesela_status tsl_lt_check(const tsl_device *device, const char *call, int code) {
  return tsl_vendor_cublas_check(device, call, code, tsl_lt.status_name, &library.found);
}

uint32_t tsl_lt_element_alignment(const tsl_problem *problem) {
  const tsl_type_info *info = tsl_type(problem->a.type);
  return info->is_integer ? 4 : info->size == 1 ? 16 : (uint32_t)info->size;
}

static double allows(const tsl_problem *problem, const tsl_numeric_requirements *ask) {
  const double unit = tsl_type(TESELA_F32)->unit_roundoff;
  const int64_t terms = tsl_type(problem->c.type)->is_complex ? 2 * problem->k : problem->k;
  return tsl_numeric_requirements_error_limit(ask, terms, unit, unit);
}

static tsl_numeric_requirements tf32_ask(void) {
  tsl_numeric_requirements ask = {.bits = TSL_REPRODUCIBILITY_ANY};
  (void)tsl_numeric_requirements_parse_accuracy("tf32", &ask);
  return ask;
}

double tsl_lt_tf32_bound(const tsl_problem *problem) {
  const tsl_numeric_requirements tf32 = tf32_ask();
  return allows(problem, &tf32);
}

bool tsl_lt_takes_tf32(const tsl_problem *problem) {
  const tsl_numeric_requirements *ask = &problem->ask;
  return (problem->c.type == TESELA_F32 || problem->c.type == TESELA_C64) &&
         tsl_numeric_requirements_has_accuracy(ask) && ask->accuracy != TSL_ACCURACY_EXACT &&
         allows(problem, ask) >= tsl_lt_tf32_bound(problem);
}
