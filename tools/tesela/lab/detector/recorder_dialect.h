/* The kernel dialect (src/kernel/dialect.h) as C with the detector's items and barriers, for recordings of
 * the library's own kernels. TSL_LOCAL is replaced in the text (lab_detect.c). LAB_REAL is float or double.
 */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/* Records multiply-adds of `count` lanes: lanes of A, of B and of the sum follow each other. */
void lab_multiply_add(double a, double b);

#define TSL_KERNEL(x, y, z) void
#define TSL_KERNEL_SHARING(x, y, z, groups) void
#define TSL_FUNCTION static inline
#define TSL_GLOBAL
#define TSL_LOCAL_POINTER
#define TSL_CONSTANT static const
#define TSL_RESTRICT
#define TSL_INDEX int64_t
#define TSL_UINT64 uint64_t
#define LAB_DIMENSION(vector, d) ((int)((d) == 0 ? (vector).x : (d) == 1 ? (vector).y : (vector).z))
#define TSL_ITEM(d) LAB_DIMENSION(lab_item, d)
#define TSL_GROUP(d) LAB_DIMENSION(lab_group, d)
#define TSL_ITEMS(d) LAB_DIMENSION(lab_items, d)
#define TSL_GROUPS(d) LAB_DIMENSION(lab_groups, d)
#define TSL_GLOBAL_ITEM(d) ((TSL_INDEX)TSL_GROUP(d) * TSL_ITEMS(d) + TSL_ITEM(d))
#define TSL_BARRIER() lab_barrier()
#define TSL_START() ((void)0)
#define TSL_END() ((void)0)
#define TSL_UNROLL
#define TSL_UNROLL_BY(n)
#define TSL_MUL(type, a, b) ((a) * (b))

#define TSL_PASTE_(a, b) a##b
#define TSL_PASTE(a, b) TSL_PASTE_(a, b)
#define LAB_VECTORS(type, bytes)                                                                             \
  typedef type TSL_PASTE(type, 2) __attribute__((vector_size(2 * (bytes)), aligned(bytes)));                 \
  typedef type TSL_PASTE(type, 4) __attribute__((vector_size(4 * (bytes)), aligned(bytes)));                 \
  typedef type TSL_PASTE(type, 8) __attribute__((vector_size(8 * (bytes)), aligned(bytes)));                 \
  typedef type TSL_PASTE(type, 16) __attribute__((vector_size(16 * (bytes)), aligned(bytes)));
LAB_VECTORS(float, 4)
LAB_VECTORS(double, 8)
#define TSL_VECTOR(type, n) TSL_PASTE(type, n)
#define TSL_SPLAT(type, n, x) ((TSL_VECTOR(type, n)){0} + (type)(x))
#define TSL_LANE(vector, i) ((vector)[0x##i])
#define TSL_LOAD(type, n, pointer) (*(const TSL_VECTOR(type, n) *)(pointer))
#define TSL_LOAD_ALIGNED(type, n, pointer) TSL_LOAD(type, n, pointer)
#define TSL_STORE(type, n, pointer, vector) (*(TSL_VECTOR(type, n) *)(pointer) = (vector))
#define TSL_STORE_ALIGNED(type, n, pointer, vector) TSL_STORE(type, n, pointer, vector)
#define TSL_LOCAL_LOAD(type, n, pointer) TSL_LOAD(type, n, pointer)
#define TSL_LOCAL_STORE(type, n, pointer, vector) TSL_STORE(type, n, pointer, vector)

static inline void lab_fma(LAB_REAL *lanes, int count) {
  for (int i = 0; i < count; i++) {
    lab_multiply_add((double)lanes[i], (double)lanes[count + i]);
    lanes[2 * count + i] += lanes[i] * lanes[count + i];
  }
}
#define TSL_FMA(a, b, c)                                                                                     \
  ({                                                                                                         \
    __typeof__((c) + (c)) lab_lanes[3] = {(a), (b), (c)};                                                    \
    lab_fma((LAB_REAL *)lab_lanes, (int)(sizeof *lab_lanes / sizeof(LAB_REAL)));                             \
    lab_lanes[2];                                                                                            \
  })

/* An image is its matrix; texels beyond the edge are zeros. */
typedef struct lab_image {
  const float *data;
  long rows, cols, pitch;
} lab_image;
#define TSL_IMAGE lab_image
static inline float4 lab_texel(lab_image image, long column, long row) {
  float4 texel = {0};
  for (int i = 0; i < 4; i++)
    if (row >= 0 && row < image.rows && column >= 0 && 4 * column + i < image.cols)
      texel[i] = image.data[row * image.pitch + 4 * column + i];
  return texel;
}
#define TSL_TEXEL(image, column, row) lab_texel(image, column, row)
