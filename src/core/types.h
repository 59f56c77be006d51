/* Element types: names, sizes, and conversions through doubles (two for complex types), which are exact. */
#ifndef TSL_CORE_TYPES_H
#define TSL_CORE_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tesela/tesela.h>

typedef struct tsl_type_info {
  tesela_type type;
  const char *name;        /* name in command lines, plans, file headers and tables: "f32" */
  const char *kernel_name; /* name in the kernel dialect: "float"; NULL: kernels have no such type */
  size_t size;             /* bytes of an element */
  tesela_type component;   /* half of a complex element, else the type itself */
  tesela_type sums;        /* sums of products: f32 for narrower numbers, i32 for integers, else itself */
  bool is_complex;
  bool is_integer;
  double unit_roundoff; /* u = 2^-p of a component, to nearest; 0 for integers */
  double largest;       /* largest finite component */
  double smallest;      /* smallest positive subnormal component; 0 for integers */
} tsl_type_info;

/* Returns the type's row; NULL: no type, such as TESELA_TYPE_DEFAULT. */
const tsl_type_info *tsl_type(tesela_type type);
/* Returns the result type of products: the type of sums for 8-bit types, else the type itself. */
tesela_type tsl_type_of_products(tesela_type type);
/* Returns the type with this name; TESELA_TYPE_DEFAULT if there is none. */
tesela_type tsl_type_parse(const char *name);
/* Returns row `index` in the order of the enumeration; NULL past the end. */
const tsl_type_info *tsl_type_at(int index);
/* Returns the names of all types, "f64, f32, ...", for messages. */
const char *tsl_type_names(void);

/* Loads one element as (real, imaginary); value[1] is 0 for real types. `src` needs no alignment. */
void tsl_type_load(tesela_type type, const void *src, double value[2]);
/* Stores an element, rounded once to nearest even. Overflow gives infinity, or NaN for e4m3; integers
 * saturate, and NaN becomes 0. Real types ignore value[1]. `data` needs no alignment. */
void tsl_type_store(tesela_type type, void *data, const double value[2]);

/* Converts `count` elements between separate, unaligned ranges; steps in elements, of any sign. */
void tsl_type_convert(tesela_type from, const void *source, int64_t source_step, tesela_type type,
                      void *target, int64_t target_step, size_t count);

/* Converts; narrowing rounds once, subnormals too. NaN becomes quiet; overflow: infinity, or NaN for e4m3. */
uint16_t tsl_f16_from_f64(double value);
double tsl_f16_to_f64(uint16_t bits);
uint16_t tsl_bf16_from_f64(double value);
double tsl_bf16_to_f64(uint16_t bits);
uint8_t tsl_e4m3_from_f64(double value);
double tsl_e4m3_to_f64(uint8_t bits);
uint8_t tsl_e5m2_from_f64(double value);
double tsl_e5m2_to_f64(uint8_t bits);

#endif
