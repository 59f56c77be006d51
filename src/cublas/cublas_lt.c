#include "cublas/cublas_lt.h"

#include "cublas/cublas_functions.h"

#include <pthread.h>
#include <string.h>

/* Both getters: object, attribute, place for the value, its bytes, and the bytes that were written. */
typedef int get_attribute(const void *object, int attribute, void *value, size_t bytes, size_t *written);

static get_attribute *get_of_operation, *get_of_layout;
static tsl_next_function *_Atomic matmul;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Versions whose descriptions have known sizes, by their headers: 32 words for an operation, and this number
 * for a layout. */
static const struct {
  size_t from, below, layout_words;
} versions[] = {{130000, 130200, 8}, {131000, 131100, TSL_LT_LAYOUT_WORDS}};
static size_t layout_bytes; /* 0: unknown, so that each call reads by getters */

static void find_getters(void) {
  tsl_next_function *function = atomic_load(&matmul);
  typedef size_t get_version(void);
  get_version *version = (get_version *)tsl_cublas_beside(function, "cublasLtGetVersion");
  const size_t number = version ? version() : 0;
  for (size_t i = 0; i < sizeof versions / sizeof *versions; i++)
    if (number >= versions[i].from && number < versions[i].below)
      layout_bytes = versions[i].layout_words * sizeof(uint64_t);
  get_of_operation = (get_attribute *)tsl_cublas_beside(function, "cublasLtMatmulDescGetAttribute");
  get_of_layout = (get_attribute *)tsl_cublas_beside(function, "cublasLtMatrixLayoutGetAttribute");
}

static bool get(get_attribute *getter, const void *object, int attribute, void *value, size_t bytes) {
  size_t written = 0;
  return getter(object, attribute, value, bytes, &written) == TSL_CUBLAS_SUCCESS && written == bytes;
}

static bool get_int(const void *operation, int attribute, int *value) {
  return get(get_of_operation, operation, attribute, value, sizeof *value);
}

/* Returns true if a pointer attribute is NULL, or unknown to the library. */
static bool is_null(const void *operation, int attribute) {
  const void *value = NULL;
  size_t written;
  return get_of_operation(operation, attribute, &value, sizeof value, &written) != TSL_CUBLAS_SUCCESS ||
         !value;
}

/* Reads the epilogue and its bias. cublasLt's GELU is the approximation by tanh. */
static bool read_epilogue(const void *operation, int d_type, tsl_cublas_call *call) {
  int epilogue = 0;
  if (!get_int(operation, TSL_LT_EPILOGUE, &epilogue))
    return false;
  const int function = epilogue & ~(TSL_LT_BIAS | TSL_LT_NO_EPILOGUE);
  if (function != 0 && function != TSL_LT_RELU && function != TSL_LT_GELU)
    return false;
  call->activation = function == TSL_LT_RELU   ? TESELA_RELU
                     : function == TSL_LT_GELU ? TESELA_GELU_TANH
                                               : TESELA_NO_ACTIVATION;
  if (!(epilogue & TSL_LT_BIAS))
    return true;
  if (!get_int(operation, TSL_LT_BIAS_TYPE, &call->bias_type) ||
      !get(get_of_operation, operation, TSL_LT_BIAS_POINTER, &call->bias, sizeof call->bias) ||
      !get(get_of_operation, operation, TSL_LT_BIAS_BATCH_STRIDE, &call->bias_step, sizeof call->bias_step))
    return false;
  if (call->bias_type < 0)
    call->bias_type = d_type;
  return call->bias != NULL;
}

static bool read_operation(const void *operation, tsl_cublas_call *call) {
  int pointer_mode, trans_c, fill, sm_count = 0;
  if (!get_int(operation, TSL_LT_COMPUTE_TYPE, &call->compute) ||
      !get_int(operation, TSL_LT_SCALE_TYPE, &call->alpha_type) ||
      !get_int(operation, TSL_LT_POINTER_MODE, &pointer_mode) || pointer_mode != TSL_CUBLAS_POINTERS_HOST ||
      !get_int(operation, TSL_LT_TRANS_A, &call->trans_a) ||
      !get_int(operation, TSL_LT_TRANS_B, &call->trans_b) || !get_int(operation, TSL_LT_TRANS_C, &trans_c) ||
      trans_c != TSL_CUBLAS_OP_N || !get_int(operation, TSL_LT_FILL_MODE, &fill) || fill != TSL_CUBLAS_FULL)
    return false;
  if (get_int(operation, TSL_LT_SM_COUNT, &sm_count) && sm_count != 0)
    return false;
  for (int attribute = TSL_LT_A_SCALE; attribute <= TSL_LT_D_AMAX; attribute++)
    if (!is_null(operation, attribute))
      return false;
  call->beta_type = call->alpha_type;
  return is_null(operation, TSL_LT_EMULATION);
}

