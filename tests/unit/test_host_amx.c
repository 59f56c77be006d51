/* The kernels for tile registers, compiled here with intrinsics in plain C. So copies, addresses
 * and epilogues of whole products are tested on any machine. Where the processor has tile
 * registers, the real kernels are judged too. */
#include "unit/unit.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "device/devices.h"
#include "matrices.h"
#include "strategy/gemm/host/host_amx/host_amx_job.h"
#include "strategy/host_jobs/host_job.h"

/* --- registers in plain C: 16 rows of 64 bytes --- */

static _Thread_local unsigned char registers[8][16][64];

static void load_register(int t, const void *src, size_t stride) {
  for (size_t row = 0; row < 16; row++)
    memcpy(registers[t][row], (const unsigned char *)src + row * stride, 64);
}

static void store_register(int t, void *data, size_t stride) {
  for (size_t row = 0; row < 16; row++)
    memcpy((unsigned char *)data + row * stride, registers[t][row], 64);
}

static void zero_register(int t) {
  memset(registers[t], 0, sizeof registers[t]);
}

/* The sums' bits, 16 x 16, where sum(i, j) gets the products of a's unit (i, l) and b's unit (l, j). */
typedef uint32_t dot_unit(uint32_t sum, const unsigned char *a, const unsigned char *b);

static void dot_registers(int c, int a, int b, dot_unit *dot) {
  for (int i = 0; i < 16; i++)
    for (int j = 0; j < 16; j++) {
      uint32_t sum;
      memcpy(&sum, &registers[c][i][4 * j], sizeof sum);
      for (int l = 0; l < 16; l++)
        sum = dot(sum, &registers[a][i][4 * l], &registers[b][l][4 * j]);
      memcpy(&registers[c][i][4 * j], &sum, sizeof sum);
    }
}

static uint32_t dot_ss(uint32_t sum, const unsigned char *a, const unsigned char *b) {
  for (int i = 0; i < 4; i++)
    sum += (uint32_t)((int8_t)a[i] * (int8_t)b[i]);
  return sum;
}

static uint32_t dot_su(uint32_t sum, const unsigned char *a, const unsigned char *b) {
  for (int i = 0; i < 4; i++)
    sum += (uint32_t)((int8_t)a[i] * b[i]);
  return sum;
}

static uint32_t dot_us(uint32_t sum, const unsigned char *a, const unsigned char *b) {
  return dot_su(sum, b, a);
}

static uint32_t dot_uu(uint32_t sum, const unsigned char *a, const unsigned char *b) {
  for (int i = 0; i < 4; i++)
    sum += (uint32_t)(a[i] * b[i]);
  return sum;
}

static float bf16_at(const unsigned char *src) {
  uint16_t bits;
  memcpy(&bits, src, sizeof bits);
  return (float)tsl_bf16_to_f64(bits);
}

static uint32_t dot_bf16(uint32_t bits, const unsigned char *a, const unsigned char *b) {
  float sum;
  memcpy(&sum, &bits, sizeof sum);
  for (int i = 0; i < 2; i++)
    sum += bf16_at(a + 2 * i) * bf16_at(b + 2 * i);
  memcpy(&bits, &sum, sizeof bits);
  return bits;
}

/* As tile registers do: numbers and sums below 2^-126 count as 0. */
static float flushed(float x) {
  return fabsf(x) < FLT_MIN ? 0 : x;
}

static uint32_t dot_bf16_flushing(uint32_t bits, const unsigned char *a, const unsigned char *b) {
  float sum;
  memcpy(&sum, &bits, sizeof sum);
  sum = flushed(sum);
  for (int i = 0; i < 2; i++)
    sum = flushed(fmaf(flushed(bf16_at(a + 2 * i)), flushed(bf16_at(b + 2 * i)), sum));
  memcpy(&bits, &sum, sizeof bits);
  return bits;
}

