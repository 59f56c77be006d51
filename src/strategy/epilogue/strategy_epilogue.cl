/* Epilogue kernel for products whose kernel does not fuse it: C = f(C + bias), or with scales C = f(S a b
 * alpha + beta C + bias) of sums S. S may be in C: each item reads its own sums before it writes.
 *
 *   a group: 64 x 4 items            item (x, y): elements x, x + 64, x + 128, x + 192 of a line, so
 *   | line y | . . 64 . . | . . 64 . . | . . 64 . . | . . 64 . . |      at least four loads in flight
 *
 * Groups loop over the lines of all products of a batch. Lines run along C's smallest stride. C is rounded
 * once more, from the type of its sums.
 *
 * From the host: TSL_TYPE_C and TSL_REAL (kernel/kernel_elements.h), or TSL_COMPLEX. FINISH_BIAS (0: none, 1:
 * of C's type, 2: of the sums' type), FINISH_FUNCTION (a tesela_activation). FINISH_SUMS (0: no scales, 1:
 * sums in f32, 2: in i32). FINISH_SCALES (1: A's, 2: B's, 4: alpha is not 1; 0 for sums without terms),
 * FINISH_BEFORE (1: beta C is added). Pointers of missing operands are C's, and are not read. Kernels with a
 * fused epilogue round in the same order, hence give equal bits. */
#include "kernel_elements.h"

#include "epilogue_function.h"
#include "finish_shared.h"

#define FINISH_ACROSS 64
#define FINISH_LINES 4
#if TSL_TYPE_C == TSL_TYPE_F16 || TSL_TYPE_C == TSL_TYPE_BF16
#define FINISH_EACH 16
#else
#define FINISH_EACH 4
#endif

#ifdef TSL_COMPLEX
#define FINISH_PARTS 2
#else
#define FINISH_PARTS 1
#endif
#if FINISH_BIAS == 2
#define FINISH_VECTOR TSL_REAL
#define FINISH_ADDED(x) (x)
#else
#define FINISH_VECTOR tsl_result
#define FINISH_ADDED(x) tsl_widen_result(x)
#endif

#if FINISH_SUMS == 2
#define FINISH_SUM int
#else
#define FINISH_SUM float
#endif

TSL_FUNCTION TSL_INDEX finish_start(tsl_finish_steps steps, TSL_INDEX product, TSL_INDEX line) {
  return (steps.offset + product * steps.product_stride + line * steps.line_stride) * FINISH_PARTS;
}

TSL_KERNEL(FINISH_ACROSS, FINISH_LINES, 1)
tsl_finish_result(TSL_GLOBAL tsl_result *c, TSL_GLOBAL const FINISH_VECTOR *bias,
                  TSL_GLOBAL const FINISH_SUM *sums, TSL_GLOBAL const float *scale_a,
                  TSL_GLOBAL const float *scale_b, const tsl_finish_arguments args) {
  const TSL_INDEX across = (TSL_INDEX)FINISH_ACROSS * FINISH_EACH * TSL_GROUPS(0),
                  lines = args.lines * args.products, down = (TSL_INDEX)TSL_GROUPS(1) * FINISH_LINES;
  for (TSL_INDEX at = (TSL_INDEX)TSL_GROUP(1) * FINISH_LINES + TSL_ITEM(1); at < lines; at += down) {
    const TSL_INDEX product = at / args.lines, line = at % args.lines;
    TSL_GLOBAL tsl_result *own = c + finish_start(args.c, product, line);
#if FINISH_BIAS
    TSL_GLOBAL const FINISH_VECTOR *added = bias + finish_start(args.bias, product, line);
#endif
#if FINISH_SUMS
    TSL_GLOBAL const FINISH_SUM *found = sums + finish_start(args.sums, product, line);
#endif
#if FINISH_SUMS && (FINISH_SCALES & 1)
    TSL_GLOBAL const float *of_a = scale_a + finish_start(args.scale_a, product, line);
#endif
#if FINISH_SUMS && (FINISH_SCALES & 2)
    TSL_GLOBAL const float *of_b = scale_b + finish_start(args.scale_b, product, line);
#endif
    for (TSL_INDEX first = (TSL_INDEX)TSL_GROUP(0) * FINISH_ACROSS * FINISH_EACH + TSL_ITEM(0);
         first < args.length; first += across) {
      TSL_REAL x[FINISH_EACH * FINISH_PARTS];
      TSL_UNROLL
      for (int e = 0; e < FINISH_EACH * FINISH_PARTS; e++) {
        const TSL_INDEX place = first + e / FINISH_PARTS * FINISH_ACROSS;
        x[e] = 0;
        if (place < args.length) {
#if FINISH_SUMS
          x[e] = (float)found[place * args.sums.step];
#if FINISH_SCALES & 1
          x[e] = TSL_MUL(float, x[e], of_a[place * args.scale_a.step]);
#endif
#if FINISH_SCALES & 2
          x[e] = TSL_MUL(float, x[e], of_b[place * args.scale_b.step]);
#endif
#if FINISH_SCALES & 4
          x[e] = TSL_MUL(float, x[e], args.alpha);
#endif
#if FINISH_BEFORE
          x[e] = TSL_FMA(args.beta, tsl_widen_result(own[place * args.c.step]), x[e]);
#endif
#else
          x[e] = tsl_widen_result(own[place * args.c.step * FINISH_PARTS + e % FINISH_PARTS]);
#endif
#if FINISH_BIAS
          x[e] += FINISH_ADDED(added[place * args.bias.step * FINISH_PARTS + e % FINISH_PARTS]);
#endif
        }
      }
      TSL_UNROLL
      for (int e = 0; e < FINISH_EACH * FINISH_PARTS; e++) {
        const TSL_INDEX place = first + e / FINISH_PARTS * FINISH_ACROSS;
        if (place < args.length)
          own[place * args.c.step * FINISH_PARTS + e % FINISH_PARTS] =
              tsl_round_to_result(apply_activation_function(x[e]));
      }
    }
  }
}