typedef struct layout {
  tsl_cublas_matrix matrix;
  uint64_t rows, cols; /* of the matrix, or of its transpose if that is column-major */
  int count;
  bool is_row_major;
} layout;

/* Reads a layout. Returns false if it is neither column-major nor row-major. */
static bool read_layout(const void *object, layout *out) {
  int order, mode = 0;
  *out = (layout){.matrix = {.data = NULL}};
  if (!get(get_of_layout, object, TSL_LT_TYPE, &out->matrix.type, sizeof out->matrix.type) ||
      !get(get_of_layout, object, TSL_LT_ORDER, &order, sizeof order) ||
      (order != TSL_LT_COLUMN_MAJOR && order != TSL_LT_ROW_MAJOR) ||
      !get(get_of_layout, object, TSL_LT_ROWS, &out->rows, sizeof out->rows) ||
      !get(get_of_layout, object, TSL_LT_COLS, &out->cols, sizeof out->cols) ||
      !get(get_of_layout, object, TSL_LT_LD, &out->matrix.ld, sizeof out->matrix.ld) ||
      !get(get_of_layout, object, TSL_LT_BATCH_COUNT, &out->count, sizeof out->count))
    return false;
  if (out->count > 1 &&
      (!get(get_of_layout, object, TSL_LT_BATCH_STRIDE, &out->matrix.step, sizeof out->matrix.step) ||
       (get(get_of_layout, object, TSL_LT_BATCH_MODE, &mode, sizeof mode) && mode != 0)))
    return false;
  out->is_row_major = order == TSL_LT_ROW_MAJOR;
  if (out->is_row_major) {
    const uint64_t rows = out->rows;
    out->rows = out->cols;
    out->cols = rows;
  }
  return out->rows <= INT64_MAX && out->cols <= INT64_MAX;
}

static bool is_zero(const void *scalar, int cuda_type) {
  static const unsigned char zeros[2 * sizeof(double)];
  static const size_t sizes[] = {[TSL_CUDA_R_32F] = 4, [TSL_CUDA_R_64F] = 8,  [TSL_CUDA_R_16F] = 2,
                                 [TSL_CUDA_C_32F] = 8, [TSL_CUDA_C_64F] = 16, [TSL_CUDA_R_32I] = 4};
  const size_t size =
      cuda_type >= 0 && cuda_type < (int)(sizeof sizes / sizeof *sizes) ? sizes[cuda_type] : 0;
  return size > 0 && memcmp(scalar, zeros, size) == 0;
}

/* Returns true if C needs no place of its own: it is D, or it is not read. */
static bool c_is_d(const tsl_lt_arguments *from, const tsl_cublas_call *call) {
  layout c, d;
  if (is_zero(from->beta, call->beta_type))
    return true;
  if (from->c != from->d)
    return false;
  return from->c_layout == from->d_layout ||
         (read_layout(from->c_layout, &c) && read_layout(from->d_layout, &d) &&
          c.is_row_major == d.is_row_major && c.matrix.type == d.matrix.type && c.matrix.ld == d.matrix.ld &&
          c.matrix.step == d.matrix.step);
}

/* Transposes an operand. Returns false for a complex matrix that would only be conjugated, and for operations
 * that cuBLAS alone has. */
static bool flip(int *op, int type) {
  const bool is_complex = type == TSL_CUDA_C_32F || type == TSL_CUDA_C_64F,
             is_known =
                 *op == TSL_CUBLAS_OP_N || *op == TSL_CUBLAS_OP_T || (*op == TSL_CUBLAS_OP_C && !is_complex);
  *op = *op == TSL_CUBLAS_OP_N ? TSL_CUBLAS_OP_T : TSL_CUBLAS_OP_N;
  return is_known;
}

/* Makes a column-major product of one with row-major matrices: a stored matrix is read as its transpose, and
 * a row-major D is the transposed product, D' = op(B)' op(A)'. */
static bool turn_columns(layout *a, layout *b, const layout *d, tsl_cublas_call *call) {
  if (d->is_row_major) {
    const layout left = *a;
    const int op = call->trans_a;
    *a = *b;
    *b = left;
    call->trans_a = call->trans_b;
    call->trans_b = op;
  }
  call->is_transposed = d->is_row_major;
  return (a->is_row_major == d->is_row_major || flip(&call->trans_a, a->matrix.type)) &&
         (b->is_row_major == d->is_row_major || flip(&call->trans_b, b->matrix.type));
}

