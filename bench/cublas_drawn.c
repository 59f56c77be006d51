/* cublas_drawn SEED COUNT [SECONDS [PART/PARTS]]
 *
 * Are programs on cuBLAS faster or slower with the drop-in (docs/CUBLAS.md)? Draws COUNT products, calls them
 * for SECONDS (15) until the drop-in has decided, then times the preloaded names and cuBLAS's own functions
 * by turns. Prints a line for each product: microseconds of a queued call of both (the shortest of the
 * rounds), of these the host's, and the ratios. Then the geometric mean and the lowest ratio. Results are
 * compared. PART/PARTS takes every PARTS-th product: with TESELA_CUBLAS_CALLS=tesela and SECONDS 0, processes
 * compile the kernels for a later run side by side. To compile it, use CUDA's headers and the libraries
 * cublas, cublasLt, cudart, dl and m. To run it, set LD_PRELOAD to libtesela_cublas.so. */
#define _GNU_SOURCE
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { BYTES = 96 << 20, PATTERN = 1 << 20, ROUNDS = 9, COUNT_MAX = 1000 };
enum { F32, F64, C64, C128, F16, BF16, BF16_F32, KINDS };
static const struct {
  const char *name;
  cudaDataType type, c_type, scalar;
  cublasComputeType_t compute;
  size_t size, c_size;
  double tolerance;
} kinds[KINDS] = {
    {"f32", CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F, 4, 4, 1e-4},
    {"f64", CUDA_R_64F, CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F, 8, 8, 1e-12},
    {"c64", CUDA_C_32F, CUDA_C_32F, CUDA_C_32F, CUBLAS_COMPUTE_32F, 8, 8, 1e-4},
    {"c128", CUDA_C_64F, CUDA_C_64F, CUDA_C_64F, CUBLAS_COMPUTE_64F, 16, 16, 1e-12},
    {"f16", CUDA_R_16F, CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F, 2, 2, 4e-3},
    {"bf16", CUDA_R_16BF, CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F, 2, 2, 3e-2},
    {"bf16f32", CUDA_R_16BF, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F, 2, 4, 1e-3},
};
/* Names that a product may be called by. */
enum { GEMM, GEMM_EX, STRIDED, BATCHED, LT, LT_ROWS, WAYS };
static const char *const ways[WAYS] = {"gemm", "gemmEx", "strided", "batched", "Lt", "Lt rows"};

typedef struct drawn {
  int kind, way, trans_a, trans_b, m, n, k, lda, ldb, ldc, batch;
  cublasLtMatmulDesc_t operation;
  cublasLtMatrixLayout_t a, b, c;
  void **addresses; /* on the device: of A, B and C, `batch` each */
} drawn;

static cublasHandle_t handle;
static cublasLtHandle_t lt;
static cudaStream_t stream;
static char *a, *b, *c, *workspace; /* on the device */
static drawn products[COUNT_MAX];

static void need(int code, const char *what) {
  if (code != 0) {
    printf("%s: code %d\n", what, code);
    exit(1);
  }
}
#define NEED(expression) need(expression, #expression)

