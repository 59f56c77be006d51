/* gpu_grouped [DEVICE [SECONDS [GROUP...]]]: groups of products with different sizes on a CUDA device
 * (cuda:0), in turn in one process: tesela_gemm_grouped() with a fused launch; the same products queued one
 * by one, as a group with required bits is; tesela_gemm() in a loop; and cuBLASLt's products queued on one
 * stream. Operands are in device memory. Prints the median time of a whole call in microseconds, and 10^12
 * operations a second.
 *
 * Before, each group is multiplied with whole numbers, whose sums are exact. All results must have the bits
 * of single calls, or the program ends. SECONDS is the time for each side's calls (0.2). GROUP is a number in
 * the table below, from 0 (all). */
#include "core/clock.h"
#include "core/status.h"
#include "device/devices.h"
#include "plan/plan.h"
#include "planner/subplan_choice.h"
#include "strategy/params.h"
#include "strategy/strategy_list.h"
#define BENCH_NAME "gpu_grouped"
#include "stop.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { PRODUCTS_MOST = 256, CALLS_MOST = 400, SIDES = 4 };

/* Ranges of sizes; with experts only m changes. */
typedef struct shape {
  const char *name;
  int count, m[2], n[2], k[2];
  tesela_type c;
} shape;
static const shape shapes[] = {
    {"experts 64 x (1..512) x 4096 x 1536", 64, {1, 512}, {4096, 4096}, {1536, 1536}, TESELA_BF16},
    {"experts 64 x (1..512) x 1536 x 4096", 64, {1, 512}, {1536, 1536}, {4096, 4096}, TESELA_BF16},
    {"experts 8 x (64..2048) x 4096 x 4096", 8, {64, 2048}, {4096, 4096}, {4096, 4096}, TESELA_BF16},
    {"experts 128 x (1..64) x 2048 x 1024", 128, {1, 64}, {2048, 2048}, {1024, 1024}, TESELA_BF16},
    {"200 of (16..512) x (64..512) x (64..1024), f32 C", 200, {16, 512}, {64, 512}, {64, 1024}, TESELA_F32},
};

static tesela_context *context;
static const char *device_name = "cuda:0";
static int m[PRODUCTS_MOST], n[PRODUCTS_MOST], k[PRODUCTS_MOST];
static size_t a_at[PRODUCTS_MOST], b_at[PRODUCTS_MOST], c_at[PRODUCTS_MOST], a_all, b_all, c_all;
static uint64_t state = 1;

static int draw(int low, int high, int step) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  const int range = (high - low) / step + 1;
  return low + (int)((state >> 33) % (uint64_t)range) * step;
}

static void lay_out(const shape *shape_in) {
  a_all = b_all = c_all = 0;
  for (int i = 0; i < shape_in->count; i++) {
    m[i] = draw(shape_in->m[0], shape_in->m[1], 1);
    n[i] = draw(shape_in->n[0], shape_in->n[1], 8);
    k[i] = draw(shape_in->k[0], shape_in->k[1], 8);
    a_at[i] = a_all, b_at[i] = b_all, c_at[i] = c_all;
    a_all += ((size_t)m[i] * (size_t)k[i] + 255) / 256 * 256;
    b_all += ((size_t)n[i] * (size_t)k[i] + 255) / 256 * 256;
    c_all += ((size_t)m[i] * (size_t)n[i] + 255) / 256 * 256;
  }
}

/* Returns bf16 numbers: whole numbers from -3 to 3, or fractions; the caller frees them. */
static uint16_t *numbers(size_t count, bool are_whole) {
  uint16_t *made = malloc(count * sizeof *made);
  if (!made)
    stop("memory", "there is none");
  for (size_t i = 0; i < count; i++) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const float value =
        are_whole ? (float)((int)((state >> 40) % 7) - 3) : (float)((double)(state >> 11) * 0x1p-53 * 2 - 1);
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    made[i] = (uint16_t)(bits >> 16);
  }
  return made;
}

static tesela_buffer *buffer_of(size_t bytes, const void *from) {
  tesela_buffer *made;
  must(tesela_buffer_create(context, device_name, bytes, &made), "a buffer");
  if (from)
    must(tesela_buffer_write(made, 0, from, bytes), "writing");
  return made;
}

static void describe(const shape *shape_in, tesela_gemm_desc *descs, tesela_buffer *const buffers[3],
                     const char *bits) {
  for (int i = 0; i < shape_in->count; i++)
    descs[i] = (tesela_gemm_desc){
        .m = m[i],
        .n = n[i],
        .k = k[i],
        .options.reproducibility = bits,
        .a = {.buffer = buffers[0], .offset = (int64_t)a_at[i], .type = TESELA_BF16},
        .b = {.buffer = buffers[1], .offset = (int64_t)b_at[i], .transpose = true, .type = TESELA_BF16},
        .c = {.buffer = buffers[2], .offset = (int64_t)c_at[i], .type = shape_in->c}};
}

