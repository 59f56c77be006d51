/* Micro-kernels, pack functions and epilogues: a table for each instruction set with a row for each pair of
 * types. A unit is 32 bits of an operand along k: two bf16, four 8-bit integers, two 16-bit integers made
 * from 8-bit ones, or an f32. Packed copies consist of units. */
#ifndef TSL_STRATEGY_GEMM_HOST_AMX_HOST_AMX_KERNELS_H
#define TSL_STRATEGY_GEMM_HOST_AMX_HOST_AMX_KERNELS_H

#include "host/host_isa.h"

/* Maxima of MR and NR; rows of A and units of each that a tile register holds. */
enum {
  TSL_AMX_ROWS_MAX = 32,
  TSL_AMX_WIDTH_MAX = 32,
  TSL_AMX_REGISTER_ROWS = 16,
  TSL_AMX_REGISTER_UNITS = 16,
  TSL_AMX_LINES_MAX = 8 /* lines of a thin operand */
};

/* Arguments of a micro-kernel: sums (rows x width, 32 bits each, dense) = start + a b; if `adds_to_sums`:
 * sums + start + a b.
 *
 *   a:      units x rows, unit after unit; or, if a_step is 1, rows that are a_row bytes apart;
 *           for tile registers 16 units of each of 16 or 32 rows, a_row bytes apart, then the next 16 units
 *   b:      units x width, unit after unit
 *   start:  row that is added to each row of the sums; NULL: zeros */
typedef struct tsl_amx_tile {
  int64_t units;
  const uint32_t *a, *b, *start;
  uint32_t *sums;
  bool adds_to_sums; /* sums start with their contents; false: with `start` alone */
  /* Bytes from row to row of A; units between successive units (tile registers: groups of 16) of a row. */
  int64_t a_row, a_step;
  uint32_t *out;   /* destination of the sums */
  int64_t out_row; /* row stride in elements */
  /* The members below are for tile registers only. NULL: none. */
  const uint32_t *next_sums; /* sums of the next tile, which are prefetched */
  /* Finished 32 x 32 sums of an earlier tile, which are written to C meanwhile. `pending_c_row` is C's row
   * stride in bytes; `pending_nontemporal` selects stores that bypass the caches. */
  const uint32_t *pending_sums;
  unsigned char *pending_c;
  int64_t pending_c_row;
  bool pending_nontemporal;
  /* Rows that are copied meanwhile. A row has `copy_lines` cache lines; the last has `copy_tail` bytes (0: it
   * is full). `copy_in_row` and `copy_out_row` are strides in bytes. */
  const unsigned char *copy_in;
  unsigned char *copy_out;
  int64_t copy_rows, copy_lines, copy_tail, copy_in_row, copy_out_row;
  uint32_t *copy_least; /* lowered to the minimum magnitude in the copied rows, see
                           tsl_amx_min_magnitude_function */
} tsl_amx_tile;
typedef void tsl_amx_tile_function(const tsl_amx_tile *tile);

/* Arguments of a kernel with vectors along k, which adds the products of lines of both operands to sums. */
typedef struct tsl_amx_lines {
  const unsigned char *large; /* lines of contiguous elements, `large_line` bytes apart, in place */
  const uint32_t *thin;       /* packed for tile registers, then 0: `thin_width` lines (1, 2, 4 or 8) */
  int64_t large_line, thin_width, count, elements; /* `count`: lines of the large operand */
  uint32_t *sums;                                  /* a row for each thin line, TSL_AMX_WIDTH_MAX apart */
} tsl_amx_lines;
typedef void tsl_amx_lines_function(const tsl_amx_lines *lines);

/* Arguments of a pack function for rows of A or columns of B, padded with zeros. */
typedef struct tsl_amx_copy {
  const unsigned char *in;
  int64_t across, along, count, depth; /* strides in elements, of lines and k; lines; elements of a line */
  int64_t width, units;                /* lines, and units of a line, of the copy */
  bool for_amx;  /* layout for tile registers: 16 units of a line, then 16 of the next line */
  bool by_rows;  /* all units of a line are contiguous */
  uint32_t flip; /* xor-ed with each unit */
  uint32_t *out;
} tsl_amx_copy;
typedef void tsl_amx_pack_function(const tsl_amx_copy *copy);

/* Epilogue: c = alpha sums + beta c for rows x columns of a tile whose rows are `width` apart; beta = 0 never
 * reads c. Integers, alpha and beta are computed modulo 2^32. */
