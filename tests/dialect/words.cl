/* A kernel that uses every word of the dialect (src/kernel/dialect.h) and of the headers that kernels
 * share. The host computes equal results in test_dialect.c. A missing word fails the test.
 *
 * Each item, number g = (z * height + y) * width + x of the whole grid, stores
 *   places[g]      its place: group, number of groups, item, number of items, five bits each
 *   places[n + g]  a polynomial in the integers of `given`: a struct by value arrives whole
 *   lines[g]       given.alpha times a weighted sum of its group neighbours' numbers in local memory
 *   lines[n + g]   whole[g], moved by every WIDTH-th item as an aligned vector
 *   lines[2 n + g] a product of numbers of `fine`, less one, where a fused operation would differ; at
 *                  g = 0 a NaN, and at g = 2 the error function and the hyperbolic tangent of one
 *   vectors + 1 + 2 g WIDTH    sums, differences and products of vectors of whole numbers, then fused
 *                              multiply-adds of numbers where a second rounding would differ
 *
 * Parameters: TSL_PARAM_WIDTH, the vectors' length; TSL_PARAM_IMAGES, defined where the device has images.
 * Local memory: twice 64 numbers. Vectors are aligned to the element only, unless stated otherwise. */
#include "kernel_epilogue.h"
#include "kernel_gemm.h"

#define WIDTH TSL_PARAM_WIDTH
#ifdef TSL_REAL_IS_DOUBLE
#define WHOLE_WIDTH 2
#else
#define WHOLE_WIDTH 4
#endif
#if WIDTH == WHOLE_WIDTH /* sixteen bytes */
#define STORE_LINES TSL_STORE_WHOLE
#else
#define STORE_LINES TSL_STORE_ALIGNED
#endif
#define ITEMS 64

TSL_CONSTANT int words_weights[4] = {1, 2, 3, 5};

/* Returns functions that exist only for floats; 0 for doubles. */
TSL_FUNCTION TSL_REAL words_of_floats(TSL_REAL x) {
#ifdef TSL_REAL_IS_DOUBLE
  return 0 * x;
#else
  return TSL_EXP2(-x) + TSL_MAX(x, 1.0f) + 2 * TSL_MAX(-x, 0.5f);
#endif
}

/* sum of weights[i] * line[first + i], around the end */
TSL_FUNCTION TSL_REAL words_weighted(TSL_LOCAL_POINTER const TSL_REAL *line, int first) {
  TSL_REAL sum = 0;
  TSL_UNROLL
  for (int i = 0; i < 4; i++)
    sum = TSL_FMA((TSL_REAL)words_weights[i], line[(first + i) % ITEMS], sum);
  return sum;
}

TSL_FUNCTION TSL_INDEX words_place(int groups_only, TSL_INDEX place) {
  place = place * 32 + (groups_only ? TSL_GROUP(0) : TSL_ITEM(0));
  place = place * 32 + (groups_only ? TSL_GROUP(1) : TSL_ITEM(1));
  place = place * 32 + (groups_only ? TSL_GROUP(2) : TSL_ITEM(2));
  place = place * 32 + (groups_only ? TSL_GROUPS(0) : TSL_ITEMS(0));
  place = place * 32 + (groups_only ? TSL_GROUPS(1) : TSL_ITEMS(1));
  return place * 32 + (groups_only ? TSL_GROUPS(2) : TSL_ITEMS(2));
}

TSL_FUNCTION TSL_INDEX words_polynomial(const tsl_gemm_arguments args) {
  TSL_INDEX fields[12];
  fields[0] = args.m, fields[1] = args.n, fields[2] = args.k;
  fields[3] = args.a_offset, fields[4] = args.a_row_stride, fields[5] = args.a_col_stride;
  fields[6] = args.b_offset, fields[7] = args.b_row_stride, fields[8] = args.b_col_stride;
  fields[9] = args.c_offset, fields[10] = args.c_row_stride, fields[11] = args.c_col_stride;
  const TSL_UINT64 far = (TSL_UINT64)1 << 63; /* times 7 it wraps around, to itself */
  TSL_UINT64 sum = far;
  TSL_UNROLL_BY(3)
  for (int i = 0; i < 12; i++)
    sum = sum * 7 + (TSL_UINT64)fields[i];
  return (TSL_INDEX)(sum - far);
}

