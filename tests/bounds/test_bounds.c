/* Random calls compared with exact results: no error exceeds the bound in its record, for any
 * requirement, strategy and device.
 *
 *   test_bounds CALLS [SEED [DEVICE]]
 *
 * One call in 25 runs on DEVICE, the others on the cpu. Results are compared with sums without rounding
 * (wide.h), and by the judge, which handles infinities and NaN. Prints a histogram of errors divided by
 * their bounds. Exits with 1 where an element exceeded its bound. */
#include "api/api.h"
#include "bounds/draw.h"
#include "bounds/wide.h"
#include "core/random.h"
#include "judge/judge.h"
#include "strategy/strategy_list.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BINS = 12, STRATEGIES_MOST = 64, TOLD_MOST = 20 };

typedef struct tally {
  const tsl_strategy *strategy;
  long calls, elements, bins[BINS + 2]; /* exact; below 2^-11 of the bound, ..., up to 1; beyond */
  double worst;
} tally;

static _Alignas(64) unsigned char a[DRAW_BYTES], b[DRAW_BYTES], c[DRAW_BYTES], before[DRAW_BYTES];
static tally tallies[STRATEGIES_MOST];
static long wrong, refused, calls_done;

/* Element `index` of a matrix: a real number's other part is 0. */
static void load(tesela_type type, const unsigned char *matrix, int64_t index, double value[2]) {
  tsl_type_load(type, matrix + index * (int64_t)tsl_type(type)->size, value);
}
static double value_of(tesela_type type, const unsigned char *matrix, int64_t index) {
  double value[2];
  load(type, matrix, index, value);
  return value[0];
}

static void count(tally *tally_in, double ratio) {
  int bin = 0;
  if (ratio > 1)
    bin = BINS + 1;
  else if (ratio > 0)
    bin = 1 + (int)fmax(0, BINS - 1 + ceil(log2(ratio)));
  tally_in->bins[bin]++;
  tally_in->elements++;
  tally_in->worst = fmax(tally_in->worst, ratio);
}

static void tell(const drawn *call, const tesela_record *record, const char *what) {
  char text[512];
  if (wrong++ >= TOLD_MOST)
    return;
  draw_print(call, text, sizeof text);
  printf("WRONG: %s\n  call %s\n  plan %s\n", what, text, record->plan);
}

/* --- one element, exactly --- */

typedef struct right {
  scaled result, error; /* and how far C is off it, where C is finite */
  scaled magnitude;     /* |alpha| |A||B| + |beta| |C0| */
  scaled products;      /* |A||B| */
} right;

static bool is_finite(const double value[2]) {
  return isfinite(hypot(value[0], value[1]));
}

/* Part `part` of an element. False where a term is not finite. */
static bool sum_exactly(const drawn *call, const tsl_problem *problem, int64_t i, int64_t j, int part,
                        right *out) {
  static wide sum, size, all, all_size;
  const double alpha = call->k > 0 ? problem->alpha[0] : 0, beta = problem->beta[0];
  double x[2], y[2], is[2];
  load(call->c_type, c, i * call->n + j, is);
  wide_clear(&sum);
  wide_clear(&size);
  wide_clear(&all);
  wide_clear(&all_size);
  for (int64_t l = 0; l < call->k && alpha != 0; l++) {
    load(call->a_type, a, i * call->k + l, x);
    load(call->a_type, b, l * call->n + j, y);
    if (!is_finite(x) || !is_finite(y))
      return false;
    wide_add_product(&sum, x[0], y[part]);
    wide_add_product(&sum, part ? x[1] : -x[1], y[1 - part]);
    wide_add_product(&size, hypot(x[0], x[1]), hypot(y[0], y[1]));
  }
  wide_add_scaled(&all, &sum, alpha);
  wide_add_scaled(&all_size, &size, fabs(alpha));
  out->magnitude = wide_value(&all_size);
  if (beta != 0) {
    load(call->c_type, before, i * call->n + j, x);
    if (!is_finite(x))
      return false;
    wide_add_product(&all, beta, x[part]);
    wide_clear(&all_size);
    wide_add_product(&all_size, fabs(beta), hypot(x[0], x[1]));
    out->magnitude = scaled_plus(out->magnitude, wide_value(&all_size));
  }
  out->products = wide_value(&size);
  out->result = wide_value(&all);
  out->result.fraction = fabs(out->result.fraction);
  if (isfinite(is[part]))
    wide_add(&all, -is[part]);
  out->error = wide_value(&all);
  out->error.fraction = fabs(out->error.fraction);
  return true;
}

static double largest_in(tesela_type type, const unsigned char *matrix, int64_t elements) {
  double most = 0;
  for (int64_t i = 0; i < elements; i++) {
    const double size = fabs(value_of(type, matrix, i));
    most = isfinite(size) && size > most ? size : most;
  }
  return most;
}

