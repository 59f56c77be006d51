/* Copying and reading, as text. Included by files that differ in their compiler flags, with
 *   VECTOR_BYTES            a vector register
 *   STREAM(pointer, value)  stores a vector past the caches where the instruction set has such a store: a line that is
 *                           written whole then need not be read first
 *   FENCE()                 after such stores */

typedef float line_vector __attribute__((vector_size(VECTOR_BYTES), may_alias));
enum { IN_FLIGHT = 8, LANES = VECTOR_BYTES / (int)sizeof(float) };

static void copy(const float *from, float *to, size_t count) {
  const line_vector *in = (const line_vector *)from;
  line_vector *out = (line_vector *)to;
  for (const line_vector *end = in + count / LANES; in < end; in += IN_FLIGHT, out += IN_FLIGHT) {
    line_vector flight[IN_FLIGHT];
    for (int i = 0; i < IN_FLIGHT; i++)
      flight[i] = in[i];
    for (int i = 0; i < IN_FLIGHT; i++)
      STREAM(out + i, flight[i]);
  }
  FENCE();
}

/* Each lane's sum is exact (bench.h), and so is their sum in double. */
static double read(const float *from, size_t count) {
  const line_vector *in = (const line_vector *)from;
  line_vector sum[IN_FLIGHT] = {{0}};
  for (const line_vector *end = in + count / LANES; in < end; in += IN_FLIGHT)
    for (int i = 0; i < IN_FLIGHT; i++)
      sum[i] += in[i];
  double total = 0;
  for (int i = 0; i < IN_FLIGHT; i++)
    for (int lane = 0; lane < LANES; lane++)
      total += sum[i][lane];
  return total;
}
