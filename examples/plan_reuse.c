/* One plan for many products: planning is done once, and runs cost little beyond the arithmetic. The
 * operands are column-major with a transpose, and C accumulates: C = 0.5 A' B + C. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <tesela/tesela.h>

enum { M = 40, N = 30, K = 50, STEPS = 8 };

static double a_value(int step, int i, int l) {
  return sin(0.1 * step + 0.01 * i * l);
}
static double b_value(int step, int l, int j) {
  return cos(0.2 * step + 0.02 * l - 0.03 * j);
}

int main(void) {
  double *a = malloc(sizeof *a * K * M), *b = malloc(sizeof *b * K * N);
  double *c = calloc(M * N, sizeof *c), *expected = calloc(M * N, sizeof *expected);
  tesela_context *context = NULL;
  tesela_plan *plan = NULL;
  int failed = 1;
  if (!a || !b || !c || !expected || tesela_context_create(NULL, &context) != TESELA_OK)
    goto out;

  /* A is stored as a column-major K x M matrix and transposed. B is K x N and C is M x N, both
   * column-major. */
  const double half = 0.5, one = 1;
  const tesela_gemm_desc desc = {
      .m = M,
      .n = N,
      .k = K,
      .a = {.type = TESELA_F64, .row_stride = 1, .col_stride = K, .transpose = 1},
      .b = {.type = TESELA_F64, .row_stride = 1, .col_stride = K},
      .c = {.type = TESELA_F64, .row_stride = 1, .col_stride = M},
      .alpha = &half,
      .beta = &one,
      .options.device = "cpu",
  };
  if (tesela_plan_create(context, &desc, &plan) != TESELA_OK)
    goto out;
  printf("%s\n", tesela_plan_describe(plan));

  for (int step = 0; step < STEPS; step++) {
    for (int l = 0; l < K; l++) {
      for (int i = 0; i < M; i++)
        a[i * K + l] = a_value(step, i, l);
      for (int j = 0; j < N; j++)
        b[j * K + l] = b_value(step, l, j);
    }
    const tesela_matrix a_now = {.data = a}, b_now = {.data = b};
    const tesela_result c_now = {.data = c};
    if (tesela_plan_run(plan, &(tesela_operands){.a = &a_now, .b = &b_now, .c = &c_now}, NULL) != TESELA_OK)
      goto out;
    for (int j = 0; j < N; j++)
      for (int i = 0; i < M; i++)
        for (int l = 0; l < K; l++)
          expected[j * M + i] += 0.5 * a_value(step, i, l) * b_value(step, l, j);
  }

  double worst = 0;
  for (int e = 0; e < M * N; e++)
    worst = fmax(worst, fabs(c[e] - expected[e]));
  printf("%d products, largest difference from plain loops: %.3g\n", STEPS, worst);
  failed = worst > 1e-12;
out:
  if (failed)
    fprintf(stderr, "plan_reuse: %s\n", *tesela_last_error() ? tesela_last_error() : "the results differ");
  tesela_plan_destroy(plan);
  tesela_context_destroy(context);
  free(a);
  free(b);
  free(c);
  free(expected);
  return failed;
}
