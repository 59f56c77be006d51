#include "cublas/cublas_problem.h"

#include "core/types.h"

#include <string.h>

/* Returns the tesela_type; TESELA_TYPE_DEFAULT: not supported here. */
static tesela_type type_of(int cuda_type) {
  switch (cuda_type) {
  case TSL_CUDA_R_32F:
    return TESELA_F32;
  case TSL_CUDA_R_64F:
    return TESELA_F64;
  case TSL_CUDA_R_16F:
    return TESELA_F16;
  case TSL_CUDA_R_16BF:
    return TESELA_BF16;
  case TSL_CUDA_C_32F:
    return TESELA_C64;
  case TSL_CUDA_C_64F:
    return TESELA_C128;
  case TSL_CUDA_R_8I:
    return TESELA_I8;
  case TSL_CUDA_R_32I:
    return TESELA_I32;
  default:
    return TESELA_TYPE_DEFAULT;
  }
}

enum { DEFAULT, BY_TF32, BY_BF16 };
static const char *const accuracies[] = {[DEFAULT] = NULL, [BY_TF32] = "tf32", [BY_BF16] = "bf16"};
const char *tsl_cublas_accuracy(int index) {
  return accuracies[index];
}

static bool is_single(int32_t type) {
  return type == TESELA_F32 || type == TESELA_C64;
}

/* Finds the accuracy for the arithmetic of a call. Returns false for other arithmetic. */
static bool find_accuracy(const tsl_cublas_call *call, int math_mode, tsl_cublas_key *key) {
  const bool rounds = is_single(key->a_type),
             is_double = key->a_type == TESELA_F64 || key->a_type == TESELA_C128;
  key->accuracy = DEFAULT;
  if ((math_mode & TSL_CUBLAS_MATH_NUMBER) == TSL_CUBLAS_MATH_PEDANTIC)
    return false;
  if (rounds && (math_mode & TSL_CUBLAS_MATH_NUMBER) == TSL_CUBLAS_MATH_TF32)
    key->accuracy = BY_TF32;
  switch (call->compute) {
  case 0:
    return true;
  case TSL_CUBLAS_COMPUTE_16F:
    return key->c_type == TESELA_F16;
  case TSL_CUBLAS_COMPUTE_32F:
    return !is_double && key->c_type != TESELA_I32;
  case TSL_CUBLAS_COMPUTE_64F:
    return is_double;
  case TSL_CUBLAS_COMPUTE_32I:
    return key->c_type == TESELA_I32;
  case TSL_CUBLAS_COMPUTE_FAST_TF32:
  case TSL_CUBLAS_COMPUTE_FAST_16F:
    key->accuracy = BY_TF32;
    return rounds;
  case TSL_CUBLAS_COMPUTE_FAST_16BF:
    key->accuracy = BY_BF16;
    return rounds;
  default:
    return false;
  }
}

/* Returns true if tesela has products of these types. */
static bool has_types(const tsl_cublas_call *call, const tsl_cublas_key *key) {
  if (key->a_type == TESELA_TYPE_DEFAULT || call->b.type != call->a.type)
    return false;
  if (key->a_type == TESELA_I8)
    return key->c_type == TESELA_I32;
  if (key->a_type == TESELA_F16 || key->a_type == TESELA_BF16)
    return key->c_type == key->a_type || key->c_type == TESELA_F32;
  return key->c_type == key->a_type && key->a_type != TESELA_I32;
}

static bool read_scalar(const void *scalar, int cuda_type, double out[2]) {
  const tesela_type type = type_of(cuda_type);
  out[0] = out[1] = 0;
  if (!scalar || type == TESELA_TYPE_DEFAULT)
    return false;
  tsl_type_load(type, scalar, out);
  return true;
}

static bool is_complex_type(int cuda_type) {
  return cuda_type == TSL_CUDA_C_32F || cuda_type == TSL_CUDA_C_64F;
}

int tsl_cublas_scalar_type(int compute, int a_type) {
  const bool is_complex = is_complex_type(a_type);
  switch (compute) {
  case TSL_CUBLAS_COMPUTE_16F:
    return TSL_CUDA_R_16F;
  case TSL_CUBLAS_COMPUTE_32I:
    return TSL_CUDA_R_32I;
  case TSL_CUBLAS_COMPUTE_64F:
    return is_complex ? TSL_CUDA_C_64F : TSL_CUDA_R_64F;
  default:
    return is_complex ? TSL_CUDA_C_32F : TSL_CUDA_R_32F;
  }
}

static bool is_op(int op) {
  return op >= TSL_CUBLAS_OP_N && op <= TSL_CUBLAS_OP_C;
}
static bool is_bit(int value) {
  return value == 0 || value == 1;
}
/* Returns true if a stored matrix of `rows` rows has this leading dimension. */
static bool is_leading(int64_t ld, int64_t rows) {
  return ld >= 1 && ld >= rows;
}

