/** @file tesela_layout.h
 * @brief Distribution of matrices over MPI ranks, and descriptions and records of their products.
 * tesela_mpi.h has the calls.
 *
 * The conventions of tesela.h hold: zero is the default; descriptions and records may grow. The structs
 * tesela_layout and tesela_rectangle never grow. */
#ifndef TESELA_TESELA_LAYOUT_H
#define TESELA_TESELA_LAYOUT_H

#include <tesela/tesela.h>
#include <tesela/tesela_shards.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Kind of distribution of a matrix over the ranks. */
typedef enum tesela_layout_kind {
  TESELA_LAYOUT_BLOCKS =
      0, /**< one block for each process of a grid; block sizes differ by at most one row (column) */
  TESELA_LAYOUT_CYCLIC =
      1, /**< blocks of row_block x col_block, dealt in turn to the processes of a grid, as in ScaLAPACK */
  TESELA_LAYOUT_RECTANGLES = 2 /**< arbitrary rectangles; each rank lists its own */
} tesela_layout_kind;

/** Distribution of an operand over the ranks. All members zero: of p ranks, rank r holds the rows [r rows/p,
 * (r + 1) rows/p) with all columns. A layout describes the stored matrix: if the operand's transpose is set,
 * A is stored as k x m. All ranks pass equal layouts, except for rectangles and count. */
typedef struct tesela_layout {
  tesela_layout_kind kind; /**< kind of distribution */
  /** BLOCKS, CYCLIC: number of rows of the process grid. 0 with grid_cols 0: one row for each rank, one
   * column. */
  int grid_rows;
  int grid_cols; /**< BLOCKS, CYCLIC: number of columns of the process grid */
  int reserved;  /**< must be 0 */
  /** rank of the process at grid position (i, j): ranks[i * grid_cols + j], each rank at most once;
   * NULL: rank i * grid_cols + j */
  const int *ranks;
  int64_t row_block; /**< CYCLIC: rows of a block (ScaLAPACK's MB) */
  int64_t col_block; /**< CYCLIC: columns of a block (ScaLAPACK's NB) */
  int first_row;     /**< CYCLIC: grid row that has the first block (ScaLAPACK's RSRC) */
  int first_col;     /**< CYCLIC: grid column that has the first block (ScaLAPACK's CSRC) */
  /** BLOCKS, CYCLIC: first row of the operand in the distributed matrix (ScaLAPACK's IA - 1) */
  int64_t row;
  /** BLOCKS, CYCLIC: first column of the operand in the distributed matrix (ScaLAPACK's JA - 1) */
  int64_t col;
  int64_t rows; /**< rows of the distributed matrix (ScaLAPACK's M_); 0: the operand's rows plus row */
  int64_t cols; /**< columns of the distributed matrix (ScaLAPACK's N_); 0: the operand's columns plus col */
  /** RECTANGLES: rectangles of the calling rank. The rectangles of all ranks cover the operand without
   * overlap. */
  const tesela_rectangle *rectangles;
  int64_t count; /**< RECTANGLES: number of rectangles of the calling rank */
} tesela_layout;

/** Describes a product C = alpha A B + beta C of matrices that are distributed over many ranks.
 *
 * gemm is as in tesela_gemm(), with m, n and k of the whole product. `data` is the calling rank's local
 * memory and the strides are the local array's. For BLOCKS and CYCLIC the local array holds all
 * elements that the rank has of the distributed matrix. ScaLAPACK's column-major array is row_stride 1,
 * col_stride LLD; both 0 mean dense and row-major. For RECTANGLES the strides are in the rectangles,
 * and the operand's strides are ignored. The data may be NULL if the rank has no element of a matrix.
 * Operands may be in buffers instead of data; all buffers of a rank are on one device, which computes. */
typedef struct tesela_mpi_desc {
  /** The product. All ranks pass equal members, except for data, local strides, device and strategy. The
   * accuracy must be "default" or NULL with TESELA_ACCURACY not set, measure_error must be 0, and verify
   * NULL or "none". NULL as bits means TESELA_BITS, equal on all ranks. */
  const tesela_gemm_desc *gemm;
  tesela_layout a; /**< distribution of the stored A */
  tesela_layout b; /**< distribution of the stored B */
  tesela_layout c; /**< distribution of the stored C */
  /** Bytes that a rank may allocate, not counting operands and host copies of buffers. The smallest
   * value of all ranks counts. 0: half of the free memory. */
  int64_t memory;
} tesela_mpi_desc;

/** Describes a transpose of distributed matrices, B = alpha op(A) + beta B. op(A) is A's transpose. If
 * a.transpose is set, op(A) is A itself, which only changes its layout. a.conjugate conjugates A. A and
 * B have one type, which may be any. */
typedef struct tesela_mpi_transpose_desc {
  int64_t rows;    /**< rows of A and columns of B */
  int64_t cols;    /**< columns of A and rows of B */
  tesela_matrix a; /**< input, rows x cols; data and strides are local, as in tesela_mpi_desc */
  tesela_result b; /**< result, cols x rows; data and strides are local */
  /** Scalar factor of op(A): one double, or two (real, imaginary) if the type is complex. NULL: 1. */
  const double *alpha;
  /** Scalar factor of the old B: one double, or two (real, imaginary) if the type is complex. NULL: 0. */
  const double *beta;
  tesela_layout layout_a; /**< distribution of the stored A */
  tesela_layout layout_b; /**< distribution of the stored B */
} tesela_mpi_transpose_desc;

/** Report of a distributed call. A word is one element. */
typedef struct tesela_mpi_record {
  char plan[256]; /**< process grid as one line of text */
  int ranks;      /**< number of ranks that multiplied; other ranks only sent and received */
  int depth;      /**< number of parts of k; their sums are added at the end in a fixed tree */
  int slabs;      /**< number of slabs of C; each slab is divided into one block for each of its ranks */
  /** number of steps of a rank's product; each step multiplies one panel of A by one panel of B */
  int steps;
  int64_t words;     /**< words that the busiest rank received, or sent if that is more */
  int64_t words_all; /**< words that all ranks received together */
  double
      /** words that at least one rank must receive with any algorithm, if the operands are evenly
       * distributed */
      bound;
  double seconds;         /**< seconds of this rank's whole call */
  double seconds_compute; /**< part of seconds: local products */
  double seconds_wait;    /**< part of seconds: waiting for messages */
  double seconds_move;    /**< part of seconds: packing, unpacking, adding and storing */
  double error_bound;     /**< as in tesela_record, including the error of adding the parts of k */
  /** as in tesela_record: the largest value of all local products, times the parts of k */
  double flushed_below;
  /** bytes for panels and sums, without operands, on the rank with the largest block */
  int64_t memory_bytes;
} tesela_mpi_record;

#ifdef __cplusplus
}
#endif

#endif