/* Returns cuBLAS's own function: a lookup with a version is not replaced. */
static void *get_real(const char *name) {
  void *address =
      dlvsym(RTLD_DEFAULT, name, strncmp(name, "cublasLt", 8) ? "libcublas.so.13" : "libcublasLt.so.13");
  if (!address)
    need(1, name);
  return address;
}
/* Calls cuBLAS's own function, or the name that the program has. */
#define CALL(name, is_real, ...)                                                                             \
  do {                                                                                                       \
    static __typeof__(&name) real;                                                                           \
    real = real ? real : (__typeof__(&name))get_real(#name);                                                 \
    return (is_real ? real : name)(__VA_ARGS__);                                                             \
  } while (0)

static const double one_f64[2] = {1, 0}, zeros[2];
static const float one_f32[2] = {1, 0};
static const void *one_of(int kind) {
  return kind == F64 || kind == C128 ? (const void *)one_f64 : one_f32;
}

#define ARGUMENTS(type)                                                                                      \
  handle, p->trans_a, p->trans_b, p->m, p->n, p->k, (const type *)alpha, (const type *)a, p->lda,            \
      (const type *)b, p->ldb, (const type *)zeros, (type *)c, p->ldc
static int call_gemm(const drawn *p, const void *alpha, int is_real) {
  switch (p->kind) {
  case F32:
    CALL(cublasSgemm_v2, is_real, ARGUMENTS(float));
  case F64:
    CALL(cublasDgemm_v2, is_real, ARGUMENTS(double));
  case C64:
    CALL(cublasCgemm_v2, is_real, ARGUMENTS(cuComplex));
  default:
    CALL(cublasZgemm_v2, is_real, ARGUMENTS(cuDoubleComplex));
  }
}

static int call(const drawn *p, int is_real) {
  const void *alpha = one_of(p->kind);
  const cudaDataType type = kinds[p->kind].type, c_type = kinds[p->kind].c_type;
  const cublasComputeType_t compute = kinds[p->kind].compute;
  const long long a_step = (long long)p->lda * (p->trans_a == CUBLAS_OP_N ? p->k : p->m),
                  b_step = (long long)p->ldb * (p->trans_b == CUBLAS_OP_N ? p->n : p->k),
                  c_step = (long long)p->ldc * p->n;
  switch (p->way) {
  case GEMM:
    return call_gemm(p, alpha, is_real);
  case GEMM_EX:
    CALL(cublasGemmEx, is_real, handle, p->trans_a, p->trans_b, p->m, p->n, p->k, alpha, a, type, p->lda, b,
         type, p->ldb, zeros, c, c_type, p->ldc, compute, CUBLAS_GEMM_DEFAULT);
  case STRIDED:
    CALL(cublasGemmStridedBatchedEx, is_real, handle, p->trans_a, p->trans_b, p->m, p->n, p->k, alpha, a,
         type, p->lda, a_step, b, type, p->ldb, b_step, zeros, c, c_type, p->ldc, c_step, p->batch, compute,
         CUBLAS_GEMM_DEFAULT);
  case BATCHED:
    CALL(cublasGemmBatchedEx, is_real, handle, p->trans_a, p->trans_b, p->m, p->n, p->k, alpha,
         (const void *const *)p->addresses, type, p->lda, (const void *const *)(p->addresses + p->batch),
         type, p->ldb, zeros, p->addresses + 2 * p->batch, c_type, p->ldc, p->batch, compute,
         CUBLAS_GEMM_DEFAULT);
  default:
    CALL(cublasLtMatmul, is_real, lt, p->operation, alpha, a, p->a, b, p->b, zeros, c, p->c, c, p->c, NULL,
         workspace, 32 << 20, stream);
  }
}

static unsigned long long state;
static double draw(void) {
  state = state * 6364136223846793005ull + 1442695040888963407ull;
  return (double)(state >> 11) * 0x1p-53;
}
static int draw_size(double least, double most) {
  const int size = (int)exp(log(least) + draw() * log(most / least));
  return draw() < .6 ? (size + 7) / 8 * 8 : size;
}

/* Row-major layouts have the same numbers: the stored matrix is the transpose. */
static void describe(drawn *p) {
  const cublasLtOrder_t order = p->way == LT_ROWS ? CUBLASLT_ORDER_ROW : CUBLASLT_ORDER_COL;
  const cublasOperation_t op_a = p->trans_a, op_b = p->trans_b;
  const int a_rows = op_a == CUBLAS_OP_N ? p->m : p->k, a_cols = op_a == CUBLAS_OP_N ? p->k : p->m,
            b_rows = op_b == CUBLAS_OP_N ? p->k : p->n, b_cols = op_b == CUBLAS_OP_N ? p->n : p->k;
  const cudaDataType type = kinds[p->kind].type;
  NEED(cublasLtMatmulDescCreate(&p->operation, kinds[p->kind].compute, kinds[p->kind].scalar));
  NEED(cublasLtMatmulDescSetAttribute(p->operation, CUBLASLT_MATMUL_DESC_TRANSA, &op_a, sizeof op_a));
  NEED(cublasLtMatmulDescSetAttribute(p->operation, CUBLASLT_MATMUL_DESC_TRANSB, &op_b, sizeof op_b));
  NEED(cublasLtMatrixLayoutCreate(&p->a, type, a_rows, a_cols, order ? a_cols : p->lda));
  NEED(cublasLtMatrixLayoutCreate(&p->b, type, b_rows, b_cols, order ? b_cols : p->ldb));
  NEED(cublasLtMatrixLayoutCreate(&p->c, kinds[p->kind].c_type, p->m, p->n, order ? p->n : p->ldc));
  cublasLtMatrixLayout_t layouts[] = {p->a, p->b, p->c};
  for (int i = 0; i < 3; i++)
    NEED(cublasLtMatrixLayoutSetAttribute(layouts[i], CUBLASLT_MATRIX_LAYOUT_ORDER, &order, sizeof order));
}

/* Fills the addresses of a batch whose members lie in turns. */
static void fill_addresses(drawn *p) {
  void **host = malloc(sizeof(void *) * 3 * (size_t)p->batch);
  const size_t size = kinds[p->kind].size, c_size = kinds[p->kind].c_size;
  const size_t step[] = {size * (size_t)p->lda * (size_t)(p->trans_a == CUBLAS_OP_N ? p->k : p->m),
                         size * (size_t)p->ldb * (size_t)(p->trans_b == CUBLAS_OP_N ? p->n : p->k),
                         c_size * (size_t)p->ldc * (size_t)p->n};
  char *const first[] = {a, b, c};
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < p->batch; j++)
      host[i * p->batch + j] = first[i] + (size_t)(j ^ 1) * ((step[i] + 15) / 16 * 16);
  NEED(cudaMalloc((void **)&p->addresses, sizeof(void *) * 3 * (size_t)p->batch));
  NEED(cudaMemcpy(p->addresses, host, sizeof(void *) * 3 * (size_t)p->batch, cudaMemcpyHostToDevice));
  free(host);
}

