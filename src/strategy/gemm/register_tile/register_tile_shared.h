/* What the host and the kernels of register_tile both know: the values of its parameter `form`, and what its
 * kernels are given. The includer has strategy/gemm_shared.h and its word, and kernels TSL_REAL too, the type
 * of sums. */
#ifndef TSL_GEMM_REGISTER_TILE_SHARED_H
#define TSL_GEMM_REGISTER_TILE_SHARED_H

/* Panels of A and B in local memory, by way of registers or by asynchronous copies; or in scratch memory,
 * packed first, where each item of a group has a micro-tile, or a group is one item. */
#define TSL_REGISTER_TILE_LOCAL 1
#define TSL_REGISTER_TILE_PACKED 2
#define TSL_REGISTER_TILE_PACKED_SERIAL 3
#define TSL_REGISTER_TILE_LOCAL_ASYNC 4

/* Work-items of a group that adds splits; of one that copies into units, and units of a line that each of
 * them copies; numbers along k that an item packs. */
#define TSL_REGISTER_TILE_SUM_ITEMS 64
#define TSL_REGISTER_TILE_COPY_ITEMS 64
#define TSL_REGISTER_TILE_COPY_DEPTHS 16
#define TSL_REGISTER_TILE_PACK_DEPTHS 64

/* A number of the sums' type, in eight bytes whatever it is. */
#ifdef TSL_REAL
typedef struct tsl_register_tile_number {
  TSL_REAL of[8 / sizeof(TSL_REAL)]; /* the first */
} tsl_register_tile_number;
#else
typedef union tsl_register_tile_number {
  float f32;
  double f64;
  int32_t i32;
  int64_t bits;
} tsl_register_tile_number;
#endif

/* What every kernel is given but those that copy into units. Everything counts elements. */
typedef struct tsl_register_tile_arguments {
  TSL_GEMM_SIZES
  tsl_register_tile_number alpha[2], beta[2]; /* real, imaginary */
  TSL_INDEX split_depth;                      /* products along k of each split */
  TSL_INDEX split_step;                       /* from split to split of C */
  TSL_INDEX band;                             /* rows of tiles that groups take together */
  TSL_INDEX a_step, b_step, c_step;           /* from product to product of a batch */
  TSL_INDEX wanted, wanted_above; /* the address of an int, and what it must be above unless the run is not
                                     wanted; 0: it is */
} tsl_register_tile_arguments;

/* A copy into units. */
typedef struct tsl_register_tile_units {
  TSL_INDEX lines, k;
  TSL_INDEX from, line_stride, depth_stride; /* elements */
  TSL_INDEX to, pitch;                       /* numbers */
  TSL_INDEX sign;                            /* of imaginary parts */
  TSL_INDEX wanted, wanted_above;
} tsl_register_tile_units;

#ifdef TSL_REAL
/* Returns true if the kernel's result is not used. Only CUDA's kernels get an address. */
TSL_FUNCTION int is_unwanted(TSL_INDEX index, TSL_INDEX above) {
#ifdef __OPENCL_C_VERSION__
  return 0;
#else
  return index != 0 && *(const volatile int *)index <= above;
#endif
}
#endif

#endif
