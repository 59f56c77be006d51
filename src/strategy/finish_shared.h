/* Arguments of strategy/strategy_epilogue.cl, shared by host and kernel. The includer defines
 * TSL_INDEX, a signed 64-bit integer. */
#ifndef TSL_STRATEGY_FINISH_SHARED_H
#define TSL_STRATEGY_FINISH_SHARED_H

/* Location of an operand in elements: start, and steps from product to product, from line to line,
 * and along a line. */
typedef struct tsl_finish_steps {
  TSL_INDEX offset, product_stride, line_stride, step;
} tsl_finish_steps;

/* Lines of C and the locations of its operands; an absent operand is 0. alpha and beta apply to
 * sums with scales. */
typedef struct tsl_finish_arguments {
  TSL_INDEX products, lines, length;
  tsl_finish_steps c, bias, sums, scale_a, scale_b;
  float alpha, beta;
} tsl_finish_arguments;

#endif
