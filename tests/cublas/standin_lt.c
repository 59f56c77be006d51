/* The stand-in's cublasLt: objects are arrays of attributes, as large as cublasLt's. */
#include "cublas/standin.h"

#include <stdlib.h>
#include <string.h>

enum { ATTRIBUTES = 32, LAST = ATTRIBUTES - 1, EMULATION = 38, SUCCESS = 0, INVALID_VALUE = 7 };
struct standin_attributes {
  uint64_t value[ATTRIBUTES]; /* the last one is EMULATION */
};

size_t cublasLtGetVersion(void) {
  return 130000;
}

int cublasLtCreate(standin_handle *handle) {
  return cublasCreate_v2(handle);
}

/* Bytes of each attribute; 0: unknown. */
static const unsigned char operation_bytes[ATTRIBUTES] = {4, 4, 4, 4, 4, 4, 4, 4, 8, 0, 8, 8, 8, 8, 8, 4,
                                                          0, 8, 8, 8, 8, 8, 4, 8, 8, 4, 4, 0, 0, 0, 0, 8};
static const unsigned char layout_bytes[ATTRIBUTES] = {4, 4, 8, 8, 8, 4, 8, 8};

static standin_attributes create(void) {
  return calloc(1, sizeof(struct standin_attributes));
}

int cublasLtMatmulDescCreate(standin_attributes *operation, int compute, int scale) {
  standin_attributes made = create();
  made->value[0] = (uint64_t)compute;
  made->value[1] = (uint64_t)scale;
  made->value[6] = 2;
  made->value[7] = 1;
  made->value[26] = UINT32_MAX;
  *operation = made;
  return SUCCESS;
}
int cublasLtMatmulDescDestroy(standin_attributes operation) {
  free(operation);
  return SUCCESS;
}

int cublasLtMatrixLayoutCreate(standin_attributes *layout, int type, uint64_t rows, uint64_t cols,
                               int64_t ld) {
  const uint64_t values[] = {(uint64_t)type, 0, rows, cols, (uint64_t)ld, 1};
  *layout = create();
  memcpy((*layout)->value, values, sizeof values);
  return SUCCESS;
}
int cublasLtMatrixLayoutDestroy(standin_attributes layout) {
  free(layout);
  return SUCCESS;
}

/* Returns an attribute's place; -1: unknown, or of another size. */
static int place_of(const unsigned char *sizes, int attribute, size_t bytes) {
  const int place = attribute == EMULATION ? LAST : attribute;
  return place >= 0 && place < ATTRIBUTES && bytes > 0 && sizes[place] == bytes ? place : -1;
}
static int set_attribute(standin_attributes object, const unsigned char *sizes, int attribute,
                         const void *value, size_t bytes) {
  const int place = place_of(sizes, attribute, bytes);
  if (place >= 0)
    memcpy(&object->value[place], value, bytes);
  return place >= 0 ? SUCCESS : INVALID_VALUE;
}
static int get_attribute(standin_attributes object, const unsigned char *sizes, int attribute, void *value,
                         size_t bytes, size_t *written) {
  const int place = place_of(sizes, attribute, bytes);
  if (place >= 0)
    memcpy(value, &object->value[place], bytes);
  *written = place >= 0 ? bytes : 0;
  return place >= 0 ? SUCCESS : INVALID_VALUE;
}
int cublasLtMatmulDescSetAttribute(standin_attributes operation, int attribute, const void *value,
                                   size_t bytes) {
  return set_attribute(operation, operation_bytes, attribute, value, bytes);
}
int cublasLtMatmulDescGetAttribute(standin_attributes operation, int attribute, void *value, size_t bytes,
                                   size_t *written) {
  return get_attribute(operation, operation_bytes, attribute, value, bytes, written);
}
int cublasLtMatrixLayoutSetAttribute(standin_attributes layout, int attribute, const void *value,
                                     size_t bytes) {
  return set_attribute(layout, layout_bytes, attribute, value, bytes);
}
int cublasLtMatrixLayoutGetAttribute(standin_attributes layout, int attribute, void *value, size_t bytes,
                                     size_t *written) {
  return get_attribute(layout, layout_bytes, attribute, value, bytes, written);
}

/* Computes a product by cublasGemmStridedBatchedEx, without an epilogue; tests compare results only of calls
 * that tesela takes. */
int cublasLtMatmul(standin_handle handle, standin_attributes operation, const void *alpha, const void *a,
                   standin_attributes a_layout, const void *b, standin_attributes b_layout, const void *beta,
                   const void *c, standin_attributes c_layout, void *d, standin_attributes d_layout,
                   const void *algorithm, void *workspace, size_t workspace_bytes, standin_stream stream) {
  const int trans_a = (int)operation->value[3];
  const int is_on_device = operation->value[2] == 1;
  (void)handle, (void)c, (void)c_layout, (void)workspace, (void)workspace_bytes, (void)stream;
  (void)algorithm;
  alpha = is_on_device ? standin_on_device(alpha) : alpha;
  beta = is_on_device ? standin_on_device(beta) : beta;
  return cublasGemmStridedBatchedEx_64(
      NULL, trans_a, (int)operation->value[4], (int64_t)d_layout->value[2], (int64_t)d_layout->value[3],
      (int64_t)a_layout->value[trans_a == 0 ? 3 : 2], alpha, a, (int)a_layout->value[0],
      (int64_t)a_layout->value[4], (long long)a_layout->value[6], b, (int)b_layout->value[0],
      (int64_t)b_layout->value[4], (long long)b_layout->value[6], beta, d, (int)d_layout->value[0],
      (int64_t)d_layout->value[4], (long long)d_layout->value[6], (int64_t)d_layout->value[5],
      (int)operation->value[0], -1);
}
