/* Sums of a few lines of both operands, with vectors along k, included by host_amx_dot.c. The including file
 * defines
 *
 *   LINES_NAME                   name of the function
 *   LINES_LOAD(in, count)        units of `count` contiguous elements of a line
 *   LINES_DOT(sum, large, thin)  sum + the products of the units in each lane
 *   LINES_SIZE, LINES_PER        bytes of an element; elements of a unit
 *   LINES_VECTOR, LINES_NUMBER   type of a vector of sums, and of a sum
 *   LINES_FLIP                   xor-ed with each unit of the large operand
 *
 *   thin    t0 [################]   16 units of a line, then of the next line; then the next 16 units
 *           t1 [################]
 *   large   l0 [################....   lines in place: LINES_AT_ONCE x LINES_THIN vectors of sums,
 *           l1 [################....   whose lanes are added at the end, by a transpose */
#define LINES_OF(thin) JOIN(LINES_NAME, JOIN(_, thin))
#define LINES_THIN 1
#include "strategy/gemm/host/host_amx/kernels/line_dots_step.h"
#define LINES_THIN 2
#include "strategy/gemm/host/host_amx/kernels/line_dots_step.h"
#define LINES_THIN 4
#include "strategy/gemm/host/host_amx/kernels/line_dots_step.h"
#undef LINES_OF

static void LINES_NAME(const tsl_amx_lines *lines) {
  for (int64_t j = 0; j < lines->thin_width; j += 4)
    for (int64_t i = 0; i < lines->count;) {
      if (lines->thin_width == 1)
        i += JOIN(LINES_NAME, _1)(lines, i, j);
      else if (lines->thin_width == 2)
        i += JOIN(LINES_NAME, _2)(lines, i, j);
      else
        i += JOIN(LINES_NAME, _4)(lines, i, j);
    }
}
#undef LINES_NAME
#undef LINES_LOAD
#undef LINES_DOT
#undef LINES_SIZE
#undef LINES_PER
#undef LINES_FLIP
