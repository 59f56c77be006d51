/* Samples of matrices: which rows and columns, and how they come to the host from where they lie. */
#ifndef TSL_JUDGE_SAMPLE_H
#define TSL_JUDGE_SAMPLE_H

#include "device/device.h"

/* Indices in rising order; NULL: 0, 1, ... */
typedef struct tsl_indices {
  const int64_t *of;
  int64_t count;
} tsl_indices;

/* `count` of `total` indices, one drawn from each of as many even parts, but the first and the last where
 * there are two: what goes wrong at edges is there. The same for the same seed. */
void tsl_sample_draw(int64_t *out, int64_t count, int64_t total, uint64_t seed);

/* Lines (rows, or columns) of a matrix, in host memory or in a buffer; strides in elements. */
typedef struct tsl_sample_lines {
  tesela_type type;
  size_t size; /* bytes of an element */
  const void *host;
  tsl_buffer *buffer;
  tsl_stream *stream;                  /* of the buffer's device */
  int64_t offset;                      /* elements from there to element (0, 0) */
  int64_t line_stride, stride, length; /* from line to line; along a line; elements of a line */
  tsl_team team;                       /* of what is in host memory */
} tsl_sample_lines;

/* Elements of lines to dense memory, line after line. */
tesela_status tsl_sample_bring(const tsl_sample_lines *from, const tsl_indices *lines,
                               const tsl_indices *of_line, void *dst);

#endif
