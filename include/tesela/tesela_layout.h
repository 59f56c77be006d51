/**
 * @file tesela_layout.h
 * @brief Matrices that lie in pieces on many ranks, and what is said of products of them. tesela_mpi.h has
 * the calls.
 *
 * Conventions are those of tesela.h: zero is the default, descriptions and records travel with their sizes
 * and may grow at their ends; tesela_layout and tesela_rectangle never grow.
 */
#ifndef TESELA_TESELA_LAYOUT_H
#define TESELA_TESELA_LAYOUT_H

#include <tesela/tesela.h>
#include <tesela/tesela_shards.h>

#ifdef __cplusplus
extern "C" {
#endif

/** How the elements of a matrix are dealt out to the ranks. */
typedef enum tesela_layout_kind {
  TESELA_LAYOUT_BLOCKS =
      0, /**< one block for each process of a grid, all as large as each other or one row (column) larger */
  TESELA_LAYOUT_CYCLIC =
      1, /**< blocks of row_block x col_block by turns to the processes of a grid, as ScaLAPACK has them */
  TESELA_LAYOUT_RECTANGLES = 2 /**< each rank tells what it has */
} tesela_layout_kind;

/** Where the elements of an operand lie. Zero everywhere: of p ranks, rank r has the rows [r rows/p, (r + 1)
 * rows/p), all columns of them. It is said of the matrix as it is stored: where the operand's transpose is
 * set, of k x m for A. All ranks say the same, but for rectangles and count. */
typedef struct tesela_layout {
  tesela_layout_kind kind; /**< TESELA_LAYOUT_... */
  int grid_rows;           /**< BLOCKS, CYCLIC: rows of the grid of processes */
  int grid_cols;           /**< its columns. Both 0: as many rows as there are ranks, one column. */
  int reserved;            /**< 0 */
  const int *ranks;  /**< of the process at (i, j): ranks[i * grid_cols + j], each at most once; NULL: i *
                        grid_cols + j */
  int64_t row_block; /**< CYCLIC: rows of a block (ScaLAPACK's MB) */
  int64_t col_block; /**< CYCLIC: its columns (NB) */
  int first_row;     /**< CYCLIC: the grid's row that has the first block (RSRC) */
  int first_col;     /**< CYCLIC: the grid's column (CSRC) */
  int64_t row;  /**< BLOCKS, CYCLIC: the operand begins at this row of the matrix that was dealt out (IA - 1),
                   ... */
  int64_t col;  /**< ... and at this column (JA - 1), ... */
  int64_t rows; /**< ... which has so many rows (M_); 0: as many as the operand, and row more */
  int64_t cols; /**< ... and so many columns (N_); likewise */
  const tesela_rectangle *rectangles; /**< RECTANGLES: the calling rank's. All ranks' together are the
                                         operand, no element twice. */
  int64_t count;                      /**< RECTANGLES: how many */
} tesela_layout;

/** C = alpha A B + beta C of matrices that lie on many ranks.
 *
 * gemm is as in tesela_gemm(), m, n and k being those of the whole product, but that data is the calling
 * rank's local memory, and strides are the local array's: of BLOCKS and CYCLIC, the array of all that the
 * rank has of the matrix that was dealt out (column-major with ScaLAPACK's LLD: row_stride 1, col_stride LLD;
 * both 0: dense and row-major); of RECTANGLES they stand in the rectangles, and the operand's are not read.
 * data may be NULL where the rank has nothing of a matrix. With buffer in place of data, operands lie in a
 * device's memory, all of a rank's that do on one device, which multiplies. */
typedef struct tesela_mpi_desc {
  const tesela_gemm_desc *gemm; /**< all ranks give the same, but for data, local strides, device and
                                   strategy; no accuracy (default where NULL and TESELA_ACCURACY is not set)
                                   and measure_error; bits: TESELA_BITS where NULL, alike on all ranks */
  tesela_layout a;              /**< of A as it is stored */
  tesela_layout b;              /**< of B as it is stored */
  tesela_layout c;              /**< of C as it is stored */
  int64_t memory; /**< bytes that a rank may take beside its operands, and copies of those in buffers, the
                     least of all ranks' counts; 0: a half of what is free */
} tesela_mpi_desc;

/** B = alpha op(A) + beta B of matrices that lie on many ranks: op(A) is A's transpose, or A itself where
 * a.transpose is set, in another layout. With a.conjugate, of its conjugate. Any types that are one. */
typedef struct tesela_mpi_transpose_desc {
  int64_t rows;           /**< of A, and columns of B */
  int64_t cols;           /**< of A, and rows of B */
  tesela_matrix a;        /**< rows x cols; data, strides and layouts as in tesela_mpi_desc */
  tesela_result b;        /**< cols x rows */
  const double *alpha;    /**< NULL: 1. One double, or two where the type is complex. */
  const double *beta;     /**< NULL: 0. As alpha. */
  tesela_layout layout_a; /**< of A as it is stored */
  tesela_layout layout_b; /**< of B as it is stored */
} tesela_mpi_transpose_desc;

/** What ran. A word is an element. */
typedef struct tesela_mpi_record {
  char plan[256];    /**< the grid in words, one line */
  int ranks;         /**< that multiplied; the others only sent and received */
  int depth;         /**< parts of k, whose sums are added at the end in a fixed tree */
  int slabs;         /**< into which C is cut; each slab is cut again, into a block for each of its ranks */
  int steps;         /**< in which a rank's product was made, one panel of A and B after the other */
  int64_t words;     /**< received, or sent where that is more, by the busiest rank */
  int64_t words_all; /**< received by all ranks together */
  double
      bound; /**< words that some rank must receive, whatever the algorithm, where the operands lie evenly */
  double seconds;         /**< of this rank's whole call */
  double seconds_compute; /**< part of it: products */
  double seconds_wait;    /**< part of it: waiting for messages */
  double seconds_move;    /**< part of it: packing, unpacking, adding and storing */
  double error_bound;     /**< as in tesela_record, what adding up the parts of k costs included */
  double flushed_below;   /**< likewise: of the ranks' products the largest, for all parts of k together */
  int64_t memory_bytes;   /**< that the rank with the largest block takes for panels and sums, beside its
                             operands */
} tesela_mpi_record;

#ifdef __cplusplus
}
#endif

#endif