TSL_KERNEL_SHARING(8, 4, 2, 2)
tsl_words(TSL_GLOBAL const TSL_REAL *TSL_RESTRICT whole, TSL_GLOBAL const TSL_REAL *TSL_RESTRICT fine,
          TSL_GLOBAL TSL_INDEX *TSL_RESTRICT places, TSL_GLOBAL TSL_REAL *TSL_RESTRICT lines,
          TSL_GLOBAL TSL_REAL *TSL_RESTRICT vectors, const tsl_gemm_arguments args) {
  TSL_LOCAL TSL_REAL line[ITEMS];
  TSL_LOCAL_LINES TSL_REAL pairs[ITEMS];
  TSL_LOCAL_BYTES(numbers, ITEMS);
  const TSL_INDEX width = (TSL_INDEX)TSL_GROUPS(0) * TSL_ITEMS(0);
  const TSL_INDEX height = (TSL_INDEX)TSL_GROUPS(1) * TSL_ITEMS(1);
  const TSL_INDEX depth = (TSL_INDEX)TSL_GROUPS(2) * TSL_ITEMS(2);
  const TSL_INDEX g = (TSL_GLOBAL_ITEM(2) * height + TSL_GLOBAL_ITEM(1)) * width + TSL_GLOBAL_ITEM(0);
  const int item = (TSL_ITEM(2) * TSL_ITEMS(1) + TSL_ITEM(1)) * TSL_ITEMS(0) + TSL_ITEM(0);

  TSL_START();
  places[g] = words_place(0, words_place(1, 0));
  places[width * height * depth + g] = words_polynomial(args);

  line[item] = whole[g];
  numbers[item] = (char)item;
  if (item % 2 == 0)
    TSL_LOCAL_STORE(TSL_REAL, 2, pairs + item, TSL_LOAD(TSL_REAL, 2, whole + g));
  TSL_BARRIER();
  const TSL_VECTOR(TSL_REAL, 2) pair = TSL_LOCAL_LOAD(TSL_REAL, 2, pairs + item / 2 * 2);
  /* 0, if local memory returns the stored numbers. */
  const int other = ITEMS - 1 - item;
  const TSL_REAL lost =
      (item % 2 == 0 ? TSL_LANE(pair, 0) : TSL_LANE(pair, 1)) - whole[g] + (TSL_REAL)(numbers[other] - other);
  tsl_store_scaled(lines + g, words_weighted(line, item + 1) + lost, args.alpha, args.beta);

  const TSL_VECTOR(TSL_REAL, WIDTH) a = TSL_LOAD(TSL_REAL, WIDTH, whole + g);
  const TSL_VECTOR(TSL_REAL, WIDTH) b = TSL_LOAD(TSL_REAL, WIDTH, whole + g + 1);
  const TSL_VECTOR(TSL_REAL, WIDTH) three = TSL_SPLAT(TSL_REAL, WIDTH, (TSL_REAL)3);
  TSL_VECTOR(TSL_REAL, WIDTH) sum = a * b + three - b;
  sum = sum + TSL_LOAD_ALIGNED(TSL_REAL, WIDTH, whole + g / WIDTH * WIDTH);
  TSL_VECTOR(TSL_REAL, WIDTH)
  fused = TSL_FMA(TSL_LOAD(TSL_REAL, WIDTH, fine + g), TSL_LOAD(TSL_REAL, WIDTH, fine + g + 1),
                  TSL_SPLAT(TSL_REAL, WIDTH, (TSL_REAL)-1));
  TSL_LANE(sum, 0) = TSL_LANE(fused, 1);
#if TSL_PARAM_WIDTH == 16
  TSL_LANE(fused, f) = TSL_LANE(sum, a);
#endif
  TSL_GLOBAL TSL_REAL *mine = vectors + 1 + 2 * WIDTH * g;
  TSL_STORE(TSL_REAL, WIDTH, mine, sum);
  TSL_STORE(TSL_REAL, WIDTH, mine + WIDTH, fused);
  if (g % WIDTH == 0)
    STORE_LINES(TSL_REAL, WIDTH, lines + width * height * depth + g,
                TSL_LOAD_ALIGNED(TSL_REAL, WIDTH, whole + g));
  lines[2 * width * height * depth + g] =
      g == 0   ? TSL_NAN(TSL_REAL)
      : g == 2 ? TSL_ERF(fine[g]) + 2 * TSL_TANH(fine[g]) + words_of_floats(fine[g])
               : TSL_MUL(TSL_REAL, fine[g], fine[g + 1]) - 1;
#ifdef TSL_REAL_IS_DOUBLE
  /* The sign and the exponent of a number's bits, and the bits as a number again. */
  if (g == 1)
    lines[2 * width * height * depth + 1] =
        (TSL_REAL)(TSL_AS_INDEX(-1.5) >> 52) + TSL_AS_DOUBLE(TSL_AS_INDEX(fine[1]));
#endif
  TSL_END();
}

