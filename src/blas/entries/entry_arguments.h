/* Kinds of arguments, and what Fortran and CBLAS do differently. A tuple holds the name, then for Fortran the
 * declaration and the value that tesela reads, then both for CBLAS. Fortran passes addresses. CBLAS passes
 * values: tesela reads the INTEGER part of a WORD, the host BLAS gets all of it. */
#define SIZE(n) (n, const INTEGER *n, *n, WORD n, (INTEGER)n)
#define IN(x) (x, const void *x, x, const void *x, x)
#define OUT(x) (x, void *x, x, void *x, x)
/* Letters. KEY is the letter or constant itself, as the dispatch cache stores it. */
#define KEY(trans) (trans, const char *trans, tsl_blas_capital(*trans), int trans, trans)
#define TRANS(trans) (trans, const char *trans, tsl_blas_letter(*trans), int trans, tsl_blas_trans(trans))
#define UPLO(uplo) (uplo, const char *uplo, tsl_blas_letter(*uplo), int uplo, tsl_blas_uplo(uplo))
#define SIDE(side) (side, const char *side, tsl_blas_letter(*side), int side, tsl_blas_side(side))
#define DIAG(diag) (diag, const char *diag, tsl_blas_letter(*diag), int diag, tsl_blas_diag(diag))
#define ORDER(order) (order, const char *order, tsl_blas_order(*order), int order, order)
/* Scalars of the elements' type, read as an address or as a number, and real ones. */
#define SCALAR(s) (s, const void *s, s, CBLAS_SCALAR s, SCALAR_ADDRESS(s))
#define NUMBER(s) (s, const void *s, NUMBER_AT(s), CBLAS_SCALAR s, NUMBER_AT(SCALAR_ADDRESS(s)))
#define REAL(s) (s, const TSL_BLAS_REAL *s, *s, TSL_BLAS_REAL s, s)
#define REAL_SCALAR(s) (s, const void *s, s, TSL_BLAS_REAL s, &s)
#define REAL_NUMBER(s)                                                                                       \
  (s, const TSL_BLAS_REAL *s, tsl_blas_real_number((double)*s), TSL_BLAS_REAL s,                             \
   tsl_blas_real_number((double)s))
#define NUMBER_AT(address) tsl_number_of_type(TSL_BLAS_TYPE, address)
/* Kept on the stack: loading them for the rare call without a kernel makes all save registers. */
#if defined(__x86_64__)
#define ON_STACK volatile
#else
#define ON_STACK
#endif
#define STACK_SIZE(n) (n, const INTEGER *ON_STACK n, *n, WORD ON_STACK n, (INTEGER)n)
#define STACK_IN(x) (x, const void *ON_STACK x, x, const void *ON_STACK x, x)
#define STACK_OUT(x) (x, void *ON_STACK x, x, void *ON_STACK x, x)
#define STACK_SCALAR(s) (s, const void *ON_STACK s, s, CBLAS_SCALAR s, SCALAR_ADDRESS(s))
/* Arrays of arguments. */
#define LETTERS(trans) (trans, const char *trans, trans, const int *trans, trans)
#define SIZES(n) (n, const INTEGER *n, n, const INTEGER *n, n)
#define INPUTS(x) (x, const void *const *x, x, const void *const *x, x)
#define OUTPUTS(x) (x, void *const *x, x, void *const *x, x)

/* INTERFACE is FORTRAN or CBLAS. */
#define OF(form) PASTE(INTERFACE, _##form)
#define DECLARATIONS(...) EACH(OF(DECLARATION), __VA_ARGS__)
#define VALUES(...) EACH(OF(VALUE), __VA_ARGS__)
#define MEMBERS(...) EACH(OF(MEMBER), __VA_ARGS__)
#define VALUE(argument) OF(VALUE)(argument)
#define NAME(routine) OF(NAME)(routine)
#define SYMBOL(routine, title_of_fortran)                                                                    \
  {                                                                                                          \
    .name = STRING(NAME(routine)), .title = OF(TITLE)(routine, title_of_fortran),                            \
    .xerbla = STRING(NAME(xerbla)), .family = STRING(NAME(dgemm)), .probe = STRING(NAME(ddot)),              \
    .bits = 8 * (int)sizeof(INTEGER), .cblas = OF(IS_CBLAS), .type = TSL_BLAS_TYPE                           \
  }

#define FORTRAN_DECLARATION(tuple) PART_2 tuple
#define FORTRAN_VALUE(tuple) PART_3 tuple
#define FORTRAN_MEMBER(tuple) .PART_1 tuple = PART_3 tuple
#define FORTRAN_NAME(routine) TSL_BLAS_FORTRAN(routine)
#define FORTRAN_TITLE(routine, title) title
#define FORTRAN_IS_CBLAS false
/* Element of an array of arguments, as an argument. */
#define FORTRAN_ITEM(array, i) array + i
#define FORTRAN_SCALAR_ITEM(array, i) array + i
#define FORTRAN_LETTER(trans) tsl_blas_letter(trans)
#define FORTRAN_IS_PLAIN(key) ((key) == 'N')
#define FORTRAN_IS_TRANSPOSED(key) ((key) == 'T' || (key) == 'C')
#define FORTRAN_INDEX INTEGER
#define FORTRAN_FIRST_INDEX 1
/* CBLAS's first argument of levels 2 and 3; Fortran's matrices are column-major. */
#define FORTRAN_ORDER_DECLARATION
#define FORTRAN_ORDER_NAME
#define FORTRAN_ORDER TSL_BLAS_COLUMN_MAJOR
/* gfortran appends the lengths of character arguments, which are not read. */
#define FORTRAN_LENGTH_TYPES(letters) PASTE(LENGTH_TYPES_, letters)
#define LENGTH_TYPES_0
#define LENGTH_TYPES_1 , size_t
#define LENGTH_TYPES_2 , size_t, size_t
#define LENGTH_TYPES_3 , size_t, size_t, size_t
#define LENGTH_TYPES_4 , size_t, size_t, size_t, size_t
#define FORTRAN_LENGTHS(letters) PASTE(LENGTHS_, letters)
#define LENGTHS_0
#define LENGTHS_1 , 1
#define LENGTHS_2 , 1, 1
#define LENGTHS_3 , 1, 1, 1
#define LENGTHS_4 , 1, 1, 1, 1

#define CBLAS_DECLARATION(tuple) PART_4 tuple
#define CBLAS_VALUE(tuple) PART_5 tuple
#define CBLAS_MEMBER(tuple) .PART_1 tuple = PART_5 tuple
#define CBLAS_NAME(routine) TSL_BLAS_CBLAS(routine)
#define CBLAS_TITLE(routine, title) "cblas_" STRING(routine)
#define CBLAS_IS_CBLAS true
#define CBLAS_ITEM(array, i) array[i]
#define CBLAS_SCALAR_ITEM(array, i) ELEMENT_AS_SCALAR(array[i])
#define CBLAS_LETTER(trans) tsl_blas_trans(trans)
#define CBLAS_IS_PLAIN(key) ((key) == 111)
#define CBLAS_IS_TRANSPOSED(key) ((key) == 112 || (key) == 113)
#define CBLAS_INDEX size_t
#define CBLAS_FIRST_INDEX 0
#define CBLAS_ORDER_DECLARATION int order,
#define CBLAS_ORDER_NAME order,
#define CBLAS_ORDER order
#define CBLAS_LENGTH_TYPES(letters)
#define CBLAS_LENGTHS(letters)
