/* Table of the routines. All arguments are addresses; integers have the program's width. */
#include "interpose/entry_lists.h"
#include "scalapack/scalapack_gemm.h"
#include "scalapack/scalapack_transpose.h"

#include <stddef.h>

/* Kinds of arguments: (name, declaration). A matrix has its first row and column and a descriptor. */
#define LETTER(trans) (trans, const char *trans)
#define IN(x) (x, const void *x)
#define OUT(x) (x, void *x)
#define FACTOR(a, i, j, desc) IN(a), IN(i), IN(j), IN(desc)
#define RESULT(c, i, j, desc) OUT(c), IN(i), IN(j), IN(desc)
#define DECLARATION(tuple) PART_2 tuple

/* gfortran appends the lengths of character arguments, which are not read. */
#define ENTRY(letter, routine, elements, length_types, lengths, compute, ...)                                \
  TESELA_API void PASTE(p, PASTE(letter, routine))(EACH(DECLARATION, __VA_ARGS__)) {                         \
    typedef void forward(EACH(DECLARATION, __VA_ARGS__) LIST length_types);                                  \
    static tsl_scalapack_symbol symbol = {.name = STRING(PASTE(p, PASTE(letter, routine))),                  \
                                          .type = elements};                                                 \
    tsl_next_function *next = compute;                                                                       \
    if (next)                                                                                                \
      ((forward *)next)(NAMES(__VA_ARGS__) LIST lengths);                                                    \
  }

#define SIZES_AND_SCALARS .m = m, .n = n, .alpha = alpha, .beta = beta
#define ADD(letter)                                                                                          \
  tsl_scalapack_transpose(                                                                                   \
      &symbol, &(tsl_scalapack_add){                                                                         \
                   .trans = letter, SIZES_AND_SCALARS, .a = {a, ia, ja, desca}, .c = {c, ic, jc, descc}})
#define ADD_ARGUMENTS IN(m), IN(n), IN(alpha), FACTOR(a, ia, ja, desca), IN(beta), RESULT(c, ic, jc, descc)

#define BOTH(letter, elements)                                                                               \
  ENTRY(letter, gemm_, elements, (, size_t, size_t), (, 1, 1),                                               \
        tsl_scalapack_gemm(&symbol, &(tsl_scalapack_multiply){.trans_a = *transa,                            \
                                                              .trans_b = *transb,                            \
                                                              .k = k,                                        \
                                                              SIZES_AND_SCALARS,                             \
                                                              .a = {a, ia, ja, desca},                       \
                                                              .b = {b, ib, jb, descb},                       \
                                                              .c = {c, ic, jc, descc}}),                     \
        LETTER(transa), LETTER(transb), IN(m), IN(n), IN(k), IN(alpha), FACTOR(a, ia, ja, desca),            \
        FACTOR(b, ib, jb, descb), IN(beta), RESULT(c, ic, jc, descc))                                        \
  ENTRY(letter, geadd_, elements, (, size_t), (, 1), ADD(*trans), LETTER(trans), ADD_ARGUMENTS)
#define REAL(letter, elements)                                                                               \
  BOTH(letter, elements)                                                                                     \
  ENTRY(letter, tran_, elements, (), (), ADD('T'), ADD_ARGUMENTS)
#define COMPLEX(letter, elements)                                                                            \
  BOTH(letter, elements)                                                                                     \
  ENTRY(letter, tranu_, elements, (), (), ADD('T'), ADD_ARGUMENTS)                                           \
  ENTRY(letter, tranc_, elements, (), (), ADD('C'), ADD_ARGUMENTS)

REAL(s, TESELA_F32)
REAL(d, TESELA_F64)
COMPLEX(c, TESELA_C64)
COMPLEX(z, TESELA_C128)
