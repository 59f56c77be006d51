/* residue_int8 on the processor: what its loops (residue_int8_host.c) and its kernels, once per instruction
 * set, share.
 *
 * Residues lie as tile registers want them, in the others' kernels, too, so that all but one file is the same
 * text everywhere:
 *
 *   plane of a modulus   panel 0                      panel 1     of k: `steps` steps of 64 numbers each, at
 * most | micro 0 | micro 1 | ...    | ...       micro-panels of 32 lines, zeros where there are no more
 *   micro-panel          | step 0 | step 1 | ...                  2 KiB each: the first 16 lines, the other
 * 16 16 lines of a step   A: 16 rows of 64 bytes, a line each      byte 4 j + i of a row is number 16 i + j
 * of the step B: 16 rows of 64 bytes, four of k each   word c is column c's; byte i of row j is number 16 i +
 * j
 *
 * The order of numbers in a step is one that vectors of 16 numbers need no shuffles for; it is the same for A
 * and B. */
#ifndef TSL_STRATEGY_GEMM_RESIDUE_INT8_RESIDUE_INT8_HOST_H
#define TSL_STRATEGY_GEMM_RESIDUE_INT8_RESIDUE_INT8_HOST_H

#include "strategy/gemm/residue_int8/residue_int8.h"

/* Lines of a micro-panel, and of a register; numbers of a step, steps of a panel at most, bytes of a
 * micro-panel's step. A panel's sums, and a residue more, are below 2^24. */
enum {
  TSL_RESIDUE_LINES = 32,
  TSL_RESIDUE_ROWS = 16,
  TSL_RESIDUE_STEP = 64,
  TSL_RESIDUE_STEPS = 16,
  TSL_RESIDUE_STEP_BYTES = TSL_RESIDUE_LINES * TSL_RESIDUE_STEP,
  TSL_RESIDUE_SUMS = TSL_RESIDUE_LINES * TSL_RESIDUE_LINES,
  TSL_RESIDUE_TOGETHER = 128, /* lines that are measured by one call */
  TSL_RESIDUE_COLUMNS = 512,  /* of a block of C at most */
  TSL_RESIDUE_DIGITS = 4
};

typedef struct tsl_residue_lines {
  const unsigned char *at;
  int64_t count, across,
      along; /* lines, and their strides in real numbers: from line to line, and in a line */
  bool is_paired, is_negative; /* numbers are complex, `along` from one to the next; what becomes residues
                                  changes its sign */
  residue_line *lines;
  int *scales; /* final ones; NO_SCALE: native */
  unsigned char *planes;
  int64_t plane, panel, micro, micros; /* bytes of each; micro-panels */
} tsl_residue_lines;

/* What vectors know of a modulus: 2^16, 2^32, 2^48 modulo p, of least magnitude; p, about 1 / p, and whether
 * p is 256. */
typedef struct tsl_residue_rest {
  float digit[TSL_RESIDUE_DIGITS - 1], p, inverse;
  bool is_byte;
} tsl_residue_rest;

typedef struct tsl_residue_job {
  const residue_rules *rules;
  residue_choice choice;
  tsl_residue_lines of[2]; /* rows of A, columns of B */
  tsl_residue_rest rests[TSL_RESIDUE_MODULI];
  residue_weights weights;
  int64_t m, n, k, steps, panels; /* steps of a panel but the last, which may be shorter */
  unsigned char *c;
  int64_t c_row, c_col;
  double alpha, beta;
  bool is_complex, conjugates[2]; /* for elements as they are */
  bool is_precise;                /* those are summed in double, though C is f32 */
} tsl_residue_job;

/* Residues of a block of C: a plane of `plane` bytes for each modulus, a tile of 32 x 32 bytes after the
 * other along its rows. */
typedef struct tsl_residue_block {
  int64_t row, rows, column, columns;
  unsigned char *rests;
  int64_t plane;
} tsl_residue_block;

/* Once per instruction set and type. */
typedef struct tsl_residue_kernel {
  /* Finds out what is known of lines. */
  void (*measure)(const tsl_residue_job *job, int operand, int64_t first, int64_t count);
  /* C of a block from its residues, but for native lines. */
  void (*join)(const tsl_residue_job *job, const tsl_residue_block *block);
  /* Elements of C in its own type: those of native lines, or all of the block. */
  void (*native)(const tsl_residue_job *job, const tsl_residue_block *block);
} tsl_residue_kernel;

/* `count` micro-panels of an operand, TSL_RESIDUE_BESIDE at most, become residues in one of their panels. */
typedef struct tsl_residue_converter {
  void (*convert)(const tsl_residue_job *job, int operand, int64_t first, int64_t count, int64_t panel);
} tsl_residue_converter;
enum { TSL_RESIDUE_BESIDE = 4 };

/* The sums of a tile that are made residues of: rest = (sums + rest) modulo p where it `adds`, from 0 to p
 * - 1. */
typedef struct tsl_residue_late {
  const int32_t *sums; /* NULL: there is nothing */
  unsigned char *rest;
  const tsl_residue_rest *modulus;
  bool adds;
} tsl_residue_late;

/* The integer product, a block that other schemes can use: sums (32 x 32, dense) = A B of `steps` steps of a
 * micro-panel of each; and beside it, where a unit multiplies while vectors are free, what is late and what
 * will be wanted. */
typedef struct tsl_residue_tile {
  const unsigned char *a, *b;
  int64_t steps;
  int32_t *sums;
  tsl_residue_late late;
  int64_t rows_each; /* of the late tile, in a step: all of them in `steps` */
  /* Asked for in advance: so many cache lines from there on in a step, perhaps some more than there are. */
  const unsigned char *next_a, *next_b, *next_rest;
  int64_t lines_a, lines_b, lines_rest;
} tsl_residue_tile;
typedef struct tsl_residue_product {
  void (*tile)(const tsl_residue_tile *tile);
  /* The late part alone. */
  void (*finish)(const tsl_residue_late *late);
  /* What a thread does before its tiles and after them, or NULL. */
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

/* Tables of vectors from those that all devices have. */
tsl_residue_rest tsl_residue_rest_of(const residue_modulus *modulus);
residue_weights tsl_residue_weights_of(const residue_sieve *sieve);

/* Whether a device has registers for the product of tiles. */
bool tsl_residue_has_registers(const tsl_device *device);
/* C on the processor by this product; NULL: by the best that the device has. */
tesela_status tsl_residue_int8_run_by(const tsl_work *work, const tsl_operands *operands,
                                      const tsl_residue_product *product);

#endif
