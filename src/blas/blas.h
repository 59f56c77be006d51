/* libtesela_blas.so: tesela behind BLAS's names. A program that is linked with it, or started with it in LD_PRELOAD,
 * has its products, dots and transposes computed here or by the BLAS that it had before, whichever is faster.
 *
 *   entries/   one exported function a name: says its arguments as one of the structs below
 *   gemm.c gemmt.c batch.c dot.c matcopy.c    check them, ask route.c, and compute, or return whom to forward to
 *   route.c    tesela, the program's own BLAS, or a plain loop
 *   instant.c  tiny products, at once
 *   known.h    and those that come again, in the entry
 *   next.c     finds the program's own BLAS
 *   threads.c  how many threads a call has
 *   width.c    how wide another library's integers are
 *   calls.c    what was called, for TESELA_LOG=calls
 *
 * An entry calls a function of this header, which returns NULL when the result is there, or the function of the same
 * name in another library: the entry calls that one with its own arguments, then tsl_blas_forwarded(). Everything is
 * safe from many threads, and in the child of a fork. */
#ifndef TSL_BLAS_BLAS_H
#define TSL_BLAS_BLAS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tesela/tesela.h>

typedef void tsl_blas_function(void);

/* A function of another library, looked for when it is needed. A search that finds nothing is repeated after 1, 2, 4,
 * 8, ... calls, because programs load libraries as they go. */
typedef struct tsl_blas_late {
  tsl_blas_function *_Atomic found;
  atomic_uint tries;
} tsl_blas_late;

/* What a symbol is that is found: how fast to expect it to be. */
typedef enum tsl_blas_peer {
  TSL_BLAS_PEER_NONE,
  TSL_BLAS_PEER_PLAIN, /* the reference implementation, or another one in plain loops */
  TSL_BLAS_PEER_TUNED,
  TSL_BLAS_PEER_WIDE /* with 64-bit integers under names of 32-bit ones: so has the program, whose calls all pass */
} tsl_blas_peer;

/* An exported name. Static in its entry. */
typedef struct tsl_blas_symbol {
  const char *name;   /* "scipy_cblas_dgemm64_" */
  const char *title;  /* what xerbla is told: "DGEMM ", "cblas_dgemm" */
  const char *xerbla; /* which one is called */
  /* Another library's symbol is believed where the library has the first of these names, too, and integers of so many
   * bits, which the second one tells (width.c). */
  const char *family, *probe;
  int bits;
  bool cblas;
  tesela_type type;
  tsl_blas_late next;
  _Atomic int peer;  /* tsl_blas_peer of next */
  atomic_bool asked; /* whether it was looked for before a product was done at once */
  /* Work (multiply-adds, elements) below which calls go to next without a look at anything else; 0: always look. */
  _Atomic double pass_below;
} tsl_blas_symbol;

/* One call under way. */
typedef struct tsl_blas_call {
  tsl_blas_symbol *symbol;
  int sizes; /* of the shape, for the log */
  int64_t shape[3];
  double flops;
  bool began, entered; /* for the table of calls; and as one of tesela's own */
  double started;      /* by tsl_clock(); 0: nobody listens */
} tsl_blas_call;

/* CBLAS's numbers. */
enum { TSL_BLAS_ROW_MAJOR = 101, TSL_BLAS_COLUMN_MAJOR = 102 };

/* C = alpha op(A) op(B) + beta C, as it was called: op is a letter (N T C, or R for conjugation alone), 0 for what is
 * none. uplo is gemmt's: U or L; of other calls 0. Scalars are of the symbol's type. */
typedef struct tsl_blas_multiply {
  int order, uplo, trans_a, trans_b;
  int64_t m, n, k;
  const void *alpha, *a;
  int64_t lda;
  const void *b;
  int64_t ldb;
  const void *beta;
  void *c;
  int64_t ldc;
} tsl_blas_multiply;

/* The sum of x[i] y[i], or conj(x[i]) y[i]. A negative increment starts at the far end. */
typedef struct tsl_blas_sum {
  int64_t n;
  const void *x;
  int64_t incx;
  const void *y;
  int64_t incy;
  bool conjugate;
  const float *start;      /* sdsdot's: added to the sum before it is rounded; else NULL */
  tesela_type result_type; /* f64 for dsdot and sdsdot, else the symbol's */
  void *result;            /* of sdsdot a float, else of result_type */
} tsl_blas_sum;

