/* residue_int8 on the processor, step by step, for every instruction set of this machine. Lines are
 * measured as the text for all devices defines, each residue is its number's, products equal those
 * of whole numbers, and C equals the value of its residues. Tile registers are emulated in plain C;
 * where the processor has tile registers, the real kernels are judged too. */
#include "unit/unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/random.h"
#include "device/devices.h"
#include "host/int_math.h"
#include "host/simd.h"
#include "strategy/gemm/emulated/residue_int8/residue_int8_host.h"

/* --- registers in plain C: 16 rows of 64 bytes --- */

static unsigned char registers[8][16][64];
static int turned; /* bytes of B that a wrong product takes for each other */

static void load_register(int t, const void *src, size_t stride) {
  for (size_t row = 0; row < 16; row++)
    memcpy(registers[t][row], (const unsigned char *)src + row * stride, 64);
}

static void store_register(int t, void *data, size_t stride) {
  for (size_t row = 0; row < 16; row++)
    memcpy((unsigned char *)data + row * stride, registers[t][row], 64);
}

static void dot_registers(int c, int a, int b) {
  for (int i = 0; i < 16; i++)
    for (int j = 0; j < 16; j++) {
      int32_t sum;
      memcpy(&sum, &registers[c][i][4 * j], sizeof sum);
      for (int l = 0; l < 64; l++)
        sum += (int8_t)registers[a][i][l] * (int8_t)registers[b][l / 4][4 * j + (l % 4 ^ turned)];
      memcpy(&registers[c][i][4 * j], &sum, sizeof sum);
    }
}

#define REGISTER_LOAD(t, at, stride) load_register(t, at, stride)
#define REGISTER_LOAD_ONCE(t, at, stride) load_register(t, at, stride)
#define REGISTER_STORE(t, at, stride) store_register(t, at, stride)
#define REGISTER_ZERO(t) memset(registers[t], 0, sizeof registers[t])
#define REGISTER_DOT(c, a, b) dot_registers(c, a, b)
#include "strategy/gemm/emulated/residue_int8/kernels/residue_int8_register_tile.h"
#include "strategy/strategy_list.h"

static const tsl_residue_product in_plain_c = {.tile = register_tile, .finish = reduce_all};

/* --- instruction sets of this machine --- */

