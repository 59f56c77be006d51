/* Element types of A, B and C in kernels: TSL_REAL, or pairs of it with TSL_COMPLEX. TSL_TYPE_AB and
 * TSL_TYPE_C are codes of the list below; then TSL_REAL is the type of sums: float for halves, int for bytes.
 * TSL_SIGNED_A, TSL_SIGNED_B: bytes are signed (tsl_launch_define_types()). */
#ifndef TSL_KERNEL_KERNEL_ELEMENTS_H
#define TSL_KERNEL_KERNEL_ELEMENTS_H

#include "dialect.h"

#define TSL_TYPE_REAL 0
#define TSL_TYPE_F16 1
#define TSL_TYPE_BF16 2
#define TSL_TYPE_BYTE 3
#ifndef TSL_TYPE_AB
#define TSL_TYPE_AB TSL_TYPE_REAL
#define TSL_TYPE_C TSL_TYPE_REAL
#endif
#ifndef TSL_SIGNED_A
#define TSL_SIGNED_A 1
#define TSL_SIGNED_B 1
#endif

#if TSL_TYPE_AB == TSL_TYPE_REAL
typedef TSL_REAL tsl_element;
#elif TSL_TYPE_AB == TSL_TYPE_BYTE
typedef unsigned char tsl_element;
#else
typedef unsigned short tsl_element;
#endif
#if TSL_TYPE_C == TSL_TYPE_REAL
typedef TSL_REAL tsl_result;
#else
typedef unsigned short tsl_result;
#endif

/* Precision of C's type in bits, and the exponent of its smallest subnormal number. */
#ifdef TSL_REAL_IS_DOUBLE
#define TSL_C_DIGITS 53
#define TSL_C_LEAST (-1074)
#elif TSL_TYPE_C == TSL_TYPE_F16
#define TSL_C_DIGITS 11
#define TSL_C_LEAST (-24)
#elif TSL_TYPE_C == TSL_TYPE_BF16
#define TSL_C_DIGITS 8
#define TSL_C_LEAST (-133)
#else
#define TSL_C_DIGITS 24
#define TSL_C_LEAST (-149)
#endif

/* a * b + c of numbers or vectors, where TSL_REAL may be int. */
#ifdef TSL_REAL_IS_INTEGER
#define TSL_REAL_FMA(a, b, c) ((a) * (b) + (c))
#else
#define TSL_REAL_FMA(a, b, c) TSL_FMA(a, b, c)
#endif

#if TSL_TYPE_AB == TSL_TYPE_F16 || TSL_TYPE_C == TSL_TYPE_F16
TSL_FUNCTION TSL_REAL tsl_widen_half(unsigned short bits) {
  return TSL_FLOAT_OF_HALF(bits);
}
TSL_FUNCTION unsigned short tsl_narrow_to_half(TSL_REAL x) {
  return TSL_HALF_OF_FLOAT(x);
}
#elif TSL_TYPE_AB == TSL_TYPE_BF16 || TSL_TYPE_C == TSL_TYPE_BF16
TSL_FUNCTION TSL_REAL tsl_widen_half(unsigned short bits) {
  return TSL_AS_FLOAT((int)((unsigned)bits << 16));
}
/* Rounds to nearest even; a NaN stays NaN. */
TSL_FUNCTION unsigned short tsl_narrow_to_half(TSL_REAL x) {
  const unsigned bits = (unsigned)TSL_AS_INT(x);
  return (unsigned short)(x != x ? bits >> 16 | 64 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
#endif

/* Converts an element of A or B; `is_signed` is for bytes. */
TSL_FUNCTION TSL_REAL tsl_number(tsl_element x, bool is_signed) {
#if TSL_TYPE_AB == TSL_TYPE_REAL
  return x;
#elif TSL_TYPE_AB != TSL_TYPE_BYTE
  return tsl_widen_half(x);
#else
  return is_signed ? (TSL_REAL)(signed char)x : (TSL_REAL)x;
#endif
}

/* Converts an element of C to the type of the sums. */
TSL_FUNCTION TSL_REAL tsl_widen_result(tsl_result x) {
#if TSL_TYPE_C == TSL_TYPE_REAL
  return x;
#else
  return tsl_widen_half(x);
#endif
}
/* Rounds a number to C's type, to nearest even. */
TSL_FUNCTION tsl_result tsl_round_to_result(TSL_REAL x) {
#if TSL_TYPE_C == TSL_TYPE_REAL
  return x;
#else
  return tsl_narrow_to_half(x);
#endif
}

#endif
