/* grouped [--device D] [--seconds S] [--threads N] [--only NUMBERS] [DROP_IN] NAME=LIBRARY...
 *
 * How fast are groups of products with different sizes, such as experts of a network? In turn in one process:
 *
 *   tesela grouped   tesela_gemm_grouped(); on devices a fused launch
 *   tesela queued    on devices: the same products queued one by one, as a group with required bits is
 *   tesela loop      tesela_gemm() in a loop
 *   NAME batch       on the processor: cblas_sgemm_batch of a library, if it has one
 *   NAME loop        on the processor: cblas_sgemm of a library in a loop
 *   vendor_cublaslt  on CUDA devices: its products queued on one stream; --peer: another strategy
 *
 * The processor (cpu, the default) multiplies f32 in host memory; sizes are also drawn anew for each round,
 * as in each step of a network. Other devices multiply bf16 in their memory, B by columns. Prints the median
 * of 10^9 operations a second, its ratio to the loop over tesela_gemm(), and the spread. N threads (all).
 * --only: numbers of groups, "0,3".
 *
 * Before, each group is multiplied with whole numbers, whose sums are exact: all results must equal single
 * calls, or the program ends. On devices the program also prints how many elements differ in bits with
 * fractions, and the times of the first calls with new sizes. */
#include "cases.h"
#include "peers.h"

enum { PRODUCTS_MAX = 513, LIBRARIES_MAX = 6, SIDES_MAX = 2 * LIBRARIES_MAX + 4 };

typedef void batch_call(int order, const int *trans_a, const int *trans_b, const int *m, const int *n,
                        const int *k, const float *alpha, const float **a, const int *lda, const float **b,
                        const int *ldb, const float *beta, float **c, const int *ldc, int groups,
                        const int *size);

/* Groups as programs multiply them: sizes from low to high; of experts m alone changes. */
typedef struct group {
  const char *name;
  int count, m[2], n[2], k[2];
  int large; /* the size of one more product; 0: none */
  tesela_type a, c;
} group;
static const group groups[] = {
    {"experts 64 x (1..128) x 512 x 512", 64, {1, 128}, {512, 512}, {512, 512}, 0, TESELA_F32, TESELA_F32},
    {"experts 16 x (16..256) x 1024 x 1024",
     16,
     {16, 256},
     {1024, 1024},
     {1024, 1024},
     0,
     TESELA_F32,
     TESELA_F32},
    {"512 of 8..32", 512, {8, 32}, {8, 32}, {8, 32}, 0, TESELA_F32, TESELA_F32},
    {"256 of 16..100", 256, {16, 100}, {16, 100}, {16, 100}, 0, TESELA_F32, TESELA_F32},
    {"256 of 16..64 and one of 768", 256, {16, 64}, {16, 64}, {16, 64}, 768, TESELA_F32, TESELA_F32},
    {"3 of 512", 3, {512, 512}, {512, 512}, {512, 512}, 0, TESELA_F32, TESELA_F32},
    {"experts 64 x (1..512) x 4096 x 1536",
     64,
     {1, 512},
     {4096, 4096},
     {1536, 1536},
     0,
     TESELA_BF16,
     TESELA_BF16},
    {"experts 64 x (1..512) x 1536 x 4096",
     64,
     {1, 512},
     {1536, 1536},
     {4096, 4096},
     0,
     TESELA_BF16,
     TESELA_BF16},
    {"experts 8 x (64..2048) x 4096 x 4096",
     8,
     {64, 2048},
     {4096, 4096},
     {4096, 4096},
     0,
     TESELA_BF16,
     TESELA_BF16},
    {"experts 128 x (1..64) x 2048 x 1024",
     128,
     {1, 64},
     {2048, 2048},
     {1024, 1024},
     0,
     TESELA_BF16,
     TESELA_BF16},
    {"200 of (16..512) x (64..512) x (64..1024), f32 C",
     200,
     {16, 512},
     {64, 512},
     {64, 1024},
     0,
     TESELA_BF16,
     TESELA_F32},
};

static tesela_context *context;
static const char *device_name = "cpu", *only = "", *peer = "vendor_cublaslt";
static double seconds = NAN;
static int threads;
static bool is_host, is_quick;
static bench_library libraries[LIBRARIES_MAX];
static batch_call *batches[LIBRARIES_MAX];
static int library_count;

/* The present group: its products one after the other in three arrays, in host memory or in buffers. */
static const group *present;
static int products, m[PRODUCTS_MAX], n[PRODUCTS_MAX], k[PRODUCTS_MAX], ones_of_sizes[PRODUCTS_MAX],
    trans[PRODUCTS_MAX];
