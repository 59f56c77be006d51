/* A product with one large matrix, accessed in memory order. It is seen as a C of few x many elements.
 * Strides in elements:
 *
 *   large   element (l, j) at large + l * along + j * across            l < depth, j < many
 *   thin    element (i, l) at thin + i * thin_across + l * thin_along   i < few
 *   C       element (i, j) at c + i * c_few + j * c_many
 *
 * With a small k, C is the large matrix: `few` counts its lines, `many` the contiguous elements of a line. */
#ifndef TSL_STRATEGY_GEMM_HOST_SKINNY_HOST_SKINNY_JOB_H
#define TSL_STRATEGY_GEMM_HOST_SKINNY_HOST_SKINNY_JOB_H

#include "core/pool.h"
#include "host/host_isa.h"
#include "host/host_view.h"
#include "strategy/strategy.h"

enum {
  TSL_SKINNY_MAX = 16,       /* m or n */
  TSL_SKINNY_STEPS = 64,     /* k, if neither m nor n is small; half of it if C is small */
  TSL_SKINNY_LINES_MAX = 8,  /* maximum thin rows of kernels that work by lines */
  TSL_SKINNY_OUTER_MAX = 4,  /* maximum steps of kernels that work by lines of C */
  TSL_SKINNY_PARTS_MAX = 16, /* maximum parts of k */
  TSL_SKINNY_ROWS_MAX = 16,  /* MR, and NR in vectors, of any row of the table */
  TSL_SKINNY_VECTORS_MAX = 3,
  TSL_SKINNY_CHUNK_MAX = 128, /* maximum steps between two tiles if rows of a large operand stream */
  TSL_SKINNY_EDGE_BYTES = 128 /* maximum bytes of a row of a tile of two vectors */
};

/* Arguments of a micro-kernel that tiles share: c = alpha a b + beta c, or c + alpha a b, of whole vectors.
 * Strides are in bytes.
 *   `a`: rows x depth, element (i, l) at a + i * a_row + l * a_step.
 *   `b`: depth rows of vectors, row l at b + l * b_step.
 *   `c`: rows of vectors, row i at c + i * c_row. */
typedef struct tsl_skinny_tile {
  int64_t depth;
  int64_t a_row, a_step, b_step, c_row;
  int64_t c_ahead;       /* bytes to the rows of c that are prefetched; 0: none */
  int64_t b_ahead, asks; /* `asks` rows of b are prefetched every four steps, `b_ahead` bytes ahead */
  double alpha, beta;
  bool is_near; /* prefetches go to the first-level cache; else to the second */
  bool goes_on; /* sums begin with the contents of c */
  bool scales;  /* sums are multiplied by alpha, which is not 1 */
  bool adds;    /* beta c is added at the end; else c is not read */
  int plain; /* beta is 1, and sums are added (1) or subtracted (-1) without factors (equal bits); else 0 */
} tsl_skinny_tile;
typedef void (*tsl_skinny_multiply)(const tsl_skinny_tile *tile, const void *a, const void *b, void *c);

/* Arguments that kernels by lines share. Pitches and strides in elements. */
typedef struct tsl_skinny_lines {
  int64_t depth;
  int64_t x_pitch, y_across, y_along, out_pitch;
  double alpha, beta;           /* of an outer product */
  int signs[2];                 /* of dots; -1 conjugates the thin operand, the large one */
  bool prefetches, nontemporal; /* also the next lines of x; fence() must follow before others read C */
} tsl_skinny_lines;
/* Computes `rows` x `width` sums of x, lines of the large operand, and y, the thin operand. Element (i, l) of
 * the thin operand is at y + i * y_across + l * y_along. */
typedef void (*tsl_skinny_by_lines)(const tsl_skinny_lines *lines, const void *x, const void *y, void *out,
                                    int64_t rows, int64_t width);

/* Real forms of a complex operand (host_skinny_complex.c). */
typedef enum tsl_skinny_form {
  TSL_SKINNY_PARTS, /* row 2 i: real parts; row 2 i + 1: imaginary parts */
  TSL_SKINNY_DOTS,  /* row 2 i: factors of the sum's real part; row 2 i + 1: of its imaginary part */
  TSL_SKINNY_PAIRS, /* row i: the elements, not conjugated */
  TSL_SKINNY_TURNS  /* row 2 i: the elements; row 2 i + 1: these times i, or -i by `signs` */
} tsl_skinny_form;

