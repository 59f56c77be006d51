#ifndef TSL_GEMM_REGISTER_TILE_ARGUMENTS
#define TSL_GEMM_REGISTER_TILE_ARGUMENTS

#include "kernel_gemm.h"

#include "register_tile_shared.h"

TSL_FUNCTION tsl_gemm_arguments gemm_of(const tsl_register_tile_arguments args) {
  tsl_gemm_arguments g;
  g.m = args.m;
  g.n = args.n;
  g.k = args.k;
  g.a_offset = args.a_offset;
  g.a_row_stride = args.a_row_stride;
  g.a_col_stride = args.a_col_stride;
  g.b_offset = args.b_offset;
  g.b_row_stride = args.b_row_stride;
  g.b_col_stride = args.b_col_stride;
  g.c_offset = args.c_offset;
  g.c_row_stride = args.c_row_stride;
  g.c_col_stride = args.c_col_stride;
  g.alpha = args.alpha[0].of[0];
  g.beta = args.beta[0].of[0];
#ifdef TSL_COMPLEX
  g.alpha_imaginary = args.alpha[1].of[0];
  g.beta_imaginary = args.beta[1].of[0];
#endif
  return g;
}

/* Returns the arguments of the product of a batch that this group computes. */
TSL_FUNCTION tsl_gemm_arguments product_of(const tsl_register_tile_arguments args) {
  tsl_gemm_arguments g = gemm_of(args);
  g.a_offset += TSL_GROUP(2) * args.a_step;
  g.b_offset += TSL_GROUP(2) * args.b_step;
  g.c_offset += TSL_GROUP(2) * args.c_step;
  return g;
}

#endif
