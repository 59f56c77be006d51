/* The kernel dialect: the words in which portable kernels are written, in the common subset of OpenCL C 1.2
 * and CUDA C++. Each device folder has a dialect_impl.h that says how it spells them; docs/DIALECT.md has a
 * page with examples. The words, all of which tests/dialect/words.cl uses: */
// clang-format off
/*   TSL_KERNEL(x, y, z)          in front of a kernel's name: a kernel with work-groups of x by y by z items
 *   TSL_KERNEL_SHARING(x, y, z, groups)  the same, where so many groups should find room on a compute unit at once: the
 *                                compiler may save registers for it
 *   TSL_FUNCTION                 in front of a helper's return type
 *   TSL_GLOBAL                   qualifier of pointers to device memory
 *   TSL_LOCAL                    declares an array shared by the work-group, at the top of a kernel
 *   TSL_LOCAL_LINES              the same, aligned to 128 bytes, a round of all banks
 *   TSL_LOCAL_BYTES(name, bytes)  a TSL_LOCAL_LINES array of char of which a text has one at most: it may take as much as
 *                                the device's local_bytes_inside, and the host calls kernel_local_bytes() with its bytes
 *   TSL_LOCAL_POINTER            qualifier of pointers to such an array, in helpers
 *   TSL_CONSTANT                 declares a constant table outside functions
 *   TSL_RESTRICT                 this pointer's memory is reached by no other pointer
 *   TSL_INDEX                    a signed 64-bit integer
 *   TSL_REPRODUCIBILITY                     an unsigned 64-bit integer, whose sums wrap around
 *   TSL_REAL                     the element type that the build chose: float or double
 *   TSL_GROUP(d) TSL_GROUPS(d)   which work-group this is, and how many there are, in dimension d (0, 1 or 2,
 *                                written out)
 *   TSL_ITEM(d) TSL_ITEMS(d)     which item of the group this is, and how many there are
 *   TSL_GLOBAL_ITEM(d)           TSL_GROUP(d) * TSL_ITEMS(d) + TSL_ITEM(d), as TSL_INDEX
 *   TSL_BARRIER()                all items of the group arrive before any goes on, and see local memory
 *   TSL_FMA(a, b, c)             a * b + c, rounded once; scalars and vectors
 *   TSL_MUL(type, a, b)          a * b, rounded, which no compiler fuses with what follows; scalars
 *   TSL_AS_INDEX(x)              the bits of a double, as TSL_INDEX
 *   TSL_AS_DOUBLE(i)             the double that has the bits of a TSL_INDEX
 *   TSL_AS_INT(x), TSL_AS_FLOAT(i)   the same of a float, as int
 *   TSL_FLOAT_OF_HALF(bits), TSL_HALF_OF_FLOAT(x)  f16 as an unsigned short; rounded once, to nearest even
 *   TSL_LOCAL_ADD(pointer, x)    adds x to an unsigned number in local memory, to which other items may add meanwhile
 *   TSL_DOT4(s, u, a, b, sum)    sum + the products of four bytes of an int each, signed (s) or not (u), written out as here;
 *                                modulo 2^32
 *   TSL_ERF(x), TSL_TANH(x)      of a scalar, to a few units in the last digit
 *   TSL_EXP2(x)                  2 to the power of a float, to a few units in the last digit; 0 is right where it is not normal
 *   TSL_MAX(x, y)               the larger of two floats, NaN where one is; zeros are equal
 *   TSL_NAN(type)                the quiet NaN whose sign and payload are zero
 *   TSL_VECTOR(type, n)          n = 2, 4, 8 or 16 numbers
 *   TSL_SPLAT(type, n, x)        such a vector, x in every lane
 *   TSL_LOAD(type, n, pointer)   n numbers from global memory; the pointer is aligned to the element only
 *   TSL_LOAD_ALIGNED(type, n, pointer)  the same; the pointer is aligned to the vector
 *   TSL_STORE(type, n, pointer, vector)
 *   TSL_STORE_ALIGNED(type, n, pointer, vector)
 *   TSL_STORE_WHOLE(type, n, pointer, vector)  the same as one access: 16 bytes of int, float, TSL_INDEX or double; no
 *                                load behind it is moved in front of it
 *   TSL_LOCAL_LOAD(type, n, pointer)   n numbers of at most 16 bytes in all from local memory, aligned to the vector
 *   TSL_LOCAL_STORE(type, n, pointer, vector)
 *   TSL_LANE(vector, i)          lane i (a number written out, hexadecimal above 9), to read or to assign
 *   TSL_IMAGE                    type of an argument: an image, rows of texels of four floats (on devices that have
 *                                images)
 *   TSL_TEXEL(image, column, row) a texel, as TSL_VECTOR(float, 4); zeros outside the image
 *   TSL_UNROLL, TSL_UNROLL_BY(n) in front of a loop: unroll all of it, or n rounds
 *
 * Vectors know + - * between vectors of one type; everything else goes lane by lane. */
// clang-format on
#ifndef TSL_KERNEL_DIALECT_H
#define TSL_KERNEL_DIALECT_H

#include "dialect_impl.h"

#endif