#define REGISTER_LOAD(t, at, stride) load_register(t, at, stride)
#define REGISTER_LOAD_ONCE(t, at, stride) load_register(t, at, stride)
#define REGISTER_STORE(t, at, stride) store_register(t, at, stride)
#define REGISTER_ZERO(t) zero_register(t)
#define REGISTER_COPY_TAIL(to, from, bytes) memcpy(memset(to, 0, 64), from, (size_t)(bytes))
static dot_unit *dot_now;
#define REGISTER_DOT(c, a, b) dot_registers(c, a, b, dot_now)
#define REGISTER_NAME(word) word
#define REGISTER_FINDS_LEAST 0
#include "strategy/gemm/host/host_amx/kernels/host_amx_registers.h"

#include "strategy/gemm/host/host_amx/kernels/host_amx_register_tile.h"

typedef struct emulated {
  tsl_amx_kernels kernels;
  dot_unit *dot;
} emulated;

#define ROW(A, B, kind, dot)                                                                                 \
  {                                                                                                          \
    {.a = TESELA_##A,                                                                                        \
     .b = TESELA_##B,                                                                                        \
     .format = TSL_AMX_##kind,                                                                               \
     .is_amx = true,                                                                                         \
     .height = 32,                                                                                           \
     .width = 32,                                                                                            \
     .packing = &tsl_amx_packing_generic,                                                                    \
     .tiles = tiles},                                                                                        \
        dot                                                                                                  \
  }
static const emulated rows[] = {ROW(I8, I8, QUADS, dot_ss),
                                ROW(I8, U8, QUADS, dot_su),
                                ROW(U8, I8, QUADS, dot_us),
                                ROW(U8, U8, QUADS, dot_uu),
                                ROW(E4M3, E5M2, PAIRS_BF16, dot_bf16),
                                ROW(E5M2, E4M3, PAIRS_BF16, dot_bf16),
                                ROW(BF16, BF16, PAIRS_BF16, dot_bf16)};
enum { ROWS = sizeof rows / sizeof rows[0] };

/* --- products --- */

typedef struct shape {
  int64_t m, n, k;
  bool a_by_columns, b_by_columns;
} shape;

static const shape shapes[] = {
    {1, 1, 1, false, false},     {16, 32, 64, false, false},  {17, 33, 65, true, false},
    {15, 31, 63, false, true},   {70, 45, 300, true, true},   {33, 64, 2, false, false},
    {48, 7, 129, false, false},  {32, 96, 1030, true, true},  {100, 65, 513, false, true},
    {20, 70, 5000, true, false}, {50, 40, 64, false, false},  {20, 600, 64, false, false},
    {40, 600, 200, true, false}, {300, 70, 30, false, false},
};

/* Powers of two that scale rows of A and columns of B in turn: all near 1; subnormal numbers by
 * large ones; subnormal products. */
enum { SCALES = 3 };
typedef struct scales {
  double a[SCALES], b[SCALES];
} scales;
static const scales plain = {{1, 1, 1}, {1, 1, 1}},
                    tiny = {{0x1p-132, 1, 0x1p-75}, {0x1p60, 0x1p-128, 0x1p-72}};

static void fill_scaled(const tsl_shape *tile_shape, void *data, uint64_t seed, const double *of_rows,
                        const double *of_columns) {
  for (int64_t i = 0; i < tile_shape->rows; i++)
    for (int64_t j = 0; j < tile_shape->cols; j++) {
      const uint64_t bits = tsl_random_u64(seed, (uint64_t)(i * tile_shape->cols + j));
      const double whole =
          tile_shape->type == TESELA_U8 ? (double)(bits >> 56) : (double)(int8_t)(bits >> 56);
      const double scale = of_rows[i / 8 % SCALES] * of_columns[j / 8 % SCALES];
      test_set(tile_shape, data, i, j, tile_shape->type == TESELA_BF16 ? whole / 64 * scale : whole);
    }
}

static void fill(const tsl_shape *tile_shape, void *data, uint64_t seed) {
  fill_scaled(tile_shape, data, seed, plain.a, plain.b);
}

/* At a cache line, as tiles want it that read A where it lies. */
static void *aligned_matrix(const tsl_shape *tile_shape, void **origin) {
  const size_t bytes = (size_t)tsl_shape_extent(tile_shape) * tsl_type(tile_shape->type)->size;
  *origin = aligned_alloc(64, (bytes + 63) / 64 * 64);
  return *origin;
}

