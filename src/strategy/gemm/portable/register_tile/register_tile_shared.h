/* Include kernel_launch/gemm_shared.h first; kernels also define TSL_REAL, the type of sums. */
#ifndef TSL_GEMM_REGISTER_TILE_SHARED_H
#define TSL_GEMM_REGISTER_TILE_SHARED_H

/* Parameter `form`: panels in local memory, loaded through registers or by asynchronous copies; or packed in
 * the workspace, with one micro-tile per item (PACKED) or one item per group (PACKED_SERIAL). */
#define TSL_REGISTER_TILE_LOCAL 1
#define TSL_REGISTER_TILE_PACKED 2
#define TSL_REGISTER_TILE_PACKED_SERIAL 3
#define TSL_REGISTER_TILE_LOCAL_ASYNC 4

/* Items of a group that adds k splits, of a copying group; units that an item copies, k that it packs. */
#define TSL_REGISTER_TILE_SUM_ITEMS 64
#define TSL_REGISTER_TILE_COPY_ITEMS 64
#define TSL_REGISTER_TILE_COPY_DEPTHS 16
#define TSL_REGISTER_TILE_PACK_DEPTHS 64

/* Number of the sums' type, always in eight bytes. */
#ifdef TSL_REAL
typedef struct tsl_register_tile_number {
  TSL_REAL of[8 / sizeof(TSL_REAL)]; /* element 0 holds the number */
} tsl_register_tile_number;
#else
typedef union tsl_register_tile_number {
  float f32;
  double f64;
  int32_t i32;
  int64_t bits;
} tsl_register_tile_number;
#endif

/* Arguments of all kernels but the copies to units. Counts are in elements. */
typedef struct tsl_register_tile_arguments {
  TSL_GEMM_SIZES
  tsl_register_tile_number alpha[2], beta[2]; /* real, imaginary */
  TSL_INDEX split_depth;                      /* k of each split */
  TSL_INDEX split_step;                       /* stride between splits of C */
  TSL_INDEX band;                             /* rows of tiles that are visited together, for cache reuse */
  TSL_INDEX a_step, b_step, c_step;           /* strides between products of a batch */
  TSL_INDEX wanted, wanted_above; /* address of an int, or 0: nothing is done if it is <= wanted_above */
} tsl_register_tile_arguments;

typedef struct tsl_register_tile_units {
  TSL_INDEX lines, k;                        /* rows of A or columns of B; elements of a line */
  TSL_INDEX from, line_stride, depth_stride; /* in elements */
  TSL_INDEX to, pitch;                       /* in numbers */
  TSL_INDEX sign;                            /* factor of imaginary parts, 1 or -1 */
  TSL_INDEX wanted, wanted_above;            /* as in tsl_register_tile_arguments */
} tsl_register_tile_units;

#ifdef TSL_REAL
/* Returns true if the kernel's result is not used. Only CUDA kernels get an address. */
TSL_FUNCTION int is_unwanted(TSL_INDEX index, TSL_INDEX above) {
#ifdef __OPENCL_C_VERSION__
  return 0;
#else
  return index != 0 && *(const volatile int *)index <= above;
#endif
}
#endif

#endif