/* Stores eight numbers for item g. They are sums of products of the bytes of two scrambled numbers,
 * of either sign; the f16 with number 64 g + g % 64, as a float; the f16 nearest to a float of
 * scrambled bits; and the sum of all items of the group. */
TSL_FUNCTION unsigned words_scrambled(unsigned x) {
  x = (x ^ x >> 16) * 0x45d9f3bu;
  return x ^ x >> 13;
}

TSL_KERNEL(64, 1, 1)
tsl_words_narrow(TSL_GLOBAL int *TSL_RESTRICT narrow) {
  TSL_LOCAL unsigned added[2];
  const int g = (int)TSL_GLOBAL_ITEM(0);
  const int x = (int)words_scrambled(3u * (unsigned)g + 1), y = (int)words_scrambled(5u * (unsigned)g + 2);
  narrow[8 * g] = TSL_DOT4(s, s, x, y, 7);
  narrow[8 * g + 1] = TSL_DOT4(s, u, x, y, -7);
  narrow[8 * g + 2] = TSL_DOT4(u, s, x, y, 0x7fffffff);
  narrow[8 * g + 3] = TSL_DOT4(u, u, x, y, g);
  narrow[8 * g + 4] = TSL_AS_INT(TSL_FLOAT_OF_HALF((unsigned short)(64 * g + g % 64)));
  narrow[8 * g + 5] = TSL_HALF_OF_FLOAT(TSL_AS_FLOAT(x));
  narrow[8 * g + 6] = TSL_HALF_OF_FLOAT(TSL_AS_FLOAT((y & 0x0fffffff) + 0x30000000)); /* near f16's numbers */
  if (TSL_ITEM(0) < 2)
    added[TSL_ITEM(0)] = 5;
  TSL_BARRIER();
  TSL_LOCAL_ADD(&added[g % 2], (unsigned)g);
  TSL_BARRIER();
  narrow[8 * g + 7] = (int)added[0] - 3 * (int)added[1];
}

#ifdef TSL_PARAM_IMAGES
TSL_FUNCTION TSL_VECTOR(float, 4) words_texel(TSL_IMAGE image, int column, int row) {
  return TSL_TEXEL(image, column, row);
}

/* Item (x, y) leaves texel (x - left, y - above), the first of which lie outside the image. */
TSL_KERNEL(8, 4, 1)
tsl_words_image(TSL_IMAGE image, TSL_GLOBAL float *TSL_RESTRICT texels, const int left, const int above) {
  const TSL_INDEX x = TSL_GLOBAL_ITEM(0), y = TSL_GLOBAL_ITEM(1);
  const TSL_INDEX width = (TSL_INDEX)TSL_GROUPS(0) * TSL_ITEMS(0);
  TSL_STORE(float, 4, texels + 4 * (y * width + x), words_texel(image, (int)x - left, (int)y - above));
}
#endif
