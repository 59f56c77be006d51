/* What strategy/strategy_epilogue.cl is given, as host and kernel both know it. The includer has TSL_INDEX, a
 * signed 64-bit integer. */
#ifndef TSL_STRATEGY_FINISH_SHARED_H
#define TSL_STRATEGY_FINISH_SHARED_H

/* Where an operand starts, and how it steps: from product to product, from line to line, and along a line. In
 * elements. */
typedef struct tsl_finish_steps {
  TSL_INDEX offset, product_stride, line_stride, step;
} tsl_finish_steps;

/* Lines of C, and where its operands are; those that there are none of are 0. alpha and beta are of sums with
 * scales. */
typedef struct tsl_finish_arguments {
  TSL_INDEX products, lines, length;
  tsl_finish_steps c, bias, sums, scale_a, scale_b;
  float alpha, beta;
} tsl_finish_arguments;

#endif
