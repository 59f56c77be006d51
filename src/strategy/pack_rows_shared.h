/* Arguments of strategy/pack_rows.cl, shared by host and kernel. The includer defines TSL_INDEX, a
 * signed 64-bit integer. */
#ifndef TSL_STRATEGY_PACK_ROWS_SHARED_H
#define TSL_STRATEGY_PACK_ROWS_SHARED_H

typedef struct tsl_pack_rows_arguments {
  TSL_INDEX rows, elements;
  TSL_INDEX offset, row_stride, step; /* in elements */
  /* bytes: the packed rows from the start of scratch memory, and the distance of packed rows */
  TSL_INDEX to, pitch;
  TSL_INDEX products, apart,
      /* number of products in a batch, their distance in the source in elements, and their packed
       * distance in bytes */
      packed;
} tsl_pack_rows_arguments;

#endif