typedef struct tsl_amx_epilogue {
  const uint32_t *sums;
  int64_t rows, columns, width;
  unsigned char *c;
  int64_t c_row, c_column; /* strides in elements */
  float alpha, beta;
  uint32_t integer_alpha, integer_beta;
  bool nontemporal; /* C exceeds the caches and is not read: whole cache lines may bypass them */
} tsl_amx_epilogue;
typedef void tsl_amx_epilogue_function(const tsl_amx_epilogue *last);

typedef enum tsl_amx_format {
  TSL_AMX_FLOATS,     /* one f32, from f16, bf16, e4m3 or e5m2 */
  TSL_AMX_PAIRS_BF16, /* two bf16, also made from e4m3 or e5m2 */
  TSL_AMX_PAIRS_I16,  /* two 16-bit integers, from i8 or u8 */
  TSL_AMX_QUADS,      /* four i8 or u8, unchanged or with flipped sign bits */
  TSL_AMX_FORMATS
} tsl_amx_format;

/* Returns the elements of a unit. */
static inline int tsl_amx_elements(tsl_amx_format format) {
  return format == TSL_AMX_FLOATS ? 1 : format == TSL_AMX_QUADS ? 4 : 2;
}

/* Returns the minimum magnitude of the nonzero bf16 in some rows, as bits; TSL_AMX_ALL_ZERO: all are 0. */
typedef uint32_t tsl_amx_min_magnitude_function(const void *src, int64_t rows, int64_t row_bytes,
                                                int64_t units);
enum { TSL_AMX_ALL_ZERO = 0x10000 };

enum { TSL_AMX_TYPES = TESELA_E5M2 + 1 };
typedef struct tsl_amx_packing { /* by format and operand type; epilogues by C's type */
  tsl_amx_pack_function *copy[TSL_AMX_FORMATS][TSL_AMX_TYPES];
  tsl_amx_epilogue_function *finish[TSL_AMX_TYPES];
  tsl_amx_min_magnitude_function *min_magnitude;
} tsl_amx_packing;

/* Row of an instruction set's table; a row without `packing` ends the table. If an instruction needs A and B
 * of different signedness, sign bits of A are flipped, which adds `bias` to each element. Tiles then start
 * with -bias times B's column sums. */
typedef struct tsl_amx_kernels {
  tesela_type a, b;
  tsl_amx_format format;
  int bias;          /* number that flipped sign bits add to each element of A; 0: none are flipped */
  bool is_amx;       /* micro-panels of A have 16 or 32 rows, units come in groups of 16 */
  int height, width; /* MR of the largest tile, and NR */
  const tsl_amx_packing *packing;
  tsl_amx_tile_function *const *tiles;
  /* Kernels for subnormal operands or results, if `tiles` flush these to 0; else NULL. */
  tsl_amx_tile_function *const *careful;
  /* Kernels with vectors along k, for a large A and a large B. NULL: none. */
  tsl_amx_lines_function *lines[2];
  bool finds_least; /* `tiles` and `careful` compute `copy_least` */
  /* Configure and release a thread's tile registers before and after its tiles. NULL: not needed. */
  void (*begin)(void), (*end)(void);
} tsl_amx_kernels;

#define TSL_AMX_EIGHTS(ROW, ...)                                                                             \
  ROW(TESELA_E4M3, TESELA_E4M3, __VA_ARGS__), ROW(TESELA_E4M3, TESELA_E5M2, __VA_ARGS__),                    \
      ROW(TESELA_E5M2, TESELA_E4M3, __VA_ARGS__), ROW(TESELA_E5M2, TESELA_E5M2, __VA_ARGS__)

/* Returns the best table row for two types on a device with capabilities `offers`, or NULL if it has none. */
const tsl_amx_kernels *tsl_amx_kernels_for(tesela_type a, tesela_type b, unsigned offers);

#define TSL_AMX_DECLARE(isa, header, needs, ...) extern const tsl_amx_kernels tsl_amx_##isa[];
TSL_ISA_EXTENSION_LIST(TSL_AMX_DECLARE)
TSL_ISA_LIST(TSL_AMX_DECLARE)
#undef TSL_AMX_DECLARE
#define TSL_AMX_DECLARE(isa, header, needs, ...) extern const tsl_amx_packing tsl_amx_packing_##isa;
TSL_ISA_LIST(TSL_AMX_DECLARE)
#undef TSL_AMX_DECLARE

#endif