typedef struct set {
  const char *name;
  unsigned needs;
  const tsl_residue_kernel *kernel[2];
  const tsl_residue_converter *converter[2];
  const tsl_residue_product *product;
} set;
#define SET(isa, header, needs, ...)                                                                         \
  {#isa,                                                                                                     \
   needs,                                                                                                    \
   {&tsl_residue_kernel_##isa##_f32, &tsl_residue_kernel_##isa##_f64},                                       \
   {&tsl_residue_converter_##isa##_f32, &tsl_residue_converter_##isa##_f64},                                 \
   &tsl_residue_product_##isa},
static const set sets[] = {TSL_ISA_LIST(SET)};
enum { SETS = sizeof sets / sizeof sets[0] };

static bool is_here(const set *set_in) {
  return (set_in->needs & ~tsl_host_offers()) == 0;
}

static uint64_t drawn;
static uint64_t next(void) {
  return tsl_random_u64(1, drawn++);
}
static int below(int most) {
  return (int)(next() % (unsigned)most);
}

/* --- a job on two operands of one type, whose lines lie in one of three ways --- */

enum { LINES = 50, DEPTH = 300, WAYS = 3, PLACES = 2 * (LINES + 8) * (DEPTH + 8) };

typedef struct bench {
  int type; /* 1: f64 */
  tsl_problem problem;
  residue_rules rules;
  tsl_residue_job job;
  union {
    float f32[PLACES];
    double f64[PLACES];
  } numbers;
  residue_line lines[LINES];
  int scales[LINES];
} bench;

static double number_at(const bench *bench_in, int64_t line, int64_t h) {
  const int64_t place = line * bench_in->job.operands[0].across + h * bench_in->job.operands[0].along;
  return bench_in->type ? bench_in->numbers.f64[place] : (double)bench_in->numbers.f32[place];
}

/* Ordinary numbers, exponents anywhere, subnormal ones, a late large one, few that are not 0, and lines that
 * are not finite. */
static double number(int kind, int type, int line, int h) {
  const double x = (double)(int64_t)next() * 0x1p-63;
  return kind == 1                    ? ldexp(x, below(60) - 30)
         : kind == 2                  ? ldexp(x, (type ? -1030 : -130) - below(15))
         : kind == 3 && h == 270      ? ldexp(x, 40)
         : kind == 4                  ? (below(4) ? 0 : x)
         : kind == 5 && line % 9 == 3 ? (h == 7   ? INFINITY
                                         : h == 9 ? NAN
                                                  : x)
         : kind == 5 && line % 9 == 4 ? 0
         : kind == 6 && type          ? ldexp(x, below(2) ? 1000 : 990)
         : kind == 6                  ? ldexp(x, 120)
                                      : x;
}
enum { KINDS = 7 };

static bench *new_bench(int type, int kind, int way, int64_t lines, int64_t k) {
  bench *of = calloc(1, sizeof *of);
  assert_non_null(of);
  of->type = type;
  of->problem = tsl_problem_gemm(lines, lines, k, type ? TESELA_F64 : TESELA_F32);
  of->rules = tsl_residue_rules(&of->problem, &(tsl_config){{0}}, lines, lines);
  of->job = (tsl_residue_job){.rules = &of->rules, .m = lines, .n = lines, .k = k};
  tsl_residue_lines *const operand = &of->job.operands[0];
  *operand = (tsl_residue_lines){.at = (const unsigned char *)&of->numbers,
                                 .count = lines,
                                 .across = way == 0   ? k + 3
                                           : way == 1 ? 1
                                                      : 2 * k + 1,
                                 .along = way == 0   ? 1
                                          : way == 1 ? lines + 5
                                                     : 2,
                                 .lines = of->lines,
                                 .scales = of->scales};
  of->job.operands[1] = *operand;
  for (int64_t line = 0; line < lines; line++)
    for (int64_t h = 0; h < k; h++) {
      const double x = number(kind, type, (int)line, (int)h);
      const int64_t place = line * operand->across + h * operand->along;
      if (type)
        of->numbers.f64[place] = x;
      else
        of->numbers.f32[place] = (float)x;
    }
  return of;
}

/* --- measuring --- */

/* Returns the top digits of x, relative to the exponent. The text for all devices is compiled for
 * f32 here, because its header supports one type at a time. So doubles and 64-bit integers stand in
 * for what depends on the type, and the text gets numbers scaled to a largest number near 1. */
static unsigned top_of(double x, int exponent) {
  return (unsigned)floor(ldexp(x, TSL_RESIDUE_TOP - exponent));
}

/* Whether a number errs by more than the call allows, where its line has these steps: residue_small(), in
 * powers of two. */
static bool is_small(const bench *bench_in, double x, int exponent, int steps) {
  const int lowest = bench_in->type ? -1022 : -126, highest = bench_in->type ? 1023 : 127,
            digit = exponent - steps - TSL_RESIDUE_TOP - bench_in->rules.margin - 1;
  return digit < lowest || digit > highest ? x < ldexp(1, digit + 1)
                                           : x < ldexp(1 + ldexp(bench_in->rules.fraction, -20), digit);
}

static residue_sums plain_sums(const bench *bench_in, int64_t line, const residue_guess *guess) {
  residue_sums sums = {0};
  for (int64_t h = 0; h < bench_in->job.k; h++) {
    const double x = fabs(number_at(bench_in, line, h));
    const unsigned top = top_of(x, guess->exponent);
    sums.sum += top;
    sums.squares += (residue_word)top * top;
    sums.count += x != 0;
    sums.excess += top >= guess->limit ? top + 1 - guess->limit : 0;
    for (int i = 0; i < TSL_RESIDUE_CANDIDATES; i++)
      sums.few[i] += x != 0 && is_small(bench_in, x, guess->exponent, guess->aims[i]);
  }
  return sums;
}

/* Bits of f32 with the exponent 0, or less, that have the same top as a number below 2^exponent. */
static residue_bits bits_of(double x, int exponent) {
  const float scaled = (float)ldexp(floor(ldexp(x, TSL_RESIDUE_TOP - exponent)), -TSL_RESIDUE_TOP);
  residue_bits bits;
  memcpy(&bits, &scaled, sizeof bits);
  return bits;
}

/* A guess by the sample, and another one where the largest number is above it. */
static residue_guess plain_guess(const bench *bench_in, int64_t line, double largest) {
  enum { NEVER = -100000 }; /* an exponent below all */
  const int count = (int)residue_sample_count(bench_in->job.k), own = ilogb(largest) + 1;
  double sample = 0;
  unsigned sum = 0;
  residue_word squares = 0;
  residue_guess guess;
  for (int i = 0; i < count; i++) { /* by fmax() gcc 12 for AArch64 ends in an error of its own */
    const double x = fabs(number_at(bench_in, line, residue_sample_at(bench_in->job.k, i)));
    sample = x > sample ? x : sample;
  }
  const int exponent = sample > 0 ? ilogb(sample) + 1 + TSL_RESIDUE_ROOM : NEVER;
  for (int i = 0; i < count && sample > 0; i++) {
    const unsigned top =
        top_of(fabs(number_at(bench_in, line, residue_sample_at(bench_in->job.k, i))), exponent);
    sum += top;
    squares += (residue_word)top * top;
  }
  residue_guess_of(&bench_in->rules, exponent, sum, squares, &guess);
  if (own > exponent) {
    guess.exponent -= own;
    residue_guess_again(&bench_in->rules, bits_of(largest, own), &guess);
    guess.exponent += own;
  }
  return guess;
}

static residue_line plain_line(const bench *bench_in, int64_t line) {
  double largest = 0;
  bool is_finite = true;
  for (int64_t h = 0; h < bench_in->job.k; h++) {
    const double x = fabs(number_at(bench_in, line, h));
    is_finite = is_finite && isfinite(x);
    largest = fmax(largest, isfinite(x) ? x : 0);
  }
  residue_line known;
  residue_sums sums = {0};
  residue_guess guess = {.limit = 1};
  int exponent = 0;
  if (is_finite && largest > 0) {
    guess = plain_guess(bench_in, line, largest);
    sums = plain_sums(bench_in, line, &guess);
    exponent = guess.exponent;
    guess.exponent = 0;
  }
  residue_know(&bench_in->rules, is_finite ? bits_of(largest, exponent) : TSL_RESIDUE_INFINITY, &guess, &sums,
               &known);
  for (int c = 0; c < bench_in->rules.candidates; c++)
    if (known.scale[c] != TSL_RESIDUE_NO_SCALE && largest > 0)
      known.scale[c] -= exponent;
  return known;
}

static bool are_alike(const bench *bench_in, const residue_line *a, const residue_line *b) {
  bool alike = a->key == b->key;
  for (int c = 0; c < bench_in->rules.candidates; c++)
    alike = alike && a->scale[c] == b->scale[c];
  return alike;
}

static void lines_are_measured(void **state) {
  (void)state;
  for (int s = 0; s < SETS; s++)
    for (int turn = 0; turn < 2 * KINDS * WAYS && is_here(&sets[s]); turn++) {
      bench *of = new_bench(turn % 2, turn / 2 % KINDS, turn / 2 / KINDS % WAYS, turn % 5 ? LINES : 7,
                            1 + below(DEPTH));
      sets[s].kernel[of->type]->measure(&of->job, 0, 0, of->job.m);
      for (int64_t line = 0; line < of->job.m; line++) {
        const residue_line right = plain_line(of, line);
        if (!are_alike(of, &of->lines[line], &right))
          fail_msg("%s, turn %d, line %d: key %x scales %d %d, not %x %d %d", sets[s].name, turn, (int)line,
                   of->lines[line].key, of->lines[line].scale[0], of->lines[line].scale[1], right.key,
                   right.scale[0], right.scale[1]);
      }
      free(of);
    }
}

/* --- residues --- */

/* Whole numbers from doubles, in 128 bits: rounded as rint() does, then modulo p. */
static int plain_rest(double x, int scale, int p) {
  const double scaled = rint(ldexp(x, scale)), whole = fabs(scaled);
  const residue_word high = (residue_word)floor(ldexp(whole, -32)),
                     low = (residue_word)(whole - ldexp((double)high, 32));
  const int rest = (int)(((high % (unsigned)p << 32) + low) % (unsigned)p);
  return scaled < 0 ? (p - rest) % p : rest;
}

static void take_planes(bench *bench_in, int moduli) {
  tsl_residue_job *job = &bench_in->job;
  const int64_t steps = tsl_ceil_div(job->k, TSL_RESIDUE_STEP);
  job->choice.moduli = moduli;
  job->panels = steps > 1 ? 2 : 1;
  job->steps = tsl_ceil_div(steps, job->panels);
  for (int l = 0; l < moduli; l++)
    job->rests[l] = tsl_residue_rest_of(&bench_in->rules.moduli[l]);
  for (int o = 0; o < 2; o++) {
    tsl_residue_lines *const operand = &job->operands[o];
    operand->micros = tsl_ceil_div(operand->count, TSL_RESIDUE_LINES);
    operand->micro = job->steps * TSL_RESIDUE_STEP_BYTES;
    operand->panel = operand->micros * operand->micro;
    operand->plane = operand->panel * job->panels;
    operand->planes = malloc((size_t)(operand->plane * moduli));
    assert_non_null(operand->planes);
    memset(operand->planes, 0x55, (size_t)(operand->plane * moduli));
  }
}

static void give_planes(bench *bench_in) {
  free(bench_in->job.operands[0].planes);
  free(bench_in->job.operands[1].planes);
}

/* Returns a residue, from its place in the layout of residue_int8_host.h. */
static int8_t rest_at(const tsl_residue_job *job, int operand, int l, int64_t line, int64_t h) {
  const tsl_residue_lines *of = &job->operands[operand];
  const int64_t step = h / TSL_RESIDUE_STEP, panel = step / job->steps, own = h % TSL_RESIDUE_STEP,
                i = own / 16, j = own % 16, in = line % 16;
  const unsigned char *at = of->planes + l * of->plane + panel * of->panel +
                            line / TSL_RESIDUE_LINES * of->micro +
                            step % job->steps * TSL_RESIDUE_STEP_BYTES + line % TSL_RESIDUE_LINES / 16 * 1024;
  return (int8_t)(operand == 0 ? at[64 * in + 4 * j + i] : at[64 * j + 4 * in + i]);
}

static void residues_are_those_of_numbers(void **state) {
  (void)state;
  for (int s = 0; s < SETS; s++)
    for (int turn = 0; turn < 2 * KINDS * WAYS && is_here(&sets[s]); turn++) {
      bench *of = new_bench(turn % 2, turn / 2 % KINDS, turn / 2 / KINDS % WAYS, LINES, 1 + below(DEPTH));
      const int candidate = turn % 3 == 0 ? of->rules.candidates - 1 : 0;
      tsl_residue_job *job = &of->job;
      sets[s].kernel[of->type]->measure(job, 0, 0, job->m);
      for (int64_t line = 0; line < job->m; line++)
        of->scales[line] = of->lines[line].scale[candidate];
      take_planes(of, of->rules.sieves[candidate].moduli);
      for (int o = 0; o < 2; o++)
        for (int64_t panel = 0; panel < job->panels; panel++)
          sets[s].converter[of->type]->convert(job, o, 0, job->operands[o].micros, panel);
      for (int o = 0; o < 2; o++)
        for (int l = 0; l < job->choice.moduli; l++)
          for (int64_t line = 0; line < job->operands[o].micros * TSL_RESIDUE_LINES; line++)
            for (int64_t h = below(4); h < tsl_round_up(job->k, TSL_RESIDUE_STEP); h += 1 + below(4)) {
              const int p = (int)of->rules.moduli[l].p, rest = rest_at(job, o, l, line, h);
              const bool is_there = line < job->m && h < job->k;
              if (is_there && of->scales[line] == TSL_RESIDUE_NO_SCALE)
                continue;
              const int right = is_there ? plain_rest(number_at(of, line, h), of->scales[line], p) : 0;
              if ((rest + 256 * p - right) % p != 0)
                fail_msg("%s, turn %d, operand %d, modulus %d, line %d, number %d: %d, not %d", sets[s].name,
                         turn, o, p, (int)line, (int)h, rest, right);
            }
      give_planes(of);
      free(of);
    }
}

/* --- products --- */

/* Multiplies two tiles alternately, as host.c does, in two panels, and compares the residues of
 * both panels' sums modulo p. */
static bool is_product_right(const tsl_residue_product *product, unsigned p, int extreme) {
  enum { STEPS = TSL_RESIDUE_STEPS };
  static unsigned char a[STEPS * TSL_RESIDUE_STEP_BYTES + 64], b[STEPS * TSL_RESIDUE_STEP_BYTES + 64],
      rest[TSL_RESIDUE_SUMS];
  static _Alignas(64) int32_t sums[2][TSL_RESIDUE_SUMS];
  const residue_modulus modulus = {.p = p, .inverse = 1.0f / (float)p};
  const tsl_residue_rest own = tsl_residue_rest_of(&modulus);
  const int steps = extreme ? STEPS : 1 + below(STEPS), least = p == 256 ? -128 : -127;
  for (size_t i = 0; i < sizeof a; i++) {
    a[i] = (unsigned char)(extreme ? least : below(255) - 127);
    b[i] = (unsigned char)(extreme == 2 ? 127 : extreme ? least : below(255) - 127);
  }
  memset(rest, 0x77, sizeof rest);
  if (product->begin)
    product->begin();
  tsl_residue_tile tile = {.a = a,
                           .b = b,
                           .steps = steps,
                           .sums = sums[0],
                           .rows_each = tsl_ceil_div(TSL_RESIDUE_LINES, steps),
                           .next_a = a,
                           .next_b = b,
                           .next_rest = rest,
                           .lines_a = 2,
                           .lines_b = 1,
                           .lines_rest = 1};
  product->tile(&tile);
  tile.sums = sums[1];
  tile.late = (tsl_residue_late){sums[0], rest, &own, false};
  product->tile(&tile);
  if (product->end)
    product->end();
  product->finish(&(tsl_residue_late){sums[1], rest, &own, true});
  for (int i = 0; i < TSL_RESIDUE_LINES; i++)
    for (int j = i % 5; j < TSL_RESIDUE_LINES; j += 5) {
      int64_t sum = 0;
      for (int h = 0; h < steps * TSL_RESIDUE_STEP; h++) {
        const int step = h / 64 * TSL_RESIDUE_STEP_BYTES, quarter = h % 64 / 16, four = h % 16;
        sum += (int8_t)a[step + i / 16 * 1024 + 64 * (i % 16) + 4 * four + quarter] *
               (int8_t)b[step + j / 16 * 1024 + 64 * four + 4 * (j % 16) + quarter];
      }
      if (sums[0][i * TSL_RESIDUE_LINES + j] != sum ||
          rest[i * TSL_RESIDUE_LINES + j] != ((2 * sum) % (int)p + (int)p) % (int)p)
        return false;
    }
  return true;
}

static void judge_product(const tsl_residue_product *product, const residue_rules *rules) {
  for (int l = 0; l < TSL_RESIDUE_MODULI; l += l < 3 ? 1 : 4)
    for (int extreme = 0; extreme < 4; extreme++)
      assert_true(is_product_right(product, rules->moduli[l].p, extreme % 3));
}

static void products_are_whole_numbers(void **state) {
  (void)state;
  bench *of = new_bench(1, 0, 0, 4, 4);
  for (int s = 0; s < SETS; s++)
    if (is_here(&sets[s]))
      judge_product(sets[s].product, &of->rules);
  judge_product(&in_plain_c, &of->rules);
#ifdef TSL_ISA_AMX
  if ((tsl_host_offers() & TSL_CAN_AMX) != 0)
    judge_product(&tsl_residue_product_amx, &of->rules);
  else
    print_message("this processor has no tile registers: in plain C alone\n");
#endif
  turned = 1; /* the judge can say no */
  assert_false(is_product_right(&in_plain_c, 251, 0));
  turned = 0;
  free(of);
}

/* --- back --- */

/* A number of so many bits, low word first: any; or half way between two doubles, or next to that. */
static void make_number(int bits, bool is_half_way, residue_word number[2]) {
  const residue_word mantissa = next() >> 11 | (residue_word)1 << 52, doubled = 2 * mantissa + 1;
  const int up = bits - 54;
  number[0] = bits == 0 ? 0 : next() >> (bits < 64 ? 64 - bits : 0);
  number[1] = bits > 64 ? next() >> (128 - bits) : 0;
  if (!is_half_way || up < 1)
    return;
  number[0] = up < 64 ? doubled << up : 0;
  number[1] = up < 64 ? doubled >> (64 - up) : doubled << (up - 64);
  const int step = below(3) - 1;
  number[1] -= step < 0 && number[0] == 0;
  number[0] += (residue_word)(int64_t)step;
}

static void c_is_what_residues_stand_for(void **state) {
  (void)state;
  enum { M = 37, N = 45, GAP = 3 };
  static unsigned char rests[TSL_RESIDUE_MODULI * 4 * TSL_RESIDUE_SUMS];
  static double c[M * (N + GAP) * 2], before[M * (N + GAP) * 2], expected;
  for (int s = 0; s < SETS; s++)
    for (int turn = 0; turn < 13 * 4 && is_here(&sets[s]); turn++) {
      const int moduli = 4 + turn % 13, way = turn / 13;
      bench *of = new_bench(1, 0, 0, LINES, 16);
      tsl_residue_job *job = &of->job;
      const tsl_config config = {{moduli}};
      of->rules = tsl_residue_rules(&of->problem, &config, M, N);
      job->choice.moduli = moduli;
      job->weights = tsl_residue_weights_of(&of->rules.sieves[0]);
      job->m = M, job->n = N, job->alpha = way == 1 ? -1.7 : 1, job->beta = way == 2 ? 0.3 : 0;
      job->c = (unsigned char *)c;
      job->c_row = way == 3 ? 1 : N + GAP, job->c_col = way == 3 ? M + GAP : 1;
      int columns[N];
      job->operands[1].scales = columns;
      for (int i = 0; i < M; i++)
        of->scales[i] = i == 5 ? TSL_RESIDUE_NO_SCALE : i == 6 ? 1100 : i == 7 ? -900 : below(200) - 100;
      for (int j = 0; j < N; j++)
        columns[j] = j == 40 && way > 0 ? TSL_RESIDUE_NO_SCALE : below(200) - 100;
      const residue_sieve *sieve = &of->rules.sieves[0];
      static residue_word numbers[M][N][2]; /* magnitude of C' */
      const tsl_residue_block block = {0, M, 0, N, rests, 4 * TSL_RESIDUE_SUMS};
      for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
          const int bits = below(sieve->half_exponent + 62),
                    at = (i / 32 * 2 + j / 32) * 1024 + i % 32 * 32 + j % 32;
          make_number(bits, j % 3 == 1, numbers[i][j]);
          for (int l = 0; l < moduli; l++) {
            const residue_word p = of->rules.moduli[l].p, two_64 = (~(residue_word)0 % p + 1) % p;
            const residue_word rest = (numbers[i][j][1] % p * two_64 + numbers[i][j][0] % p) % p;
            rests[l * block.plane + at] = (unsigned char)((i + j) % 2 ? (p - rest) % p : rest);
          }
        }
      for (size_t i = 0; i < sizeof c / sizeof *c; i++)
        c[i] = before[i] = way == 2 ? (double)below(100) : NAN;
      sets[s].kernel[1]->join(job, &block);
      for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
          const int at = (i / 32 * 2 + j / 32) * 1024 + i % 32 * 32 + j % 32;
          const int64_t place = i * job->c_row + j * job->c_col;
          residue_sum sum = {.quotient = 1u << 19};
          for (int l = 0; l < moduli; l++)
            residue_sum_add(&sum, sieve, l, rests[l * block.plane + at], 4);
          if (of->scales[i] == TSL_RESIDUE_NO_SCALE || columns[j] == TSL_RESIDUE_NO_SCALE) {
            expected = before[place];
          } else {
            const double x = residue_sum_long(&sum, sieve, of->scales[i] + columns[j]) * job->alpha;
            expected = job->beta != 0 ? fma(job->beta, before[place], x) : x;
          }
          if (memcmp(&c[place], &expected, sizeof expected) != 0 && !(isnan(c[place]) && isnan(expected)))
            fail_msg("%s, %d moduli, way %d, element %d, %d: %a, not %a", sets[s].name, moduli, way, i, j,
                     c[place], expected);
          c[place] = before[place];
        }
      for (size_t i = 0; i < sizeof c / sizeof *c; i++) /* gaps were not written */
        assert_true(c[i] == before[i] || isnan(before[i]));
      free(of);
    }
}

/* --- the model's estimates --- */

static double seconds_of(const char *name, const tsl_device *device, tesela_type type, int64_t n) {
  const tsl_strategy *strategy = tsl_strategy_find(TSL_OP_GEMM, name);
  const tsl_problem problem = tsl_problem_gemm(n, n, n, type);
  tsl_config config = {{0}};
  for (int i = 0; strategy->params[i].name; i++)
    config.value[i] = strategy->params[i].fallback;
  return strategy->score(&problem, &config, device);
}

/* A core with tile registers is quicker by residues where a product is large, one without is not. */
static void registers_decide_what_is_quicker(void **state) {
  (void)state;
  tsl_devices *devices;
  tsl_device *cpu;
  assert_int_equal(tsl_devices_create(&devices), TESELA_OK);
  assert_int_equal(tsl_devices_find(devices, "cpu", &cpu), TESELA_OK);
  tsl_device core = *cpu;
  core.threads = 1, core.clock_mhz = 3000;
  core.capabilities = TSL_CAN_HOST | TSL_CAN_AVX2 | TSL_CAN_AVX512 | TSL_CAN_AVX512_VNNI;
  core.peak_f32 = 64 * 3e9, core.peak_f64 = 32 * 3e9, core.bandwidth = 2e10;
  for (int type = 0; type < 2; type++) {
    const tesela_type real = type ? TESELA_F64 : TESELA_F32;
    assert_true(seconds_of("residue_int8", &core, real, 4096) > seconds_of("host_packed", &core, real, 4096));
    core.capabilities |= TSL_CAN_AMX;
    assert_true(seconds_of("residue_int8", &core, real, 4096) < seconds_of("host_packed", &core, real, 4096));
    assert_true(seconds_of("residue_int8", &core, real, 100) > seconds_of("host_packed", &core, real, 100));
    core.capabilities &= ~(unsigned)TSL_CAN_AMX;
  }
  tsl_devices_destroy(devices);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lines_are_measured),
      cmocka_unit_test(residues_are_those_of_numbers),
      cmocka_unit_test(products_are_whole_numbers),
      cmocka_unit_test(c_is_what_residues_stand_for),
      cmocka_unit_test(registers_decide_what_is_quicker),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