/* Sets the sizes. Returns false unless the layouts fit each other. */
static bool set_sizes(const layout *a, const layout *b, const layout *d, tsl_cublas_call *call) {
  const bool a_is_plain = call->trans_a == TSL_CUBLAS_OP_N, b_is_plain = call->trans_b == TSL_CUBLAS_OP_N;
  const uint64_t k = a_is_plain ? a->cols : a->rows;
  call->size =
      (tsl_cublas_sizes){.m = (int64_t)d->rows, .n = (int64_t)d->cols, .k = (int64_t)k, .batch = d->count};
  call->a = a->matrix;
  call->b = b->matrix;
  call->c = d->matrix;
  return (a_is_plain ? a->rows : a->cols) == d->rows && (b_is_plain ? b->rows : b->cols) == k &&
         (b_is_plain ? b->cols : b->rows) == d->cols && a->count == d->count && b->count == d->count;
}

/* Reads everything but addresses. Returns false if tesela has no such product. */
static bool read_descriptions(const tsl_lt_arguments *from, tsl_cublas_call *call) {
  layout a, b, d;
  return read_operation(from->operation, call) && read_layout(from->a_layout, &a) &&
         read_layout(from->b_layout, &b) && read_layout(from->d_layout, &d) &&
         turn_columns(&a, &b, &d, call) && set_sizes(&a, &b, &d, call) &&
         read_epilogue(from->operation, d.matrix.type, call);
}

enum { OPERATION_BYTES = 32 * sizeof(uint64_t) };

uint64_t tsl_cublas_lt_hash(tsl_next_function *next, const tsl_lt_arguments *from) {
  if (!atomic_load_explicit(&matmul, memory_order_relaxed))
    atomic_store(&matmul, next);
  pthread_once(&once, find_getters);
  const void *const objects[] = {from->operation, from->a_layout, from->b_layout, from->d_layout};
  uint64_t parts[4];
  for (int i = 0; i < 4; i++)
    parts[i] = layout_bytes == 0 || !objects[i]
                   ? (uint64_t)(uintptr_t)objects[i]
                   : tsl_cublas_hash(objects[i], i == 0 ? OPERATION_BYTES : layout_bytes);
  return tsl_cublas_hash(parts, sizeof parts);
}

/* Returns the parsed form of these descriptions; reads them if they are new to the thread. */
static const tsl_lt_known *find_known(const tsl_lt_arguments *from, uint64_t hash,
                                      tsl_cublas_thread *thread) {
  tsl_lt_known *known = &thread->known[hash % TSL_LT_KNOWN];
  const void *const parts[] = {from->operation, from->a_layout, from->b_layout, from->d_layout};
  const size_t bytes[] = {OPERATION_BYTES, layout_bytes, layout_bytes, layout_bytes};
  char *at = (char *)known->bytes.words;
  bool is_known = known->hash == hash;
  for (int i = 0; i < 4 && is_known; at += bytes[i++])
    is_known = memcmp(at, parts[i], bytes[i]) == 0;
  if (is_known)
    return known;
  *known = (tsl_lt_known){.hash = hash};
  at = (char *)known->bytes.words;
  for (int i = 0; i < 4; at += bytes[i++])
    memcpy(at, parts[i], bytes[i]);
  known->is_product = read_descriptions(from, &known->call);
  return known;
}

/* Adds the addresses and scalars of a call. */
static void add_addresses(const tsl_lt_arguments *from, tsl_cublas_call *call) {
  call->stream = from->stream;
  call->workspace = from->workspace;
  call->workspace_bytes = from->workspace ? from->workspace_bytes : 0;
  call->alpha = from->alpha;
  call->beta = from->beta;
  call->algo = TSL_CUBLAS_ALGO_DEFAULT;
  call->a.data = call->is_transposed ? from->b : from->a; /* a row-major product exchanges its factors */
  call->b.data = call->is_transposed ? from->a : from->b;
  call->c.data = from->d;
}

bool tsl_cublas_lt_read(const tsl_lt_arguments *from, uint64_t hash, tsl_cublas_thread *thread,
                        tsl_cublas_call *call) {
  *call = (tsl_cublas_call){.handle = NULL};
  if (!get_of_operation || !get_of_layout || !from->operation || !from->alpha || !from->beta ||
      !from->a_layout || !from->b_layout || !from->c_layout || !from->d_layout)
    return false;
  if (layout_bytes > 0) {
    const tsl_lt_known *known = find_known(from, hash, thread);
    *call = known->call;
    if (!known->is_product)
      return false;
  } else if (!read_descriptions(from, call)) {
    return false;
  }
  add_addresses(from, call);
  return c_is_d(from, call);
}
