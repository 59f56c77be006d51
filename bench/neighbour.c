/* neighbour [options] MxNxK... -- NEIGHBOUR [NAME=LIBTESELA...]
 *
 * Times products by several threads while idle threads of another library still occupy processors. OpenBLAS's
 * threads do so: after each call they yield in a loop for about 25 ms. Every product is timed
 *
 *   alone   while the neighbour's threads sleep: 60 ms after its last call, with the caller's thread awake
 *   after   immediately after a call of the neighbour
 *
 * in turn with other builds of tesela. A time counts only if this process had nearly all of its processors,
 * which excludes other programs. Prints medians of GFLOP/s, their ratio (half a processor of two: 0.75), and
 * the number of times that counted and of all times.
 *
 * NEIGHBOUR is a library with cblas_dgemm, given by path, with its own number of threads. The word @yields is
 * a thread of this program that yields in a loop during the product. The word @works is a thread that never
 * yields.
 *
 *   --threads N     threads of tesela (its default)
 *   --types LIST    f32, f64 (f32,f64)
 *   --rounds N      times of each that count (15)
 *   --seconds N     maximum time for a product (20)
 *   --all           counts all times, where other programs are neighbours, too
 *   --call N        size of the neighbour's product (256)
 *   --tesela FILE   build of tesela to measure, a libtesela.so (this program's) */
#include "builds.h"
#include "peers.h"
#include "shapes.h"

#include "core/clock.h"
#include "core/memory.h"

#include <getopt.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#define BENCH_NAME "neighbour"
#include "stop.h"

enum { BUILDS_MAX = 6, ROUNDS_MAX = 1000, CALL_MAX = 4096, ROW_MAJOR = 101, AS_IT_IS = 111 };
static const double asleep_seconds = 60e-3;

typedef void dgemm_call(int order, int trans_a, int trans_b, int m, int n, int k, double alpha,
                        const double *a, int lda, const double *b, int ldb, double beta, double *c, int ldc);

typedef struct contender {
  const char *name;
  build tesela;
  tesela_context *context;
  tesela_plan *plan; /* the plan of the present product */
  struct timing {
    double seconds[ROUNDS_MAX];
    int count, tried;
  } alone, beside;
} contender;

static contender contenders[BUILDS_MAX] = {{.name = "tesela"}};
static int contender_count = 1, rounds = 15, call_size = 256, threads, processors;
static double seconds_most = 20, nearly_all = 0.94;
static const char *types = "f32,f64", *measured;
static shape_list shapes;

/* --- the neighbour --- */

static dgemm_call *dgemm;
static double *operands;
static enum { LIBRARY, YIELDS, WORKS } neighbour;
static atomic_int wanted; /* tells the thread that imitates a neighbour's thread to spin */

static void *keep_a_processor(void *argument) {
  (void)argument;
  for (;;) {
    if (!atomic_load(&wanted))
      nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    else if (neighbour == YIELDS)
      sched_yield();
  }
  return NULL;
}

static void begin_neighbour(const char *what) {
  neighbour = strcmp(what, "@yields") == 0 ? YIELDS : strcmp(what, "@works") == 0 ? WORKS : LIBRARY;
  if (neighbour != LIBRARY) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, keep_a_processor, NULL) != 0)
      stop(what, "no thread");
    printf("neighbour: a thread that %s\n", what + 1);
    return;
  }
  char says[256];
  void *library = build_open(what);
  if (!library)
    stop(what, dlerror());
  *(void **)&dgemm = dlsym(library, "cblas_dgemm");
  if (!dgemm)
    *(void **)&dgemm = dlsym(library, "scipy_cblas_dgemm");
  if (!dgemm)
    stop(what, "has no cblas_dgemm");
  peer_says(library, says, sizeof says);
  printf("neighbour: %s\n", says);
  void *memory;
  must(tsl_alloc_zeroed(3 * sizeof(double) * (size_t)call_size * (size_t)call_size, "the neighbour", &memory),
       "--call");
  operands = memory;
}

static void wait_awake(double seconds) {
  for (const double end = tsl_clock() + seconds; tsl_clock() < end;)
    continue;
}

