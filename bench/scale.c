/* scale TYPE N|MxNxK REPEATS CAP DEVICE[,DEVICE]...
 *
 * How fast are products of host memory on one device, on a device with limited memory, and on several
 * devices? Also times cuBLASXt if it can be loaded. TYPE is f32, f64 or bf16.
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
 * peer" (all); one: operands in the first device's memory. XT_BLOCK is cuBLASXt's block (8192). PINNED=1
 * allocates host operands in pinned memory of the CUDA driver.
 *
 * Twelve elements of each result are compared with sums in long double. Times are the host's clock around
 * whole calls. */
#include "cases.h"
#include "core/pool.h"
#include "host/int_math.h"

#include <dlfcn.h>

enum { DEVICES_MAX = 8, ELEMENTS = 12 };

static tsl_types types;
static const char *type_name;
static tsl_problem problem;
static int64_t m, n, k;
static int repeats;
static unsigned char *operands[3];
static double one_seconds,
    core_seconds, /* of the first device with operands on the host, and in its memory */
    host_seconds; /* of the last device or group with operands on the host */

static const tsl_shape *shape_of(int operand) {
  return tsl_problem_shape(&problem, operand);
}
static size_t element_size(void) {
  return tsl_type(types.a)->size;
}

/* Returns the largest error of a dozen elements relative to the sum of magnitudes. */
static double get_error(void) {
  const size_t size = element_size();
  double worst = 0;
  for (int s = 0; s < ELEMENTS; s++) {
    const int64_t i = (m - 1) * s / (ELEMENTS - 1), j = (i * 7919 + s) % n;
    long double sum = 0, magnitude = 0;
    double x[2], y[2];
    for (int64_t l = 0; l < k; l++) {
      tsl_type_load(types.a, operands[0] + (size_t)(i * k + l) * size, x);
      tsl_type_load(types.b, operands[1] + (size_t)(l * n + j) * size, y);
      sum += (long double)x[0] * y[0];
      magnitude += fabsl((long double)x[0] * y[0]);
    }
    tsl_type_load(types.c, operands[2] + (size_t)(i * n + j) * size, x);
    const double error = (double)(fabsl(x[0] - sum) / magnitude);
    worst = error > worst || isnan(error) ? error : worst;
  }
  return worst;
}

enum { FILL_ROWS = 256 };

/* Fills rows FILL_ROWS `block` and on of an operand, with a seed for each block. */
static void fill_rows(void *argument, int64_t block, int worker) {
  const int operand = *(const int *)argument;
  const tsl_shape *shape = shape_of(operand);
  const int64_t first = block * FILL_ROWS, rows = tsl_min(FILL_ROWS, shape->rows - first);
  (void)worker;
  bench_must(tsl_kind_fill(TSL_KIND_UNIFORM, (uint64_t)(2 * block + operand + 1), rows, shape->cols, types.a,
                           operands[operand] + (size_t)(first * shape->cols) * element_size()),
             "operands");
}

static void fill_operands(void) {
  enum { THREADS = 16 };
  tsl_pool *pool;
  bench_must(tsl_pool_create(THREADS, &pool), "threads");
  for (int i = 0; i < 2; i++)
    tsl_team_run(tsl_pool_team(pool, 0), tsl_ceil_div(shape_of(i)->rows, FILL_ROWS), fill_rows, &i);
  tsl_pool_destroy(pool);
}

/* --- rows --- */

static bool has_rows(const char *kind) {
  const char *rows = getenv("ROWS");
  return !rows || strstr(rows, kind);
}

static void print_row(const char *what, double seconds, const char *over, double ratio) {
  char sizes[64];
  if (m == n && n == k)
    snprintf(sizes, sizeof sizes, "%" PRId64, n);
  else
    snprintf(sizes, sizeof sizes, "%" PRId64 "x%" PRId64 "x%" PRId64, m, n, k);
  printf("%-6s %6s  %-34s %9.1f ms %8.2f TFLOP/s  %s%.3f  error %.1e\n", type_name, sizes, what,
         1e3 * seconds, 1e-12 * tsl_problem_flops(&problem) / seconds, over, ratio, get_error());
  fflush(stdout);
}

