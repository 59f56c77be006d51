/* Combinations of element types that strategies support. */
#ifndef TSL_PROBLEM_TYPE_LISTS_H
#define TSL_PROBLEM_TYPE_LISTS_H

#include "problem/problem.h"

/* Types of A, B and C that a strategy supports together. */
typedef struct tsl_types {
  tesela_type a, b, c;
} tsl_types;

/* Reads "f32" (A and B; C is tsl_result_type()), "bf16:f32" (A and B, then C) or "u8:i8:i32" (A, B, C).
 * Returns false for an unknown type or more than three. */
bool tsl_types_parse(tsl_op op, const char *text, tsl_types *types);
/* Appends the shortest text that tsl_types_parse() reads as these types. */
void tsl_types_print(tsl_op op, const tsl_types *types, tsl_text *text);

/* f32, and f64. Ends with a zero. */
extern const tsl_types tsl_types_single[];
/* Every type, A, B and C alike: for strategies that move elements. Ends with a zero. */
extern const tsl_types tsl_types_all[];
/* Types of matrix instructions on processors: bf16, f16, and all pairs of 8-bit integers. */
extern const tsl_types tsl_types_narrow[];
/* tsl_types_narrow, and both 8-bit floating-point types in any combination with C in f32, bf16 and f16. */
extern const tsl_types tsl_types_small[];
/* f32, f64, and tsl_types_narrow. Ends with a zero. */
extern const tsl_types tsl_types_real[];
/* Every combination of types of products, 8-bit floating point included. Ends with a zero. */
extern const tsl_types tsl_types_every[];

#endif
