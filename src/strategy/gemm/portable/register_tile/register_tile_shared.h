/* Include kernel_launch/launch.h first, in kernels kernel_gemm.h, with TSL_REAL, the type of sums. */
#ifndef TSL_GEMM_REGISTER_TILE_SHARED_H
#define TSL_GEMM_REGISTER_TILE_SHARED_H

/* Parameter `form`: panels in local memory, loaded through registers or by asynchronous copies; or packed in
 * the workspace, with one micro-tile per item (PACKED) or one item per group (PACKED_SERIAL). */
#define TSL_REGISTER_TILE_LOCAL 1
#define TSL_REGISTER_TILE_PACKED 2
#define TSL_REGISTER_TILE_PACKED_SERIAL 3
#define TSL_REGISTER_TILE_LOCAL_ASYNC 4

/* Items of a copying group; units that an item copies, k that it packs. */
#define TSL_REGISTER_TILE_COPY_ITEMS 64
#define TSL_REGISTER_TILE_COPY_DEPTHS 16
#define TSL_REGISTER_TILE_PACK_DEPTHS 64

/* Arguments of all kernels but the copies to units. Counts are in elements. */
typedef struct tsl_register_tile_arguments {
  TSL_INDEX split_depth;            /* k of each split, or of each part that a group adds */
  TSL_INDEX split_step;             /* stride between splits of C */
  TSL_INDEX band;                   /* rows of tiles that are visited together, for cache reuse */
  TSL_INDEX a_step, b_step, c_step; /* strides between products of a batch */
  TSL_INDEX wanted, wanted_above;   /* address of an int, or 0: nothing is done if it is <= wanted_above */
#ifdef TSL_REAL
  tsl_gemm_arguments gemm;
#else
  tsl_gemm_argument gemm; /* the kernel gets its first gemm.bytes bytes */
#endif
} tsl_register_tile_arguments;

typedef struct tsl_register_tile_units {
  TSL_INDEX lines, k;                        /* rows of A or columns of B; elements of a line */
  TSL_INDEX from, line_stride, depth_stride; /* in elements */
  TSL_INDEX to, pitch;                       /* in numbers */
  TSL_INDEX sign;                            /* factor of imaginary parts, 1 or -1 */
} tsl_register_tile_units;
typedef struct tsl_register_tile_operands {
  tsl_register_tile_units a, b;
  TSL_INDEX wanted, wanted_above; /* as in tsl_register_tile_arguments */
} tsl_register_tile_operands;

#endif