static size_t at[3][PRODUCTS_MAX], all[3]; /* elements */
static void *host[3];
static tesela_buffer *buffers[3];
static tesela_gemm_desc descs[PRODUCTS_MAX], queued_descs[PRODUCTS_MAX];
static const float *as[PRODUCTS_MAX], *bs[PRODUCTS_MAX];
static float *cs[PRODUCTS_MAX], ones[PRODUCTS_MAX], zeroes[PRODUCTS_MAX];
static double flops, first_flops;
static uint64_t state = 1;

static tesela_type type_of(int operand) {
  return operand == 2 ? present->c : present->a;
}
static size_t bytes_of(int operand) {
  return all[operand] * tsl_type(type_of(operand))->size;
}

/* --- operands --- */

/* Draws a size; on devices multiples of 8, except m. */
static int draw_size(const int limits[2], bool is_aligned) {
  const int step = is_aligned && !is_host ? 8 : 1;
  return limits[0] + (int)bench_draw(&state, 0, (limits[1] - limits[0]) / step) * step;
}

static void draw_sizes(void) {
  products = present->count + (present->large > 0);
  flops = 0;
  memset(all, 0, sizeof all);
  for (int i = 0; i < products; i++) {
    const bool is_large = i == present->count;
    m[i] = is_large ? present->large : draw_size(present->m, false);
    n[i] = is_large ? present->large : draw_size(present->n, true);
    k[i] = is_large ? present->large : draw_size(present->k, true);
    const int64_t counts[3] = {(int64_t)m[i] * k[i], (int64_t)n[i] * k[i], (int64_t)m[i] * n[i]};
    for (int operand = 0; operand < 3; operand++) {
      at[operand][i] = all[operand];
      all[operand] += is_host ? (size_t)counts[operand] : ((size_t)counts[operand] + 255) / 256 * 256;
    }
    flops += 2.0 * m[i] * n[i] * k[i];
  }
}

static void describe(void) {
  for (int i = 0; i < products; i++) {
    const size_t a_bytes = at[0][i] * tsl_type(present->a)->size,
                 b_bytes = at[1][i] * tsl_type(present->a)->size,
                 c_bytes = at[2][i] * tsl_type(present->c)->size;
    descs[i] = (tesela_gemm_desc){.m = m[i],
                                  .n = n[i],
                                  .k = k[i],
                                  .a = {.type = present->a},
                                  .b = {.type = present->a, .transpose = !is_host},
                                  .c = {.type = present->c}};
    if (is_host) {
      descs[i].a.data = as[i] = (const float *)(void *)((char *)host[0] + a_bytes);
      descs[i].b.data = bs[i] = (const float *)(void *)((char *)host[1] + b_bytes);
      descs[i].c.data = cs[i] = (float *)(void *)((char *)host[2] + c_bytes);
    } else {
      descs[i].a.buffer = buffers[0], descs[i].a.offset = (int64_t)at[0][i];
      descs[i].b.buffer = buffers[1], descs[i].b.offset = (int64_t)at[1][i];
      descs[i].c.buffer = buffers[2], descs[i].c.offset = (int64_t)at[2][i];
    }
    queued_descs[i] = descs[i];
    queued_descs[i].options.reproducibility = "run";
    ones_of_sizes[i] = 1, trans[i] = CBLAS_NO_TRANS, ones[i] = 1;
  }
}

static void release_operands(void) {
  for (int i = 0; i < 3; i++) {
    free(host[i]);
    host[i] = NULL;
    if (buffers[i])
      tesela_buffer_destroy(buffers[i]);
    buffers[i] = NULL;
  }
}

/* Fills A and B with whole numbers or with fractions, and C with NaN. */
static void make_operands(bool are_whole) {
  release_operands();
  for (int i = 0; i < 3; i++) {
    host[i] = bench_allocate(bytes_of(i), 1);
    memset(host[i], 0xff, bytes_of(i));
    if (i < 2)
      tsl_random_fill(are_whole ? TSL_DRAW_INTEGER : TSL_DRAW_UNIFORM, (uint64_t)i + 1, 0, present->a,
                      host[i], all[i]);
    if (is_host)
      continue;
    bench_must(tesela_buffer_create(context, device_name, bytes_of(i), &buffers[i]), "a buffer");
    bench_must(tesela_buffer_write(buffers[i], 0, host[i], bytes_of(i)), "writing");
  }
  describe();
}

/* Copies C to `out` and fills it with NaN. */
static void take_results(unsigned char *out) {
  if (is_host) {
    memcpy(out, host[2], bytes_of(2));
    memset(host[2], 0xff, bytes_of(2));
    return;
  }
  bench_must(tesela_buffer_read(buffers[2], 0, out, bytes_of(2)), "reading");
  bench_must(tesela_buffer_write(buffers[2], 0, host[2], bytes_of(2)), "writing");
}