static bool check_gemm(const tsl_cublas_call *call) {
  return is_op(call->trans_a) && is_op(call->trans_b) && call->size.k > 0 &&
         is_leading(call->a.ld, call->trans_a == TSL_CUBLAS_OP_N ? call->size.m : call->size.k) &&
         is_leading(call->b.ld, call->trans_b == TSL_CUBLAS_OP_N ? call->size.k : call->size.n);
}

static bool check_update(const tsl_cublas_call *call) {
  const int other = call->routine == TSL_CUBLAS_HERK   ? TSL_CUBLAS_OP_C
                    : is_complex_type(call->a.type)    ? TSL_CUBLAS_OP_T
                    : call->trans_a == TSL_CUBLAS_OP_C ? TSL_CUBLAS_OP_C
                                                       : TSL_CUBLAS_OP_T;
  return is_bit(call->uplo) && call->size.k > 0 &&
         (call->trans_a == TSL_CUBLAS_OP_N || call->trans_a == other) &&
         is_leading(call->a.ld, call->trans_a == TSL_CUBLAS_OP_N ? call->size.n : call->size.k);
}

static bool check_factor(const tsl_cublas_call *call) {
  return is_bit(call->uplo) && is_bit(call->side) && is_bit(call->diag) && is_op(call->trans_a) &&
         is_leading(call->a.ld, call->side == TSL_CUBLAS_LEFT ? call->size.m : call->size.n) &&
         is_leading(call->b.ld, call->size.m);
}

static bool check_call(const tsl_cublas_call *call) {
  const bool is_update = call->routine == TSL_CUBLAS_SYRK || call->routine == TSL_CUBLAS_HERK;
  if (call->size.m <= 0 || call->size.n <= 0 || call->size.batch <= 0 ||
      !is_leading(call->c.ld, call->size.m) || !call->a.data || (!is_update && !call->b.data) ||
      !call->c.data)
    return false;
  if (call->algo != TSL_CUBLAS_ALGO_DEFAULT && call->algo != TSL_CUBLAS_ALGO_DEFAULT_TENSOR)
    return false;
  return call->routine == TSL_CUBLAS_GEMM ? check_gemm(call)
         : is_update                      ? check_update(call)
                                          : check_factor(call);
}

/* Equal results of a batch would be written twice. */
static bool check_batch(const tsl_cublas_call *call) {
  if (call->size.batch <= 1)
    return true;
  const int64_t line =
      call->c.ld > INT64_MAX / call->size.n ? INT64_MAX : call->c.ld * (call->size.n - 1) + call->size.m;
  return call->a.step >= 0 && call->b.step >= 0 && call->c.step >= line;
}

bool tsl_cublas_key_fill(const tsl_cublas_call *call, int math_mode, int device, tsl_cublas_key *key) {
  if (!check_call(call) || !check_batch(call))
    return false;
  *key = (tsl_cublas_key){.size = call->size,
                          .lda = call->a.ld,
                          .ldb = call->b.ld,
                          .ldc = call->c.ld,
                          .device = device,
                          .routine = (int32_t)call->routine,
                          .trans_a = call->trans_a,
                          .trans_b = call->trans_b,
                          .side = call->side,
                          .uplo = call->uplo,
                          .diag = call->diag,
                          .in_place = call->routine == TSL_CUBLAS_TRMM && call->b.data == call->c.data,
                          .a_type = (int32_t)type_of(call->a.type),
                          .c_type = (int32_t)type_of(call->c.type),
                          .bias_type = call->bias ? (int32_t)type_of(call->bias_type) : 0,
                          .bias_axis = call->is_transposed ? TESELA_BIAS_ROW : TESELA_BIAS_COLUMN,
                          .activation = (int32_t)call->activation};
  if (key->size.batch > 1) {
    key->a_step = call->a.step;
    key->b_step = call->b.step;
    key->c_step = call->c.step;
    key->bias_step = call->bias_step;
  }
  const bool has_beta = call->routine <= TSL_CUBLAS_HEMM;
  return has_types(call, key) && (!call->bias || key->bias_type != 0) &&
         find_accuracy(call, math_mode, key) && read_scalar(call->alpha, call->alpha_type, key->alpha) &&
         (!has_beta || read_scalar(call->beta, call->beta_type, key->beta)) &&
         (key->alpha[0] != 0 || key->alpha[1] != 0) && !(key->in_place && key->ldb != key->ldc);
}

_Static_assert(sizeof(tsl_cublas_key) % sizeof(uint64_t) == 0, "the key has whole words");

/* Adds the products of each word's halves, as NH does (UMAC, J. Black et al., 1999), and the words, whose
 * halves may be 0. All multiplications overlap. */
uint64_t tsl_cublas_hash(const void *words, size_t bytes) {
  static const uint64_t factor = UINT64_C(0x9e3779b97f4a7c15);
  const char *at = words;
  uint64_t sum = bytes, key = factor, word;
  for (size_t i = 0; i < bytes; i += sizeof word) {
    memcpy(&word, at + i, sizeof word);
    word ^= key;
    sum += (uint64_t)(uint32_t)word * (word >> 32) + (word << 32 | word >> 32);
    key += factor;
  }
  sum *= factor;
  return sum ^ sum >> 32;
}
