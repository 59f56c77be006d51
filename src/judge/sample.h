#ifndef TSL_JUDGE_SAMPLE_H
#define TSL_JUDGE_SAMPLE_H

#include "device/device.h"

/* Indices in rising order; NULL: 0, 1, ... */
typedef struct tsl_indices {
  const int64_t *of; /* indices; NULL: 0, 1, ... */
  int64_t count;
} tsl_indices;

/* Draws `count` of `total` indices by `seed`, one from each of as many equal parts. Two or more include the
 * first and the last index, because errors are likely at edges. */
void tsl_sample_draw(int64_t *out, int64_t count, int64_t total, uint64_t seed);

/* Lines (rows or columns) of a matrix in host memory or in a buffer; strides in elements. */
typedef struct tsl_sample_lines {
  tesela_type type;
  size_t size; /* bytes of an element */
  const void *host;
  tsl_buffer *buffer;
  tsl_stream *stream;                  /* of the buffer's device */
  int64_t offset;                      /* elements from the start of the memory to element (0, 0) */
  int64_t line_stride, stride, length; /* from line to line; along a line; elements of a line */
  tsl_team team;                       /* for matrices in host memory */
} tsl_sample_lines;

/* Copies elements `of_line` of each line of `lines` to dense memory, line by line. */
tesela_status tsl_sample_bring(const tsl_sample_lines *from, const tsl_indices *lines,
                               const tsl_indices *of_line, void *dst);

#endif
