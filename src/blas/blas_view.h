#ifndef TSL_BLAS_BLAS_VIEW_H
#define TSL_BLAS_BLAS_VIEW_H

#include "dispatch/dispatch.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tesela/tesela.h>

static inline void tsl_blas_copy_matrix(const tsl_call_matrix *from, tsl_call_matrix *out) {
  out->data = from->data;
  out->row = from->row;
  out->col = from->col;
  out->conjugate = from->conjugate;
}

/* Copies the call without structures, and with this beta. Member by member: a copy of a struct that was just
 * written would wait for the stores. */
static inline void tsl_blas_general(const tsl_call *call, const double beta[2], tsl_call *out) {
  out->type = call->type;
  out->solves = out->streams = false;
  out->on_cpu = call->on_cpu;
  out->m = call->m;
  out->n = call->n;
  out->k = call->k;
  tsl_blas_copy_matrix(&call->a, &out->a);
  tsl_blas_copy_matrix(&call->b, &out->b);
  tsl_blas_copy_matrix(&call->c, &out->c);
  out->a_is = out->c_is = TESELA_GENERAL;
  out->a_triangle = out->c_triangle = TESELA_WHOLE;
  out->team = (tsl_team){0};
  tsl_call_scale(out, call->alpha, beta);
}

bool tsl_blas_is(tesela_type type, const void *scalar, double value); /* true if the scalar is value + 0 i */
void tsl_blas_doubles(tesela_type type, const void *scalar, double out[2]);
size_t tsl_blas_size(tesela_type type);
bool tsl_blas_is_complex(tesela_type type);

#endif