/* --- pinned operands --- */

/* Returns pinned memory that all devices' contexts share; NULL after a message. Never freed. */
static void *allocate_pinned(size_t bytes) {
  enum { PORTABLE = 1 };
  void *context, *memory = NULL, *library = dlopen("libcuda.so.1", RTLD_NOW);
  int (*init)(unsigned flags), (*retain)(void **context, int device), (*set)(void *context),
      (*allocate)(void **memory, size_t bytes, unsigned flags);
  if (!library) {
    printf("        PINNED: there is no CUDA driver\n");
    return NULL;
  }
  *(void **)&init = dlsym(library, "cuInit");
  *(void **)&retain = dlsym(library, "cuDevicePrimaryCtxRetain");
  *(void **)&set = dlsym(library, "cuCtxSetCurrent");
  *(void **)&allocate = dlsym(library, "cuMemHostAlloc");
  if (!init || !retain || !set || !allocate || init(0) || retain(&context, 0) || set(context) ||
      allocate(&memory, bytes, PORTABLE)) {
    printf("        PINNED: the driver gives no memory\n");
    return NULL;
  }
  return memory;
}

static bool is_pinned(void) {
  return getenv("PINNED") != NULL;
}

/* --- timing a call --- */

typedef struct call {
  tesela_context *context;
  tesela_gemm_desc desc;
  tesela_record record;
} call;

static void run_call(bench_side *side) {
  call *state = side->state;
  if (tesela_gemm(state->context, &state->desc, &state->record) != TESELA_OK)
    bench_refuse(side, tesela_last_error());
}

static void clear_result(bench_side *side) {
  const call *state = side->state;
  if (state->desc.c.data)
    memset(operands[2], 0xff, bench_bytes(&problem.c));
}

/* Returns the seconds of the fastest run; NAN after a message. Prints the plan. */
static double time_call(const char *what, call *state) {
  bench_side side = {.name = what, .call = run_call, .state = state, .calls = 1};
  bench_race(&side, 1,
             &(bench_turns){
                 .rounds_min = repeats, .rounds_max = repeats, .seconds = INFINITY, .before = clear_result});
  if (side.why[0])
    printf("        %s: %s\n", what, side.why);
  else if (state->record.plan)
    printf("        %s\n", state->record.plan);
  bench_sides_free(&side, 1);
  return side.least;
}

/* Returns the words for where host operands are. */
static const char *host_words(void) {
  return is_pinned() ? "pinned host" : "host";
}

/* Makes a context and the description of a product on the host. */
static void begin_call(const char *device, const char *strategy, call *out) {
  *out = (call){.desc = {.m = m,
                         .n = n,
                         .k = k,
                         .a = {.type = types.a},
                         .b = {.type = types.b},
                         .c = {.type = types.c},
                         .options.strategy = strategy,
                         .options.device = device}};
  bench_must(tesela_context_create(NULL, &out->context), "a context");
}

/* Measures operands on the host. `cap` and `strategy`: NULL, or as TESELA_DEVICE_MEMORY and desc.strategy. */
static double time_host(const char *device, const char *cap, const char *strategy) {
  call state;
  if (cap)
    setenv("TESELA_DEVICE_MEMORY", cap, 1);
  begin_call(device, strategy, &state);
  state.desc.a.data = operands[0], state.desc.b.data = operands[1], state.desc.c.data = operands[2];
  const double seconds = time_call(device, &state);
  tesela_context_destroy(state.context);
  unsetenv("TESELA_DEVICE_MEMORY");
  return seconds;
}

/* --- operands in devices' memory --- */

typedef struct spread {
  char names[DEVICES_MAX][64];
  int count;
  tesela_shard shards[3][DEVICES_MAX];
} spread;

static void split_names(const char *devices, spread *s) {
  for (s->count = 0;
       s->count < DEVICES_MAX && bench_next_word(&devices, ",", s->names[s->count], sizeof s->names[0]);)
    s->count++;
}