/* Computes a product again from packed operands: C has the bits of the first time. */
static void expect_equal_bits_of_packed(const tsl_amx_job *job, const tsl_operands *operands,
                                        const tsl_problem *problem, const void *before, tsl_team team) {
  const size_t bytes = (size_t)tsl_shape_extent(&problem->c) * tsl_type(problem->c.type)->size;
  void *const first = malloc(bytes), *packed[2];
  memcpy(first, operands->c.host, bytes);
  memcpy(operands->c.host, before, bytes);
  for (int i = 0; i < 2; i++) {
    const bool is_a = tsl_views_take_as_a(&job->views, i == 0 ? TSL_OPERAND_A : TSL_OPERAND_B);
    packed[i] = aligned_alloc(64, (size_t)(tsl_amx_packed_words(job, is_a) + 15) / 16 * 64);
    tsl_amx_pack_all(job, is_a, packed[i], team);
  }
  tsl_operands of_packed = *operands;
  of_packed.a.packed = packed[0];
  of_packed.b.packed = packed[1];
  tsl_amx_job again = *job;
  tsl_amx_job_bind(&again, &of_packed);
  assert_int_equal(tsl_amx_run(&again, team), TESELA_OK);
  assert_memory_equal(first, operands->c.host, bytes);
  free(packed[1]);
  free(packed[0]);
  free(first);
}

/* Judges a product by these kernels, in panels of 32 units and passes of few rows; or by the choice for
 * `device` (not NULL), for the types of `kernels`. C has gaps (two places a row), or is dense and
 * takes sums directly. */
static bool is_right_on(const tsl_device *device, const tsl_amx_kernels *kernels, tesela_type c_type,
                        const shape *size, double beta, bool alone, const scales *scale) {
  tsl_problem problem = tsl_problem_gemm(size->m, size->n, size->k, kernels->a);
  problem.b.type = kernels->b;
  problem.c.type = c_type;
  problem.alpha[0] = beta == 0 ? 1 : -3;
  problem.beta[0] = beta;
  problem.c.row_stride = beta == 0 ? size->n + 3 : 2 * size->n + 1;
  problem.c.col_stride = beta == 0 ? 1 : 2;
  if (size->a_by_columns)
    problem.a.row_stride = 1, problem.a.col_stride = size->m + 3;
  if (size->b_by_columns)
    problem.b.row_stride = 1, problem.b.col_stride = size->k + 1;
  tsl_operands operands = {.a = {.row_stride = problem.a.row_stride, .col_stride = problem.a.col_stride},
                           .b = {.row_stride = problem.b.row_stride, .col_stride = problem.b.col_stride},
                           .c = {.row_stride = problem.c.row_stride, .col_stride = problem.c.col_stride}};
  void *before,
      *memory[] = {aligned_matrix(&problem.a, &operands.a.host), test_matrix(&problem.b, &operands.b.host),
                   test_matrix(&problem.c, &operands.c.host), test_matrix(&problem.c, &before)};
  fill_scaled(&problem.a, operands.a.host, 1, scale->a, plain.b);
  fill_scaled(&problem.b, operands.b.host, 2, plain.a, scale->b);
  fill(&problem.c, operands.c.host, 3);
  fill(&problem.c, before, 3);
  const tsl_views views = tsl_views_of(&problem, &operands);
  tsl_amx_job job = device ? tsl_amx_job_for(&problem, &operands, 32, 4096, device)
                           : tsl_amx_job_with(kernels, &problem, &views, 32, 4096, 1);
  tsl_amx_job_bind(&job, &operands);
  const tsl_team team = alone ? (tsl_team){0} : tsl_pool_team(tsl_pool_shared(), 0);
  assert_int_equal(tsl_amx_run(&job, team), TESELA_OK);
  if (device)
    expect_equal_bits_of_packed(&job, &operands, &problem, before, team);
  const tsl_accuracy accuracy = tsl_accuracy_in_type(tsl_accuracy_of_sum(size->k), c_type);
  const tsl_judge judge = {.factor = accuracy.factor};
  tsl_verdict verdict;
  assert_int_equal(
      tsl_judge_gemm(&problem, operands.a.host, operands.b.host, before, operands.c.host, &judge, &verdict),
      TESELA_OK);
  if (!verdict.right)
    print_message("%lld x %lld x %lld: %s\n", (long long)size->m, (long long)size->n, (long long)size->k,
                  verdict.why);
  for (int i = 0; i < 4; i++)
    free(memory[i]);
  return verdict.right;
}

