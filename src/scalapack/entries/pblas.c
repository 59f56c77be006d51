/* All arguments are pointers; integers have the program's width. */
#include "scalapack/scalapack_gemm.h"
#include "scalapack/scalapack_transpose.h"

#include <stddef.h>

#define STRING(name) STRING_OF(name)
#define STRING_OF(name) #name
#define JOIN(a, b, c) JOIN_OF(a, b, c)
#define JOIN_OF(a, b, c) a##b##c
#define NAME(routine) JOIN(p, LETTER, routine)
#define SYMBOL(routine)                                                                                      \
  { .name = STRING(NAME(routine)), .type = TYPE }

#define LETTER s
#define TYPE TESELA_F32
#include "scalapack/entries/both.h"
#include "scalapack/entries/scalapack_entry_real.h"
#undef LETTER
#undef TYPE

#define LETTER d
#define TYPE TESELA_F64
#include "scalapack/entries/both.h"
#include "scalapack/entries/scalapack_entry_real.h"
#undef LETTER
#undef TYPE

#define LETTER c
#define TYPE TESELA_C64
#include "scalapack/entries/both.h"
#include "scalapack/entries/scalapack_entry_complex.h"
#undef LETTER
#undef TYPE

#define LETTER z
#define TYPE TESELA_C128
#include "scalapack/entries/both.h"
#include "scalapack/entries/scalapack_entry_complex.h"