/* Returns the public header's allowance for underflow. */
static scaled underflow(const drawn *call, const tsl_problem *problem, const tesela_record *record) {
  const tsl_type_info *type = tsl_type(call->c_type);
  const double alpha = fabs(problem->alpha[0]), k = (double)call->k;
  scaled all =
      scaled_plus(scaled_times(scaled_of(fmax(1, alpha) * k + 2), scaled_of(tsl_type(type->sums)->smallest)),
                  scaled_of(type->smallest));
  if (record->flushed_below > 0)
    all = scaled_plus(all, scaled_times(scaled_of(record->flushed_below),
                                        scaled_of(alpha * k *
                                                      (largest_in(call->a_type, a, call->m * call->k) +
                                                       largest_in(call->a_type, b, call->k * call->n) + 2) +
                                                  fabs(problem->beta[0]) + 2)));
  return all;
}

/* Returns true when every intermediate number is far from the types' largest. */
static bool in_range(const drawn *call, const right *is) {
  const tsl_type_info *type = tsl_type(call->c_type), *sums = tsl_type(type->sums);
  return scaled_ratio(is->products, scaled_of(sums->largest)) < 0.5 &&
         scaled_ratio(is->magnitude, scaled_of(fmin(sums->largest, type->largest))) < 0.5;
}

static void look_at(const drawn *call, const tesela_plan *plan, const tesela_record *record,
                    tally *tally_in) {
  const tsl_problem *problem = &plan->plan->work.problem;
  const tsl_accuracy promised = tsl_plan_accuracy(plan->plan);
  const tsl_type_info *type = tsl_type(call->c_type);
  const scaled lost = underflow(call, problem, record);
  const int parts = type->is_complex ? 2 : 1;
  for (int64_t at = 0; at < call->m * call->n; at++)
    for (int part = 0; part < parts; part++) {
      right is;
      double both[2];
      load(call->c_type, c, at, both);
      const double value = both[part];
      if (!sum_exactly(call, problem, at / call->n, at % call->n, part, &is))
        continue;
      if (!isfinite(value)) {
        if (in_range(call, &is) && !promised.finite_only)
          tell(call, record, "finite numbers came to one that is not");
        continue;
      }
      const scaled bound = scaled_plus(scaled_times(is.magnitude, scaled_of(record->error_bound)), lost);
      const scaled once = scaled_times(is.result, scaled_of(type->unit_roundoff)),
                   last = scaled_times(scaled_of(type->smallest), scaled_of(0.5));
      const double ratio = promised.is_correctly_rounded
                               ? scaled_ratio(is.error, scaled_ratio(once, last) > 1 ? once : last)
                               : scaled_ratio(is.error, is.magnitude.fraction == 0 ? is.magnitude : bound);
      count(tally_in, ratio);
      if (ratio > 1) {
        char what[160];
        snprintf(what, sizeof what, "%s C(%d, %d) is %.17g, which is %.4g times its bound off",
                 part ? "imaginary" : "real", (int)(at / call->n), (int)(at % call->n), value, ratio);
        tell(call, record, what);
        return;
      }
    }
}

static void judge(const drawn *call, const tesela_plan *plan, const tesela_record *record) {
  const tsl_accuracy promised = tsl_plan_accuracy(plan->plan);
  const tsl_judge rule = {.factor = promised.factor,
                          .rounded = promised.is_correctly_rounded,
                          .flushes = tsl_accuracy_underflow(&promised),
                          .finite = promised.finite_only,
                          .operations_max = INT64_MAX,
                          .threads = 1};
  tsl_verdict verdict;
  if (tsl_judge_result(&plan->plan->work.problem, a, b, before, c, &rule, &verdict) != TESELA_OK) {
    printf("the judge failed: %s\n", tesela_last_error());
    exit(1);
  }
  if (!verdict.right)
    tell(call, record, verdict.why);
}

/* --- a call --- */

static tesela_status create(tesela_context *context, const drawn *call, const char *device,
                            const char *strategy, tesela_plan **plan) {
  const double alpha[2] = {call->alpha, 0}, beta[2] = {call->beta, 0};
  if (call->is_dot) {
    const tesela_dot_desc desc = {.n = call->k,
                                  .x = {.type = call->a_type},
                                  .y = {.type = call->a_type},
                                  .result = {.type = call->c_type},
                                  .alpha = alpha,
                                  .beta = beta,
                                  .options.device = device,
                                  .options.strategy = strategy,
                                  .options.accuracy = call->accuracy,
                                  .options.reproducibility = call->bits};
    return tesela_plan_create_dot(context, &desc, plan);
  }
  const tesela_gemm_desc desc = {.m = call->m,
                                 .n = call->n,
                                 .k = call->k,
                                 .a = {.type = call->a_type},
                                 .b = {.type = call->a_type},
                                 .c = {.type = call->c_type},
                                 .alpha = alpha,
                                 .beta = beta,
                                 .options.device = device,
                                 .options.strategy = strategy,
                                 .options.accuracy = call->accuracy,
                                 .options.reproducibility = call->bits};
  return tesela_plan_create(context, &desc, plan);
}

