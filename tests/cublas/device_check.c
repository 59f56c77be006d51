/* Calls cuBLAS's names on a GPU with the drop-in preloaded, and compares the results with cuBLAS's functions.
 * The argument "time" prints the host's time of calls instead. To compile it, use CUDA's headers and the
 * libraries cublas, cublasLt, cudart and dl. To run it, set LD_PRELOAD and TESELA_CUBLAS_CALLS=tesela. */
#define _GNU_SOURCE
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { BYTES = 64 << 20 };
static cublasHandle_t handle;
static cublasLtHandle_t lt;
static cudaStream_t stream;
static void *a, *b, *c, *bias, *workspace; /* on the device */
static char *start, *expected, *seen;      /* on the host */
static int failures, checks;

static void need(int code, const char *what) {
  if (code != 0) {
    printf("%s: code %d\n", what, code);
    exit(1);
  }
}

/* Returns cuBLAS's own function: a lookup with a version is not replaced. */
static void *get_real(const char *name) {
  void *address =
      dlvsym(RTLD_DEFAULT, name, strncmp(name, "cublasLt", 8) ? "libcublas.so.13" : "libcublasLt.so.13");
  if (!address) {
    printf("no %s\n", name);
    exit(1);
  }
  return address;
}

static float bf16(uint16_t upper) {
  const uint32_t word = (uint32_t)upper << 16;
  float value;
  memcpy(&value, &word, sizeof value);
  return value;
}

/* Returns number `i` of a host array; complex arrays are arrays of twice as many real numbers. */
static double get(cudaDataType type, const char *array, size_t i) {
  switch (type) {
  case CUDA_R_64F:
  case CUDA_C_64F:
    return ((const double *)array)[i];
  case CUDA_R_16F:
    return (double)((const _Float16 *)array)[i];
  case CUDA_R_16BF:
    return bf16(((const uint16_t *)array)[i]);
  case CUDA_R_32I:
    return ((const int *)array)[i];
  default:
    return ((const float *)array)[i];
  }
}
static size_t real_size(cudaDataType type) {
  return type == CUDA_R_64F || type == CUDA_C_64F    ? 8
         : type == CUDA_R_16F || type == CUDA_R_16BF ? 2
         : type == CUDA_R_8I                         ? 1
                                                     : 4;
}
static double tolerance(cudaDataType type) {
  return type == CUDA_R_64F || type == CUDA_C_64F ? 1e-12
         : type == CUDA_R_16F                     ? 4e-3
         : type == CUDA_R_16BF                    ? 3e-2
         : type == CUDA_R_32I                     ? 0
                                                  : 2e-5;
}

/* Fills an operand with numbers of [-1, 1]; every `heavy`th number is 4, which keeps triangles easy to solve.
 */
static void fill(void *device, cudaDataType type, unsigned seed, size_t heavy) {
  static char *host;
  host = host ? host : malloc(BYTES);
  const size_t size = real_size(type), count = BYTES / 8 / size;
  for (size_t i = 0; i < count; i++) {
    seed = seed * 1664525u + 1013904223u;
    double value = (int)(seed >> 9) / 4194304.0 - 1;
    if (heavy && i % heavy == 0)
      value = 40;
    if (type == CUDA_R_8I)
      host[i] = (char)(value * 9);
    else if (size == 8)
      ((double *)host)[i] = value;
    else if (type == CUDA_R_16F)
      ((_Float16 *)host)[i] = (_Float16)value;
    else if (type == CUDA_R_16BF) {
      const float f = (float)value;
      uint32_t word;
      memcpy(&word, &f, 4);
      ((uint16_t *)host)[i] = (uint16_t)(word >> 16);
    } else if (type == CUDA_R_32I)
      ((int *)host)[i] = (int)(value * 9);
    else
      ((float *)host)[i] = (float)value;
  }
  need(cudaMemcpy(device, host, count * size, cudaMemcpyHostToDevice), "cudaMemcpy");
}

