/* Forms of entries. An entry computes its result, or calls the host BLAS function with its own arguments. */

/* Any entry. Macro arguments:
 *   title       name for xerbla
 *   letters     number of character arguments
 *   parameters  of the function, in parentheses; arguments: their names
 *   direct      expression, true if it has computed a small call
 *   compute     expression: the host BLAS function to call, or NULL if the result is complete */
#define ENTRY(ROUTINE, title, letters, parameters, arguments, direct, compute)                               \
  TESELA_API void NAME(ROUTINE)(LIST parameters) {                                                           \
    typedef void forward(LIST parameters OF(LENGTH_TYPES)(letters));                                         \
    static tsl_blas_symbol symbol = SYMBOL(ROUTINE, title);                                                  \
    if (direct)                                                                                              \
      return;                                                                                                \
    tsl_blas_call call = {.symbol = &symbol};                                                                \
    tsl_blas_function *next;                                                                                 \
    next = compute;                                                                                          \
    if (next) {                                                                                              \
      ((forward *)next)(LIST arguments OF(LENGTHS)(letters));                                                \
      tsl_blas_forwarded(&call);                                                                             \
    }                                                                                                        \
  }

/* Function of vectors. `direct` and `compute` write `result`, a variable of type `computed`. */
#define FUNCTION(type, computed, ROUTINE, direct, compute, ...)                                              \
  TESELA_API type NAME(ROUTINE)(DECLARATIONS(__VA_ARGS__)) {                                                 \
    typedef type forward(DECLARATIONS(__VA_ARGS__));                                                         \
    static tsl_blas_symbol symbol = SYMBOL(ROUTINE, STRING(ROUTINE));                                        \
    computed result;                                                                                         \
    if (direct)                                                                                              \
      return (type)result;                                                                                   \
    tsl_blas_call call = {.symbol = &symbol};                                                                \
    tsl_blas_function *next;                                                                                 \
    next = compute;                                                                                          \
    if (next) {                                                                                              \
      result = (computed)((forward *)next)(NAMES(__VA_ARGS__));                                              \
      tsl_blas_forwarded(&call);                                                                             \
    }                                                                                                        \
    return (type)result;                                                                                     \
  }

/* Forwards a call of little work, and computes others. */
#define FORWARD_BELOW(work, compute) (next = tsl_blas_forward_if_below(&symbol, work)) ? next : (compute)
#define WORK(m, n, k) (double)VALUE(SIZE(m)) * (double)VALUE(SIZE(n)) * (double)VALUE(SIZE(k))
/* Calls tsl_blas_..._direct() with the entry's arguments. */
#define DIRECT(function, ...) tsl_blas_##function##_direct(&symbol, TSL_BLAS_TYPE, __VA_ARGS__)

/* Level 1, whose routines have no wrong arguments. */
#define VECTOR_ENTRY(ROUTINE, direct, compute, ...)                                                          \
  ENTRY(ROUTINE, STRING(ROUTINE), 0, (DECLARATIONS(__VA_ARGS__)), (NAMES(__VA_ARGS__)), direct, compute)

/* Levels 2 and 3. */
#define MATRIX_ENTRY(ROUTINE, title, letters, direct, compute, ...)                                          \
  ENTRY(L(ROUTINE), TSL_BLAS_UPPER title, letters, (OF(ORDER_DECLARATION) DECLARATIONS(__VA_ARGS__)),        \
        (OF(ORDER_NAME) NAMES(__VA_ARGS__)), direct, compute)

/* KIND: tsl_blas_level2_routine. is_hermitian: conjugates the mirrored triangle, or y of gerc. */
#define LEVEL2(ROUTINE, title, KIND, is_hermitian, letters, ...)                                             \
  LEVEL2_DIRECT(ROUTINE, title, KIND, is_hermitian, false, letters, __VA_ARGS__)
#define LEVEL2_DIRECT(ROUTINE, title, KIND, is_hermitian, direct, letters, ...)                              \
  MATRIX_ENTRY(ROUTINE, title, letters, direct,                                                              \
               tsl_blas_matrix_vector(&call, &(tsl_blas_level2){.routine = TSL_BLAS_##KIND,                  \
                                                                .order = OF(ORDER),                          \
                                                                .hermitian = is_hermitian,                   \
                                                                MEMBERS(__VA_ARGS__)}),                      \
               __VA_ARGS__)

/* KIND: tsl_blas_routine. The factor with a structure is m x m or n x n. */
#define LEVEL3(ROUTINE, title, KIND, letters, ...)                                                           \
  MATRIX_ENTRY(ROUTINE, title, letters, false,                                                               \
               FORWARD_BELOW(VALUE(SIDE(side)) == 'L' ? WORK(m, n, m) : WORK(m, n, n),                       \
                             tsl_blas_level3(&call, &(tsl_blas_multiply){.routine = TSL_BLAS_##KIND,         \
                                                                         .order = OF(ORDER),                 \
                                                                         MEMBERS(__VA_ARGS__)})),            \
               __VA_ARGS__)
/* Updates of one triangle of C: m is n. */
#define UPDATE(ROUTINE, title, compute, KIND, letters, ...)                                                  \
  MATRIX_ENTRY(ROUTINE, title, letters, false,                                                               \
               FORWARD_BELOW(WORK(n, n, k), compute(&call, &(tsl_blas_multiply){.routine = TSL_BLAS_##KIND,  \
                                                                                .order = OF(ORDER),          \
                                                                                .m = VALUE(SIZE(n)),         \
                                                                                MEMBERS(__VA_ARGS__)})),     \
               __VA_ARGS__)

/* Transposed copies. */
#define COPY(ROUTINE, title, is_in_place, ...)                                                               \
  ENTRY(L(ROUTINE), TSL_BLAS_UPPER title, 2, (DECLARATIONS(__VA_ARGS__)), (NAMES(__VA_ARGS__)), false,       \
        FORWARD_BELOW(                                                                                       \
            (double)VALUE(SIZE(rows)) * (double)VALUE(SIZE(cols)),                                           \
            tsl_blas_matcopy(&call, &(tsl_blas_copy){.in_place = is_in_place, MEMBERS(__VA_ARGS__)})))
