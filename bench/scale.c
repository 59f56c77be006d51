/* Times products of host memory on one device, on a device with limited memory, and on several devices. Also
 * times cuBLASXt if it can be loaded:
 *
 *   bench_scale TYPE N|MxNxK REPEATS CAP DEVICE[=NAME]...
 *
 * The first device is also measured with operands in its memory, and with its memory limited to CAP bytes.
 * CAP is like 8GiB, or - for no limit. The other arguments are a device, or several separated by commas, with
 * operands on the host. Several devices are also measured with distributed operands (rows of A and C, columns
 * of B), and with operands in the first device's memory. Prints a row for each: the fastest of REPEATS runs
 * after a first run that is not counted, and its ratio to the first device.
 *
 * STREAMED adds strategies for the limited device, separated by ';', such as "streamed rows=16384 cols=3008
 * depth=16384". PIECES adds strategies for distributed operands, such as "several slab=1073741824". HOST adds
 * strategies for operands on the host, such as "several cut=4". ROWS selects rows of "host core pieces one
 * peer" (all); one: operands in the first device's memory.
 * Twelve elements of each result are compared with sums in long double. Uses only the public header; times
 * are the host's clock around whole calls. */
#define _GNU_SOURCE
#include <tesela/tesela.h>

#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct bench {
  tesela_type type;
  const char *type_name;
  size_t size;
  int64_t m, n, k;
  int repeats;
  unsigned char *a, *b, *c;
  double one; /* seconds of the first device with operands on the host */
  double in_core;
} bench;

/* Return the rows and the columns of operand A, B or C. */
static int64_t rows_of(const bench *bench_in, int operand) {
  return operand == 1 ? bench_in->k : bench_in->m;
}
static int64_t cols_of(const bench *bench_in, int operand) {
  return operand == 0 ? bench_in->k : bench_in->n;
}
static size_t bytes_of(const bench *bench_in, int operand) {
  return (size_t)(rows_of(bench_in, operand) * cols_of(bench_in, operand)) * bench_in->size;
}

static double now(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}

static void stop(const char *what) {
  fprintf(stderr, "bench_scale: %s\n", what);
  exit(3);
}

/* --- operands --- */

enum { FILLERS = 16 };

typedef struct filling {
  const bench *of;
  unsigned char *to;
  uint64_t state;
  int64_t first, end;
} filling;

static void put(const bench *bench_in, unsigned char *dst, int64_t index, float value) {
  if (bench_in->type == TESELA_F64)
    ((double *)(void *)dst)[index] = value;
  else if (bench_in->type == TESELA_F32)
    ((float *)(void *)dst)[index] = value;
  else {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    ((uint16_t *)(void *)dst)[index] = (uint16_t)(bits >> 16); /* values with few significant bits */
  }
}

