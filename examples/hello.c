/* Shortest program: the product of two small matrices on the best device, without options. */
#include <stdio.h>
#include <tesela/tesela.h>

int main(void) {
  float a[2 * 3] = {1, 2, 3, 4, 5, 6};
  float b[3 * 2] = {1, 0, 0, 1, 1, 1};
  float c[2 * 2];

  tesela_context *context;
  if (tesela_context_create(NULL, &context) != TESELA_OK)
    return fprintf(stderr, "hello: %s\n", tesela_last_error()), 1;

  tesela_record record;
  const tesela_gemm_desc desc = {
      .m = 2, .n = 2, .k = 3, .a = {.data = a}, .b = {.data = b}, .c = {.data = c}};
  const tesela_status status = tesela_gemm(context, &desc, &record);
  if (status != TESELA_OK) {
    fprintf(stderr, "hello: %s\n", tesela_last_error());
  } else {
    printf("%4g %4g\n%4g %4g\n", c[0], c[1], c[2], c[3]);
    printf("by the plan: %s\n", record.plan);
  }
  tesela_context_destroy(context);

  const float expected[4] = {4, 5, 10, 11};
  for (int i = 0; i < 4 && status == TESELA_OK; i++)
    if (c[i] != expected[i])
      return fprintf(stderr, "hello: element %d is %g, not %g\n", i, c[i], expected[i]), 1;
  return status != TESELA_OK;
}
