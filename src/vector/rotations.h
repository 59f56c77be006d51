#ifndef TSL_VECTOR_ROTATIONS_H
#define TSL_VECTOR_ROTATIONS_H

#include "vector/vector_kernels.h"

/* Computes c and s that rotate (a, b) to (r, 0). a becomes r; b becomes 1, s or 1/c, which tells c and s. */
void tsl_rotation_real_f32(float *a, float *b, float *c, float *s);
void tsl_rotation_real_f64(double *a, double *b, double *c, double *s);
/* Computes a rotation of complex a and b with real c; a becomes r. Numbers are pairs of components. */
void tsl_rotation_complex_f32(float *a, const float *b, float *c, float *s);
void tsl_rotation_complex_f64(double *a, const double *b, double *c, double *s);
/* Computes a modified rotation without square roots; param is flag, h11, h21, h12, h22. */
void tsl_rotation_modified_f32(float *d1, float *d2, float *x1, float y1, float *param);
void tsl_rotation_modified_f64(double *d1, double *d2, double *x1, double y1, double *param);

#endif