static void draw_product(drawn *p, int kind) {
  static const cublasOperation_t ops[] = {CUBLAS_OP_N, CUBLAS_OP_T};
  p->kind = kind;
  const double which = draw();
  p->way = which < .45  ? (kind < F16 ? GEMM : GEMM_EX)
           : which < .6 ? STRIDED
           : which < .7 ? BATCHED
           : which < .9 ? LT
                        : LT_ROWS;
  p->trans_a = ops[draw() < .5];
  p->trans_b = ops[draw() < .5];
  const int is_batch = p->way == STRIDED || p->way == BATCHED;
  const double most = is_batch ? 256 : kind == C128 ? 1024 : 2048;
  p->m = draw_size(16, most), p->n = draw_size(16, most), p->k = draw_size(16, most);
  p->batch = is_batch ? 2 * draw_size(1, 32) : 1;
  p->lda = p->trans_a == CUBLAS_OP_N ? p->m : p->k;
  p->ldb = p->trans_b == CUBLAS_OP_N ? p->k : p->n;
  p->ldc = p->m;
  if (p->way >= LT)
    describe(p);
  if (p->way == BATCHED)
    fill_addresses(p);
}

static double number(int kind, const char *array, size_t i) {
  if (kind == F64 || kind == C128)
    return ((const double *)array)[i];
  if (kind == F16)
    return (double)((const _Float16 *)array)[i];
  if (kind == BF16) {
    const unsigned word = (unsigned)((const unsigned short *)array)[i] << 16;
    float value;
    memcpy(&value, &word, sizeof value);
    return value;
  }
  return ((const float *)array)[i];
}

static void fill(int kind) {
  static char pattern[PATTERN];
  const size_t size = kind == F64 || kind == C128 ? 8 : kind >= F16 ? 2 : 4;
  for (size_t i = 0; i < PATTERN / size; i++) {
    const double value = 2 * draw() - 1;
    const float single = (float)value;
    unsigned word;
    memcpy(&word, &single, sizeof word);
    if (size == 8)
      ((double *)pattern)[i] = value;
    else if (size == 4)
      ((float *)pattern)[i] = single;
    else if (kind == F16)
      ((_Float16 *)pattern)[i] = (_Float16)single;
    else
      ((unsigned short *)pattern)[i] = (unsigned short)(word >> 16);
  }
  for (size_t at = 0; at < BYTES; at += PATTERN) {
    NEED(cudaMemcpy(a + at, pattern, PATTERN, cudaMemcpyHostToDevice));
    NEED(cudaMemcpy(b + at, pattern, PATTERN, cudaMemcpyHostToDevice));
  }
}

