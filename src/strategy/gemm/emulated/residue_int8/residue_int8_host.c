/* residue_int8 on the CPU: all threads measure lines, choose the number of moduli, convert lines, and compute
 * blocks of C. A few lines are measured first; the subplan computes C where they show that residues do not
 * pay (whole.c).
 *   a thread's block of C    for each modulus, for each panel of k:
 *        512 columns           B's part, 512 KiB, stays in L2; the next part is prefetched meanwhile
 *     +-----------------+      for each micro-panel of A, 32 KiB, which stays in L1:
 *     |t t t ...        |        for each micro-panel of B: a tile's sums by the integer product
 *     |                 |        (residue_int8_host.h), whose residues are reduced during the next tile's
 *     +-----------------+        products: a byte per element, added to the residue of the previous panel
 *                            then C is reconstructed from all moduli, and native lines are multiplied
 * The sums are integers, so threads, block sizes and instruction sets do not change any bit. */
#include "strategy/gemm/emulated/residue_int8/residue_int8_host.h"

#include "core/memory.h"
#include "core/scratch.h"
#include "core/status.h"
#include "host/int_math.h"

#include <math.h>
#include <string.h>

enum {
  GROUP = 16,  /* adjacent lines that are measured at a glance */
  APART = 256, /* distance of these groups in lines, at most */
  GROUPS = 4,  /* number of groups, at least */
  ROWS_MAX = 4096,
  ALIGNED = 64,
  LINE = 64,
  LINES_OF_STEP = TSL_RESIDUE_STEP_BYTES / LINE,
  KEPT_BYTES = 512 << 10, /* bytes of B that stay in L2 */
  KEPT_MAX = 8,           /* panels of B that stay in L2, at most */
  PAD = 65 * LINE         /* between planes, which would otherwise use the same cache sets */
};

typedef struct residue_running {
  tsl_residue_job job, measured; /* job: the whole product; measured: its lines as real numbers */
  tsl_residue_job parts[2];      /* real and imaginary parts of complex operands */
  int kinds;                     /* planes for each modulus */
  tesela_type type;
  const tsl_residue_kernel *kernel;
  const tsl_residue_converter *converter;
  const tsl_residue_product *product;
  tsl_residue_state *state;
  int64_t apart[2];         /* distance of the groups measured at a glance, in lines */
  int64_t rows, columns;    /* of a block of C */
  int64_t down;             /* number of blocks below each other */
  int64_t kept;             /* panels of B that stay in L2 while the micro-panels of A are multiplied */
  int64_t beside[2];        /* micro-panels that are converted together */
  unsigned char *own;       /* memory of the workers: residues of a block, and sums of two tiles */
  int64_t own_bytes, plane; /* bytes of a worker; bytes of a modulus in it */
} residue_running;

#define BEST(list, device) (list)[tsl_isa_best((device)->capabilities)]

static const tsl_residue_kernel *residue_kernel_for(const tsl_device *device, tesela_type type) {
#define KERNELS(isa, header, needs, ...) {&tsl_residue_kernel_##isa##_f32, &tsl_residue_kernel_##isa##_f64},
  static const tsl_residue_kernel *const kernels[][2] = {TSL_ISA_LIST(KERNELS)};
#undef KERNELS
  return BEST(kernels, device)[type == TESELA_F64];
}

