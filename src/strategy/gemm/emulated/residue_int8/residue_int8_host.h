/* Declarations shared by the CPU's loops (residue_int8_host.c) and its kernels, which are compiled once per
 * instruction set. All instruction sets store residues in the layout of AMX tile registers:
 *   plane of a modulus  panel 0                     panel 1     of k: at most `steps` steps of 64 numbers
 *                       | micro 0 | micro 1 | ...   | ...       micro-panels of 32 lines, padded with zeros
 *   micro-panel       | step 0 | step 1 | ...                 2 KiB each: the first 16 lines, then the others
 *   16 lines of a step  A: 16 rows of 64 bytes, one per line    byte 4 j + i of a row is number 16 i + j
 *                       B: 16 rows of 64 bytes, four k each   word c is column c's; byte i of row j is number
 *                                                               16 i + j
 * A step's numbers have this order for A and B, because vectors of 16 numbers then need no shuffles. */
#ifndef TSL_STRATEGY_GEMM_RESIDUE_INT8_RESIDUE_INT8_HOST_H
#define TSL_STRATEGY_GEMM_RESIDUE_INT8_RESIDUE_INT8_HOST_H

#include "strategy/gemm/emulated/residue_int8/residue_int8.h"

/* Layout constants: lines of a micro-panel and of a tile register; numbers of a step; maximum steps of a
 * panel; bytes of a micro-panel's step. A panel's sums plus a residue are below 2^24. */
enum {
  TSL_RESIDUE_LINES = 32,
  TSL_RESIDUE_ROWS = 16,
  TSL_RESIDUE_STEP = 64,
  TSL_RESIDUE_STEPS = 16,
  TSL_RESIDUE_STEP_BYTES = TSL_RESIDUE_LINES * TSL_RESIDUE_STEP,
  TSL_RESIDUE_SUMS = TSL_RESIDUE_LINES * TSL_RESIDUE_LINES,
  TSL_RESIDUE_TOGETHER = 128,
  TSL_RESIDUE_COLUMNS = 512, /* columns of a block of C at most */
  TSL_RESIDUE_DIGITS = 4
};

typedef struct tsl_residue_lines {
  const unsigned char *at;
  int64_t count, across, along; /* number of lines, strides between lines and along a line, in real numbers */
  bool is_paired, is_negative;  /* paired: complex numbers, `along` apart; negative: residues are negated */
  residue_line *lines;
  int *scales; /* final scales; NO_SCALE: native */
  unsigned char *planes;
  int64_t plane, panel, micro, micros; /* bytes, bytes, bytes, number of micro-panels */
} tsl_residue_lines;

typedef struct tsl_residue_rest { /* modulus p for vectors */
  /* 2^16, 2^32 and 2^48 modulo p, of least magnitude; p; about 1 / p */
  float digit[TSL_RESIDUE_DIGITS - 1], p, inverse;
  bool is_byte; /* p is 256 */
} tsl_residue_rest;

typedef struct tsl_residue_job {
  const residue_rules *rules;
  residue_choice choice;
  tsl_residue_lines operands[2]; /* rows of A, columns of B */
  tsl_residue_rest rests[TSL_RESIDUE_MODULI];
  residue_weights weights;
  int64_t m, n, k;
  int64_t steps, panels; /* steps of TSL_RESIDUE_STEP terms in a panel (the last: fewer); panels of k */
  unsigned char *c;
  int64_t c_row, c_col;
  double alpha, beta;
  bool is_complex, conjugates[2]; /* used for native elements */
  bool is_precise;                /* native elements are summed in double although C is f32 */
} tsl_residue_job;

typedef struct tsl_residue_block { /* rectangle of C */
  int64_t row, rows, column, columns;
  unsigned char *rests; /* residues: a plane for each modulus, in row-major tiles of 32 x 32 bytes */
  int64_t plane;        /* bytes from plane to plane */
} tsl_residue_block;

typedef struct tsl_residue_kernel {
  /* Measures lines of an operand: sets their keys and candidate scales. */
  void (*measure)(const tsl_residue_job *job, int operand, int64_t first, int64_t count);
  /* Computes C of a block from its residues, except native lines. */
  void (*join)(const tsl_residue_job *job, const tsl_residue_block *block);
  /* Computes elements of C without residues: of native lines, or of the whole block. */
  void (*native)(const tsl_residue_job *job, const tsl_residue_block *block);
} tsl_residue_kernel;

/* Converts `count` micro-panels of an operand, at most TSL_RESIDUE_BESIDE, to residues in one panel. */
typedef struct tsl_residue_converter {
  void (*convert)(const tsl_residue_job *job, int operand, int64_t first, int64_t count, int64_t panel);
} tsl_residue_converter;
enum { TSL_RESIDUE_BESIDE = 4 };

/* Pending reduction of an earlier tile: rest = (sums + rest, or without `adds` sums) modulo p, below p. */
typedef struct tsl_residue_late {
  const int32_t *sums; /* NULL: nothing is pending */
  unsigned char *rest;
  const tsl_residue_rest *modulus;
  bool adds;
} tsl_residue_late;

/* Tile of the integer product, also for other schemes: sums (32 x 32, dense) = A B over `steps` steps. While
 * a matrix unit multiplies, the vector units reduce an earlier tile (`late`) and prefetch. */
typedef struct tsl_residue_tile {
  const unsigned char *a, *b;
  int64_t steps;
  int32_t *sums;
  tsl_residue_late late;
  int64_t rows_each; /* rows of the late tile per step, so that `steps` steps reduce the whole tile */
  /* prefetch addresses and cache lines per step; may exceed the data slightly */
  const unsigned char *next_a, *next_b, *next_rest;
  int64_t lines_a, lines_b, lines_rest;
} tsl_residue_tile;
typedef struct tsl_residue_product {
  void (*tile)(const tsl_residue_tile *tile);
  void (*finish)(const tsl_residue_late *late);
  /* Called by each thread before and after its tiles; NULL: not needed. */
  void (*begin)(void), (*end)(void);
} tsl_residue_product;

#define TSL_RESIDUE_DECLARE(isa, header, needs, ...)                                                         \
  extern const tsl_residue_kernel tsl_residue_kernel_##isa##_f32, tsl_residue_kernel_##isa##_f64;            \
  extern const tsl_residue_converter tsl_residue_converter_##isa##_f32, tsl_residue_converter_##isa##_f64;   \
  extern const tsl_residue_product tsl_residue_product_##isa;
TSL_ISA_LIST(TSL_RESIDUE_DECLARE)
#undef TSL_RESIDUE_DECLARE
#ifdef TSL_ISA_AMX
extern const tsl_residue_product tsl_residue_product_amx;
#endif

/* Returns the vector constants of a modulus. */
tsl_residue_rest tsl_residue_rest_of(const residue_modulus *modulus);
residue_weights tsl_residue_weights_of(const residue_sieve *sieve);

/* Returns true if the device has tile registers (AMX) for this product. */
bool tsl_residue_has_registers(const tsl_device *device);

#endif