static bool is_right(const tsl_amx_kernels *kernels, tesela_type c_type, const shape *size, double beta,
                     bool alone, const scales *scale) {
  return is_right_on(NULL, kernels, c_type, size, beta, alone, scale);
}

/* By one thread, and by all, which copy everything first. */
static void expect_right(const tsl_amx_kernels *kernels, tesela_type c_type, const shape *size, double beta) {
  assert_true(is_right(kernels, c_type, size, beta, true, &plain));
  assert_true(is_right(kernels, c_type, size, beta, false, &plain));
}

static void registers_in_plain_c_multiply(void **state) {
  (void)state;
  for (int r = 0; r < ROWS; r++)
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
      dot_now = rows[r].dot;
      if (!tsl_type(rows[r].kernels.a)->is_integer) {
        expect_right(&rows[r].kernels, TESELA_F32, &shapes[s], s % 2 ? 0.5 : 0);
        expect_right(&rows[r].kernels, TESELA_BF16, &shapes[s], s % 2 ? 0 : 2);
      } else {
        expect_right(&rows[r].kernels, TESELA_I32, &shapes[s], s % 2 ? 5 : 0);
      }
    }
}

/* A kernel that mixes up B's halves must not pass: the test above can fail. */
static uint32_t dot_wrong(uint32_t sum, const unsigned char *a, const unsigned char *b) {
  const unsigned char turned[4] = {b[1], b[0], b[2], b[3]};
  return dot_ss(sum, a, turned);
}

static void a_wrong_register_shows(void **state) {
  (void)state;
  const tsl_problem problem = tsl_problem_gemm(20, 20, 20, TESELA_I8);
  unsigned char a[400], b[400];
  int32_t c[400];
  fill(&problem.a, a, 1);
  fill(&problem.b, b, 2);
  tsl_operands operands = {.a = {.host = a, .row_stride = 20, .col_stride = 1},
                           .b = {.host = b, .row_stride = 20, .col_stride = 1},
                           .c = {.host = c, .row_stride = 20, .col_stride = 1}};
  const tsl_views views = tsl_views_of(&problem, &operands);
  tsl_amx_job job = tsl_amx_job_with(&rows[0].kernels, &problem, &views, 32, 4096, 1);
  tsl_amx_job_bind(&job, &operands);
  dot_now = dot_wrong;
  assert_int_equal(tsl_amx_run(&job, (tsl_team){0}), TESELA_OK);
  const tsl_judge judge = {.exact = true};
  tsl_verdict verdict;
  assert_int_equal(tsl_judge_gemm(&problem, a, b, NULL, c, &judge, &verdict), TESELA_OK);
  assert_false(verdict.right);
}

static tsl_amx_kernels row_for_bf16(void) {
  tsl_amx_kernels kernels = rows[ROWS - 1].kernels;
  assert_int_equal(kernels.a, TESELA_BF16);
  return kernels;
}

/* Registers that flush subnormal numbers to 0, with separate tiles for operands that have some:
 * every element is right. Without the separate tiles an element is wrong, so the test can fail. */
static void registers_that_flush_are_spared_what_they_would_flush(void **state) {
  (void)state;
  tsl_devices *devices;
  tsl_device *cpu;
  assert_int_equal(tsl_devices_create(&devices), TESELA_OK);
  assert_int_equal(tsl_devices_find(devices, "cpu", &cpu), TESELA_OK);
  tsl_amx_kernels kernels = row_for_bf16();
  dot_now = dot_bf16_flushing;
  assert_false(is_right(&kernels, TESELA_F32, &shapes[4], 0, true, &tiny));
  if (cpu->capabilities & TSL_CAN_AVX512) {
    kernels.careful = tsl_amx_kernels_for(TESELA_BF16, TESELA_BF16, cpu->capabilities | TSL_CAN_AMX)->careful;
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++)
      for (int alone = 0; alone < 2; alone++) {
        assert_true(is_right(&kernels, TESELA_F32, &shapes[s], 0, alone, &tiny));
        assert_true(is_right(&kernels, TESELA_F32, &shapes[s], 0.5, alone, &plain));
      }
  } else {
    print_message("this processor has no AVX-512: the tiles for such operands cannot run\n");
  }
  tsl_devices_destroy(devices);
}