/* --- sides --- */

static void run_grouped(bench_side *side) {
  (void)side;
  bench_must(tesela_gemm_grouped(context, descs, NULL, products, NULL), "a group");
}
static void run_queued(bench_side *side) {
  (void)side;
  bench_must(tesela_gemm_grouped(context, queued_descs, NULL, products, NULL), "a queued group");
}
static void run_loop(bench_side *side) {
  (void)side;
  for (int i = 0; i < products; i++)
    bench_must(tesela_gemm(context, &descs[i], NULL), "a product");
}
static void run_library_batch(bench_side *side) {
  const int library = (int)((const bench_library *)side->state - libraries);
  batches[library](CBLAS_ROW_MAJOR, trans, trans, m, n, k, ones, as, k, bs, n, zeroes, cs, n, products,
                   ones_of_sizes);
}
static void run_library_loop(bench_side *side) {
  const bench_library *by = side->state;
  for (int i = 0; i < products; i++)
    by->sgemm(CBLAS_ROW_MAJOR, CBLAS_NO_TRANS, CBLAS_NO_TRANS, m[i], n[i], k[i], 1, as[i], k[i], bs[i], n[i],
              0, cs[i], n[i]);
}

/* Returns the seconds of a call as if the group had the operations of the first draw. */
static double run_scaled(bench_side *side, int calls) {
  const double start = bench_clock();
  for (int i = 0; i < calls; i++)
    side->call(side);
  return (bench_clock() - start) * first_flops / flops;
}

/* The peer's plans of all products, and their stream. */
static tesela_plan *peer_plans[PRODUCTS_MAX];
static tesela_stream *peer_stream;

static void free_peer(void) {
  for (int i = 0; i < products; i++) {
    if (peer_plans[i])
      tesela_plan_destroy(peer_plans[i]);
    peer_plans[i] = NULL;
  }
  if (peer_stream)
    tesela_stream_destroy(peer_stream);
  peer_stream = NULL;
}

/* Plans all products by the peer's strategy; the side gets the reason if there is none. */
static void make_peer(bench_side *side) {
  size_t workspace = 0;
  for (int i = 0; i < products && !side->why[0]; i++) {
    tesela_gemm_desc desc = descs[i];
    desc.options.strategy = peer;
    if (tesela_plan_create(context, &desc, &peer_plans[i]) != TESELA_OK)
      bench_refuse(side, tesela_last_error());
    const size_t own = tesela_plan_workspace(peer_plans[i]);
    workspace = own > workspace ? own : workspace;
  }
  if (side->why[0])
    return;
  bench_must(tesela_stream_create(context, device_name, &peer_stream), "a stream");
  bench_must(tesela_stream_reserve(peer_stream, workspace), "a workspace");
}

static void run_peer(bench_side *side) {
  for (int i = 0; i < products; i++)
    bench_must(tesela_plan_enqueue(peer_plans[i], peer_stream,
                                   &(tesela_operands){.a = &descs[i].a, .b = &descs[i].b, .c = &descs[i].c},
                                   NULL),
               side->name);
  bench_must(tesela_stream_wait(peer_stream), side->name);
}

enum { GROUPED, LOOP }; /* the first sides */

static int list_sides(bench_side *sides, char names[][64]) {
  int count = 0;
  sides[count++] = (bench_side){.name = "tesela grouped", .call = run_grouped};
  sides[count++] = (bench_side){.name = "tesela loop", .call = run_loop};
  if (!is_host) {
    sides[count++] = (bench_side){.name = "tesela queued", .call = run_queued};
    sides[count++] = (bench_side){.name = peer, .call = run_peer};
  }
  for (int i = 0; i < library_count; i++)
    for (int is_loop = !batches[i]; is_loop < 2; is_loop++) {
      snprintf(names[count], sizeof names[count], "%s %s", libraries[i].name, is_loop ? "loop" : "batch");
      sides[count] = (bench_side){.name = names[count],
                                  .call = is_loop ? run_library_loop : run_library_batch,
                                  .state = &libraries[i]};
      count++;
    }
  return count;
}

/* --- comparing --- */

/* Compares every side with single calls, the side LOOP; returns the fraction of elements of a group whose
 * bits differ. `first`: the time of the first call, grouped and single. */
