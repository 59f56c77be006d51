/* {{TITLE}}
 *
 * Compile: cc -O2 {{FILE}}      Run: ./a.out{{USAGE}}
 *
 * The program makes matrices of small whole numbers, so that sums are exact, times each phase, and compares
 * every element with plain loops. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

{{KERNEL}}
{{DEFINES}}

static double seconds(void) {
  struct timespec now;
  timespec_get(&now, TIME_UTC);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Prints the time since *start, and starts again. */
static void phase(const char *name, double *start) {
  const double end = seconds();
  printf("  %-10s %9.3f ms\n", name, 1e3 * (end - *start));
  *start = seconds();
}

static real *new_matrix(size_t elements, int first) {
  real *matrix = malloc((elements + 1) * sizeof *matrix);
  if (!matrix) {
    fprintf(stderr, "no memory for %zu elements\n", elements);
    exit(1);
  }
  for (size_t i = 0; i < elements; i++)
    matrix[i] = (real)((int)((i * 7 + (size_t)first) % 9) - 4);
  return matrix;
}

int main(int count, char **words) {
{{SIZES}}
  double start = seconds();
  printf("{{FUNCTION}} on the processor\n");

{{MATRICES}}
  phase("data", &start);

  const double begin = seconds();
{{ARGUMENTS}}
  const double device_seconds = seconds() - begin;
  phase("compute", &start);
{{RATE}}

{{CHECK}}
}
