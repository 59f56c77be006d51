/* Element types: a table of their names, sizes and conversions. Conversions use a double, or two for
 * complex types, which hold every type exactly. */
#ifndef TSL_BASE_TYPES_H
#define TSL_BASE_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tesela/tesela.h>

typedef struct tsl_type_info {
  tesela_type type;
  const char *name;        /* name in command lines, plans, file headers and tables: "f32" */
  const char *kernel_name; /* name in the kernel dialect: "float"; NULL: kernels have no such type */
  size_t size;             /* bytes of an element */
  tesela_type component;   /* type of a component: half of a complex element, else the type itself */
  /* type of the sums of products with this result: f32 for narrower numbers, i32 for integers, else the
   * type itself */
  tesela_type sums;
  bool is_complex;
  bool is_integer;
  double unit_roundoff; /* unit roundoff u = 2^-p of a component, round to nearest; 0 for integers */
  double largest;       /* largest finite component */
  double smallest;      /* smallest positive subnormal component; 0 for integers */
} tsl_type_info;

/* Returns the type's row; NULL if the value is no type (TESELA_TYPE_DEFAULT included). */
const tsl_type_info *tsl_type(tesela_type type);
/* Returns the default result type of products with factors of this type: the type of sums for 8-bit
 * types, else the type itself. */
tesela_type tsl_type_of_products(tesela_type type);
/* Returns the type with this name; TESELA_TYPE_DEFAULT if there is none. */
tesela_type tsl_type_parse(const char *name);
/* Returns row `index` in the order of the enumeration; NULL past the end. */
const tsl_type_info *tsl_type_at(int index);
/* Returns the names of all types, "f64, f32, ...", for messages. */
const char *tsl_type_names(void);

/* Loads one element as (real, imaginary); value[1] is 0 for real types. `src` needs no alignment. */
void tsl_type_load(tesela_type type, const void *src, double value[2]);
/* Stores (real, imaginary) as one element, rounded once to nearest even. `data` needs no alignment. A value
 * that is too large becomes infinity, or NaN for e4m3. Integers saturate, and NaN becomes 0. Real types
 * ignore value[1], so callers refuse a conversion from complex to real if the imaginary part matters. */
void tsl_type_store(tesela_type type, void *data, const double value[2]);

/* Converts `count` elements. Steps are in elements and may be negative. The ranges do not overlap and
 * need no alignment. Equal types are copied bit by bit. Dense copies, and conversions between f64, f32,
 * f16 and bf16, run near the speed of memory. Other pairs take some nanoseconds an element. */
void tsl_type_convert(tesela_type from, const void *source, int64_t source_step, tesela_type type,
                      void *target, int64_t target_step, size_t count);

/* Convert between the bits of the narrow types and double. Narrowing rounds once, subnormals included.
 * NaN stays NaN and becomes quiet. A number that is too large becomes infinity, or NaN for e4m3, which
 * has no infinity. */
uint16_t tsl_f16_from_f64(double value);
double tsl_f16_to_f64(uint16_t bits);
uint16_t tsl_bf16_from_f64(double value);
double tsl_bf16_to_f64(uint16_t bits);
uint8_t tsl_e4m3_from_f64(double value);
double tsl_e4m3_to_f64(uint8_t bits);
uint8_t tsl_e5m2_from_f64(double value);
double tsl_e5m2_to_f64(uint8_t bits);

#endif