static double compare(bench_side *sides, int count, bool are_whole, double first[2]) {
  const size_t size = tsl_type(present->c)->size;
  unsigned char *expected = bench_allocate(bytes_of(2), 1), *found = bench_allocate(bytes_of(2), 1);
  size_t other = 0;
  for (int turn = 0; turn < count; turn++) {
    const int i = turn < 2 ? !turn : turn;
    if (sides[i].call == run_peer)
      continue;
    const double start = bench_clock();
    sides[i].call(&sides[i]);
    if (i < 2)
      first[i] = bench_clock() - start;
    take_results(i == LOOP ? expected : found);
    for (size_t e = 0; i == GROUPED && e < all[2]; e++)
      other += memcmp(found + e * size, expected + e * size, size) != 0;
    for (int p = 0; p < products && are_whole && i != LOOP; p++)
      if (bench_difference(found + at[2][p] * size, expected + at[2][p] * size,
                           (size_t)m[p] * (size_t)n[p] * size, present->c) != 0)
        bench_stop(sides[i].name, "computes something else than single calls");
  }
  free(expected);
  free(found);
  return (double)other / (double)all[2];
}

static void draw_again(void) {
  draw_sizes();
  make_operands(true);
}

static void measure(const group *group_in, bool changes) {
  static char names[SIDES_MAX][64];
  bench_side sides[SIDES_MAX];
  double first[2] = {0}, again[2] = {0};
  present = group_in;
  draw_sizes();
  first_flops = flops;
  make_operands(true);
  const int count = list_sides(sides, names);
  (void)compare(sides, count, true, first);
  if (!is_host) {
    make_operands(false);
    const double other = compare(sides, count, false, again);
    printf(
        "%s: %g of all elements differ; first calls %.0f ms grouped, %.0f ms in a loop; again %.1f, %.1f\n",
        group_in->name, other, 1e3 * first[0], 1e3 * first[1], 1e3 * again[0], 1e3 * again[1]);
    make_peer(&sides[count - 1]);
  } else {
    printf("%s%s\n", group_in->name, changes ? ", drawn anew" : "");
  }
  for (int i = 0; i < count; i++)
    sides[i].calls = 1, sides[i].run = run_scaled;
  bench_race(sides, count,
             &(bench_turns){.rounds_min = is_quick  ? 3
                                          : is_host ? 9
                                                    : 5,
                            .rounds_max = is_quick ? 3 : 400,
                            .seconds = seconds / (is_host ? count : 1),
                            .is_paired = true,
                            .before_round = changes ? draw_again : NULL});
  for (int i = 0; i < count; i++)
    if (sides[i].why[0])
      printf("  %-20s %s\n", sides[i].name, sides[i].why);
    else
      printf("  %-20s %8.1f GFLOP/s  %.2f  %9.1f us, spread %.0f%%\n", sides[i].name,
             1e-9 * first_flops / sides[i].median, bench_paired(&sides[i], &sides[LOOP], false),
             1e6 * sides[i].median, 100 * sides[i].spread);
  fflush(stdout);
  bench_sides_free(sides, count);
  free_peer();
  release_operands();
}

/* --- the command line --- */

int main(int argc, char **argv) {
  static const bench_option options[] = {OPTION_TEXT("device", device_name),
                                         OPTION_NUMBER("seconds", seconds),
                                         OPTION_COUNT("threads", threads),
                                         OPTION_TEXT("only", only),
                                         OPTION_TEXT("peer", peer),
                                         OPTION_FLAG("quick", is_quick),
                                         OPTIONS_END};
  bench_read(argc, argv, "grouped", options, bench_take_word);
  is_host = strcmp(device_name, "cpu") == 0;
  seconds = isfinite(seconds) ? seconds : is_host ? 2 : 0.2;
  if (threads > 0)
    bench_set_threads(threads);
  bench_warn();
  bench_must(
      tesela_context_create(&(tesela_context_desc){.device = device_name, .threads = threads}, &context),
      "a context");
  library_count = bench_word_count < LIBRARIES_MAX ? bench_word_count : LIBRARIES_MAX;
  for (int i = 0; i < library_count; i++) {
    bench_library_open(bench_words[i], threads, &libraries[i]);
    *(void **)&batches[i] = bench_symbol(&libraries[i], "sgemm_batch");
    if (!libraries[i].sgemm)
      bench_stop(bench_words[i], "has no cblas_sgemm");
  }
  for (int i = 0; i < COUNT_OF(groups); i++) {
    char number[16];
    const int first = is_host ? 0 : 6;
    snprintf(number, sizeof number, "%d", i - first);
    if ((groups[i].a == TESELA_F32) != is_host || !bench_has_word(only, number))
      continue;
    measure(&groups[i], false);
    if (is_host && groups[i].m[0] != groups[i].m[1])
      measure(&groups[i], true);
  }
  tesela_context_destroy(context);
  return 0;
}