/* B = alpha op(A), A being rows x cols; b is NULL where A becomes B. */
typedef struct tsl_blas_copy {
  int order, trans;
  int64_t rows, cols;
  const void *alpha, *a;
  int64_t lda;
  void *b;
  int64_t ldb;
  bool in_place; /* a is written */
} tsl_blas_copy;

/* The short way to the other library: tiny calls take less time than deciding about them. */
static inline tsl_blas_function *tsl_blas_pass(tsl_blas_symbol *symbol, double work) {
  if (work >= atomic_load_explicit(&symbol->pass_below, memory_order_acquire))
    return NULL;
  return atomic_load_explicit(&symbol->next.found, memory_order_relaxed);
}

tsl_blas_function *tsl_blas_gemm(tsl_blas_call *call, const tsl_blas_multiply *product);
tsl_blas_function *tsl_blas_gemmt(tsl_blas_call *call, const tsl_blas_multiply *product);
tsl_blas_function *tsl_blas_dot(tsl_blas_call *call, const tsl_blas_sum *sum);
tsl_blas_function *tsl_blas_matcopy(tsl_blas_call *call, const tsl_blas_copy *copy);
/* Of a batch, whose first product this is: NULL asks the entry to go on here, by tsl_blas_alike() for each group. */
tsl_blas_function *tsl_blas_batch(tsl_blas_call *call, const tsl_blas_multiply *first, int64_t count);
/* Products of one shape, the first of which this is, or where `batch` has addresses the description of each; false: the
 * entry calls its own gemm for each. */
bool tsl_blas_alike(tsl_blas_call *call, const tsl_blas_multiply *product, const tesela_batch *batch);
void tsl_blas_note_forwarded(tsl_blas_call *call);
static inline void tsl_blas_forwarded(tsl_blas_call *call) {
  if (call->began)
    tsl_blas_note_forwarded(call);
}

/* Letters from CBLAS's numbers and from Fortran's either case; 0 for anything else. */
static inline int tsl_blas_trans(int cblas) {
  static const char letters[] = {'N', 'T', 'C', 'R'};
  return cblas >= 111 && cblas <= 114 ? letters[cblas - 111] : 0;
}
static inline int tsl_blas_cblas_trans(int letter) {
  return letter == 'N' ? 111 : letter == 'T' ? 112 : letter == 'C' ? 113 : letter == 'R' ? 114 : 0;
}
int tsl_blas_uplo(int cblas);
int tsl_blas_order(char fortran); /* 'R', 'C' */
/* What a letter of either case and its capital have in common. */
static inline int tsl_blas_capital(char fortran) {
  return (unsigned char)fortran & ~0x20;
}
static inline int tsl_blas_letter(char fortran) {
  enum { N = 1 << ('N' - 'A'), T = 1 << ('T' - 'A'), C = 1 << ('C' - 'A') };
  enum { R = 1 << ('R' - 'A'), U = 1 << ('U' - 'A'), L = 1 << ('L' - 'A') };
  const unsigned place = (unsigned)tsl_blas_capital(fortran) - 'A';
  return place < 26 && ((N | T | C | R | U | L) >> place & 1) != 0 ? (int)(place + 'A') : 0;
}

/* --- inside --- */

/* context.c: the process's context of at most so many threads (0: of all), or NULL where none can be made. */
tesela_context *tsl_blas_context(int threads);
/* Whether the caller is inside its own OpenMP parallel region, where a call has one thread. */
bool tsl_blas_in_parallel(void);
/* tesela_gemm() and its like on the process's contexts, with as many threads as a call has now. */
tesela_status tsl_blas_run_gemm(const tesela_gemm_desc *desc, tesela_record *record);
tesela_status tsl_blas_run_batch(const tesela_gemm_desc *desc, const tesela_batch *batch,
                                 tesela_record *record);