/* Returns the largest difference of both libraries, relative to the largest number. */
static double compare(const drawn *p) {
  static char *host[2];
  const size_t bytes = BYTES / 4;
  double most = 1e-30, difference = 0;
  for (int side = 0; side < 2; side++) {
    host[side] = host[side] ? host[side] : malloc(bytes);
    NEED(cudaMemset(c, 0, bytes));
    NEED(call(p, side));
    NEED(cudaStreamSynchronize(stream));
    NEED(cudaMemcpy(host[side], c, bytes, cudaMemcpyDeviceToHost));
  }
  const size_t size = p->kind == F64 || p->kind == C128 ? 8 : p->kind == F16 || p->kind == BF16 ? 2 : 4;
  for (size_t i = 0; i < bytes / size; i++) {
    const double x = number(p->kind, host[0], i), y = number(p->kind, host[1], i);
    most = fmax(most, fabs(y));
    difference = fabs(x - y) <= difference ? difference : fabs(x - y);
  }
  return difference / most;
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Returns microseconds of a call in a row of calls; *host are those until the calls return. */
static double time_calls(const drawn *p, int is_real, int count, double *host) {
  NEED(cudaStreamSynchronize(stream));
  const double begin = now();
  for (int i = 0; i < count; i++)
    (void)call(p, is_real);
  *host = 1e6 * (now() - begin) / count;
  NEED(cudaStreamSynchronize(stream));
  return 1e6 * (now() - begin) / count;
}

static double measure(const drawn *p) {
  double least[2] = {1e30, 1e30}, host_least[2] = {1e30, 1e30}, host;
  const int count = 50; /* fewer than a queue holds, so that the host does not wait */
  for (int round = 0; round < ROUNDS; round++)
    for (int side = 0; side < 2; side++) {
      least[side] = fmin(least[side], time_calls(p, side, count, &host));
      host_least[side] = fmin(host_least[side], host);
    }
  printf("%-8s%-8s%c%c %5d x %5d x %5d x %3d  %8.2f %8.2f us, host %6.2f %6.2f, ratio %5.2f", ways[p->way],
         kinds[p->kind].name, p->trans_a == CUBLAS_OP_N ? 'N' : 'T', p->trans_b == CUBLAS_OP_N ? 'N' : 'T',
         p->m, p->n, p->k, p->batch, least[0], least[1], host_least[0], host_least[1], least[1] / least[0]);
  return least[1] / least[0];
}

int main(int argc, char **argv) {
  int count = argc > 2 ? atoi(argv[2]) : 0, part = 0, parts = 1;
  const double seconds = argc > 3 ? atof(argv[3]) : 15;
  if (count < 1 || count > COUNT_MAX || (argc > 4 && sscanf(argv[4], "%d/%d", &part, &parts) != 2))
    return 2;
  state = (unsigned long long)atoll(argv[1]) * 977 + 5;
  NEED(cudaSetDevice(0));
  NEED(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  NEED(cublasCreate_v2(&handle));
  NEED(cublasLtCreate(&lt));
  NEED(cublasSetStream_v2(handle, stream));
  char **const places[] = {&a, &b, &c, &workspace};
  for (int i = 0; i < 4; i++)
    NEED(cudaMalloc((void **)places[i], BYTES));
  NEED(cudaMemset(a, 0, BYTES));
  NEED(cudaMemset(b, 0, BYTES));
  for (int i = 0; i < count; i++)
    draw_product(&products[i], i * KINDS / count);
  int kept = 0;
  for (int i = part; i < count; i += parts)
    products[kept++] = products[i];
  count = kept;
  for (const double end = now() + seconds; now() < end; usleep(2000))
    for (int i = 0; i < count; i++) {
      NEED(call(&products[i], 0));
      NEED(cudaStreamSynchronize(stream));
    }
  double logs = 0, lowest = 1e30;
  int wrong = 0;
  for (int i = 0; i < count; i++) {
    const drawn *p = &products[i];
    if (i == 0 || p->kind != products[i - 1].kind)
      fill(p->kind);
    const double difference = compare(p), ratio = measure(p);
    const int is_wrong = !(difference <= kinds[p->kind].tolerance);
    printf("%s\n", is_wrong ? "  WRONG" : "");
    wrong += is_wrong;
    logs += log(ratio);
    lowest = fmin(lowest, ratio);
  }
  printf("mean %.3f, least %.3f, %d of %d wrong\n", exp(logs / count), lowest, wrong, count);
  return wrong != 0;
}
