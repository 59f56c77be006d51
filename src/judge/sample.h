#ifndef TSL_JUDGE_SAMPLE_H
#define TSL_JUDGE_SAMPLE_H

#include "device/device.h"

/* Indices in rising order. */
typedef struct tsl_indices {
  const int64_t *list; /* NULL: 0, 1, ... */
  int64_t count;
} tsl_indices;

/* Draws `count` of `total` indices by `seed`, one from each of as many equal parts. Two or more include the
 * first and the last index, because errors are likely at edges. */
void tsl_sample_draw(int64_t *out, int64_t count, int64_t total, uint64_t seed);

/* Lines (rows or columns) of a matrix in host memory or in a buffer; strides in elements. */
typedef struct tsl_sample_lines {
  tesela_type type;
  size_t size;      /* bytes of an element */
  const void *host; /* used without a buffer */
  tsl_buffer *buffer;
  tsl_stream *stream;  /* for reads of `buffer`, on its device */
  int64_t offset;      /* elements from the start of the memory to element (0, 0) */
  int64_t line_stride, /* from a line to the next */
      stride,          /* from an element of a line to the next */
      length;          /* elements of a line */
  tsl_team team;       /* threads for copies from host memory */
} tsl_sample_lines;

/* Copies the listed elements of the listed lines to dense memory, line by line. Reads from a buffer block. */
tesela_status tsl_sample_copy(const tsl_sample_lines *from, const tsl_indices *lines,
                              const tsl_indices *elements, void *dst);

#endif