static const tsl_residue_converter *converter_for(const tsl_device *device, tesela_type type) {
#define CONVERTERS(isa, header, needs, ...)                                                                  \
  {&tsl_residue_converter_##isa##_f32, &tsl_residue_converter_##isa##_f64},
  static const tsl_residue_converter *const converters[][2] = {TSL_ISA_LIST(CONVERTERS)};
#undef CONVERTERS
  return BEST(converters, device)[type == TESELA_F64];
}

static const tsl_residue_product *product_for(const tsl_device *device) {
#define PRODUCTS(isa, header, needs, ...) &tsl_residue_product_##isa,
  static const tsl_residue_product *const products[] = {TSL_ISA_LIST(PRODUCTS)};
#undef PRODUCTS
#ifdef TSL_ISA_AMX
  if (tsl_residue_has_registers(device))
    return &tsl_residue_product_amx;
#endif
  return BEST(products, device);
}

bool tsl_residue_has_registers(const tsl_device *device) {
  const unsigned needs = TSL_CAN_AMX | TSL_CAN_AVX512;
  return (device->capabilities & needs) == needs;
}

tsl_residue_rest tsl_residue_rest_of(const residue_modulus *modulus) {
  const int p = (int)modulus->p;
  tsl_residue_rest made = {.p = (float)p, .inverse = modulus->inverse, .is_byte = p == 256};
  int digit = 1;
  for (int i = 0; i < TSL_RESIDUE_DIGITS - 1; i++) {
    digit = digit * (65536 % p) % p;
    made.digit[i] = (float)(digit > p / 2 ? digit - p : digit);
  }
  return made;
}

/* Returns part i, of 40 bits, of a number of four limbs. */
static double residue_part_of(const unsigned limb[4], int i) {
  const int bit = 40 * i, at = bit / 32;
  const residue_word low = limb[at], high = at < 3 ? limb[at + 1] : 0, both = high << 32 | low;
  return (double)(both >> bit % 32 & (((residue_word)1 << 40) - 1));
}

residue_weights tsl_residue_weights_of(const residue_sieve *sieve) {
  residue_weights made = {.parts = 2};
  unsigned product[4];
  residue_word carry = 1;
  for (int i = 0; i < 4; i++) {
    carry += ~sieve->minus_product[i];
    product[i] = (unsigned)carry;
    carry >>= 32;
  }
  for (int i = 0; i < TSL_RESIDUE_PARTS; i++) {
    made.product[i] = residue_part_of(product, i);
    made.parts = made.product[i] != 0 && i >= made.parts ? i + 1 : made.parts;
    for (int l = 0; l < sieve->moduli; l++)
      made.weight[l][i] = residue_part_of(sieve->weight[l], i);
  }
  const int top = made.parts - 1;
  made.inverse = 1 / (made.product[top] + made.product[top - 1] * 0x1p-40);
  return made;
}

/* Measures `each` adjacent lines from every `apart`-th line on. */
static void measure_some(const residue_running *run, const int64_t apart[2], int64_t each, int64_t index) {
  const int64_t first_of_b = tsl_ceil_div(run->job.m, apart[0]);
  const int operand = index >= first_of_b;
  const int64_t first = (index - (operand ? first_of_b : 0)) * apart[operand];
  run->kernel->measure(&run->measured, operand, first,
                       tsl_min(each, run->job.operands[operand].count - first));
}

static void residue_measure(void *argument, int64_t index, int worker) {
  static const int64_t apart[2] = {TSL_RESIDUE_TOGETHER, TSL_RESIDUE_TOGETHER};
  (void)worker;
  measure_some(argument, apart, TSL_RESIDUE_TOGETHER, index);
}

static void measure_glanced(void *argument, int64_t index, int worker) {
  const residue_running *run = argument;
  (void)worker;
  measure_some(run, run->apart, GROUP, index);
}

static int64_t count_conversions(const residue_running *run, int operand) {
  return tsl_ceil_div(run->job.operands[operand].micros, run->beside[operand]);
}

/* Computes sum = (item + other) modulo p, from -127 to 127 unless p is 256. */
static void add_residues(const signed char *item, const signed char *other, int64_t count, int p,
                         signed char *sum) {
  const int most = (p - 1) / 2;
  for (int64_t i = 0; i < count; i++) {
    const int both = item[i] + other[i], down = both > most ? both - p : both;
    sum[i] = (signed char)(down < -most ? down + p : down);
  }
}

/* Converts both parts of complex numbers to residues, and adds them for the third plane. */
static void convert_parts(const residue_running *run, int operand, int64_t first, int64_t count,
                          int64_t panel) {
  const tsl_residue_lines *operand_lines = &run->job.operands[operand];
  for (int part = 0; part < 2; part++)
    run->converter->convert(&run->parts[part], operand, first, count, panel);
  for (int l = 0; l < run->job.choice.moduli; l++) {
    signed char *const planes = (signed char *)operand_lines->planes +
                                TSL_RESIDUE_PRODUCTS * l * operand_lines->plane +
                                panel * operand_lines->panel + first * operand_lines->micro;
    add_residues(planes, planes + operand_lines->plane, count * operand_lines->micro,
                 (int)run->job.rules->moduli[l].p, planes + 2 * operand_lines->plane);
  }
}

static void residue_convert(void *argument, int64_t index, int worker) {
  const residue_running *run = argument;
  const int64_t all_of_a = count_conversions(run, 0) * run->job.panels;
  const int operand = index >= all_of_a;
  const int64_t own = index - (operand ? all_of_a : 0), across = count_conversions(run, operand),
                first = own % across * run->beside[operand];
  const int64_t count = tsl_min(run->beside[operand], run->job.operands[operand].micros - first);
  (void)worker;
  if (run->job.is_complex)
    convert_parts(run, operand, first, count, own / across);
  else
    run->converter->convert(&run->job, operand, first, count, own / across);
}

static void count_line(const residue_rules *rules, int operand, unsigned key, residue_counts *counts) {
  if (key & TSL_RESIDUE_ZERO)
    return;
  counts->has[operand][residue_has(key)]++;
  for (int c = 0; c < rules->candidates; c++)
    if (key & TSL_RESIDUE_LOST << c)
      counts->lost[c][operand]++;
    else
      counts->needs[c][operand][residue_need(key, c)]++;
}

/* Chooses by the least cost of each candidate and operand; equal costs take the lowest level. */
static void residue_decide(const residue_rules *rules, const residue_counts *counts, residue_choice *choice) {
  residue_word costs[TSL_RESIDUE_CANDIDATES][2];
  int levels[TSL_RESIDUE_CANDIDATES][2];
  for (int c = 0; c < rules->candidates; c++)
    for (int o = 0; o < 2; o++)
      for (int level = TSL_RESIDUE_LEVELS; level >= 0; level--) {
        const residue_word cost = residue_cost(rules, counts, c, o, level);
        if (level == TSL_RESIDUE_LEVELS || cost <= costs[c][o]) {
          costs[c][o] = cost;
          levels[c][o] = level;
        }
      }
  residue_choose(rules, counts, costs, levels, choice);
}

/* Returns true if the lines measured at a glance suggest that residues pay. */
static bool may_pay(const residue_running *run) {
  residue_rules rules = *run->job.rules;
  residue_counts counts = {.has = {{0}}};
  residue_choice choice;
  for (int o = 0; o < 2; o++) {
    const int64_t all = rules.lines[o];
    rules.lines[o] = 0;
    for (int64_t first = 0; first < all; first += run->apart[o]) {
      const int64_t count = tsl_min(GROUP, all - first);
      for (int64_t i = first; i < first + count; i++)
        count_line(&rules, o, run->job.operands[o].lines[i].key, &counts);
      rules.lines[o] += count;
    }
  }
  rules.native_once = 0;
  residue_decide(&rules, &counts, &choice);
  return choice.moduli > 0;
}

static void residue_host_choose(tsl_residue_job *job, tsl_residue_state *state) {
  residue_counts counts = {.has = {{0}}};
  for (int o = 0; o < 2; o++)
    for (int64_t i = 0; i < job->rules->lines[o]; i++)
      count_line(job->rules, o, job->operands[o].lines[i].key, &counts);
  residue_decide(job->rules, &counts, &job->choice);
  for (int o = 0; o < 2; o++)
    for (int64_t i = 0; i < job->rules->lines[o]; i++) {
      const residue_line *line = &job->operands[o].lines[i];
      const bool is_native = residue_is_native(&job->choice, o, line->key);
      job->operands[o].scales[i] = is_native ? TSL_RESIDUE_NO_SCALE : line->scale[job->choice.candidate];
      job->choice.native[o] += is_native;
    }
  for (int l = 0; l < job->choice.moduli; l++)
    job->rests[l] = tsl_residue_rest_of(&job->rules->moduli[l]);
  job->weights = tsl_residue_weights_of(&job->rules->sieves[job->choice.candidate]);
  state->moduli = job->choice.moduli;
  state->native_lines = job->choice.native[0] + job->choice.native[1];
}

/* State of a thread's products: two buffers of tile sums in turn; the tile whose reduction is pending; for
 * each resident panel, the address of its successor to prefetch. */
typedef struct multiplying {
  int32_t *sums[2];
  tsl_residue_late late;
  int turn;
  const unsigned char *next_b[KEPT_MAX], *next_b_end[KEPT_MAX];
  int64_t next_b_lines; /* cache lines per step */
} multiplying;

static const unsigned char *micro_at(const tsl_residue_job *job, int operand, int64_t plane, int64_t panel,
                                     int64_t micro) {
  const tsl_residue_lines *operand_lines = &job->operands[operand];
  return operand_lines->planes + plane * operand_lines->plane + panel * operand_lines->panel +
         micro * operand_lines->micro;
}

static int64_t steps_of_panel(const tsl_residue_job *job, int64_t panel) {
  return tsl_min(job->steps, tsl_ceil_div(job->k, TSL_RESIDUE_STEP) - panel * job->steps);
}

/* Multiplies a micro-panel of A by the block's micro-panels of B. next_a: the next one, prefetched. */
static void residue_multiply_micro(const residue_running *run, const tsl_residue_block *block, int64_t plane,
                                   int64_t panel, int64_t micro, const unsigned char *next_a,
                                   multiplying *with) {
  const tsl_residue_job *job = &run->job;
  const int64_t steps = steps_of_panel(job, panel), first = block->column / TSL_RESIDUE_LINES,
                across = tsl_ceil_div(block->columns, TSL_RESIDUE_LINES),
                lines = tsl_ceil_div(LINES_OF_STEP, across), place = panel % run->kept;
  const unsigned char *const a = micro_at(job, 0, plane, panel, block->row / TSL_RESIDUE_LINES + micro);
  unsigned char *rest = block->rests + plane * block->plane + micro * across * TSL_RESIDUE_SUMS;
  for (int64_t j = 0; j < across; j++, rest += TSL_RESIDUE_SUMS) {
    const int64_t lines_b = with->next_b[place] < with->next_b_end[place] ? with->next_b_lines : 0;
    const tsl_residue_tile tile = {.a = a,
                                   .b = micro_at(job, 1, plane, panel, first + j),
                                   .steps = steps,
                                   .sums = with->sums[with->turn],
                                   .late = with->late,
                                   .rows_each = tsl_ceil_div(TSL_RESIDUE_LINES, steps),
                                   .next_a = next_a + j * steps * lines * LINE,
                                   .next_b = with->next_b[place],
                                   .next_rest = rest,
                                   .lines_a = lines,
                                   .lines_b = lines_b,
                                   .lines_rest = tsl_ceil_div(TSL_RESIDUE_SUMS / LINE, steps)};
    run->product->tile(&tile);
    with->next_b[place] += lines_b * steps * LINE;
    with->late = (tsl_residue_late){
        .sums = tile.sums, .rest = rest, .modulus = &job->rests[plane / run->kinds], .adds = panel > 0};
    with->turn = 1 - with->turn;
  }
}

/* Adds one plane's residues for the resident panels. Nothing is prefetched after the last panels. */
static void multiply_panels(const residue_running *run, const tsl_residue_block *block, int64_t plane,
                            int64_t first, multiplying *with) {
  const tsl_residue_job *job = &run->job;
  const int64_t down = tsl_ceil_div(block->rows, TSL_RESIDUE_LINES),
                end = tsl_min(first + run->kept, job->panels),
                bytes = tsl_ceil_div(block->columns, TSL_RESIDUE_LINES) * job->operands[1].micro;
  const bool is_last = end == job->panels, is_all = is_last && plane + 1 == job->choice.moduli * run->kinds;
  const int64_t next_plane = is_last && !is_all ? plane + 1 : plane, next_first = is_last ? 0 : end;
  with->next_b_lines = tsl_ceil_div(LINES_OF_STEP, down);
  for (int64_t i = 0; i < run->kept; i++) {
    const bool is_there = !is_all && next_first + i < job->panels;
    with->next_b[i] =
        micro_at(job, 1, next_plane, is_there ? next_first + i : 0, block->column / TSL_RESIDUE_LINES);
    with->next_b_end[i] = with->next_b[i] + (is_there ? bytes : 0);
  }
  for (int64_t micro = 0; micro < down; micro++)
    for (int64_t panel = first; panel < end; panel++) {
      const int64_t own = block->row / TSL_RESIDUE_LINES + micro;
      const unsigned char *const next_a =
          panel + 1 < end ? micro_at(job, 0, plane, panel + 1, own) : micro_at(job, 0, plane, first, own + 1);
      residue_multiply_micro(run, block, plane, panel, micro, next_a, with);
    }
}

/* Computes the residues of C's parts from three products, in the planes of the first two. */
static void subtract_residues(unsigned char *x, unsigned char *y, const unsigned char *z, int64_t count,
                              unsigned p) {
  for (int64_t i = 0; i < count; i++) {
    const unsigned one = x[i], other = y[i];
    x[i] = (unsigned char)residue_less(one, other, p);
    y[i] = (unsigned char)residue_imaginary(one, other, z[i], p);
  }
}

static void join_parts(const residue_running *run, const tsl_residue_block *block) {
  const int64_t count =
      tsl_round_up(block->rows, TSL_RESIDUE_LINES) * tsl_round_up(block->columns, TSL_RESIDUE_LINES);
  for (int l = 0; l < run->job.choice.moduli; l++) {
    unsigned char *const x = block->rests + TSL_RESIDUE_PRODUCTS * l * block->plane;
    subtract_residues(x, x + block->plane, x + 2 * block->plane, count, run->job.rules->moduli[l].p);
  }
  for (int part = 0; part < 2; part++) {
    tsl_residue_block own = *block;
    own.rests += part * block->plane;
    own.plane *= TSL_RESIDUE_PRODUCTS;
    run->kernel->join(&run->parts[part], &own);
  }
}

static void residue_multiply_block(void *argument, int64_t index, int worker) {
  const residue_running *run = argument;
  const tsl_residue_job *job = &run->job;
  unsigned char *const own = run->own ? run->own + worker * run->own_bytes : NULL;
  const int64_t row = index % run->down * run->rows, column = index / run->down * run->columns;
  const tsl_residue_block block = {.row = row,
                                   .rows = tsl_min(run->rows, job->m - row),
                                   .column = column,
                                   .columns = tsl_min(run->columns, job->n - column),
                                   .rests = own,
                                   .plane = run->plane};
  const int64_t planes = job->choice.moduli * run->kinds;
  if (planes > 0) {
    int32_t *const sums = (int32_t *)(void *)(own + run->plane * planes);
    multiplying with = {.sums = {sums, sums + TSL_RESIDUE_SUMS}};
    if (run->product->begin)
      run->product->begin();
    for (int64_t plane = 0; plane < planes; plane++)
      for (int64_t panel = 0; panel < job->panels; panel += run->kept)
        multiply_panels(run, &block, plane, panel, &with);
    if (run->product->end)
      run->product->end();
    run->product->finish(&with.late);
    if (job->is_complex)
      join_parts(run, &block);
    else
      run->kernel->join(job, &block);
  }
  if (job->choice.moduli == 0 || job->choice.native[0] + job->choice.native[1] > 0)
    run->kernel->native(job, &block);
}

/* Chooses the blocks of C: large for one thread; for several threads two blocks each if they remain large,
 * since memory traffic falls with their size, else one each. */
static void residue_cut(residue_running *run, int threads) {
  enum { LARGE = 512, SMALL = 128 };
  run->rows = tsl_min(tsl_round_up(run->job.m, TSL_RESIDUE_LINES), ROWS_MAX);
  run->columns = tsl_min(tsl_round_up(run->job.n, TSL_RESIDUE_LINES),
                         threads > 1 ? TSL_RESIDUE_COLUMNS / 2 : TSL_RESIDUE_COLUMNS);
  for (;;) {
    const int64_t blocks =
        tsl_ceil_div_or_one(run->job.m, run->rows) * tsl_ceil_div_or_one(run->job.n, run->columns);
    int64_t *const larger = run->rows >= run->columns ? &run->rows : &run->columns;
    if (threads <= 1 || *larger <= SMALL || blocks >= (*larger > LARGE ? 2 : 1) * (int64_t)threads)
      break;
    *larger = tsl_round_up(*larger / 2, TSL_RESIDUE_LINES);
  }
  run->down = tsl_ceil_div_or_one(run->job.m, run->rows);
  run->kept = KEPT_BYTES / (run->columns * TSL_RESIDUE_STEP * tsl_max(run->job.steps, 1));
  run->kept = tsl_max(1, tsl_min(run->kept, tsl_min(run->job.panels, KEPT_MAX)));
}

static int64_t residue_blocks_of(const residue_running *run) {
  return run->down * tsl_ceil_div_or_one(run->job.n, run->columns);
}

/* Sets up the lines as real numbers: for complex types, adjacent real and imaginary parts. */
static void set_up_numbers(residue_running *run) {
  run->measured = run->job;
  if (!run->job.is_complex)
    return;
  run->measured.k *= 2;
  for (int o = 0; o < 2; o++) {
    tsl_residue_lines *operand_lines = &run->measured.operands[o];
    operand_lines->is_paired = operand_lines->along != 2;
    operand_lines->along = operand_lines->is_paired ? operand_lines->along : 1;
  }
}

/* Sets up real and imaginary parts as separate operands; planes of a modulus are three apart. */
static void set_up_parts(residue_running *run) {
  const int64_t size = (int64_t)tsl_type(run->type)->size;
  for (int part = 0; part < 2 && run->job.is_complex; part++) {
    tsl_residue_job *job = &run->parts[part];
    *job = run->job;
    job->c += part * size;
    for (int o = 0; o < 2; o++) {
      tsl_residue_lines *operand_lines = &job->operands[o];
      operand_lines->at += part * size;
      operand_lines->is_negative = part == 1 && run->job.conjugates[o];
      operand_lines->planes += part * operand_lines->plane;
      operand_lines->plane *= TSL_RESIDUE_PRODUCTS;
    }
  }
}

/* Returns true if C is computed by residues, false if by the subplan. With a subplan, a few evenly spaced
 * lines are measured first, which recognises most unsuited products after a sixteenth of the reads. Not
 * inlined: its counts of lines leave the stack before tiles are multiplied. */
static __attribute__((noinline)) bool measure_and_choose(residue_running *run, tsl_team team) {
  tsl_residue_job *job = &run->job;
  set_up_numbers(run);
  if (run->state->whole) {
    for (int o = 0; o < 2; o++)
      run->apart[o] = tsl_max(GROUP, tsl_min(APART, job->operands[o].count / GROUPS / GROUP * GROUP));
    tsl_team_run(team, tsl_ceil_div(job->m, run->apart[0]) + tsl_ceil_div(job->n, run->apart[1]),
                 measure_glanced, run);
    if (!may_pay(run)) {
      run->state->moduli = run->state->native_lines = 0;
      return false;
    }
  }
  tsl_team_run(team, tsl_ceil_div(job->m, TSL_RESIDUE_TOGETHER) + tsl_ceil_div(job->n, TSL_RESIDUE_TOGETHER),
               residue_measure, run);
  residue_host_choose(job, run->state);
  return job->choice.moduli > 0 || !run->state->whole;
}

static tesela_status multiply_residues(residue_running *run, tsl_team team) {
  tsl_residue_job *job = &run->job;
  const int64_t most = job->choice.moduli * run->kinds;
  int64_t bytes = 0, planes[2];
  void *block;
  for (int o = 0; o < 2; o++) {
    tsl_residue_lines *operand_lines = &job->operands[o];
    operand_lines->micros = tsl_ceil_div(operand_lines->count, TSL_RESIDUE_LINES);
    operand_lines->micro = job->steps * TSL_RESIDUE_STEP_BYTES;
    operand_lines->panel = operand_lines->micros * operand_lines->micro;
    operand_lines->plane = operand_lines->panel * job->panels + PAD;
    run->beside[o] = operand_lines->across == 1 && operand_lines->along != 1 ? TSL_RESIDUE_BESIDE : 1;
    planes[o] = tsl_scratch_reserve(&bytes, operand_lines->plane * most, ALIGNED);
  }
  run->plane = run->rows * run->columns + PAD;
  run->own_bytes = run->plane * most + 2 * TSL_RESIDUE_SUMS * (int64_t)sizeof(int32_t);
  const int64_t own = tsl_scratch_reserve(&bytes, run->own_bytes * tsl_team_threads(team), ALIGNED);
  TSL_TRY(tsl_scratch_take((size_t)bytes, "residues", &block));
  unsigned char *const memory = block;
  for (int o = 0; o < 2; o++)
    job->operands[o].planes = memory + planes[o];
  run->own = memory + own;
  set_up_parts(run);
  if (job->choice.moduli > 0)
    tsl_team_run(team, (count_conversions(run, 0) + count_conversions(run, 1)) * job->panels, residue_convert,
                 run);
  tsl_team_run(team, residue_blocks_of(run), residue_multiply_block, run);
  tsl_scratch_give(block);
  return TESELA_OK;
}

static tesela_status residue_run_all(residue_running *run, const tsl_work *work,
                                     const tsl_operands *operands) {
  tsl_residue_job *job = &run->job;
  int64_t bytes = 0, lines[2], scales[2];
  void *block;
  for (int o = 0; o < 2; o++) {
    lines[o] = tsl_scratch_reserve(&bytes, job->operands[o].count * (int64_t)sizeof(residue_line), ALIGNED);
    scales[o] = tsl_scratch_reserve(&bytes, job->operands[o].count * (int64_t)sizeof(int), ALIGNED);
  }
  TSL_TRY(tsl_alloc((size_t)bytes, "lines of residues", &block));
  unsigned char *const memory = block;
  for (int o = 0; o < 2; o++) {
    job->operands[o].lines = (residue_line *)(void *)(memory + lines[o]);
    job->operands[o].scales = (int *)(void *)(memory + scales[o]);
  }
  const tesela_status status =
      measure_and_choose(run, operands->team)
          ? multiply_residues(run, operands->team)
          : work->subplans->enqueue_as_given(run->state->whole, operands, NULL, NULL);
  tsl_free(block);
  return status;
}

/* Runs the product; for column-major C the transposed one, so that rows are written. */
static tesela_status residue_int8_run_by(const tsl_work *work, const tsl_operands *operands,
                                         const tsl_residue_product *product) {
  const tsl_problem *problem = &work->problem;
  const tsl_operand *a = &operands->a, *b = &operands->b, *c = &operands->c;
  const bool is_swapped = c->row_stride == 1 && c->col_stride != 1,
             reads = problem->alpha[0] != 0 && problem->k > 0;
  const tsl_residue_lines of_a = {.at = a->host,
                                  .count = problem->m,
                                  .across = tsl_residue_reals(problem, a->row_stride),
                                  .along = tsl_residue_reals(problem, a->col_stride)},
                          of_b = {.at = b->host,
                                  .count = problem->n,
                                  .across = tsl_residue_reals(problem, b->col_stride),
                                  .along = tsl_residue_reals(problem, b->row_stride)};
  const int64_t steps = tsl_ceil_div(problem->k, TSL_RESIDUE_STEP),
                panels = tsl_ceil_div_or_one(steps, TSL_RESIDUE_STEPS);
  residue_running run = {
      .job = {.operands = {is_swapped ? of_b : of_a, is_swapped ? of_a : of_b},
              .m = is_swapped ? problem->n : problem->m,
              .n = is_swapped ? problem->m : problem->n,
              .k = reads ? problem->k : 0,
              .steps = tsl_ceil_div(steps, panels),
              .c = c->host,
              .c_row = tsl_residue_reals(problem, is_swapped ? c->col_stride : c->row_stride),
              .c_col = tsl_residue_reals(problem, is_swapped ? c->row_stride : c->col_stride),
              .alpha = reads ? problem->alpha[0] : 0,
              .beta = problem->beta[0],
              .is_complex = tsl_residue_kinds(problem) > 1,
              .is_precise = tsl_residue_is_precise(problem),
              .conjugates = {is_swapped ? problem->conjugate_b : problem->conjugate_a,
                             is_swapped ? problem->conjugate_a : problem->conjugate_b}},
      .kinds = tsl_residue_kinds(problem),
      .type = tsl_residue_type(problem),
      .state = work->state,
      .kernel = residue_kernel_for(work->device, tsl_residue_type(problem)),
      .converter = converter_for(work->device, tsl_residue_type(problem)),
      .product = product ? product : product_for(work->device)};
  residue_rules rules = tsl_residue_rules(problem, &work->config, run.job.m, run.job.n);
  tsl_residue_int8_weigh(work, &rules);
  run.job.rules = &rules;
  run.job.panels = tsl_ceil_div_or_one(steps, tsl_max(run.job.steps, 1));
  residue_cut(&run, tsl_team_threads(operands->team));
  if (reads)
    return residue_run_all(&run, work, operands);
  tsl_team_run(operands->team, residue_blocks_of(&run), residue_multiply_block, &run);
  return TESELA_OK;
}

tesela_status tsl_residue_int8_run_host(const tsl_work *work, const tsl_operands *operands) {
  return residue_int8_run_by(work, operands, NULL);
}

uint64_t tsl_residue_int8_host_bytes(const tsl_problem *problem, const tsl_config *config,
                                     const tsl_device *device) {
  const double planes = (double)tsl_residue_most(problem) * tsl_residue_kinds(problem),
               threads = fmax(1, device->compute_units),
               m = (double)tsl_round_up(problem->m, TSL_RESIDUE_LINES),
               n = (double)tsl_round_up(problem->n, TSL_RESIDUE_LINES),
               depth = (double)tsl_round_up(problem->k, TSL_RESIDUE_STEP);
  (void)config;
  /* Panels are split evenly, so each may have a step more. */
  const double operands = (m + n) * depth * (1 + 1.0 / TSL_RESIDUE_STEPS),
               blocks = fmin(2 * m * n, threads * fmin(m, ROWS_MAX) * fmin(n, TSL_RESIDUE_COLUMNS)),
               bytes = planes * (operands + blocks);
  return bytes < 0x1p63 ? (uint64_t)bytes : UINT64_MAX;
}
