/** @file tesela_shards.h
 * @brief Rectangles of matrices that are divided among several devices (tesela.h) or many ranks
 * (tesela_layout.h).
 *
 * tesela_rectangle and tesela_shard never grow. */
#ifndef TESELA_TESELA_SHARDS_H
#define TESELA_TESELA_SHARDS_H

#include <stdint.h>

/** Rectangle of a matrix that is stored in one place: in a rank's memory, or in a buffer. */
typedef struct tesela_rectangle {
  int64_t row;  /**< first row of the rectangle in the stored matrix */
  int64_t col;  /**< first column of the rectangle in the stored matrix */
  int64_t rows; /**< number of rows; 0 is allowed */
  int64_t cols; /**< number of columns; 0 is allowed */
  /** elements from the start of the operand's data, or of the buffer, to the rectangle's element (0, 0) */
  int64_t offset;
  int64_t row_stride; /**< elements from a row to the next; zeros as in tesela_matrix */
  int64_t col_stride; /**< elements from a column to the next; zeros as in tesela_matrix */
} tesela_rectangle;

/** Shard of a matrix: one rectangle in device memory. */
typedef struct tesela_shard {
  struct tesela_buffer *buffer; /**< device memory that holds the shard; shards of A and B are only read */
  tesela_rectangle at;          /**< rectangle of the matrix, and its position in the buffer */
} tesela_shard;

/** Matrix that is divided into shards on several devices, which compute a product together. Each of A, B
 * and C is in shards or in one buffer.
 *
 * Rectangles refer to the stored matrix: the operand's transpose if `transpose` is set. Each device
 * computes the part of C that it holds. If desc.options.device names a device that holds no part of C, C is
 * divided by the devices' expected speeds. Missing parts of A, B and C are copied from the other devices
 * during the computation. Copy engines do this if the devices reach each other; else the copies pass through
 * host memory. Sums are not divided, so the bits do not depend on the time of a copy. Without
 * desc.options.device the shards' devices compute.
 *
 * Finish other work on the buffers before the call, and do not use the buffers during it. Matrices are
 * general, without an epilogue. desc.options.measure_error and desc.options.tuning_seconds have no effect.
 * Batches and queued runs do not accept shards (TESELA_UNSUPPORTED). If a device fails during the product, C
 * is lost and the message says so (TESELA_DEVICE_FAILED), since no other copy exists. TESELA_BAD_CALL: shards
 * overlap, leave a part of the matrix out, or are not on the stated device.
 *
 * The shards together cover the matrix, each element once. Any number of shards may be on one device.
 * In each shard one stride is 1 and the other at least the number of elements along it. All shards of a
 * matrix are row-major, or all are column-major. */
typedef struct tesela_shards {
  const tesela_shard *pieces; /**< array of `count` shards, in any order; a plan keeps this order */
  int64_t count;              /**< number of shards */
} tesela_shards;

#endif
