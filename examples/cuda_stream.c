/* Multiplies memory of the CUDA runtime on one of its streams. tesela wraps both and leaves them to the
 * program. Memory and streams of any library in the process work in the same way. The host waits once,
 * at the end. Built if the CUDA toolkit is installed; skipped (77) without a device. */
#include <cuda_runtime_api.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <tesela/tesela.h>

enum { N = 256, RUNS = 1000, SKIPPED = 77 };

static int failed(const char *what) {
  fprintf(stderr, "cuda_stream: %s: %s\n", what, tesela_last_error());
  return 1;
}

int main(void) {
  const size_t bytes = sizeof(float) * N * N;
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    printf("skipped: the CUDA runtime sees no device\n");
    return SKIPPED;
  }

  /* Objects of the program. */
  float *host = malloc(bytes), *on_device[3];
  cudaStream_t stream;
  for (int i = 0; host && i < N * N; i++)
    host[i] = (float)(i % 7 - 3);
  for (int i = 0; i < 3; i++)
    if (!host || cudaMalloc((void **)&on_device[i], bytes) != cudaSuccess)
      return failed("cudaMalloc");
  if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess)
    return failed("cudaStreamCreate");
  cudaMemcpyAsync(on_device[0], host, bytes, cudaMemcpyHostToDevice, stream);
  cudaMemcpyAsync(on_device[1], host, bytes, cudaMemcpyHostToDevice, stream);

  /* Their wrappers for tesela. */
  tesela_context *context;
  tesela_buffer *buffers[3];
  tesela_stream *queue;
  if (tesela_context_create(NULL, &context) != TESELA_OK)
    return failed("tesela_context_create");
  for (int i = 0; i < 3; i++)
    if (tesela_buffer_wrap(context, NULL, on_device[i], bytes, &buffers[i]) != TESELA_OK)
      return failed("tesela_buffer_wrap");
  if (tesela_stream_wrap(context, tesela_buffer_memory(buffers[0]).device, stream, &queue) != TESELA_OK)
    return failed("tesela_stream_wrap");

  const tesela_gemm_desc desc = {.m = N,
                                 .n = N,
                                 .k = N,
                                 .a = {.buffer = buffers[0]},
                                 .b = {.buffer = buffers[1]},
                                 .c = {.buffer = buffers[2]}};
  tesela_plan *plan;
  if (tesela_plan_create(context, &desc, &plan) != TESELA_OK ||
      tesela_stream_reserve(queue, tesela_plan_workspace(plan)) != TESELA_OK)
    return failed("tesela_plan_create");
  printf("%s\n", tesela_plan_describe(plan));

  tesela_event *begin, *end;
  double seconds = 0;
  if (tesela_event_create(queue, &begin) != TESELA_OK || tesela_event_create(queue, &end) != TESELA_OK ||
      tesela_event_record(begin, queue) != TESELA_OK)
    return failed("an event");
  for (int i = 0; i < RUNS; i++)
    if (tesela_plan_enqueue(plan, queue, &(tesela_operands){.a = &desc.a, .b = &desc.b, .c = &desc.c},
                            NULL) != TESELA_OK)
      return failed("tesela_plan_enqueue");
  if (tesela_event_record(end, queue) != TESELA_OK || tesela_event_seconds(begin, end, &seconds) != TESELA_OK)
    return failed("an event");
  printf("%d products of %d cubed: %.2f us each\n", RUNS, N, 1e6 * seconds / RUNS);

  /* Queued after the product, as any other work of the program. */
  float *result = malloc(bytes);
  if (!result ||
      cudaMemcpyAsync(result, on_device[2], bytes, cudaMemcpyDeviceToHost, stream) != cudaSuccess ||
      cudaStreamSynchronize(stream) != cudaSuccess)
    return failed("copying C back");
  double worst = 0;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      double sum = 0;
      for (int l = 0; l < N; l++)
        sum += (double)host[i * N + l] * (double)host[l * N + j];
      worst = fmax(worst, fabs(sum - (double)result[i * N + j]));
    }
  printf("largest difference from plain loops: %g\n", worst);

  tesela_event_destroy(begin);
  tesela_event_destroy(end);
  tesela_plan_destroy(plan);
  tesela_stream_destroy(queue);
  for (int i = 0; i < 3; i++) {
    tesela_buffer_destroy(buffers[i]);
    cudaFree(on_device[i]);
  }
  tesela_context_destroy(context);
  cudaStreamDestroy(stream);
  free(host);
  free(result);
  return worst > 0; /* sums of small integers are exact */
}