static int count_devices(const char *devices) {
  spread s;
  split_names(devices, &s);
  return s.count;
}

/* Uploads lines [lines p / count, lines (p + 1) / count) of an operand: rows of A and C, or columns of B. */
static bool upload(tesela_context *context, spread *s, int operand, int p) {
  const bool by_rows = operand != 1;
  const int64_t rows = shape_of(operand)->rows, cols = shape_of(operand)->cols, all = by_rows ? rows : cols,
                first = all * p / s->count, lines = all * (p + 1) / s->count - first;
  const size_t size = element_size(), bytes = (size_t)(by_rows ? lines * cols : lines * rows) * size,
               line = (size_t)lines * size;
  const unsigned char *from = operands[operand];
  tesela_shard *piece = &s->shards[operand][p];
  *piece = (tesela_shard){.at = {.row = by_rows ? first : 0,
                                 .rows = by_rows ? lines : rows,
                                 .col = by_rows ? 0 : first,
                                 .cols = by_rows ? cols : lines}};
  if (tesela_buffer_create(context, s->names[p], bytes, &piece->buffer) != TESELA_OK)
    return false;
  if (operand == 2)
    return true;
  if (by_rows)
    return tesela_buffer_write(piece->buffer, 0, from + (size_t)(first * cols) * size, bytes) == TESELA_OK;
  unsigned char *packed = bench_allocate(bytes, 1);
  for (int64_t row = 0; row < rows; row++)
    memcpy(packed + (size_t)row * line, from + (size_t)(row * cols + first) * size, line);
  const bool is_written = tesela_buffer_write(piece->buffer, 0, packed, bytes) == TESELA_OK;
  free(packed);
  return is_written;
}

static bool download(const spread *s) {
  bool is_read = true;
  memset(operands[2], 0xff, bench_bytes(&problem.c));
  for (int p = 0; p < s->count && is_read; p++) {
    const tesela_rectangle *at = &s->shards[2][p].at;
    is_read =
        tesela_buffer_read(s->shards[2][p].buffer, 0, operands[2] + (size_t)(at->row * n) * element_size(),
                           (size_t)(at->rows * n) * element_size()) == TESELA_OK;
  }
  return is_read;
}

/* Measures operands in the memory of a group's devices, or (`on_one`) of the first one with the help of the
 * others; `is_whole`: as whole buffers of a single device, not as shards. Returns the seconds, NAN after a
 * message. */
static double time_shards(const char *device, bool on_one, bool is_whole, const char *strategy,
                          const char *what) {
  spread s = {.count = 0};
  call state;
  bool is_uploaded = true;
  double seconds = NAN;
  begin_call(is_whole ? NULL : device, strategy, &state);
  split_names(device, &s);
  s.count = on_one ? 1 : s.count;
  for (int operand = 0; operand < 3; operand++)
    for (int p = 0; p < s.count && is_uploaded; p++)
      is_uploaded = upload(state.context, &s, operand, p);
  const tesela_shards shards[3] = {{s.shards[0], s.count}, {s.shards[1], s.count}, {s.shards[2], s.count}};
  if (is_whole) {
    state.desc.a.buffer = s.shards[0][0].buffer;
    state.desc.b.buffer = s.shards[1][0].buffer;
    state.desc.c.buffer = s.shards[2][0].buffer;
  } else {
    state.desc.a.shards = &shards[0], state.desc.b.shards = &shards[1], state.desc.c.shards = &shards[2];
  }
  if (is_uploaded)
    seconds = time_call(what, &state);
  if (!is_uploaded || (isfinite(seconds) && !download(&s))) {
    printf("        %s: %s\n", what, tesela_last_error());
    seconds = NAN;
  }
  for (int operand = 0; operand < 3; operand++)
    for (int p = 0; p < s.count; p++)
      tesela_buffer_destroy(s.shards[operand][p].buffer);
  tesela_context_destroy(state.context);
  return seconds;
}