tesela_status tsl_blas_run_dot(const tesela_dot_desc *desc, tesela_record *record);
tesela_status tsl_blas_run_transpose(const tesela_transpose_desc *desc, tesela_record *record);
/* Whether a product would run on another device than the processor, where the context may choose. */
bool tsl_blas_goes_elsewhere(const tesela_gemm_desc *desc);
/* Whether a type was refused before, and that it was: planning is not repeated for what has no strategy. */
bool tsl_blas_lacks(int op, tesela_type type, tesela_type result);
void tsl_blas_note_lack(int op, tesela_type type, tesela_type result);
enum { TSL_BLAS_GEMM, TSL_BLAS_DOT, TSL_BLAS_TRANSPOSE, TSL_BLAS_OPS };

/* threads.c: how many threads a call has now, 1 where the caller is parallel already; 0: all that there are. */
int tsl_blas_threads(void);
/* From now on, no more than the library of this function says that it has. */
void tsl_blas_follow(tsl_blas_function *of);
void tsl_blas_forget_threads(void); /* in the child of a fork: variables may be others there */

/* next.c: any function that the program has, or that stands behind this library; the one that a symbol stands in front of,
 * NULL where there is none that is believed; and what that one is. */
tsl_blas_function *tsl_blas_find(tsl_blas_late *late, const char *name, bool program_first);
tsl_blas_function *tsl_blas_next(tsl_blas_symbol *symbol);
tsl_blas_peer tsl_blas_next_peer(tsl_blas_symbol *symbol);
/* Whether all calls of a symbol pass; looked for once. */
static inline bool tsl_blas_is_wide(tsl_blas_symbol *symbol) {
  if (!atomic_load_explicit(&symbol->asked, memory_order_relaxed)) {
    atomic_store_explicit(&symbol->asked, true, memory_order_relaxed);
    (void)tsl_blas_next_peer(symbol);
  }
  return atomic_load_explicit(&symbol->peer, memory_order_relaxed) == TSL_BLAS_PEER_WIDE;
}

/* instant.c: does a tiny product at once; false where it is not tiny, or unusual in any way: nothing was touched. */
bool tsl_blas_instant(tsl_blas_symbol *symbol, const tsl_blas_multiply *product);
void tsl_blas_set_instant(tesela_context *context); /* NULL: there is none */
/* The same for the table of calls. */
bool tsl_blas_instant_heard(tsl_blas_symbol *symbol, const tsl_blas_multiply *product);
/* Either where it is allowed; `type` is a constant. */
extern bool tsl_blas_hurries; /* route.c: whether that is allowed */
extern bool tsl_blas_listens; /* calls.c: whether there is a table of calls; it changes nobody's way */
static inline bool tsl_blas_try_instant(tsl_blas_symbol *symbol, tesela_type type,
                                        const tsl_blas_multiply *product) {
  return (type == TESELA_F32 || type == TESELA_F64) && tsl_blas_hurries && !tsl_blas_is_wide(symbol) &&
         (tsl_blas_listens ? tsl_blas_instant_heard : tsl_blas_instant)(symbol, product);
}

/* width.c: how many bits the integers of a library have whose ddot this is; 0 where it cannot be told. Nothing is read but
 * memory of the caller's. */
int tsl_blas_width_of(tsl_blas_function *ddot, bool cblas);

/* route.c: who computes. next is NULL where there is no other library. */
typedef enum tsl_blas_route { TSL_BLAS_TESELA, TSL_BLAS_OTHER, TSL_BLAS_LOOPS } tsl_blas_route;
tsl_blas_route tsl_blas_route_gemm(tsl_blas_symbol *symbol, int64_t m, int64_t n, int64_t k);
tsl_blas_route tsl_blas_route_gemmt(tsl_blas_symbol *symbol, int64_t n, int64_t k);
/* Whether a product that is another library's by its size may go to another device, if that is sooner done
 * (TESELA_DEVICE=auto). */
bool tsl_blas_may_leave(tsl_blas_symbol *symbol, const tsl_blas_multiply *product);
/* Of each product of a batch: those of at most `small` multiply-adds are tesela's where they may be done at once. */
tsl_blas_route tsl_blas_route_batch(tsl_blas_symbol *symbol, const tsl_blas_multiply *product, double small);
tsl_blas_route tsl_blas_route_vector(int op, tsl_blas_symbol *symbol, double elements);
/* Between these two, a thread computes as tesela: calls that come are passed on. Whether it did not before. */
bool tsl_blas_enter(void);
void tsl_blas_leave(void);

