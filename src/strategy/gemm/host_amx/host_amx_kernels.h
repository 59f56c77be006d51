/* Micro-kernels, copies and epilogues, one table for each instruction set with a row for each pair of types:
 * all that knows how wide a vector or a tile register is. The loops above them (host_amx_job.c) know units
 * and micro-panels only.
 *
 * A unit is what an instruction multiplies in 32 bits: a pair of bf16, a quad of 8-bit integers, a pair of
 * 16-bit integers made from them, or one f32 made from a narrower number. Copies are units, so that all
 * kernels look alike. */
#ifndef TSL_STRATEGY_GEMM_HOST_AMX_HOST_AMX_KERNELS_H
#define TSL_STRATEGY_GEMM_HOST_AMX_HOST_AMX_KERNELS_H

#include "host/host_isa.h"

/* Most rows of a tile, columns of a micro-panel of B, and rows of A that a tile register holds; units
 * that it holds of each. */
enum {
  TSL_AMX_ROWS_MAX = 32,
  TSL_AMX_WIDTH_MAX = 32,
  TSL_AMX_REGISTER_ROWS = 16,
  TSL_AMX_REGISTER_UNITS = 16
};

/* sums (rows x width, 32 bits each, dense) = start + a b, or with `goes_on` sums + start + a b.
 *
 *   a: units x rows, unit after unit; or rows that are a_row apart, where a_step is 1; for tile registers, 16
 * units of each of 16 or 32 rows, a_row apart, then the next 16 b: units x width, unit after unit start: a
 * row that is added to each row of the sums; NULL: nothing */
typedef struct tsl_amx_tile {
  int64_t units;
  const uint32_t *a, *b, *start;
  uint32_t *sums;
  bool goes_on;
  /* Bytes from row to row of A, and units from one unit (16 units for tile registers) of a row to the next.
   */
  int64_t a_row, a_step;
  /* Where the sums go in the end, and how many numbers further each row does. */
  uint32_t *out;
  int64_t out_row;
  /* For tile registers: the next tile's sums, prefetched meanwhile; or NULL. */
  const uint32_t *next_sums;
  /* Likewise: sums of 32 x 32 that an earlier tile left, to be written to C meanwhile, with the bytes from
   * row to row there, and whether lines go past the caches; or NULL. */
  const uint32_t *late;
  unsigned char *late_c;
  int64_t late_row;
  bool late_nontemporal;
  /* Likewise: rows of so many cache lines that are copied meanwhile, with the bytes of a row's last line
   * where they are not all (else 0), and those from row to row; or NULL. */
  const unsigned char *copy_in;
  unsigned char *copy_out;
  int64_t copy_rows, copy_lines, copy_tail, copy_in_row, copy_out_row;
  uint32_t
      *copy_least; /* becomes the least magnitude in those rows, too, as tsl_amx_least_function finds it */
} tsl_amx_tile;
typedef void tsl_amx_tile_function(const tsl_amx_tile *tile);

/* A panel's part of an operand, as it lies, to be copied as units: `count` rows of A, or columns of B, of
 * `depth` elements each; `across` is the stride from neighbour to neighbour and `along` the one along the
 * panel, in elements. In the copy there are `width` neighbours and `units` units, with zeros where there are
 * no elements. Every unit is changed by exclusive or with `flip`. */
typedef struct tsl_amx_copy {
  const unsigned char *in;
  int64_t across, along, count, depth;
  int64_t width, units;
  bool for_amx; /* 16 units of a neighbour side by side, then those of the next one */
  bool by_rows; /* all units of a neighbour side by side */
  uint32_t flip;
  uint32_t *out;
} tsl_amx_copy;
typedef void tsl_amx_pack_function(const tsl_amx_copy *copy);

/* c = alpha sums + beta c for rows x columns of a tile, whose rows are `width` apart; beta = 0 never reads c.
 * Integers are taken modulo 2^32, with alpha and beta so, too. */
