/* exact on the cpu: threads take chunks of terms one after the other, each into a superaccumulator of its own; these
 * are added and rounded in the end. Within a chunk, blocks go through the vectors of blocks.h, in a window that stays
 * where it is from block to block; a block that does not fit is added term by term, and tells where the window should
 * be. exact.cl tells the idea and the limits. */
#include "base/memory.h"
#include "base/pool.h"
#include "base/scratch.h"
#include "base/status.h"
#include "strategy/dot/exact/blocks.h"
#include "strategy/dot/exact/exact.h"
#include "strategy/dot/exact/words.h"
#include "strategy/narrow.h"

#include <math.h>

/* Terms of a chunk; of blocks between two settlings of levels, and of terms between two of digits. */
enum { BLOCK = TSL_EXACT_BLOCK, CHUNK = 128 * BLOCK, SETTLE_BLOCKS = 8, LEVELS = TSL_EXACT_LEVELS };
/* Eight blocks add less than 8 * 256 * 1.5 * 2^51 < 2^63 to a level; a block's products and a window's levels add less
 * than 256 * 3 * (2^53 + 2^52) < 2^63 to a digit. */

/* One thread's sum. */
typedef struct sum {
  bool used;
  int flags, top; /* TSL_EXACT_NAN ...; the window */
  int blocks;     /* since the levels were settled */
  int64_t levels[LEVELS];
  int64_t digits[TSL_EXACT_DIGITS];
  _Alignas(TSL_CACHE_LINE) unsigned char x[BLOCK * sizeof(double)];
  unsigned char y[BLOCK * sizeof(double)];
} sum;

typedef struct running {
  const unsigned char *x, *y;
  int64_t x_stride, y_stride, count;
  bool twice; /* f64 */
  tesela_type x_type, y_type;
  const tsl_exact_window *window;
  sum *sums; /* a thread's each */
} running;

/* --- one thread --- */

/* Moves the window's sum into the digits. */
static void empty_window(sum *own) {
  tsl_exact_settle_levels(own->levels, LEVELS);
  for (int j = 0; j < LEVELS; j++) {
    const int position = own->top - 52 * j - TSL_EXACT_LOW;
    tsl_exact_add(own->digits, own->levels[j] & UINT32_MAX, position);
    tsl_exact_add(own->digits, own->levels[j] >> 32, position + 32);
    own->levels[j] = 0;
  }
  tsl_exact_settle(own->digits);
}

static double number_at(const void *numbers, int i, bool twice) {
  return twice ? ((const double *)numbers)[i] : (double)((const float *)numbers)[i];
}

/* A block term by term; the window moves to where this block's products are. */
static void add_slowly(sum *own, const void *x, const void *y, int count, bool twice) {
  int largest = 0;
  for (int i = 0; i < count; i++) {
    const double a = number_at(x, i, twice), b = number_at(y, i, twice), product = a * b;
    const int exponent = tsl_exact_exponent(product);
    largest = exponent > largest ? exponent : largest;
    if (!tsl_exact_is_finite(a) || !tsl_exact_is_finite(b))
      own->flags |= tsl_exact_special(product);
    else if (twice)
      tsl_exact_add_product(own->digits, a, b);
    else
      tsl_exact_add_double(own->digits, product);
  }
  tsl_exact_settle(own->digits);
  const int top = tsl_exact_top_for(largest);
  if (top > own->top || top < own->top - TSL_EXACT_SLACK) {
    empty_window(own);
    own->top = top;
  }
}

static void add_block(const running *run, sum *own, const void *x, const void *y, int count) {
  int64_t levels[LEVELS] = {0};
  if (!run->window->shallow(x, y, own->top, levels) &&
      !(own->top >= TSL_EXACT_TOP_DEEP && run->window->deep(x, y, own->top, levels))) {
    add_slowly(own, x, y, count, run->twice);
    return;
  }
  for (int j = 1; j < LEVELS; j++)
    own->levels[j] += levels[j];
  if (++own->blocks == SETTLE_BLOCKS) {
    tsl_exact_settle_levels(own->levels, LEVELS);
    own->blocks = 0;
  }
}

/* Terms as the window takes them: where they lie, or `count` of them copied to where they lie side by side, narrow types as
 * f32, with zeros behind them. */
static const void *gather(tesela_type type, const unsigned char *from, int64_t stride, int count, void *to) {
  const size_t size = type == TESELA_F64 ? sizeof(double) : sizeof(float);
  if (type != TESELA_F64 && type != TESELA_F32)
    tsl_narrow_gather(type, from, stride, count, to);
  else if (stride == 1 && count == BLOCK)
    return from;
  else if (type == TESELA_F64)
    for (int i = 0; i < count; i++)
      ((double *)to)[i] = ((const double *)from)[i * stride];
  else
    for (int i = 0; i < count; i++)
      ((float *)to)[i] = ((const float *)from)[i * stride];
  memset((unsigned char *)to + (size_t)count * size, 0, (size_t)(BLOCK - count) * size);
  return to;
}

static void start(sum *own) {
  memset(own->digits, 0, sizeof own->digits);
  memset(own->levels, 0, sizeof own->levels);
  own->flags = own->blocks = 0;
  own->top = TSL_EXACT_TOP_LEAST;
  own->used = true;
}