/* Tests this processor's kernel for bf16 on operands whose numbers, products or sums are subnormal,
 * and on others. */
static void subnormal_numbers_count(void **state) {
  (void)state;
  tsl_devices *devices;
  tsl_device *cpu;
  assert_int_equal(tsl_devices_create(&devices), TESELA_OK);
  assert_int_equal(tsl_devices_find(devices, "cpu", &cpu), TESELA_OK);
  for (unsigned without = 0; without < 3; without++) {
    const unsigned hidden[] = {0, TSL_CAN_AMX, TSL_CAN_AMX | TSL_CAN_AVX512_BF16};
    const tsl_amx_kernels *kernels =
        tsl_amx_kernels_for(TESELA_BF16, TESELA_BF16, cpu->capabilities & ~hidden[without]);
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++)
      for (int alone = 0; alone < 2; alone++)
        assert_true(is_right(kernels, TESELA_F32, &shapes[s], s % 2 ? 0 : 0.5, alone, &tiny));
  }
  tsl_devices_destroy(devices);
}

/* The least product that needs no care: sums are multiples of 2^-126, whatever the numbers. */
static void care_starts_where_sums_may_be_subnormal(void **state) {
  (void)state;
  enum { ONE = 127 << 7, LEAST_NORMAL = 1 << 7, HUGE_POWER = 250 << 7 };
  assert_false(tsl_amx_needs_care(ONE, ONE));
  assert_false(tsl_amx_needs_care(ONE, 15 << 7));
  assert_true(tsl_amx_needs_care(ONE, (15 << 7) - 1));
  assert_true(tsl_amx_needs_care(HUGE_POWER, LEAST_NORMAL - 1));
  assert_false(tsl_amx_needs_care(HUGE_POWER, LEAST_NORMAL));
  assert_false(tsl_amx_needs_care(TSL_AMX_ALL_ZERO, 1));
}

static void real_registers_multiply(void **state) {
  (void)state;
  tsl_devices *devices;
  tsl_device *cpu;
  assert_int_equal(tsl_devices_create(&devices), TESELA_OK);
  assert_int_equal(tsl_devices_find(devices, "cpu", &cpu), TESELA_OK);
  const unsigned offers = cpu->capabilities;
  if (!(offers & TSL_CAN_AMX))
    print_message("this processor has no tile registers; the kernels of its own are judged\n");
  for (int r = 0; r < ROWS; r++)
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
      const tsl_amx_kernels *kernels = tsl_amx_kernels_for(rows[r].kernels.a, rows[r].kernels.b, offers);
      assert_non_null(kernels);
      expect_right(kernels, tsl_type(kernels->a)->is_integer ? TESELA_I32 : TESELA_F32, &shapes[s], 1);
    }
  tsl_devices_destroy(devices);
}

/* Few rows or columns, by this processor's choice of kernels: vectors along k, or along the longer side of C.
 * Also subnormal bf16, and k of several chunks. */