static double get(const bench *bench_in, tesela_type type, const unsigned char *from, int64_t index) {
  (void)bench_in;
  if (type == TESELA_F64)
    return ((const double *)(const void *)from)[index];
  if (type == TESELA_F32)
    return ((const float *)(const void *)from)[index];
  const uint32_t bits = (uint32_t)((const uint16_t *)(const void *)from)[index] << 16;
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static void *fill_part(void *argument) {
  filling *job = argument;
  for (int64_t i = job->first; i < job->end; i++) {
    job->state = job->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    put(job->of, job->to, i, (float)((int64_t)(job->state >> 57) - 64) / 64);
  }
  return NULL;
}

static void fill(const bench *bench_in, unsigned char *dst, int64_t all, uint64_t seed) {
  pthread_t threads[FILLERS];
  filling jobs[FILLERS];
  for (int i = 0; i < FILLERS; i++) {
    jobs[i] = (filling){bench_in, dst, seed + (uint64_t)i, all / FILLERS * i,
                        i + 1 < FILLERS ? all / FILLERS * (i + 1) : all};
    if (pthread_create(&threads[i], NULL, fill_part, &jobs[i]) != 0)
      stop("no thread");
  }
  for (int i = 0; i < FILLERS; i++)
    pthread_join(threads[i], NULL);
}

/* Returns the largest error of a dozen elements relative to the sum of magnitudes. `column_major`
 * is cuBLASXt's order: C' = B' A'. */
static double error_of(const bench *bench_in) {
  double worst = 0;
  for (int s = 0; s < 12; s++) {
    const int64_t i = s == 0 ? 0 : (bench_in->m - 1) * s / 11, j = (i * 7919 + s) % bench_in->n;
    long double sum = 0, magnitude = 0;
    for (int64_t l = 0; l < bench_in->k; l++) {
      const long double term = (long double)get(bench_in, bench_in->type, bench_in->a, i * bench_in->k + l) *
                               get(bench_in, bench_in->type, bench_in->b, l * bench_in->n + j);
      sum += term;
      magnitude += fabsl(term);
    }
    const double error =
        (double)(fabsl(get(bench_in, bench_in->type, bench_in->c, i * bench_in->n + j) - sum) / magnitude);
    worst = error > worst || isnan(error) ? error : worst;
  }
  return worst;
}

/* --- rows --- */

static bool has_rows(const char *kind) {
  const char *rows = getenv("ROWS");
  return !rows || strstr(rows, kind);
}

static void row(const bench *bench_in, const char *what, double seconds, const char *beside, double ratio) {
  const double rate = 2 * (double)bench_in->m * (double)bench_in->n * (double)bench_in->k / seconds;
  char sizes[64];
  if (bench_in->m == bench_in->n && bench_in->n == bench_in->k)
    snprintf(sizes, sizeof sizes, "%lld", (long long)bench_in->n);
  else
    snprintf(sizes, sizeof sizes, "%lldx%lldx%lld", (long long)bench_in->m, (long long)bench_in->n,
             (long long)bench_in->k);
  printf("%-6s %6s  %-34s %9.1f ms %8.2f TFLOP/s  %s%.3f  error %.1e\n", bench_in->type_name, sizes, what,
         1e3 * seconds, 1e-12 * rate, beside, ratio, error_of(bench_in));
  fflush(stdout);
}

static void says(const char *what) {
  printf("        %s: %s\n", what, tesela_last_error());
  fflush(stdout);
}

/* Measures operands on the host. `cap` and `strategy`: NULL, or as TESELA_DEVICE_MEMORY and
 * desc.strategy. */
static bool on_host(const bench *bench_in, const char *device, const char *cap, const char *strategy,
                    double *seconds, bool tell) {
  tesela_context *context;
  tesela_record record = {0};
  bool good = true;
  if (cap)
    setenv("TESELA_DEVICE_MEMORY", cap, 1);
  if (tesela_context_create(NULL, &context) != TESELA_OK)
    stop(tesela_last_error());
  const tesela_gemm_desc desc = {.m = bench_in->m,
                                 .n = bench_in->n,
                                 .k = bench_in->k,
                                 .a = {.data = bench_in->a, .type = bench_in->type},
                                 .b = {.data = bench_in->b, .type = bench_in->type},
                                 .c = {.data = bench_in->c, .type = bench_in->type},
                                 .options.strategy = strategy,
                                 .options.device = device};
  *seconds = INFINITY;
  for (int i = 0; i <= bench_in->repeats && good; i++) {
    memset(bench_in->c, 0xff, (size_t)(bench_in->m * bench_in->n) * bench_in->size);
    const double start = now();
    good = tesela_gemm(context, &desc, &record) == TESELA_OK;
    const double took = now() - start;
    *seconds = i > 0 && took < *seconds ? took : *seconds;
  }
  if (!good)
    says(device);
  else if (tell)
    printf("        %s\n", record.plan);
  tesela_context_destroy(context);
  unsetenv("TESELA_DEVICE_MEMORY");
  return good;
}

static bool in_core(const bench *bench_in, const char *device, double *seconds) {
  tesela_context *context;
  tesela_buffer *buffers[3] = {NULL};
  unsigned char *const from[] = {bench_in->a, bench_in->b};
  bool good = true;
  if (tesela_context_create(NULL, &context) != TESELA_OK)
    stop(tesela_last_error());
  for (int i = 0; i < 3 && good; i++)
    good = tesela_buffer_create(context, device, bytes_of(bench_in, i), &buffers[i]) == TESELA_OK &&
           (i == 2 || tesela_buffer_write(buffers[i], 0, from[i], bytes_of(bench_in, i)) == TESELA_OK);
  const tesela_gemm_desc desc = {.m = bench_in->m,
                                 .n = bench_in->n,
                                 .k = bench_in->k,
                                 .a = {.buffer = buffers[0], .type = bench_in->type},
                                 .b = {.buffer = buffers[1], .type = bench_in->type},
                                 .c = {.buffer = buffers[2], .type = bench_in->type}};
  *seconds = INFINITY;
  for (int i = 0; i <= bench_in->repeats && good; i++) {
    const double start = now();
    good = tesela_gemm(context, &desc, NULL) == TESELA_OK;
    const double took = now() - start;
    *seconds = i > 0 && took < *seconds ? took : *seconds;
  }
  good = good && tesela_buffer_read(buffers[2], 0, bench_in->c, bytes_of(bench_in, 2)) == TESELA_OK;
  if (!good)
    says("in core");
  for (int i = 0; i < 3; i++)
    tesela_buffer_destroy(buffers[i]);
  tesela_context_destroy(context);
  return good;
}

/* --- in pieces --- */

static int count_of(const char *device) {
  int count = 1;
  for (const char *at = device; *at; at++)
    count += *at == ',';
  return count;
}

enum { MOST_DEVICES = 8 };

typedef struct spread {
  char names[MOST_DEVICES][64];
  int count;
  tesela_shard pieces[3][MOST_DEVICES];
} spread;

static void split_names(const char *device, spread *s) {
  for (s->count = 0; s->count < MOST_DEVICES && *device;) {
    const size_t length = strcspn(device, ",");
    snprintf(s->names[s->count++], sizeof s->names[0], "%.*s", (int)length, device);
    device += length + (device[length] == ',');
  }
}

/* Uploads lines [n p / count, n (p + 1) / count): rows of A and C, or columns of B. */
static bool lay(const bench *bench_in, tesela_context *context, spread *s, int operand, int p,
                const unsigned char *from) {
  const bool by_rows = operand != 1;
  const int64_t rows = rows_of(bench_in, operand), cols = cols_of(bench_in, operand),
                all = by_rows ? rows : cols, first = all * p / s->count,
                lines = all * (p + 1) / s->count - first;
  const size_t bytes = (size_t)(by_rows ? lines * cols : lines * rows) * bench_in->size,
               line = (size_t)lines * bench_in->size;
  tesela_shard *piece = &s->pieces[operand][p];
  unsigned char *packed = NULL;
  *piece = (tesela_shard){.at = {.row = by_rows ? first : 0,
                                 .rows = by_rows ? lines : rows,
                                 .col = by_rows ? 0 : first,
                                 .cols = by_rows ? cols : lines}};
  if (tesela_buffer_create(context, s->names[p], bytes, &piece->buffer) != TESELA_OK)
    return false;
  if (by_rows)
    return !from || tesela_buffer_write(piece->buffer, 0, from + (size_t)(first * cols) * bench_in->size,
                                        bytes) == TESELA_OK;
  packed = malloc(bytes);
  if (!packed)
    stop("no memory for a piece of B");
  for (int64_t row = 0; row < rows; row++)
    memcpy(packed + (size_t)row * line, from + (size_t)(row * cols + first) * bench_in->size, line);
  const bool good = tesela_buffer_write(piece->buffer, 0, packed, bytes) == TESELA_OK;
  free(packed);
  return good;
}

static bool fetch(const bench *bench_in, const spread *s) {
  bool good = true;
  for (int p = 0; p < s->count && good; p++) {
    const tesela_rectangle *at = &s->pieces[2][p].at;
    good = tesela_buffer_read(s->pieces[2][p].buffer, 0,
                              bench_in->c + (size_t)(at->row * bench_in->n) * bench_in->size,
                              (size_t)(at->rows * bench_in->n) * bench_in->size) == TESELA_OK;
  }
  return good;
}

/* Measures operands in pieces on all devices of a group, or (`on_one`) on the first device with the
 * help of the others. */
static void in_pieces(const bench *bench_in, const char *device, bool on_one, const char *strategy) {
  tesela_context *context;
  tesela_record record = {0};
  spread s = {.count = 0};
  char what[160];
  double seconds = INFINITY;
  bool good = true;
  const unsigned char *const from[] = {bench_in->a, bench_in->b, NULL};
  if (tesela_context_create(NULL, &context) != TESELA_OK)
    stop(tesela_last_error());
  split_names(device, &s);
  s.count = on_one ? 1 : s.count;
  for (int operand = 0; operand < 3; operand++)
    for (int p = 0; p < s.count && good; p++)
      good = lay(bench_in, context, &s, operand, p, from[operand]);
  const tesela_shards a = {s.pieces[0], s.count}, b = {s.pieces[1], s.count}, c = {s.pieces[2], s.count};
  const tesela_gemm_desc desc = {.m = bench_in->m,
                                 .n = bench_in->n,
                                 .k = bench_in->k,
                                 .a = {.type = bench_in->type},
                                 .b = {.type = bench_in->type},
                                 .c = {.type = bench_in->type},
                                 .a.shards = &a,
                                 .b.shards = &b,
                                 .c.shards = &c,
                                 .options.strategy = strategy,
                                 .options.device = device};
  for (int i = 0; i <= bench_in->repeats && good; i++) {
    const double start = now();
    good = tesela_gemm(context, &desc, &record) == TESELA_OK;
    const double took = now() - start;
    seconds = i > 0 && took < seconds ? took : seconds;
  }
  if (good)
    printf("        %s\n", record.plan);
  memset(bench_in->c, 0xff, (size_t)(bench_in->m * bench_in->n) * bench_in->size);
  good = good && fetch(bench_in, &s);
  snprintf(what, sizeof what, "%s, %s%s", device, on_one ? "in the first one" : "in pieces",
           strategy ? ", given" : "");
  if (good)
    row(bench_in, what, seconds, "of linear in core ", bench_in->in_core / seconds / count_of(device));
  else
    says(what);
  for (int operand = 0; operand < 3; operand++)
    for (int p = 0; p < s.count; p++)
      tesela_buffer_destroy(s.pieces[operand][p].buffer);
  tesela_context_destroy(context);
}

/* Measures each strategy of a list separated by ';'. */
static void given_on_host(const bench *bench_in, const char *device, const char *argument) {
  char strategies[1024], what[160], *rest = strategies;
  snprintf(strategies, sizeof strategies, "%s", argument);
  for (char *next; rest && *rest; rest = next) {
    double seconds;
    next = strchr(rest, ';');
    if (next)
      *next++ = 0;
    if (!on_host(bench_in, device, NULL, rest, &seconds, true))
      continue;
    snprintf(what, sizeof what, "%s, host, given", device);
    row(bench_in, what, seconds, "of linear ", bench_in->one / seconds / count_of(device));
  }
}

static void given_pieces(const bench *bench_in, const char *device, const char *argument) {
  char strategies[1024], *rest = strategies;
  snprintf(strategies, sizeof strategies, "%s", argument);
  for (char *next; rest && *rest; rest = next) {
    next = strchr(rest, ';');
    if (next)
      *next++ = 0;
    in_pieces(bench_in, device, false, rest);
  }
}

/* --- cuBLASXt --- */

typedef int xt_gemm(void *handle, int trans_a, int trans_b, size_t m, size_t n, size_t k, const void *alpha,
                    const void *a, size_t lda, const void *b, size_t ldb, const void *beta, void *c,
                    size_t ldc);

static void *symbol(void *library, const char *name) {
  void *found = dlsym(library, name);
  if (!found)
    stop(name);
  return found;
}

/* Measures cuBLASXt, column-major: C' = B' A'. Its block size is 8192, or XT_BLOCK; the best of
 * 2048 to 16384 depends on the sizes. */
static void peer(const bench *bench_in, int devices) {
  static const char *const names[] = {"libcublas.so.13", "libcublas.so.12", "libcublas.so"};
  void *library = NULL, *handle = NULL;
  int ids[64];
  const char *given = getenv("TESELA_CUBLAS"), *block = getenv("XT_BLOCK");
  if (given)
    library = dlopen(given, RTLD_NOW);
  for (size_t i = 0; i < sizeof names / sizeof *names && !library; i++)
    library = dlopen(names[i], RTLD_NOW);
  if (!library || (bench_in->type != TESELA_F32 && bench_in->type != TESELA_F64)) {
    if (!library)
      printf("        cuBLASXt: not there\n");
    return;
  }
  int (*const create)(void **) = (int (*)(void **))(uintptr_t)symbol(library, "cublasXtCreate");
  int (*const destroy)(void *) = (int (*)(void *))(uintptr_t)symbol(library, "cublasXtDestroy");
  int (*const select_)(void *, int, int *) =
      (int (*)(void *, int, int *))(uintptr_t)symbol(library, "cublasXtDeviceSelect");
  int (*const set)(void *, int) = (int (*)(void *, int))(uintptr_t)symbol(library, "cublasXtSetBlockDim");
  int (*const pin)(void *, int) =
      (int (*)(void *, int))(uintptr_t)symbol(library, "cublasXtSetPinningMemMode");
  xt_gemm *const gemm =
      (xt_gemm *)(uintptr_t)symbol(library, bench_in->type == TESELA_F64 ? "cublasXtDgemm" : "cublasXtSgemm");
  const double one64 = 1, none64 = 0;
  const float one32 = 1, none32 = 0;
  const bool wide = bench_in->type == TESELA_F64;
  const size_t m = (size_t)bench_in->m, n = (size_t)bench_in->n, k = (size_t)bench_in->k;
  double best = INFINITY;
  char what[64];
  for (int i = 0; i < devices; i++)
    ids[i] = i;
  if (create(&handle) != 0 || select_(handle, devices, ids) != 0 ||
      set(handle, block ? atoi(block) : 8192) != 0) {
    printf("        cuBLASXt: does not start\n");
    return;
  }
  (void)pin(handle, 1);
  for (int i = 0; i <= bench_in->repeats; i++) {
    const double start = now();
    if (gemm(handle, 0, 0, n, m, k, wide ? (const void *)&one64 : &one32, bench_in->b, n, bench_in->a, k,
             wide ? (const void *)&none64 : &none32, bench_in->c, n) != 0) {
      printf("        cuBLASXt: failed\n");
      break;
    }
    const double took = now() - start;
    best = i > 0 && took < best ? took : best;
  }
  if (isfinite(best)) {
    snprintf(what, sizeof what, "cuBLASXt, %d devices, host", devices);
    row(bench_in, what, best, "of one ", bench_in->one / best);
  }
  (void)destroy(handle);
}

/* --- all --- */

/* Measures the limited device with the planner's tiles, and with the tiles of STREAMED. */
static void limited(const bench *bench_in, const char *device, const char *cap) {
  const char *given = getenv("STREAMED");
  char strategies[1024], what[160], *rest = strategies;
  snprintf(strategies, sizeof strategies, ";%s", given ? given : "");
  for (char *next; rest && (rest == strategies || *rest); rest = next) {
    double seconds;
    next = strchr(rest, ';');
    if (next)
      *next++ = 0;
    if (!on_host(bench_in, device, cap, *rest ? rest : NULL, &seconds, true))
      continue;
    snprintf(what, sizeof what, "%s, host, in %s%s", device, cap, *rest ? ", given" : "");
    row(bench_in, what, seconds, "of in core ", bench_in->in_core / seconds);
  }
}

static void first(bench *bench_in, const char *device, const char *cap) {
  char what[128];
  if (has_rows("host")) {
    if (!on_host(bench_in, device, NULL, NULL, &bench_in->one, true))
      exit(3);
    snprintf(what, sizeof what, "%s, host", device);
    row(bench_in, what, bench_in->one, "of one ", 1);
  }
  if (has_rows("core") && in_core(bench_in, device, &bench_in->in_core)) {
    snprintf(what, sizeof what, "%s, in core", device);
    row(bench_in, what, bench_in->in_core, "of one ", bench_in->one / bench_in->in_core);
  }
  if (strcmp(cap, "-") != 0)
    limited(bench_in, device, cap);
}

int main(int argc, char **argv) {
  bench of = {0};
  if (argc < 6)
    stop("usage: bench_scale TYPE N REPEATS CAP DEVICE...");
  of.type_name = argv[1];
  of.type = strcmp(argv[1], "f64") == 0 ? TESELA_F64 : strcmp(argv[1], "f32") == 0 ? TESELA_F32 : TESELA_BF16;
  of.size = of.type == TESELA_F64 ? 8 : of.type == TESELA_F32 ? 4 : 2;
  long long sizes[3];
  const int given = sscanf(argv[2], "%lldx%lldx%lld", &sizes[0], &sizes[1], &sizes[2]);
  of.m = sizes[0];
  of.n = given == 3 ? sizes[1] : sizes[0];
  of.k = given == 3 ? sizes[2] : sizes[0];
  of.repeats = atoi(argv[3]);
  if ((given != 1 && given != 3) || of.m < 1 || of.n < 1 || of.k < 1 || of.m > 1 << 24 || of.n > 1 << 24 ||
      of.k > 1 << 24 || of.repeats < 1)
    stop("sizes are N or MxNxK, and REPEATS are 1 or more");
  unsigned char **const all[] = {&of.a, &of.b, &of.c};
  for (int i = 0; i < 3; i++) {
    *all[i] = malloc(bytes_of(&of, i));
    if (!*all[i])
      stop("no memory for the operands");
  }
  fill(&of, of.a, of.m * of.k, 1);
  fill(&of, of.b, of.k * of.n, 1000);
  first(&of, argv[5], argv[4]);
  for (int i = 6; i < argc; i++) {
    double seconds;
    char what[160];
    if (has_rows("host")) {
      if (!on_host(&of, argv[i], NULL, NULL, &seconds, true))
        continue;
      snprintf(what, sizeof what, "%s, host", argv[i]);
      row(&of, what, seconds, "of linear ", of.one / seconds / count_of(argv[i]));
    }
    if (getenv("HOST"))
      given_on_host(&of, argv[i], getenv("HOST"));
    for (int on_one = 0; on_one < 2 && count_of(argv[i]) > 1; on_one++)
      if (has_rows(on_one ? "one" : "pieces"))
        in_pieces(&of, argv[i], on_one, NULL);
    if (getenv("PIECES") && count_of(argv[i]) > 1)
      given_pieces(&of, argv[i], getenv("PIECES"));
    if (has_rows("peer") && strncmp(argv[i], "cuda", 4) == 0)
      peer(&of, count_of(argv[i]));
  }
  for (int i = 0; i < 3; i++)
    free(*all[i]);
  return 0;
}