/* Wakes the neighbour's threads, or lets them fall asleep. */
static void call_neighbour(bool is_beside) {
  if (neighbour != LIBRARY) {
    atomic_store(&wanted, is_beside);
    wait_awake(2e-3);
    return;
  }
  const ptrdiff_t square = (ptrdiff_t)call_size * call_size;
  dgemm(ROW_MAJOR, AS_IT_IS, AS_IT_IS, call_size, call_size, call_size, 1, operands, call_size,
        operands + square, call_size, 0, operands + 2 * square, call_size);
  if (!is_beside)
    wait_awake(asleep_seconds);
}

/* --- products --- */

static void add_build(contender *contender_in, const char *path) {
  void *library = path ? build_open(path) : NULL;
  if (path && !library)
    stop(path, dlerror());
  const char *lacks = library ? build_find(library, &contender_in->tesela) : NULL;
  if (lacks)
    stop(contender_in->name, lacks);
  if (!library)
    contender_in->tesela = build_linked;
  if (contender_in->tesela.context_create(NULL, &contender_in->context, 0) != TESELA_OK)
    stop(contender_in->name, contender_in->tesela.last_error());
}

static void make_plan(contender *contender_in, const int64_t shape[3], tesela_type type) {
  const tesela_gemm_desc desc = {.m = shape[0],
                                 .n = shape[1],
                                 .k = shape[2],
                                 .a = {.type = type},
                                 .b = {.type = type},
                                 .options.device = "cpu"};
  if (contender_in->tesela.plan_create(contender_in->context, TESELA_GEMM, &desc, &contender_in->plan,
                                       sizeof desc) != TESELA_OK)
    stop(contender_in->name, contender_in->tesela.last_error());
}

typedef struct product {
  void *a, *b, *c, *expected;
  size_t c_bytes;
} product;

static void multiply(const contender *by, const product *product_in) {
  const tesela_matrix a = {.data = product_in->a}, b = {.data = product_in->b};
  const tesela_result c = {.data = product_in->c};
  if (by->tesela.plan_run(by->plan, &(tesela_operands){.a = &a, .b = &b, .c = &c}, NULL,
                          sizeof(tesela_operands), 0) != TESELA_OK)
    stop(by->name, by->tesela.last_error());
}

static double processor_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Records the time, if no other process kept the processors busy. */
static void time_one(const contender *by, const product *product_in, struct timing *state) {
  const double start = tsl_clock(), worked = processor_seconds();
  multiply(by, product_in);
  const double seconds = tsl_clock() - start;
  state->tried++;
  if (state->count < ROUNDS_MAX && processor_seconds() - worked >= nearly_all * seconds * processors)
    state->seconds[state->count++] = seconds;
}

static int by_size(const void *x, const void *y) {
  const double one = *(const double *)x, other = *(const double *)y;
  return (one > other) - (one < other);
}
static double median(struct timing *state) {
  qsort(state->seconds, (size_t)state->count, sizeof *state->seconds, by_size);
  return state->count > 0 ? state->seconds[state->count / 2] : NAN;
}

static void *filled(int64_t count, tesela_type type) {
  const size_t bytes = (size_t)count * (type == TESELA_F64 ? 8 : 4);
  void *made;
  must(tsl_alloc(bytes, "operands", &made), "operands");
  for (int64_t i = 0; i < count; i++)
    if (type == TESELA_F64)
      ((double *)made)[i] = (double)(i % 13 - 6);
    else
      ((float *)made)[i] = (float)(i % 13 - 6);
  return made;
}

static bool is_enough(void) {
  for (const contender *one = contenders; one < contenders + contender_count; one++)
    if (one->alone.count < rounds || one->beside.count < rounds)
      return false;
  return true;
}

/* Compares builds with small whole numbers: sums are exact, so all builds and schedules must give
 * equal bits. */