static tesela_status run(const drawn *call, tesela_plan *plan, tesela_record *record) {
  if (call->is_dot)
    return tesela_plan_run(plan,
                           &(tesela_operands){.x = &(tesela_vector){.data = a},
                                              .y = &(tesela_vector){.data = b},
                                              .result = &(tesela_scalar){.data = c}},
                           record);
  return tesela_plan_run(plan,
                         &(tesela_operands){.a = &(tesela_matrix){.data = a},
                                            .b = &(tesela_matrix){.data = b},
                                            .c = &(tesela_result){.data = c}},
                         record);
}

/* The strategy that a call names; NULL: it leaves the choice. */
static const tsl_strategy *named(const drawn *call) {
  int count_of = 0, wanted = call->by_name;
  while (tsl_strategy_at(count_of))
    count_of++;
  for (int i = 0; call->by_name && i < count_of; i++) {
    const tsl_strategy *strategy = tsl_strategy_at((wanted + i) % count_of);
    if (strategy->op == (call->is_dot ? TSL_OP_DOT : TSL_OP_GEMM) && !strategy->vendor.load)
      return strategy;
  }
  return NULL;
}

static tally *tally_of(const tsl_strategy *strategy) {
  int i = 0;
  while (tallies[i].strategy && tallies[i].strategy != strategy)
    i++;
  tallies[i].strategy = strategy;
  return &tallies[i];
}

static void do_call(tesela_context *context, const drawn *call, const char *device) {
  const tsl_strategy *strategy = named(call);
  const bool is_complex = tsl_type(call->c_type)->is_complex;
  tesela_record record;
  tesela_plan *plan;
  tesela_status status = create(context, call, device, strategy ? strategy->name : NULL, &plan);
  if (status == TESELA_UNSUPPORTED && ++refused)
    return;
  if (status == TESELA_OK) {
    draw_numbers(call, a, b, before);
    memcpy(c, before, (size_t)(call->m * call->n) * tsl_type(call->c_type)->size);
    status = run(call, plan, &record);
  }
  if (status != TESELA_OK) {
    char text[512];
    draw_print(call, text, sizeof text);
    printf("%s: %s\n  call %s strategy=%s\n", tesela_status_name(status), tesela_last_error(), text,
           strategy ? strategy->name : "-");
    exit(1);
  }
  tally *of = tally_of(plan->plan->work.strategy);
  of->calls++;
  calls_done++;
  look_at(call, plan, &record, of);
  if (is_complex || call->specials || call->seed % 4 == 0)
    judge(call, plan, &record);
  tesela_plan_destroy(plan);
}

static void print_tallies(void) {
  printf("%-26s %7s %9s %7s", "error over bound", "calls", "results", "exact");
  for (int bin = 1; bin <= BINS; bin++)
    printf(" %6s%-2d", "2^", bin - BINS);
  printf(" %6s %8s\n", "beyond", "largest");
  for (int i = 0; i < STRATEGIES_MOST && tallies[i].strategy; i++) {
    const tally *of = &tallies[i];
    char name[64];
    snprintf(name, sizeof name, "%s %s", tsl_op_name(of->strategy->op), of->strategy->name);
    printf("%-26s %7ld %9ld %6.1f%%", name, of->calls, of->elements,
           of->elements ? 100. * (double)of->bins[0] / (double)of->elements : 0);
    for (int bin = 1; bin <= BINS; bin++)
      printf(" %8ld", of->bins[bin]);
    printf(" %6ld %8.3g\n", of->bins[BINS + 1], of->worst);
  }
}

int main(int argc, char **argv) {
  const long calls = argc > 1 ? atol(argv[1]) : 2000;
  const uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
  const char *elsewhere = argc > 3 ? argv[3] : NULL;
  tesela_context *context;
  if (tesela_context_create(NULL, &context) != TESELA_OK) {
    printf("%s\n", tesela_last_error());
    return 1;
  }
  for (long i = 0; i < calls; i++) {
    drawn call;
    draw_call(seed, (uint64_t)i, &call);
    do_call(context, &call, call.elsewhere && elsewhere ? elsewhere : "cpu");
  }
  tesela_context_destroy(context);
  print_tallies();
  printf("%ld calls, %ld more that nothing here guarantees; %ld beyond their bounds\n", calls_done, refused,
         wrong);
  return wrong > 0;
}
