/* Element types: one table with what each is called, how large it is, and how it converts.
 * Conversions go through double or pairs of doubles; every type here fits one exactly, component by
 * component. */
#ifndef TSL_BASE_TYPES_H
#define TSL_BASE_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tesela/tesela.h>

typedef struct tsl_type_info {
  tesela_type type;
  const char *name; /* "f32": command line, plans, file headers, tables */
  const char
      *kernel_name;      /* what the kernel dialect calls it: "float"; NULL where kernels have no such type */
  size_t size;           /* bytes of an element */
  tesela_type component; /* itself, or the type of the two halves of a complex element */
  tesela_type sums;      /* what sums of products that end in it are made in: f32 for narrower numbers, i32
                            for integers, else itself */
  bool is_complex;
  bool is_integer;
  double unit_roundoff; /* u = 2^-p of a component, round to nearest; 0 for integers */
  double largest;       /* largest finite component */
  double smallest;      /* smallest positive subnormal component; 0 for integers */
} tsl_type_info;

/* The table's row; NULL for a value that is no type (TESELA_TYPE_DEFAULT included). */
const tsl_type_info *tsl_type(tesela_type type);
/* What products of factors of this type are where nothing else is said: sums of those that a byte holds, else
 * the same. */
tesela_type tsl_type_of_products(tesela_type type);
/* By name; TESELA_TYPE_DEFAULT when there is none. */
tesela_type tsl_type_parse(const char *name);
/* All rows, in the order of the enumeration: tsl_type_at(0) ... until NULL. */
const tsl_type_info *tsl_type_at(int index);
/* Names of all types, "f64, f32, ...", for messages. */
const char *tsl_type_names(void);

/* One element to or from (real, imaginary). Rounds once, to nearest even; too large becomes infinity (NaN in
 * e4m3); integers saturate, and NaN becomes 0 there. `value[1]` is 0 for real types, and ignored: a complex
 * number that becomes real loses its imaginary part, so callers who mind refuse such a pair of types. `src`
 * needs no alignment. */
void tsl_type_load(tesela_type type, const void *src, double value[2]);
void tsl_type_store(tesela_type type, void *data, const double value[2]);

/* `count` elements, the steps in elements of each side (any sign); the ranges do not overlap and need no
 * alignment. Equal types are copied bit by bit. Dense copies and conversions between f64, f32, f16 and bf16
 * by way of f32 run at the speed of memory or near it; other pairs take some nanoseconds an element. */
void tsl_type_convert(tesela_type from, const void *source, int64_t source_step, tesela_type type,
                      void *target, int64_t target_step, size_t count);

/* The narrow floating-point types as bits. Rounded once from double, subnormals included; NaN stays NaN and
 * becomes quiet. e4m3 has no infinity: what is too large becomes NaN there. */
uint16_t tsl_f16_from_f64(double value);
double tsl_f16_to_f64(uint16_t bits);
uint16_t tsl_bf16_from_f64(double value);
double tsl_bf16_to_f64(uint16_t bits);
uint8_t tsl_e4m3_from_f64(double value);
double tsl_e4m3_to_f64(uint8_t bits);
uint8_t tsl_e5m2_from_f64(double value);
double tsl_e5m2_to_f64(uint8_t bits);

#endif
