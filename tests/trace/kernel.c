/* A rung's kernel as C: the build names its text, its entry and its parameters. */
#include TRACE_TEXT

void TRACE_NAME(const double *a, const double *b, double *c, const int64_t sizes[3],
                const int64_t strides[4]) {
  tsl_gemm_arguments g = {.m = sizes[0], .n = sizes[1], .k = sizes[2]};
  g.a_row_stride = strides[0];
  g.a_col_stride = strides[1];
  g.b_row_stride = strides[2];
  g.b_col_stride = strides[3];
  g.c_row_stride = g.n;
  g.c_col_stride = 1;
  g.alpha = 1;
  TRACE_KERNEL(a, b, c, g);
}