static void few_lines_are_right(void **state) {
  (void)state;
  static const tesela_type types[][2] = {
      {TESELA_BF16, TESELA_BF16}, {TESELA_F16, TESELA_F16}, {TESELA_I8, TESELA_I8},    {TESELA_U8, TESELA_I8},
      {TESELA_I8, TESELA_U8},     {TESELA_U8, TESELA_U8},   {TESELA_E4M3, TESELA_E5M2}};
  static const int64_t few[] = {1, 2, 3, 5, 8, 17}, many[] = {1, 7, 70}, steps[] = {1, 33, 290, 5003};
  enum { FEW = sizeof few / sizeof few[0], MANY = 3, STEPS = 4, TYPES = sizeof types / sizeof types[0] };
  tsl_devices *devices;
  tsl_device *cpu;
  assert_int_equal(tsl_devices_create(&devices), TESELA_OK);
  assert_int_equal(tsl_devices_find(devices, "cpu", &cpu), TESELA_OK);
  for (int i = 0; i < TYPES * FEW * MANY * STEPS; i++) {
    const int t = i % TYPES, f = i / TYPES % FEW, l = i / TYPES / FEW % MANY, s = i / TYPES / FEW / MANY;
    const bool is_bf16 = types[t][0] == TESELA_BF16, is_integer = tsl_type(types[t][0])->is_integer;
    const tsl_amx_kernels *kernels = tsl_amx_kernels_for(types[t][0], types[t][1], cpu->capabilities);
    for (int layout = i % 3; layout < 8; layout += 3) {
      const shape size = {layout & 4 ? many[l] : few[f], layout & 4 ? few[f] : many[l], steps[s], layout & 1,
                          layout & 2};
      assert_true(is_right_on(cpu, kernels, is_integer ? TESELA_I32 : TESELA_F32, &size,
                              (i + layout) % 3 ? 0 : 2, (i + layout) % 2, is_bf16 && i % 4 ? &tiny : &plain));
    }
  }
  tsl_devices_destroy(devices);
}

/* C so large that its lines go past the caches, whole ones where they are aligned: every element is written,
 * nothing else. */
static void large_results_are_whole(void **state) {
  (void)state;
  enum { M = 2049, N = 2064, K = 5, LINE = 16, GUARD = 77 };
  tsl_devices *devices;
  tsl_device *cpu;
  assert_int_equal(tsl_devices_create(&devices), TESELA_OK);
  assert_int_equal(tsl_devices_find(devices, "cpu", &cpu), TESELA_OK);
  const tsl_problem problem = tsl_problem_gemm(M, N, K, TESELA_I8);
  signed char *a = malloc(M * K), *b = malloc(K * N);
  const size_t count = (size_t)M * N;
  uint32_t *memory = aligned_alloc(64, (count + 2 * LINE) * sizeof *memory);
  fill(&problem.a, a, 1);
  fill(&problem.b, b, 2);
  for (int shift = 0; shift < 2; shift++) {
    for (size_t i = 0; i < count + 2 * LINE; i++)
      memory[i] = GUARD << 24;
    uint32_t *c = memory + LINE - shift;
    const tsl_operands operands = {.a = {.host = a, .row_stride = K, .col_stride = 1},
                                   .b = {.host = b, .row_stride = N, .col_stride = 1},
                                   .c = {.host = c, .row_stride = N, .col_stride = 1}};
    tsl_amx_job job = tsl_amx_job_for(&problem, &operands, 256, 1 << 18, cpu);
    tsl_amx_job_bind(&job, &operands);
    assert_true(job.nontemporal);
    assert_int_equal(tsl_amx_run(&job, tsl_pool_team(tsl_pool_shared(), 0)), TESELA_OK);
    for (int64_t i = 0; i < M; i++)
      for (int64_t j = 0; j < N; j++) {
        int sum = 0;
        for (int l = 0; l < K; l++)
          sum += a[i * K + l] * b[l * N + j];
        if (c[i * N + j] != (uint32_t)sum)
          fail_msg("C(%d, %d) is %d, not %d", (int)i, (int)j, (int)c[i * N + j], sum);
      }
    assert_int_equal(c[-1], GUARD << 24);
    assert_int_equal(c[count], GUARD << 24);
  }
  free(memory);
  free(b);
  free(a);
  tsl_devices_destroy(devices);
}

int main(void) {
  setenv("TESELA_THREADS", "16",
         0); /* more workers than pieces of work, whose numbers are not the workers' */
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(registers_in_plain_c_multiply),
      cmocka_unit_test(a_wrong_register_shows),
      cmocka_unit_test(real_registers_multiply),
      cmocka_unit_test(registers_that_flush_are_spared_what_they_would_flush),
      cmocka_unit_test(subnormal_numbers_count),
      cmocka_unit_test(care_starts_where_sums_may_be_subnormal),
      cmocka_unit_test(few_lines_are_right),
      cmocka_unit_test(large_results_are_whole),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