static void compare(const int64_t shape[3], tesela_type type) {
  product made = {filled(shape[0] * shape[2], type), filled(shape[2] * shape[1], type),
                  filled(shape[0] * shape[1], type), filled(shape[0] * shape[1], type),
                  (size_t)(shape[0] * shape[1]) * (type == TESELA_F64 ? 8 : 4)};
  for (int i = 0; i < contender_count; i++) {
    contenders[i].alone.count = contenders[i].alone.tried = 0;
    contenders[i].beside.count = contenders[i].beside.tried = 0;
    make_plan(&contenders[i], shape, type);
    multiply(&contenders[i], &made);
    if (i == 0)
      memcpy(made.expected, made.c, made.c_bytes);
  }
  const double end = tsl_clock() + seconds_most;
  for (int round = 0; tsl_clock() < end && !is_enough(); round++)
    for (int turn = 0; turn < contender_count; turn++) {
      contender *now = &contenders[(turn + round) % contender_count];
      memset(made.c, 0xff, made.c_bytes);
      call_neighbour(true);
      time_one(now, &made, &now->beside);
      if (memcmp(made.c, made.expected, made.c_bytes) != 0)
        stop(now->name, "computes something else");
      call_neighbour(false);
      time_one(now, &made, &now->alone);
    }
  const double flops = 2e-9 * (double)shape[0] * (double)shape[1] * (double)shape[2];
  for (contender *one = contenders; one < contenders + contender_count; one++) {
    const double alone = median(&one->alone), beside = median(&one->beside);
    printf("%s %5" PRId64 " %5" PRId64 " %5" PRId64
           "  %-8s alone %7.1f  after %7.1f  kept %.3f  (%d of %d, %d of %d)\n",
           type == TESELA_F64 ? "f64" : "f32", shape[0], shape[1], shape[2], one->name, flops / alone,
           flops / beside, alone / beside, one->alone.count, one->alone.tried, one->beside.count,
           one->beside.tried);
    one->tesela.plan_destroy(one->plan);
  }
  fflush(stdout);
  tsl_free(made.a);
  tsl_free(made.b);
  tsl_free(made.c);
  tsl_free(made.expected);
}

static void read_options(int argc, char **argv) {
  static const struct option names[] = {
      {"threads", 1, NULL, 't'}, {"types", 1, NULL, 'y'}, {"rounds", 1, NULL, 'r'}, {"call", 1, NULL, 'c'},
      {"seconds", 1, NULL, 's'}, {"all", 0, NULL, 'a'},   {"tesela", 1, NULL, 'l'}, {NULL, 0, NULL, 0}};
  int option;
  while ((option = getopt_long(argc, argv, "+", names, NULL)) != -1)
    switch (option) {
    case 't':
      threads = atoi(optarg);
      break;
    case 'y':
      types = optarg;
      break;
    case 'r':
      rounds = atoi(optarg);
      break;
    case 'c':
      call_size = atoi(optarg);
      break;
    case 'a':
      nearly_all = 0;
      break;
    case 's':
      seconds_most = atof(optarg);
      break;
    case 'l':
      measured = optarg;
      break;
    default:
      exit(2);
    }
  if (rounds < 1 || rounds > ROUNDS_MAX || call_size < 1 || call_size > CALL_MAX)
    stop("--rounds, --call", "from 1 to 1000, and to 4096");
}

int main(int argc, char **argv) {
  read_options(argc, argv);
  while (optind < argc && strcmp(argv[optind], "--") != 0) {
    stop_if_wrong(argv[optind], shapes_add(&shapes, argv[optind]));
    optind++;
  }
  if (optind + 1 >= argc || shapes.count == 0)
    stop("arguments", "neighbour [options] MxNxK... -- NEIGHBOUR [NAME=LIBTESELA...]");
  if (threads > 0) {
    char text[16];
    snprintf(text, sizeof text, "%d", threads);
    setenv("TESELA_THREADS", text, 1);
  }
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
    stop("sched_getaffinity", "failed");
  processors = CPU_COUNT(&allowed);
  if (threads > 0 && threads < processors)
    processors = threads;
  peers_warn();
  begin_neighbour(argv[++optind]);
  add_build(&contenders[0], measured);
  while (++optind < argc) {
    char *path = strchr(argv[optind], '=');
    if (!path || contender_count == BUILDS_MAX)
      stop(argv[optind], "not NAME=LIBTESELA, or too many");
    *path++ = '\0';
    contenders[contender_count].name = argv[optind];
    add_build(&contenders[contender_count++], path);
  }
  for (int i = 0; i < shapes.count; i++) {
    if (strstr(types, "f32"))
      compare(shapes.items[i], TESELA_F32);
    if (strstr(types, "f64"))
      compare(shapes.items[i], TESELA_F64);
  }
  return 0;
}