static void measure_shards(const char *device, bool on_one, const char *strategy) {
  char what[160];
  snprintf(what, sizeof what, "%s, %s%s", device, on_one ? "in the first one" : "in pieces",
           strategy ? ", given" : "");
  const double seconds = time_shards(device, on_one, false, strategy, what);
  if (isfinite(seconds))
    print_row(what, seconds, "of linear in core ", core_seconds / seconds / count_devices(device));
}

/* --- cuBLASXt --- */

typedef int xt_gemm(void *handle, int trans_a, int trans_b, size_t m, size_t n, size_t k, const void *alpha,
                    const void *a, size_t lda, const void *b, size_t ldb, const void *beta, void *c,
                    size_t ldc);

static struct {
  int (*create)(void **handle);
  int (*destroy)(void *handle);
  int (*select_devices)(void *handle, int count, int *ids);
  int (*set_block)(void *handle, int block);
  int (*pin)(void *handle, int mode);
  xt_gemm *gemm;
  void *handle;
} xt;

/* Column-major: C' = B' A'. */
static void run_xt(bench_side *side) {
  static const double one_f64 = 1, zero_f64 = 0;
  static const float one_f32 = 1, zero_f32 = 0;
  const bool is_double = types.a == TESELA_F64;
  if (xt.gemm(xt.handle, 0, 0, (size_t)n, (size_t)m, (size_t)k, is_double ? (const void *)&one_f64 : &one_f32,
              operands[1], (size_t)n, operands[0], (size_t)k, is_double ? (const void *)&zero_f64 : &zero_f32,
              operands[2], (size_t)n) != 0)
    bench_refuse(side, "failed");
}

static bool load_xt(void) {
  const char *const names[] = {getenv("TESELA_CUBLAS"), "libcublas.so.13", "libcublas.so.12", "libcublas.so"};
  void *library = NULL;
  for (int i = 0; i < COUNT_OF(names) && !library; i++)
    library = names[i] ? dlopen(names[i], RTLD_NOW) : NULL;
  if (!library) {
    printf("        cuBLASXt: not there\n");
    return false;
  }
  *(void **)&xt.create = dlsym(library, "cublasXtCreate");
  *(void **)&xt.destroy = dlsym(library, "cublasXtDestroy");
  *(void **)&xt.select_devices = dlsym(library, "cublasXtDeviceSelect");
  *(void **)&xt.set_block = dlsym(library, "cublasXtSetBlockDim");
  *(void **)&xt.pin = dlsym(library, "cublasXtSetPinningMemMode");
  *(void **)&xt.gemm = dlsym(library, types.a == TESELA_F64 ? "cublasXtDgemm" : "cublasXtSgemm");
  return xt.create && xt.destroy && xt.select_devices && xt.set_block && xt.pin && xt.gemm;
}

/* Measures cuBLASXt, which may pin the operands in the call. Its best block size of 2048 to 16384 depends on
 * the sizes. */
static void measure_xt_once(int devices, bool pins) {
  const char *block = getenv("XT_BLOCK");
  char what[64];
  int ids[DEVICES_MAX];
  for (int i = 0; i < devices; i++)
    ids[i] = i;
  if (xt.create(&xt.handle) != 0 || xt.select_devices(xt.handle, devices, ids) != 0 ||
      xt.set_block(xt.handle, block ? atoi(block) : 8192) != 0) {
    printf("        cuBLASXt: does not start\n");
    return;
  }
  (void)xt.pin(xt.handle, pins);
  bench_side side = {.name = "cuBLASXt", .call = run_xt, .calls = 1};
  bench_race(&side, 1, &(bench_turns){.rounds_min = repeats, .rounds_max = repeats, .seconds = INFINITY});
  snprintf(what, sizeof what, "cuBLASXt, %d, %s%s", devices, host_words(), pins ? ", pins" : "");
  if (side.why[0])
    printf("        cuBLASXt: %s\n", side.why);
  else
    print_row(what, side.least, "over tesela ", side.least / host_seconds);
  bench_sides_free(&side, 1);
  (void)xt.destroy(xt.handle);
}

