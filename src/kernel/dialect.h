/* The kernel dialect: the words of portable kernels, in the common subset of OpenCL C 1.2 and CUDA C++. Each
 * device folder implements them in dialect_impl.h. Examples: docs/DIALECT.md, tests/dialect/words.cl. */
// clang-format off
/*   TSL_KERNEL(x, y, z)          before a kernel's name: a kernel with work-groups of x by y by z items
 *   TSL_KERNEL_SHARING(x, y, z, groups)  TSL_KERNEL with a target of resident groups per compute unit;
 *                                the compiler may limit registers for it
 *   TSL_FUNCTION                 before a helper's return type
 *   TSL_GLOBAL                   qualifier of pointers to device memory
 *   TSL_LOCAL                    declares an array shared by the work-group, at the top of a kernel
 *   TSL_LOCAL_LINES              TSL_LOCAL aligned to 128 bytes, one row of all banks
 *   TSL_LOCAL_BYTES(name, bytes)  a TSL_LOCAL_LINES array of char, at most one in a text, of up to
 *                                the device's local_bytes_inside; the host calls kernel_local_bytes()
 *   TSL_LOCAL_POINTER            qualifier of pointers to such an array, in helpers
 *   TSL_CONSTANT                 declares a constant table outside functions
 *   TSL_RESTRICT                 this pointer's memory is reached by no other pointer
 *   TSL_INDEX                    a signed 64-bit integer
 *   TSL_UINT64                   an unsigned 64-bit integer with wrapping sums
 *   TSL_REAL                     the element type that the build chose: float or double
 *   TSL_GROUP(d) TSL_GROUPS(d)   number of this work-group, and of all, in dimension d (literal 0, 1, 2)
 *   TSL_ITEM(d) TSL_ITEMS(d)     number of this item in the group, and of all its items
 *   TSL_GLOBAL_ITEM(d)           TSL_GROUP(d) * TSL_ITEMS(d) + TSL_ITEM(d), as TSL_INDEX
 *   TSL_START()                  first in a kernel: waits for previous launches (tsl_launch_early())
 *   TSL_END()                    the next launch may begin to start, once all groups are here
 *   TSL_BARRIER()                waits for all items of the group; their writes to local memory are visible
 *   TSL_FMA(a, b, c)             a * b + c, rounded once; scalars and vectors
 *   TSL_MUL(type, a, b)          a * b, rounded and never fused with later operations; scalars
 *   TSL_AS_INDEX(x)              the bits of a double, as TSL_INDEX
 *   TSL_AS_DOUBLE(i)             the double that has the bits of a TSL_INDEX
 *   TSL_AS_INT(x), TSL_AS_FLOAT(i)   bits of a float as int, and back
 *   TSL_FLOAT_OF_HALF(bits), TSL_HALF_OF_FLOAT(x)  f16 as an unsigned short; rounded once, to nearest even
 *   TSL_LOCAL_ADD(pointer, x)    atomic addition of x to an unsigned number in local memory
 *   TSL_DOT4(s, u, a, b, sum)    sum + the products of four bytes of two ints, signed (s) or unsigned (u),
 *                                modulo 2^32; s and u are literals
 *   TSL_ERF(x), TSL_TANH(x)      of a scalar, to a few ulp
 *   TSL_EXP2(x)                  2 to the power of a float, to a few ulp; subnormal results may be 0
 *   TSL_MAX(x, y)                the larger of two floats, NaN if one is; zeros are equal
 *   TSL_NAN(type)                the quiet NaN whose sign and payload are zero
 *   TSL_VECTOR(type, n)          n = 2, 4, 8 or 16 numbers
 *   TSL_SPLAT(type, n, x)        such a vector, x in every lane
 *   TSL_LOAD(type, n, pointer)   n numbers from global memory; aligned to the element only.
 *   TSL_LOAD_ALIGNED(type, n, pointer)  TSL_LOAD, aligned to the vector.
 *   TSL_STORE(type, n, pointer, vector)
 *   TSL_STORE_ALIGNED(type, n, pointer, vector)
 *   TSL_STORE_WHOLE(type, n, pointer, vector)  aligned store in one access: 16 bytes of int, float,
 *                                TSL_INDEX or double; later loads are not moved before it
 *   TSL_LOCAL_LOAD(type, n, pointer)   n numbers, at most 16 bytes in all, from local memory, aligned
 *   TSL_LOCAL_STORE(type, n, pointer, vector)
 *   TSL_LANE(vector, i)          lane i (a literal, hexadecimal above 9), to read or to assign
 *   TSL_IMAGE                    type of an argument: an image, rows of texels of four floats
 *   TSL_TEXEL(image, column, row) a texel, as TSL_VECTOR(float, 4); zeros outside the image
 *   TSL_UNROLL, TSL_UNROLL_BY(n) before a loop: unroll it fully, or n rounds
 *
 * Vectors support + - * between vectors of one type; all else is done by lanes. */
// clang-format on
#ifndef TSL_KERNEL_DIALECT_H
#define TSL_KERNEL_DIALECT_H

#include "dialect_impl.h"

#endif