static void reset_c(void) {
  need(cudaMemcpy(c, start, BYTES / 8, cudaMemcpyHostToDevice), "cudaMemcpy");
}
static void read_c(char *host) {
  need(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  need(cudaMemcpy(host, c, BYTES / 8, cudaMemcpyDeviceToHost), "cudaMemcpy");
}

/* Compares all of C's memory, gaps included. */
static void compare(const char *name, cudaDataType type, double factor) {
  double most = 0, difference = 0;
  for (size_t i = 0; i < BYTES / 8 / real_size(type); i++) {
    const double x = get(type, expected, i), y = get(type, seen, i);
    most = fmax(most, fabs(x));
    difference = fabs(x - y) <= difference ? difference : fabs(x - y);
  }
  const int good = difference <= factor * tolerance(type) * most;
  checks++;
  failures += !good;
  if (!good)
    printf("WRONG %s: largest difference %g of %g\n", name, difference, most);
}

#define STATUS(expression) need(expression, #expression)
/* Computes a call by cuBLAS and by the preloaded name, and compares. */
#define CHECK(name, type, factor, ...)                                                                       \
  do {                                                                                                       \
    __typeof__(&name) real = (__typeof__(&name))get_real(#name);                                             \
    fill(c, type, 7, 0);                                                                                     \
    read_c(start);                                                                                           \
    STATUS(real(__VA_ARGS__));                                                                               \
    read_c(expected);                                                                                        \
    reset_c();                                                                                               \
    STATUS(name(__VA_ARGS__));                                                                               \
    read_c(seen);                                                                                            \
    compare(#name, type, factor);                                                                            \
  } while (0)

static const double alpha_f64[2] = {0.5, 0.25}, beta_f64[2] = {-1, 0.5};
static const float alpha_f32[2] = {0.5f, 0.25f}, beta_f32[2] = {-1, 0.5f};

#define N CUBLAS_OP_N
#define T CUBLAS_OP_T
#define LOWER CUBLAS_FILL_MODE_LOWER
#define UPPER CUBLAS_FILL_MODE_UPPER
#define LEFT CUBLAS_SIDE_LEFT
#define RIGHT CUBLAS_SIDE_RIGHT
#define DIAG CUBLAS_DIAG_NON_UNIT
#define LETTER(X, type, alpha, beta)                                                                         \
  do {                                                                                                       \
    fill(a, type, 1, 0), fill(b, type, 2, 0);                                                                \
    CHECK(cublas##X##gemm_v2, type, 1, handle, T, N, 200, 136, 96, alpha, a, 104, b, 100, beta, c, 208);     \
    CHECK(cublas##X##gemm_v2_64, type, 1, handle, N, T, 1000, 520, 640, alpha, a, 1000, b, 520, beta, c,     \
          1024);                                                                                             \
    CHECK(cublas##X##gemmStridedBatched, type, 1, handle, N, N, 64, 48, 40, alpha, a, 64, 64 * 40, b, 40,    \
          40 * 48, beta, c, 64, 64 * 48, 24);                                                                \
    CHECK(cublas##X##syrk_v2, type, 1, handle, LOWER, N, 150, 90, alpha, a, 160, beta, c, 152);              \
    CHECK(cublas##X##symm_v2, type, 1, handle, RIGHT, UPPER, 120, 90, alpha, a, 96, b, 120, beta, c, 120);   \
    CHECK(cublas##X##trmm_v2, type, 1, handle, LEFT, LOWER, T, DIAG, 110, 70, alpha, a, 112, b, 110, c,      \
          128);                                                                                              \
    fill(a, type, 1, type == CUDA_C_32F || type == CUDA_C_64F ? 260 : 130);                                  \
    CHECK(cublas##X##trsm_v2, type, 100, handle, LEFT, LOWER, N, DIAG, 128, 70, alpha, a, 129, c, 128);      \
  } while (0)
#define COMPLEX(X, type, alpha, beta)                                                                        \
  do {                                                                                                       \
    fill(a, type, 1, 0), fill(b, type, 2, 0);                                                                \
    CHECK(cublas##X##gemm3m, type, 4, handle, CUBLAS_OP_C, N, 200, 136, 96, alpha, a, 104, b, 100, beta, c,  \
          208);                                                                                              \
    CHECK(cublas##X##herk_v2, type, 1, handle, UPPER, CUBLAS_OP_C, 100, 80, (const void *)alpha, a, 96,      \
          (const void *)beta, c, 100);                                                                       \
    CHECK(cublas##X##hemm_v2, type, 1, handle, LEFT, LOWER, 100, 80, alpha, a, 128, b, 100, beta, c, 100);   \
  } while (0)

static void check_typed(cudaDataType type, cudaDataType c_type, cublasComputeType_t compute, double factor) {
  static const int one = 1, two = 2;
  const void *alpha = compute == CUBLAS_COMPUTE_32I   ? (const void *)&one
                      : compute == CUBLAS_COMPUTE_64F ? (const void *)alpha_f64
                                                      : alpha_f32,
             *beta = compute == CUBLAS_COMPUTE_32I   ? (const void *)&two
                     : compute == CUBLAS_COMPUTE_64F ? (const void *)beta_f64
                                                     : beta_f32;
  fill(a, type, 1, 0), fill(b, type, 2, 0);
  CHECK(cublasGemmEx, c_type, factor, handle, T, N, 256, 192, 128, alpha, a, type, 128, b, type, 128, beta, c,
        c_type, 256, compute, CUBLAS_GEMM_DEFAULT);
  CHECK(cublasGemmEx, c_type, factor, handle, N, N, 2048, 1024, 512, alpha, a, type, 2048, b, type, 512, beta,
        c, c_type, 2048, compute, CUBLAS_GEMM_DEFAULT);
  if (type == CUDA_R_8I) /* cuBLAS has no such batches */
    return;
  CHECK(cublasGemmStridedBatchedEx, c_type, factor, handle, N, N, 96, 80, 64, alpha, a, type, 96, 96 * 64, b,
        type, 64, 64 * 80, beta, c, c_type, 96, 96 * 80, 16, compute, CUBLAS_GEMM_DEFAULT);
}

/* A linear layer with bias: D = act(A' B + bias). */
static void check_lt(cudaDataType type, cublasLtEpilogue_t epilogue, const char *name) {
  cublasLtMatmulDesc_t operation;
  cublasLtMatrixLayout_t left, right, result;
  const cublasOperation_t turned = T;
  const float one = 1, zero = 0;
  fill(a, type, 1, 0), fill(b, type, 2, 0), fill(bias, type, 3, 0);
  STATUS(cublasLtMatmulDescCreate(&operation, CUBLAS_COMPUTE_32F, CUDA_R_32F));
  STATUS(cublasLtMatmulDescSetAttribute(operation, CUBLASLT_MATMUL_DESC_TRANSA, &turned, sizeof turned));
  STATUS(
      cublasLtMatmulDescSetAttribute(operation, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue));
  STATUS(cublasLtMatmulDescSetAttribute(operation, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof bias));
  STATUS(cublasLtMatrixLayoutCreate(&left, type, 512, 768, 512));
  STATUS(cublasLtMatrixLayoutCreate(&right, type, 512, 256, 512));
  STATUS(cublasLtMatrixLayoutCreate(&result, type, 768, 256, 768));
  CHECK(cublasLtMatmul, type, 2, lt, operation, &one, a, left, b, right, &zero, c, result, c, result, NULL,
        workspace, BYTES, stream);
  if (failures)
    printf("(%s)\n", name);
}

static void check_graph(void) {
  cudaGraph_t graph;
  cudaGraphExec_t run;
  fill(a, CUDA_R_32F, 1, 0), fill(b, CUDA_R_32F, 2, 0), fill(c, CUDA_R_32F, 3, 0);
  read_c(start);
  const float one = 1, zero = 0;
  STATUS(cublasSgemm_v2(handle, N, N, 512, 512, 512, &one, a, 512, b, 512, &zero, c, 512));
  read_c(expected);
  reset_c();
  need(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "capture");
  STATUS(cublasSgemm_v2(handle, N, N, 512, 512, 512, &one, a, 512, b, 512, &zero, c, 512));
  STATUS(cublasSgemm_v2(handle, T, N, 300, 200, 100, &one, a, 300, b, 300, &zero, (float *)c + (1 << 20),
                        300)); /* new */
  need(cudaStreamEndCapture(stream, &graph), "end of capture");
  need(cudaGraphInstantiate(&run, graph, 0), "cudaGraphInstantiate");
  for (int i = 0; i < 3; i++)
    need(cudaGraphLaunch(run, stream), "cudaGraphLaunch");
  read_c(seen);
  memcpy(seen + (4 << 20), expected + (4 << 20), BYTES / 8 - (4 << 20));
  compare("graph", CUDA_R_32F, 1);
}

static void check_others(void) {
  const float one = 1, zero = 0;
  float *scalars;
  need(cudaMalloc((void **)&scalars, 8), "cudaMalloc");
  need(cudaMemcpy(scalars, alpha_f32, 8, cudaMemcpyHostToDevice), "cudaMemcpy");
  STATUS(cublasSetPointerMode_v2(handle, CUBLAS_POINTER_MODE_DEVICE));
  CHECK(cublasSgemm_v2, CUDA_R_32F, 1, handle, N, N, 64, 64, 64, scalars, a, 64, b, 64, scalars + 1, c, 64);
  STATUS(cublasSetPointerMode_v2(handle, CUBLAS_POINTER_MODE_HOST));
  STATUS(cublasSetMathMode(handle, CUBLAS_TF32_TENSOR_OP_MATH));
  CHECK(cublasSgemm_v2, CUDA_R_32F, 200, handle, N, N, 640, 640, 640, &one, a, 640, b, 640, &zero, c, 640);
  STATUS(cublasSetMathMode(handle, CUBLAS_DEFAULT_MATH));
  STATUS(cublasSetWorkspace_v2(handle, workspace, BYTES));
  CHECK(cublasSgemm_v2, CUDA_R_32F, 1, handle, N, N, 128, 128, 4096, &one, a, 128, b, 4096, &zero, c, 128);
  STATUS(cublasSetStream_v2(handle, stream));
  if (cublasSgemm_v2(handle, N, N, -1, 4, 4, &one, a, 4, b, 4, &zero, c, 4) != CUBLAS_STATUS_INVALID_VALUE) {
    printf("WRONG: a bad size is not CUBLAS_STATUS_INVALID_VALUE\n");
    failures++;
  }
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Prints the host's nanoseconds for calls, after both libraries had time to be compared. */
#define TIME_CALLS(what, call)                                                                               \
  do {                                                                                                       \
    double least = 1e9;                                                                                      \
    for (int i = 0; i < 200; i++) {                                                                          \
      STATUS(call);                                                                                          \
      usleep(4000);                                                                                          \
    }                                                                                                        \
    for (int round = 0; round < 100; round++) {                                                              \
      need(cudaStreamSynchronize(stream), "cudaStreamSynchronize");                                          \
      const double begin = now();                                                                            \
      for (int i = 0; i < 100; i++)                                                                          \
        (void)call;                                                                                          \
      least = fmin(least, (now() - begin) / 100);                                                            \
    }                                                                                                        \
    printf("%s %.0f ns; ", what, 1e9 * least);                                                               \
  } while (0)

/* Pedantic products are always cuBLAS's. */
static void time_calls(void) {
  const float one = 1, zero = 0;
  cublasLtMatmulDesc_t operation;
  cublasLtMatrixLayout_t layout;
  STATUS(cublasLtMatmulDescCreate(&operation, CUBLAS_COMPUTE_32F, CUDA_R_32F));
  STATUS(cublasLtMatrixLayoutCreate(&layout, CUDA_R_16BF, 512, 512, 512));
  TIME_CALLS("sgemm 32", cublasSgemm_v2(handle, N, N, 32, 32, 32, &one, a, 32, b, 32, &zero, c, 32));
  TIME_CALLS("bf16 512",
             cublasGemmEx(handle, N, N, 512, 512, 512, &one, a, CUDA_R_16BF, 512, b, CUDA_R_16BF, 512, &zero,
                          c, CUDA_R_16BF, 512, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
  TIME_CALLS("Lt bf16 512", cublasLtMatmul(lt, operation, &one, a, layout, b, layout, &zero, c, layout, c,
                                           layout, NULL, workspace, 32 << 20, stream));
  STATUS(cublasSetMathMode(handle, CUBLAS_PEDANTIC_MATH));
  TIME_CALLS("pedantic sgemm 32", cublasSgemm_v2(handle, N, N, 32, 32, 32, &one, a, 32, b, 32, &zero, c, 32));
  printf("\n");
}

int main(int argc, char **argv) {
  (void)argv;
  need(cudaSetDevice(0), "cudaSetDevice");
  need(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
  STATUS(cublasCreate_v2(&handle));
  STATUS(cublasLtCreate(&lt));
  STATUS(cublasSetStream_v2(handle, stream));
  void **const places[] = {&a, &b, &c, &bias, &workspace};
  for (int i = 0; i < 5; i++)
    need(cudaMalloc(places[i], BYTES), "cudaMalloc");
  start = malloc(BYTES), expected = malloc(BYTES), seen = malloc(BYTES);
  int version;
  STATUS(cublasGetVersion_v2(handle, &version));
  if (argc == 1)
    printf("cuBLAS %d, headers %d; a layout has %zu bytes\n", version, CUBLAS_VERSION,
           sizeof(cublasLtMatrixLayoutOpaque_t));
  if (argc > 1) {
    time_calls();
    return 0;
  }
  LETTER(S, CUDA_R_32F, alpha_f32, beta_f32);
  LETTER(D, CUDA_R_64F, alpha_f64, beta_f64);
  LETTER(C, CUDA_C_32F, (const cuComplex *)alpha_f32, (const cuComplex *)beta_f32);
  LETTER(Z, CUDA_C_64F, (const cuDoubleComplex *)alpha_f64, (const cuDoubleComplex *)beta_f64);
  COMPLEX(C, CUDA_C_32F, (const cuComplex *)alpha_f32, (const cuComplex *)beta_f32);
  COMPLEX(Z, CUDA_C_64F, (const cuDoubleComplex *)alpha_f64, (const cuDoubleComplex *)beta_f64);
  check_typed(CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32F, 1);
  check_typed(CUDA_R_16BF, CUDA_R_16BF, CUBLAS_COMPUTE_32F, 1);
  check_typed(CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F, 1);
  check_typed(CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32, 200);
  check_typed(CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F, 1);
  check_typed(CUDA_R_8I, CUDA_R_32I, CUBLAS_COMPUTE_32I, 1);
  check_lt(CUDA_R_16BF, CUBLASLT_EPILOGUE_BIAS, "bias");
  check_lt(CUDA_R_16F, CUBLASLT_EPILOGUE_RELU_BIAS, "relu, bias");
  check_lt(CUDA_R_32F, CUBLASLT_EPILOGUE_BIAS, "bias");
  check_lt(CUDA_R_16BF, CUBLASLT_EPILOGUE_GELU_BIAS, "gelu, bias");
  check_others();
  check_graph();
  printf("%d checks, %d failures\n", checks, failures);
  return failures != 0;
}