static void measure_xt(const char *device, int devices) {
  if (!has_rows("peer") || strncmp(device, "cuda", 4) != 0 || types.a == TESELA_BF16 || !load_xt())
    return;
  measure_xt_once(devices, false);
  if (!is_pinned())
    measure_xt_once(devices, true);
}

/* --- all rows --- */

/* Copies the next strategy of a list in a variable, separated by ';'; returns false at its end. */
static bool next_strategy(const char **list, char *word, size_t size) {
  return *list && bench_next_word(list, ";", word, size);
}

static void measure_host(const char *device, const char *cap, const char *strategy, const char *over,
                         double base) {
  char what[160];
  const double seconds = time_host(device, cap, strategy);
  host_seconds = cap || strategy ? host_seconds : seconds;
  snprintf(what, sizeof what, "%s, %s%s%s%s", device, host_words(), cap ? ", in " : "", cap ? cap : "",
           strategy ? ", given" : "");
  if (isfinite(seconds))
    print_row(what, seconds, over, base / seconds);
}

static void measure_first(const char *device, const char *cap) {
  const char *list = getenv("STREAMED");
  char what[128], strategy[1024];
  if (has_rows("host")) {
    host_seconds = one_seconds = time_host(device, NULL, NULL);
    if (!isfinite(one_seconds))
      exit(3);
    snprintf(what, sizeof what, "%s, %s", device, host_words());
    print_row(what, one_seconds, "of one ", 1);
    measure_xt(device, 1);
  }
  snprintf(what, sizeof what, "%s, in core", device);
  if (has_rows("core") && isfinite(core_seconds = time_shards(device, true, true, NULL, what)))
    print_row(what, core_seconds, "of one ", one_seconds / core_seconds);
  if (strcmp(cap, "-") == 0)
    return;
  measure_host(device, cap, NULL, "of in core ", core_seconds);
  while (next_strategy(&list, strategy, sizeof strategy))
    measure_host(device, cap, strategy, "of in core ", core_seconds);
}

static void measure_group(const char *device) {
  const int count = count_devices(device);
  const char *hosts = getenv("HOST"), *pieces = getenv("PIECES");
  char strategy[1024];
  if (has_rows("host"))
    measure_host(device, NULL, NULL, "of linear ", one_seconds / count);
  while (next_strategy(&hosts, strategy, sizeof strategy))
    measure_host(device, NULL, strategy, "of linear ", one_seconds / count);
  for (int on_one = 0; on_one < 2 && count > 1; on_one++)
    if (has_rows(on_one ? "one" : "pieces"))
      measure_shards(device, on_one, NULL);
  while (count > 1 && next_strategy(&pieces, strategy, sizeof strategy))
    measure_shards(device, false, strategy);
  measure_xt(device, count);
}

int main(int argc, char **argv) {
  static const bench_option options[] = {OPTIONS_END};
  bench_case item;
  bench_read(argc, argv, "scale", options, bench_take_word);
  if (bench_word_count < 5 || !bench_case_parse(bench_words[1], &item) || item.sizes == 2 ||
      atoi(bench_words[2]) < 1)
    bench_stop("usage", "bench_scale TYPE N|MxNxK REPEATS CAP DEVICE...");
  type_name = bench_words[0];
  bench_types_parse(type_name, &types, 1);
  problem = bench_case_problem(&item, &types);
  m = problem.m, n = problem.n, k = problem.k;
  repeats = atoi(bench_words[2]);
  for (int i = 0; i < 3; i++) {
    operands[i] = is_pinned() ? allocate_pinned(bench_bytes(shape_of(i))) : malloc(bench_bytes(shape_of(i)));
    if (!operands[i])
      bench_stop("memory", "there is not enough");
  }
  fill_operands();
  measure_first(bench_words[4], bench_words[3]);
  for (int i = 5; i < bench_word_count; i++)
    measure_group(bench_words[i]);
  for (int i = 0; i < 3 && !is_pinned(); i++)
    free(operands[i]);
  return 0;
}