typedef struct tsl_skinny_kernels {
  tesela_type type;
  int64_t lanes;
  int rows[TSL_SKINNY_VECTORS_MAX]; /* MR of tiles of 1, 2, 3 vectors */
  /* Copies element (i, j) at in + i * row + j * column to out[i * pitch + j], with zeros up to `width`. */
  void (*copy)(const void *in, int64_t row, int64_t column, int64_t rows, int64_t columns, int64_t width,
               void *out, int64_t pitch);
  /* Stores c[j * column] = alpha sums[j * step] + beta c[j * column]; beta = 0 never reads c. */
  void (*finish)(const void *sums, int64_t step, int64_t count, double alpha, double beta, void *c,
                 int64_t column);
  /* Copies complex element (i, j) at in + i * row + j * column, strides in complex elements, to a real form
   * with dense rows. `signs`: -1 conjugates the copied operand, and the other one. */
  void (*expand)(const void *in, int64_t row, int64_t column, int64_t rows, int64_t columns,
                 tsl_skinny_form form, const int signs[2], void *out);
  /* Stores c[j * column] = alpha s + beta c[j * column] of complex numbers, `column` in reals; beta = 0 never
   * reads c. `imaginary` NULL: s is sums[j * step], sums[j * step + 1]. Else `sums` and `imaginary` are sums
   * of real and of imaginary parts times pairs (`sign` -1: conjugated), and s joins these. */
  void (*finish_complex)(const void *sums, const void *imaginary, int sign, int64_t step, int64_t count,
                         const double alpha[2], const double beta[2], void *c, int64_t column);
  /* Stores a row past the caches; a fence() must follow before other threads read it. */
  void (*stream)(const void *sums, int64_t count, void *c);
  void (*fence)(void);
  tsl_skinny_multiply multiply[TSL_SKINNY_VECTORS_MAX][TSL_SKINNY_ROWS_MAX]; /* [vectors - 1][rows - 1] */
  /* Functions by number of thin rows. add() sums y(i, l) x[l][j] over l, in order, to out[i][j], whose rows
   * are whole vectors. reduce() sums y(i, l) x[j][l] over l to out[j][i]; y_along is 1. */
  tsl_skinny_by_lines add[TSL_SKINNY_LINES_MAX], reduce[TSL_SKINNY_LINES_MAX];
  /* Sums x[j][l] y[l] of complex numbers over l to out[j]; a depth and strides in reals. */
  tsl_skinny_by_lines dots;
  /* reduce() with sums in the order of k, each of one or two panels of `rows` steps: out[panel][j][i] */
  tsl_skinny_by_lines reduce_in_order[TSL_SKINNY_LINES_MAX];
  /* Functions by number of steps. They store alpha s + beta out[i][j], s being the sum of y(i, l) x[l][j]
   * over l. y_along is 1. */
  tsl_skinny_by_lines outer[TSL_SKINNY_OUTER_MAX];
} tsl_skinny_kernels;

#define TSL_SKINNY_DECLARE(isa, header, needs, ...)                                                          \
  extern const tsl_skinny_kernels tsl_skinny_##isa##_f32, tsl_skinny_##isa##_f64;
TSL_ISA_LIST(TSL_SKINNY_DECLARE)
#undef TSL_SKINNY_DECLARE

typedef enum tsl_skinny_walk {
  TSL_SKINNY_ROWS,    /* rows of the large operand are contiguous */
  TSL_SKINNY_COLUMNS, /* its columns are contiguous, or neither are */
  TSL_SKINNY_UPDATE   /* k is small, C is large */
} tsl_skinny_walk;

