/* Arguments of kernel_launch/pack_rows.cl, for host and kernel. The includer defines TSL_INDEX as int64. */
#ifndef TSL_STRATEGY_PACK_ROWS_SHARED_H
#define TSL_STRATEGY_PACK_ROWS_SHARED_H

typedef struct tsl_pack_rows_arguments {
  TSL_INDEX rows, elements;           /* count of rows, and elements of a row */
  TSL_INDEX offset, row_stride, step; /* in elements */
  /* bytes: the packed rows from the start of scratch memory, and the distance of packed rows */
  TSL_INDEX to, pitch;
  TSL_INDEX products, apart,
      /* batch: count, distance in the source in elements, packed distance in bytes */
      packed;
} tsl_pack_rows_arguments;

#endif