static void grouped(tesela_gemm_desc *descs, int count) {
  must(tesela_gemm_grouped(context, descs, NULL, count, NULL), "a group");
}
static void one_by_one(tesela_gemm_desc *descs, int count) {
  for (int i = 0; i < count; i++)
    must(tesela_gemm(context, &descs[i], NULL), "a product");
}

/* Returns the fraction of elements whose bits differ from single calls. `seconds`: the time of the
 * first call with new sizes, grouped and single. */
static double compare(const shape *shape_in, bool are_whole, double seconds[2]) {
  const size_t size = shape_in->c == TESELA_F32 ? 4 : 2;
  uint16_t *a = numbers(a_all, are_whole), *b = numbers(b_all, are_whole);
  unsigned char *found = malloc(c_all * size), *right = malloc(c_all * size);
  tesela_gemm_desc descs[PRODUCTS_MOST];
  if (!found || !right)
    stop("memory", "there is none");
  memset(found, 0xff, c_all * size);
  memset(right, 0xff, c_all * size);
  tesela_buffer *buffers[] = {buffer_of(a_all * 2, a), buffer_of(b_all * 2, b),
                              buffer_of(c_all * size, right)};
  describe(shape_in, descs, buffers, NULL);
  const double start = tsl_clock();
  grouped(descs, shape_in->count);
  seconds[0] = tsl_clock() - start;
  must(tesela_buffer_read(buffers[2], 0, found, c_all * size), "reading");
  must(tesela_buffer_write(buffers[2], 0, right, c_all * size), "writing");
  const double middle = tsl_clock();
  one_by_one(descs, shape_in->count);
  seconds[1] = tsl_clock() - middle;
  must(tesela_buffer_read(buffers[2], 0, right, c_all * size), "reading");
  size_t other = 0;
  for (size_t i = 0; i < c_all; i++)
    other += memcmp(found + i * size, right + i * size, size) != 0;
  for (int i = 0; i < 3; i++)
    tesela_buffer_destroy(buffers[i]);
  free(a), free(b), free(found), free(right);
  return (double)other / (double)c_all;
}

/* --- cuBLASLt's side --- */

typedef struct rival {
  tsl_devices *devices;
  tsl_device *device;
  tsl_stream *stream;
  tsl_plan *plans[PRODUCTS_MOST];
  tsl_operands operands[PRODUCTS_MOST];
  tsl_buffer *buffers[3], *workspace;
  int count;
} rival;

static void open_rival(rival *rival_in) {
  must(tsl_devices_create(&rival_in->devices), "devices");
  must(tsl_devices_find(rival_in->devices, device_name, &rival_in->device), "the device");
  must(tsl_device_open(rival_in->device), "the device");
  must(rival_in->device->ops->stream_create(rival_in->device, &rival_in->stream), "a stream");
}

static void make_rival(rival *rival_in, const shape *what) {
  const tsl_strategy *peer = tsl_strategy_find(TSL_OP_GEMM, "vendor_cublaslt");
  const tsl_config config = tsl_strategy_defaults(peer);
  const size_t bytes[] = {a_all * 2, b_all * 2, c_all * (what->c == TESELA_F32 ? 4 : 2)};
  uint64_t workspace = 256;
  for (int i = 0; i < 3; i++) {
    must(rival_in->device->ops->buffer_create(rival_in->device, bytes[i], &rival_in->buffers[i]), "operands");
    void *made = i < 2 ? numbers(bytes[i] / 2, false) : NULL;
    if (made)
      must(tsl_device_write(rival_in->stream, rival_in->buffers[i], 0, made, bytes[i]), "numbers");
    free(made);
  }
  rival_in->count = what->count;
  for (int i = 0; i < what->count; i++) {
    tsl_problem problem = tsl_problem_gemm(m[i], n[i], k[i], TESELA_BF16);
    problem.c.type = what->c;
    problem.b.row_stride = 1, problem.b.col_stride = k[i];
    must(tsl_planner_create(&problem, peer, &config, rival_in->device, TSL_PLACE_DEVICE, &rival_in->plans[i]),
         "cuBLASLt");
    rival_in->operands[i] = (tsl_operands){.a = {.buffer = rival_in->buffers[0], .offset = (int64_t)a_at[i]},
                                           .b = {.buffer = rival_in->buffers[1], .offset = (int64_t)b_at[i]},
                                           .c = {.buffer = rival_in->buffers[2], .offset = (int64_t)c_at[i]}};
    const uint64_t its = tsl_plan_workspace(rival_in->plans[i]);
    workspace = its > workspace ? its : workspace;
  }
  must(rival_in->device->ops->buffer_create(rival_in->device, workspace, &rival_in->workspace), "workspace");
}