/* check.c: 0, or the number of the first wrong argument as the reference's Fortran routine counts; and telling it. */
int tsl_blas_check_gemm(const tsl_blas_multiply *product);
int tsl_blas_check_gemmt(const tsl_blas_multiply *product);
int tsl_blas_check_matcopy(const tsl_blas_copy *copy);
void tsl_blas_tell_wrong(const tsl_blas_symbol *symbol, int number, bool row_major, bool product);
/* Where a result cannot be given: BLAS has no status, so stderr is told. */
void tsl_blas_lost(const tsl_blas_symbol *symbol, const char *why);

/* loops.c: every type, in plain loops; sums in double. Strides in elements. */
typedef struct tsl_blas_view {
  const void *data;
  int64_t row, col;
  bool conjugate;
} tsl_blas_view;

typedef struct tsl_blas_work {
  tesela_type type;
  int64_t m, n, k;
  tsl_blas_view a, b, c; /* c's data is written */
  const void *alpha, *beta;
} tsl_blas_work;

void tsl_blas_loop_gemm(const tsl_blas_work *work);
/* Where the whole is a triangle (uplo in column-major terms), n x n. */
void tsl_blas_loop_gemmt(const tsl_blas_work *work, int uplo);
void tsl_blas_loop_dot(tesela_type type, const tsl_blas_sum *sum);
/* b[i, j] = alpha a[i, j]; the same element may be both. */
void tsl_blas_loop_copy(tesela_type type, int64_t rows, int64_t cols, const void *alpha,
                        const tsl_blas_view *a, const tsl_blas_view *b);
/* Exchanges a square with its transpose in place. */
void tsl_blas_loop_transpose(tesela_type type, int64_t n, const void *alpha, const tsl_blas_view *a);
bool tsl_blas_is(tesela_type type, const void *scalar, double value); /* value + 0 i */
void tsl_blas_doubles(tesela_type type, const void *scalar, double out[2]);
size_t tsl_blas_size(tesela_type type);
bool tsl_blas_is_complex(tesela_type type);

/* gemm.c: the layout of a checked product; and its result by tesela, false where it cannot. */
tsl_blas_work tsl_blas_work_of(tesela_type type, const tsl_blas_multiply *product);
bool tsl_blas_by_tesela(const tsl_blas_symbol *symbol, const tsl_blas_work *work, tesela_record *record);
tesela_matrix tsl_blas_matrix(const tsl_blas_view *view, tesela_type type);
void tsl_blas_describe(tsl_blas_call *call,
                       const tsl_blas_multiply *product); /* shape and work, for the log */
/* Nothing to do: C keeps its value. */
bool tsl_blas_is_idle(tesela_type type, const tsl_blas_multiply *product);
/* For tesela's descriptions, which hold what is only read by pointers that could write. */
void *tsl_blas_writable(const void *data);
void *const *tsl_blas_addresses(const void *const *data);

/* calls.c: a call begins that tesela computes; and ends, computed by `who` ("libopenblas.so.0"), or as the record's plan
 * says. */
void tsl_blas_begin(tsl_blas_call *call);
/* One that is only counted, and by whom it is computed, before it begins or after that; with NULL it did not come to be. */
void tsl_blas_hear(tsl_blas_call *call);
/* Begins a call that is forwarded: when nobody listens it costs nothing. */
static inline tsl_blas_function *tsl_blas_forward(tsl_blas_call *call) {
  if (tsl_blas_listens)
    tsl_blas_hear(call);
  return tsl_blas_next(call->symbol);
}
/* Whom a call that has begun is forwarded to, where tesela was asked and cannot: NULL leaves it to the loops. */
static inline tsl_blas_function *tsl_blas_otherwise(tsl_blas_call *call, tsl_blas_route route) {
  return route == TSL_BLAS_TESELA ? tsl_blas_next(call->symbol) : NULL;
}
void tsl_blas_end(tsl_blas_call *call, const char *who);
void tsl_blas_end_plan(tsl_blas_call *call, const tesela_record *record);
/* Where a plan's name goes, or NULL when nobody listens. */
tesela_record *tsl_blas_record(const tsl_blas_call *call, tesela_record *record);
void tsl_blas_forget_calls(void); /* in the child of a fork */
extern const char tsl_blas_loops_name[];

#endif
