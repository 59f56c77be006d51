/* Arguments of strategy/epilogue/strategy_epilogue.cl, for host and kernel. The includer defines TSL_INDEX:
 * int64. */
#ifndef TSL_STRATEGY_FINISH_SHARED_H
#define TSL_STRATEGY_FINISH_SHARED_H

/* Location of an operand in elements: start, and steps between products, between lines, and along a line. */
typedef struct tsl_finish_steps {
  TSL_INDEX offset, product_stride, line_stride, step;
} tsl_finish_steps;

/* Lines of C and locations of operands; absent operands are 0. alpha and beta apply to sums with scales. */
typedef struct tsl_finish_arguments {
  TSL_INDEX products, lines, length;
  tsl_finish_steps c, bias, sums, scale_a, scale_b;
  float alpha, beta;
} tsl_finish_arguments;

#endif
