/* A kernel's arguments as what kernel/units.h takes. */
#ifndef TSL_GEMM_REGISTER_TILE_ARGUMENTS
#define TSL_GEMM_REGISTER_TILE_ARGUMENTS

#include "kernel_gemm.h"

#include "register_tile_shared.h"

TSL_FUNCTION tsl_gemm_arguments gemm_of(const tsl_register_tile_arguments given) {
  tsl_gemm_arguments g;
  g.m = given.m;
  g.n = given.n;
  g.k = given.k;
  g.a_offset = given.a_offset;
  g.a_row_stride = given.a_row_stride;
  g.a_col_stride = given.a_col_stride;
  g.b_offset = given.b_offset;
  g.b_row_stride = given.b_row_stride;
  g.b_col_stride = given.b_col_stride;
  g.c_offset = given.c_offset;
  g.c_row_stride = given.c_row_stride;
  g.c_col_stride = given.c_col_stride;
  g.alpha = given.alpha[0].of[0];
  g.beta = given.beta[0].of[0];
#ifdef TSL_COMPLEX
  g.alpha_imaginary = given.alpha[1].of[0];
  g.beta_imaginary = given.beta[1].of[0];
#endif
  return g;
}

/* Those of the product of a batch that this group computes. */
TSL_FUNCTION tsl_gemm_arguments product_of(const tsl_register_tile_arguments given) {
  tsl_gemm_arguments g = gemm_of(given);
  g.a_offset += TSL_GROUP(2) * given.a_step;
  g.b_offset += TSL_GROUP(2) * given.b_step;
  g.c_offset += TSL_GROUP(2) * given.c_step;
  return g;
}

#endif
