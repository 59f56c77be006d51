/* Keeps operands on a device: X^8 by three squarings, with one copy in and one copy out. Usage:
 * example_device_buffers [device]. Default: the first OpenCL or CUDA device, else the cpu. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <tesela/tesela.h>

enum { N = 64 };

/* Returns the first device other than the cpu, since copies matter only there; "cpu" if there is none. */
static const char *choose(tesela_context *context) {
  int count = 0;
  tesela_device info;
  if (tesela_device_count(context, &count) == TESELA_OK)
    for (int i = 0; i < count; i++)
      if (tesela_device_info(context, i, &info) == TESELA_OK && strcmp(info.name, "cpu") != 0)
        return info.name;
  return "cpu";
}

int main(int argc, char **argv) {
  static float x[N * N];
  const size_t bytes = sizeof x;
  tesela_context *context = NULL;
  tesela_buffer *from = NULL, *to = NULL;
  int failed = 1;

  /* X rotates by one place and halves: X^8 rotates by eight and holds 0.5^8. */
  for (int i = 0; i < N; i++)
    x[i * N + (i + 1) % N] = 0.5f;

  if (tesela_context_create(NULL, &context) != TESELA_OK)
    goto out;
  const char *device = argc > 1 ? argv[1] : choose(context);
  printf("on %s\n", device);
  if (tesela_buffer_create(context, device, bytes, &from) != TESELA_OK ||
      tesela_buffer_create(context, device, bytes, &to) != TESELA_OK ||
      tesela_buffer_write(from, 0, x, bytes) != TESELA_OK)
    goto out;

  for (int squaring = 0; squaring < 3; squaring++) {
    const tesela_gemm_desc desc = {
        .m = N, .n = N, .k = N, .a = {.buffer = from}, .b = {.buffer = from}, .c = {.buffer = to}};
    if (tesela_gemm(context, &desc, NULL) != TESELA_OK)
      goto out;
    tesela_buffer *swap = from;
    from = to;
    to = swap;
  }
  if (tesela_buffer_read(from, 0, x, bytes) != TESELA_OK)
    goto out;

  failed = 0;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      failed |= x[i * N + j] != (j == (i + 8) % N ? 0.00390625f : 0.0f);
  printf("X^8 is %s\n", failed ? "wrong" : "right");
out:
  if (failed)
    fprintf(stderr, "device_buffers: %s\n",
            *tesela_last_error() ? tesela_last_error() : "the result is wrong");
  tesela_buffer_destroy(from);
  tesela_buffer_destroy(to);
  tesela_context_destroy(context);
  return failed;
}
