/* What strategy/pack_rows.cl is given, as host and kernel both know it. The includer has TSL_INDEX, a signed
 * 64-bit integer. */
#ifndef TSL_STRATEGY_PACK_ROWS_SHARED_H
#define TSL_STRATEGY_PACK_ROWS_SHARED_H

typedef struct tsl_pack_rows_arguments {
  TSL_INDEX rows, elements;
  TSL_INDEX offset, row_stride, step; /* elements */
  TSL_INDEX to, pitch;                /* bytes from the scratch memory's start, and between rows */
  TSL_INDEX products, apart,
      packed; /* of a batch, and from one to the next: elements as they lie, bytes once packed */
} tsl_pack_rows_arguments;

#endif