static void add_chunk(void *argument, int64_t chunk, int worker) {
  const running *run = argument;
  sum *own = &run->sums[worker];
  const int64_t first = chunk * CHUNK, x_step = run->x_stride * (int64_t)tsl_type(run->x_type)->size,
                y_step = run->y_stride * (int64_t)tsl_type(run->y_type)->size;
  const int64_t end = run->count - first < CHUNK ? run->count : first + CHUNK;
  if (!own->used)
    start(own);
  for (int64_t i = first; i < end; i += BLOCK) {
    const int count = end - i < BLOCK ? (int)(end - i) : BLOCK;
    const void *x = gather(run->x_type, run->x + i * x_step, run->x_stride, count, own->x),
               *y = gather(run->y_type, run->y + i * y_step, run->y_stride, count, own->y);
    add_block(run, own, x, y, count);
  }
}

/* --- all of them --- */

static const tsl_exact_window *window_for(unsigned offers, bool twice) {
#define SET(isa, header, needs, ...) &tsl_exact_blocks_##isa,
  static const tsl_exact_blocks *const sets[] = {TSL_ISA_LIST(SET)};
#undef SET
  const tsl_exact_blocks *blocks = sets[tsl_isa_best(offers)];
  return twice ? &blocks->f64 : &blocks->f32;
}

/* Adds everybody's digits to those of the first; returns what was not finite. */
static int merge(sum *sums, int workers, int64_t *digits) {
  int flags = 0;
  memset(digits, 0, TSL_EXACT_DIGITS * sizeof *digits);
  for (int w = 0; w < workers; w++) {
    if (!sums[w].used)
      continue;
    empty_window(&sums[w]);
    flags |= sums[w].flags;
    for (int i = 0; i < TSL_EXACT_DIGITS; i++)
      digits[i] += sums[w].digits[i];
    tsl_exact_settle(digits);
  }
  return flags;
}

/* The number of bits that a type keeps, and the exponent of the least one. */
static void format_of(const tsl_type_info *type, int *precision, int *least) {
  *precision = -ilogb(type->unit_roundoff);
  *least = ilogb(type->smallest);
}

static void store(const tsl_work *work, const tsl_operands *operands, int64_t *digits, int flags, int64_t k) {
  const tsl_problem *problem = &work->problem;
  const tsl_type_info *type = tsl_type(problem->c.type);
  int64_t wide[TSL_EXACT_WIDE] = {0};
  int precision, least;
  double before[2] = {0, 0}, result[2] = {0, 0};
  const bool twice = type->type == TESELA_F64;
  const double given = k == 0 ? 0 : problem->alpha[0], alpha = twice ? given : (double)(float)given,
               beta = twice ? problem->beta[0] : (double)(float)problem->beta[0];
  if (beta != 0)
    tsl_type_load(type->type, operands->c.host, before);
  format_of(type, &precision, &least);
  result[0] =
      tsl_exact_result(digits, 0, TSL_EXACT_DIGITS, flags, alpha, beta, before[0], wide, precision, least);
  if (isnan(result[0]))
    result[0] = (double)NAN;
  tsl_type_store(type->type, operands->c.host, result);
}

/* The sum is a whole number below 2^53, which is not rounded; other integers are modulo 2^32. */
static void store_integer(const tsl_work *work, const tsl_operands *operands, int64_t *digits) {
  int64_t wide[TSL_EXACT_WIDE] = {0};
  const double exact = tsl_exact_result(digits, 0, TSL_EXACT_DIGITS, 0, 1, 0, 0, wide, 53, -1074);
  const uint32_t alpha = (uint32_t)(int64_t)work->problem.alpha[0],
                 beta = (uint32_t)(int64_t)work->problem.beta[0], scaled = alpha * (uint32_t)(int64_t)exact;
  uint32_t *c = operands->c.host;
  *c = beta == 0 ? scaled : scaled + beta * *c;
}

tesela_status tsl_exact_run_host(const tsl_work *work, const tsl_operands *operands) {
  const tsl_problem *problem = &work->problem;
  const bool twice = problem->c.type == TESELA_F64;
  const double alpha = twice ? problem->alpha[0] : (double)(float)problem->alpha[0];
  const int workers = tsl_team_threads(operands->team);
  int64_t digits[TSL_EXACT_DIGITS];
  void *block;
  TSL_TRY(tsl_scratch_take((size_t)workers * sizeof(sum), "superaccumulators", &block));
  running run = {.x = operands->a.host,
                 .y = operands->b.host,
                 .x_stride = operands->a.col_stride,
                 .y_stride = operands->b.row_stride,
                 .count = alpha == 0 ? 0 : problem->k,
                 .twice = twice,
                 .x_type = problem->a.type,
                 .y_type = problem->b.type,
                 .window = window_for(work->device->capabilities, twice),
                 .sums = block};
  for (int w = 0; w < workers; w++)
    run.sums[w].used = false;
  tsl_team_run(operands->team, run.count == 0 ? 0 : (run.count - 1) / CHUNK + 1, add_chunk, &run);
  const int flags = merge(run.sums, workers, digits);
  if (tsl_type(problem->c.type)->is_integer)
    store_integer(work, operands, digits);
  else
    store(work, operands, digits, flags, run.count);
  tsl_scratch_give(block);
  return TESELA_OK;
}
