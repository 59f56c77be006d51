/**
 * @file tesela_shards.h
 * @brief Rectangles of matrices that lie in pieces: on several devices (tesela.h), or on many ranks
 * (tesela_layout.h).
 *
 * Neither struct here that describes a piece ever grows.
 */
#ifndef TESELA_TESELA_SHARDS_H
#define TESELA_TESELA_SHARDS_H

#include <stdint.h>

/** A part of a matrix that is held in one place: by the calling rank, or in a buffer. */
typedef struct tesela_rectangle {
  int64_t row;    /**< of the matrix as it is stored: the rectangle's first row */
  int64_t col;    /**< its first column */
  int64_t rows;   /**< its rows; 0 is allowed */
  int64_t cols;   /**< its columns */
  int64_t offset; /**< elements from the operand's data, or the buffer's start, to the rectangle's element (0,
                     0) */
  int64_t row_stride; /**< elements between a row and the next; zeros are as in tesela_matrix */
  int64_t col_stride; /**< elements between a column and the next */
} tesela_rectangle;

/** A part of a matrix in device memory. */
typedef struct tesela_shard {
  struct tesela_buffer *buffer; /**< where it lies; A's and B's are only read */
  tesela_rectangle at;          /**< which part it is, and how it lies there */
} tesela_shard;

/** A matrix in pieces on several devices, of a product that these compute together: A, B and C are each in
 * pieces or in a buffer.
 *
 * Rectangles are of what is stored: where the operand's transpose is set, of its transpose. Each device
 * computes what it holds of C; or, where a device that desc.device names holds nothing of C, shares of C are
 * by what the devices are expected to take. What one lacks of A, B and C travels from the others beside
 * computing, by their copy engines where those reach each other, else through host memory. Sums are not cut,
 * so bits do not depend on when something arrives. Without desc.device the devices are those that hold
 * pieces.
 *
 * Other work on the buffers is done before the call, and nobody else uses them during it. Matrices are
 * general, with no last step; errors are not measured, nor is anything for desc.effort; batches and queued
 * runs have operands in one place (TESELA_UNSUPPORTED). Where a device fails under way, C is lost, and the
 * sentence says so (TESELA_DEVICE_FAILED): what it holds is not elsewhere. Pieces that overlap, leave
 * something out or are not where they are said to be are TESELA_BAD_CALL.
 *
 * Together pieces are all of the matrix, no element twice. Each may be on another device, or several on one.
 * Of a piece one stride is 1 and the other no less than the elements that lie along it, and all pieces of a
 * matrix lie the same way, by rows or by columns. */
typedef struct tesela_shards {
  const tesela_shard *pieces; /**< so many of them; in any order, which a plan keeps */
  int64_t count;              /**< how many */
} tesela_shards;

#endif