static void run_rival(rival *rival_in) {
  for (int i = 0; i < rival_in->count; i++)
    must(tsl_plan_enqueue(rival_in->plans[i], &rival_in->operands[i], rival_in->stream, rival_in->workspace),
         "cuBLASLt");
  must(rival_in->device->ops->finish(rival_in->stream), "cuBLASLt");
}

static void free_rival(rival *rival_in) {
  for (int i = 0; i < rival_in->count; i++)
    tsl_plan_destroy(rival_in->plans[i]);
  for (int i = 0; i < 3; i++)
    rival_in->device->ops->buffer_destroy(rival_in->buffers[i]);
  rival_in->device->ops->buffer_destroy(rival_in->workspace);
}

/* --- timing --- */

static int by_value(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void measure(const shape *shape_in, rival *cublas, double seconds) {
  static const char *const names[SIDES] = {"joined", "queued", "loop", "cuBLASLt"};
  static double calls[SIDES][CALLS_MOST];
  tesela_gemm_desc descs[PRODUCTS_MOST], apart[PRODUCTS_MOST];
  double spent = 0, flops = 0;
  int count = 0;
  uint16_t *a = numbers(a_all, false), *b = numbers(b_all, false);
  tesela_buffer *buffers[] = {buffer_of(a_all * 2, a), buffer_of(b_all * 2, b),
                              buffer_of(c_all * (shape_in->c == TESELA_F32 ? 4 : 2), NULL)};
  describe(shape_in, descs, buffers, NULL);
  describe(shape_in, apart, buffers, "run");
  make_rival(cublas, shape_in);
  for (int i = 0; i < shape_in->count; i++)
    flops += 2.0 * m[i] * n[i] * k[i];
  for (int round = -2; round < CALLS_MOST && (spent < SIDES * seconds || round < 5); round++)
    for (int s = 0; s < SIDES; s++) {
      const double start = tsl_clock();
      if (s == 0)
        grouped(descs, shape_in->count);
      else if (s == 1)
        grouped(apart, shape_in->count);
      else if (s == 2)
        one_by_one(descs, shape_in->count);
      else
        run_rival(cublas);
      if (round >= 0) {
        calls[s][round] = tsl_clock() - start;
        spent += calls[s][round];
        count = round + 1;
      }
    }
  printf("%s:", shape_in->name);
  for (int s = 0; s < SIDES; s++) {
    qsort(calls[s], (size_t)count, sizeof(double), by_value);
    printf(" %s %.0f us %.1f;", names[s], 1e6 * calls[s][count / 2], 1e-12 * flops / calls[s][count / 2]);
  }
  printf(" of cuBLASLt's time %.3f\n", calls[0][count / 2] / calls[3][count / 2]);
  fflush(stdout);
  free_rival(cublas);
  for (int i = 0; i < 3; i++)
    tesela_buffer_destroy(buffers[i]);
  free(a), free(b);
}

int main(int argc, char **argv) {
  static rival cublas;
  bool are_wrong = false;
  device_name = argc > 1 ? argv[1] : device_name;
  must(tesela_context_create(&(tesela_context_desc){.device = device_name}, &context), "a context");
  open_rival(&cublas);
  for (int i = 0; i < (int)(sizeof shapes / sizeof *shapes); i++) {
    bool is_asked_for = argc <= 3;
    for (int j = 3; j < argc; j++)
      is_asked_for = is_asked_for || atoi(argv[j]) == i;
    if (!is_asked_for)
      continue;
    lay_out(&shapes[i]);
    double first[2], again[2];
    const double whole = compare(&shapes[i], true, first), other = compare(&shapes[i], false, again);
    printf("%s: %g of all elements differ where sums are exact, %g else; first calls %.0f ms joined, %.0f ms "
           "in a loop; again %.1f, %.1f\n",
           shapes[i].name, whole, other, 1e3 * first[0], 1e3 * first[1], 1e3 * again[0], 1e3 * again[1]);
    fflush(stdout);
    are_wrong = are_wrong || whole != 0;
    measure(&shapes[i], &cublas, argc > 2 ? atof(argv[2]) : 0.2);
  }
  return are_wrong;
}