typedef struct tsl_skinny_job {
  const tsl_skinny_kernels *kernels;
  tsl_skinny_walk walk;
  bool is_tiled;            /* tiles of C stay in registers; else kernels work by lines */
  bool is_swapped;          /* `few` counts the problem's columns: the large operand is A */
  int64_t size;             /* bytes of an element */
  int64_t few, many, depth; /* depth is 0 if A and B are not read */
  int64_t across, along, thin_across, thin_along, c_few, c_many;
  double alpha, beta;
  bool is_dot;     /* one complex thin row, contiguous or copied, and contiguous columns */
  bool is_complex; /* the sizes and strides above are of the real forms, but c_few and c_many are in reals */
  struct {
    int64_t thin_across, thin_along, across, along; /* strides of the complex operands */
    int thin_sign, large_sign;                      /* -1: conjugated */
    double alpha[2], beta[2];
  } complex;
  int64_t chunk, width;   /* steps between tiles; columns of a piece */
  tsl_skinny_lines lines; /* of operands, or of copies where these are needed */
  bool copies_large, copies_thin;
  int vectors;      /* vectors of a tile's row in an update */
  bool asks_ahead;  /* an update's C exceeds the second-level cache and is prefetched */
  bool nontemporal; /* C is stored past the caches */
  bool is_outside;  /* the operands exceed the first-level cache */
  bool is_far;      /* the operands exceed the near caches and are prefetched */
  bool pairs;       /* lines of columns in order: two panels of k at a time */
  bool fixes_rows;  /* sums have host_packed's order (bits=rows) */
  int64_t panel;    /* steps of a panel of k, whose sums are added to C; else all */
  int64_t parts;    /* parts of k, computed apart and added in order; 1: no sum is cut */
  bool alone;       /* too little work for a second thread */
  tsl_team team;    /* the device's team, for runs without one */
} tsl_skinny_job;

/* Pieces of C, or of a part of k, which threads take. */
typedef struct tsl_skinny_pieces {
  int64_t width, height; /* of a piece; rows in an update only */
  int64_t across, down;  /* pieces in a row of C, and in a column */
} tsl_skinny_pieces;
/* Returns the pieces for so many threads. */
tsl_skinny_pieces tsl_skinny_cut(const tsl_skinny_job *job, int64_t threads);

/* Returns NULL, or a refusal: m, n and k are too large, or C has no unit stride. */
const char *tsl_skinny_refuse(const tsl_problem *problem);
/* Returns a refusal of a complex problem, or NULL. */
const char *tsl_skinny_complex_refuse(const tsl_problem *problem);
/* Returns true if alpha and beta are real. */
bool tsl_skinny_scalars_are_real(const tsl_problem *problem);
/* Replaces the sizes and strides of a complex product by the sizes and strides of its real forms. */
void tsl_skinny_complex_make(const tsl_problem *problem, const tsl_views *views, tsl_skinny_job *job);
/* Replaces the thin operand by its real form, which tsl_scratch_give() releases: *memory. */
tesela_status tsl_skinny_complex_expand(const tsl_skinny_job *job, const char **thin, void **memory);
/* Writes the real form of an update's large operand, `width` columns of reals from the even column `from`. */
void tsl_skinny_complex_turn(const tsl_skinny_job *job, const char *large, int64_t from, int64_t width,
                             void *out);
/* Stores the sums of `count` real columns from column `from`; strides as in the real case. */
void tsl_skinny_complex_store(const tsl_skinny_job *job, const char *sums, int64_t row, int64_t column,
                              int64_t from, int64_t count, char *c);
/* Returns the cache bytes of the operands, each counted once. */
double tsl_skinny_held_bytes(const tsl_problem *problem);
/* Makes the job of a problem with these strides; operands' addresses are not used. */
void tsl_skinny_job_make(const tsl_problem *problem, const tsl_operands *strides, const tsl_device *device,
                         tsl_skinny_job *job);
/* Sets the strides, and the copy of the thin operand to rows, or, of tiles in TSL_SKINNY_COLUMNS, to steps of
 * whole vectors. */
void tsl_skinny_set_lines(tsl_skinny_job *job, bool prefetches);
/* Computes a product whose k is not cut. `c` is its C, `large` and `thin` are its operands. */
tesela_status tsl_skinny_run_whole(const tsl_skinny_job *job, tsl_team team, const char *large,
                                   const char *thin, char *c);
/* Runs a job by a team; fails only if memory is short. */
tesela_status tsl_skinny_job_run(const tsl_skinny_job *job, tsl_team team, const void *a, const void *b,
                                 void *c);

#endif