typedef struct tsl_amx_epilogue {
  const uint32_t *sums;
  int64_t rows, columns, width;
  unsigned char *c;
  int64_t c_row, c_column; /* strides in elements */
  float alpha, beta;
  uint32_t integer_alpha, integer_beta;
  bool nontemporal; /* C is larger than the caches, and not read: whole lines may go past them */
} tsl_amx_epilogue;
typedef void tsl_amx_epilogue_function(const tsl_amx_epilogue *last);

/* How many elements a unit has, and what it is made of. */
typedef enum tsl_amx_format {
  TSL_AMX_FLOATS,     /* 1: f32, from f16, bf16, e4m3 or e5m2 */
  TSL_AMX_PAIRS_BF16, /* 2: bf16 as they are, or made from e4m3 or e5m2 */
  TSL_AMX_PAIRS_I16,  /* 2: 16-bit integers, from i8 or u8 */
  TSL_AMX_QUADS,      /* 4: i8 or u8 as they are, or with their sign bits flipped */
  TSL_AMX_FORMATS
} tsl_amx_format;

static inline int tsl_amx_elements(tsl_amx_format format) {
  return format == TSL_AMX_FLOATS ? 1 : format == TSL_AMX_QUADS ? 4 : 2;
}

/* The least magnitude other than 0 among the pairs of bf16 in `rows` rows of units, as bits; TSL_AMX_ALL_ZERO
 * where there is none. */
typedef uint32_t tsl_amx_least_function(const void *src, int64_t rows, int64_t row_bytes, int64_t units);
enum { TSL_AMX_ALL_ZERO = 0x10000 };

/* Copies by what units are made of and the operand's type, epilogues by C's. */
enum { TSL_AMX_TYPES = TESELA_E5M2 + 1 };
typedef struct tsl_amx_packing {
  tsl_amx_pack_function *copy[TSL_AMX_FORMATS][TSL_AMX_TYPES];
  tsl_amx_epilogue_function *finish[TSL_AMX_TYPES];
  tsl_amx_least_function *least;
} tsl_amx_packing;

/* A row of a set's table, which ends with one without packing. Where an instruction wants one operand signed
 * and the other one not, and both are alike, A's sign bits are flipped, which adds `bias` to each of its
 * elements; the tiles start with -bias times the sums of B's columns. */
typedef struct tsl_amx_kernels {
  tesela_type a, b;
  tsl_amx_format format;
  int bias;
  bool is_amx;       /* tile registers: micro-panels of A of 16 or 32 rows, units in 16s */
  int height, width; /* of the largest tile; a micro-panel of B */
  const tsl_amx_packing *packing;
  tsl_amx_tile_function *const *tiles;
  /* Where `tiles` take subnormal numbers as 0, others that do not, for operands that have some or could make
   * some; else NULL. */
  tsl_amx_tile_function *const *careful;
  bool finds_least; /* both find the least magnitude of what they copy */
  /* What a thread does before its tiles and after them: configures tile registers, and releases them. NULL:
   * nothing. */
  void (*begin)(void), (*end)(void);
} tsl_amx_kernels;

/* ROW(a, b, ...) for both types of 8-bit floating point in any mix. */
#define TSL_AMX_EIGHTS(ROW, ...)                                                                             \
  ROW(TESELA_E4M3, TESELA_E4M3, __VA_ARGS__), ROW(TESELA_E4M3, TESELA_E5M2, __VA_ARGS__),                    \
      ROW(TESELA_E5M2, TESELA_E4M3, __VA_ARGS__), ROW(TESELA_E5M2, TESELA_E5M2, __VA_ARGS__)

/* The best row for two types among what a device offers; NULL: there is none for these. */
const tsl_amx_kernels *tsl_amx_kernels_for(tesela_type a, tesela_type b, unsigned offers);

#define TSL_AMX_DECLARE(isa, header, needs, ...) extern const tsl_amx_kernels tsl_amx_##isa[];
TSL_ISA_EXTENSION_LIST(TSL_AMX_DECLARE)
TSL_ISA_LIST(TSL_AMX_DECLARE)
#undef TSL_AMX_DECLARE
#define TSL_AMX_DECLARE(isa, header, needs, ...) extern const tsl_amx_packing tsl_amx_packing_##isa;
TSL_ISA_LIST(TSL_AMX_DECLARE)
#undef TSL_AMX_DECLARE

#endif
