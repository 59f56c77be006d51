/* Plane rotations: what BLAS calls rotg and rotmg. Each in its type, of `single` precision or not; scalars as
 * f64. */
#ifndef TSL_VECTOR_ROTATIONS_H
#define TSL_VECTOR_ROTATIONS_H

#include "vector/vector_kernels.h"

/* c and s that turn (a, b) into (r, 0): a becomes r, b what both are found from later (1, s or 1/c). */
void tsl_rotation_real_f32(float *a, float *b, float *c, float *s);
void tsl_rotation_real_f64(double *a, double *b, double *c, double *s);
/* Of complex a and b, real c: a becomes r. Pairs of components. */
void tsl_rotation_complex_f32(float *a, const float *b, float *c, float *s);
void tsl_rotation_complex_f64(double *a, const double *b, double *c, double *s);
/* The modified rotation without square roots: param is flag, h11, h21, h12, h22. */
void tsl_rotation_modified_f32(float *d1, float *d2, float *x1, float y1, float *param);
void tsl_rotation_modified_f64(double *d1, double *d2, double *x1, double y1, double *param);

#endif
