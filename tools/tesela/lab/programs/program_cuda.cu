/* {{TITLE}}
 *
 * Compile: nvcc {{FILE}}      Run: ./a.out{{USAGE}}
 *
 * The host makes matrices of small whole numbers, so that sums are exact, runs the kernel on the first device,
 * times each phase, and compares every element with plain loops. */
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

/* --- the kernel --- */
{{KERNEL}}/* --- the host --- */
{{DEFINES}}

/* Ends the program with the name of the call that failed. */
static void check(cudaError_t code, const char *call) {
  if (code != cudaSuccess) {
    fprintf(stderr, "%s failed: %s\n", call, cudaGetErrorString(code));
    exit(1);
  }
}

static double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/* Prints the time since *start, and starts again. */
static void phase(const char *name, double *start) {
  printf("  %-10s %9.3f ms\n", name, 1e3 * (seconds() - *start));
  *start = seconds();
}

static real *new_matrix(size_t elements, int first) {
  real *matrix = (real *)malloc((elements + 1) * sizeof *matrix);
  if (!matrix) {
    fprintf(stderr, "no memory for %zu elements\n", elements);
    exit(1);
  }
  for (size_t i = 0; i < elements; i++)
    matrix[i] = (real)((int)((i * 7 + first) % 9) - 4);
  return matrix;
}

static unsigned groups_of(size_t items, size_t group) {
  return (unsigned)((items + group - 1) / group);
}

int main(int count, char **words) {
{{SIZES}}
  double start = seconds();
  cudaDeviceProp properties;
  check(cudaSetDevice(0), "cudaSetDevice");
  check(cudaGetDeviceProperties(&properties, 0), "cudaGetDeviceProperties");
  printf("{{FUNCTION}} on %s\n", properties.name);
  phase("device", &start);

{{MATRICES}}
  phase("data", &start);

{{BUFFERS}}
  phase("allocate", &start);

{{COPY_IN}}
  phase("copy in", &start);

  cudaEvent_t begin, end;
  float milliseconds = 0;
  check(cudaEventCreate(&begin), "cudaEventCreate");
  check(cudaEventCreate(&end), "cudaEventCreate");
  check(cudaEventRecord(begin), "cudaEventRecord");
{{ARGUMENTS}}
  check(cudaGetLastError(), "the launch");
  check(cudaEventRecord(end), "cudaEventRecord");
  check(cudaEventSynchronize(end), "the kernel");
  check(cudaEventElapsedTime(&milliseconds, begin, end), "cudaEventElapsedTime");
  phase("compute", &start);
  const double device_seconds = 1e-3 * milliseconds;

{{COPY_OUT}}
  phase("copy out", &start);
{{RATE}}

{{RELEASE}}
{{CHECK}}
}
