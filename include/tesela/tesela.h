/**
 * @file tesela.h
 * @brief tesela multiplies matrices, C = alpha A B + beta C, on every processor that a machine has, with dot
 * products and transposes beside it.
 *
 * The shortest program (the product of two row-major float matrices, on the best device):
 *
 *     tesela_context *context;
 *     tesela_context_create(NULL, &context);
 *     tesela_gemm_desc desc = {.m = m, .n = n, .k = k, .a = {.data = a}, .b = {.data = b}, .c = {.data = c}};
 *     if (tesela_gemm(context, &desc, NULL) != TESELA_OK) puts(tesela_last_error());
 *     tesela_context_destroy(context);
 *
 * Conventions, for the whole header:
 *  - In every struct, zero means the default. Fill structs with designated initialisers (C) or value
 *    initialisation (C++: `tesela_gemm_desc desc = {}; desc.m = m;`), and fields added later keep their
 * default. For designated initialisers of C++20 compilers warn of each field that is left out
 * (-Wmissing-field-initializers).
 *  - Descriptions, records and tesela_device may grow at their ends. Their sizes travel with every call, by
 * the inline functions of this header, so that a program built against it runs with later libraries: they
 * take what it does not know as zero, and tell it no more than it has room for. What is embedded in other
 * structs (tesela_matrix, tesela_result, tesela_vector, tesela_scalar) never grows. Bindings of other
 * languages call the functions whose names end in _sized.
 *  - Matrices are a pointer with two strides, counted in elements: element (i, j) of an operand is
 *    data[i * row_stride + j * col_stride]. Both strides zero means dense and row-major. One stride of zero
 * means 1 where the other stride is given: `.row_stride = lda` is a row-major matrix, `.col_stride = lda` a
 * column-major one. Where the given stride is 1, too, a matrix with several rows and columns is refused. Rows
 * or columns of A and B that are all one have the stride TESELA_STRIDE_ZERO.
 *  - Sizes and strides are 64-bit; element counts, not only dimensions, may pass 2^31.
 *  - Every call returns a status. Nothing prints, aborts or exits. tesela_last_error() has the sentence.
 *  - Calls are thread-safe: any number of threads may share a context, a plan and a device buffer that is
 *    only read. A thread that is cancelled inside of a call ends when the call is done. On the cpu a call
 * needs less than 48 KiB of stack; drivers of other devices may need more.
 *  - On the cpu the calling thread's rounding mode and its flushing of subnormal numbers hold for every
 *    thread of the call. Exact strategies and other devices round to nearest in any mode. Plans do not
 *    depend on the mode. A product raises overflow, invalid or division by zero only where its result bears
 *    the flag out, and no exception traps while a plan runs (docs/ACCURACY.md).
 */
#ifndef TESELA_TESELA_H
#define TESELA_TESELA_H

#include <stddef.h>
#include <stdint.h>

#include <tesela/tesela_epilogue.h>
#include <tesela/tesela_shards.h>
#include <tesela/tesela_structure.h>
#include <tesela/version.h>

/** Marks what the library exports. */
#if defined(__GNUC__) || defined(__clang__)
#define TESELA_API __attribute__((visibility("default")))
#else
#define TESELA_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** What a call came to. The names and their meanings, once: the enumeration and tesela_status_name() are made
 * from this list. */
#define TESELA_STATUS_LIST(X)                                                                                \
  X(OK, 0, "done")                                                                                           \
  X(BAD_CALL, 1, "an argument is wrong")                                                                     \
  X(BAD_INPUT, 2, "a file or a text is not what it should be")                                               \
  X(UNSUPPORTED, 3, "no strategy or device here takes this problem")                                         \
  X(NO_DEVICE, 4, "there is no such device")                                                                 \
  X(OUT_OF_MEMORY, 5, "memory ran out, on the host or on a device")                                          \
  X(DEVICE_FAILED, 6, "a device refused an operation")                                                       \
  X(BUILD_FAILED, 7, "a kernel did not compile")                                                             \
  X(IO_FAILED, 8, "a file could not be read or written")                                                     \
  X(WRONG_RESULT, 9, "a result is outside its error bound")                                                  \
  X(INTERNAL, 10, "tesela broke one of its own rules; please report it")

/** Status codes; see TESELA_STATUS_LIST for what each one says. */
typedef enum tesela_status {
#define TESELA_STATUS_MEMBER(name, value, meaning) TESELA_##name = (value),
  TESELA_STATUS_LIST(TESELA_STATUS_MEMBER)
#undef TESELA_STATUS_MEMBER
} tesela_status;

/** Element types. TESELA_TYPE_DEFAULT is f32 for the first operand, and the first operand's type for the
 * others. The result of a product or dot of i8 or u8 is i32 where nothing is scaled, and f32 where it is; of
 * a product of e4m3 or e5m2 it is f32. */
typedef enum tesela_type {
  TESELA_TYPE_DEFAULT = 0,
  TESELA_F64 = 1,   /**< IEEE 754 binary64 */
  TESELA_F32 = 2,   /**< IEEE 754 binary32 */
  TESELA_F16 = 3,   /**< IEEE 754 binary16 */
  TESELA_BF16 = 4,  /**< the upper half of a binary32 */
  TESELA_I8 = 5,    /**< two's complement, 8 bits */
  TESELA_I32 = 6,   /**< two's complement, 32 bits */
  TESELA_C64 = 7,   /**< two f32: real, imaginary */
  TESELA_C128 = 8,  /**< two f64: real, imaginary */
  TESELA_U8 = 9,    /**< unsigned, 8 bits */
  TESELA_E4M3 = 10, /**< 8-bit floating point of the Open Compute Project: up to 448, NaN, no infinity */
  TESELA_E5M2 = 11  /**< the other one: up to 57344, infinities, NaN */
} tesela_type;

/** Stride of zero elements, which a 0 does not say: all rows (row_stride), or all columns, of a matrix that
 * is read are one. With `.row_stride = TESELA_STRIDE_ZERO, .col_stride = 1` a vector is each row of the
 * matrix. Vectors that are read take it, too: all their elements are one. */
#define TESELA_STRIDE_ZERO INT64_MIN

/** Owns devices, compiled kernels and remembered plans. */
typedef struct tesela_context tesela_context;
/** A decision made once, to run many times: a problem, a strategy with its parameters, a device. */
typedef struct tesela_plan tesela_plan;
/** Memory on a device of a context. */
typedef struct tesela_buffer tesela_buffer;
/** An operand of a plan's runs, copied once into the form that the plan's strategy computes on. */
typedef struct tesela_packed tesela_packed;
/** A queue of work on a device of a context, done in order. */
typedef struct tesela_stream tesela_stream;
/** A mark in a stream. */
typedef struct tesela_event tesela_event;

/** How a context is made. Zero everywhere is the usual context. */
typedef struct tesela_context_desc {
  /** Device that plans use unless they name one: "cpu", "opencl:0", "cuda:1", a kind alone ("cuda") for its
   * first device, "auto", or several together for products in host memory: "cuda:*", "opencl:0,cpu"
   * (docs/SCALE.md). NULL: the environment's TESELA_DEVICE, else "auto". */
  const char *device;
  /** Most threads that calls on this context use in host code, the caller's included; never more than 0
   * stands for. 0: TESELA_THREADS, else the processors that this process may run on. Drivers (PoCL) have
   * threads of their own. */
  int threads;
  int reserved; /**< 0 */
  /** A cl_context that stays the caller's: the OpenCL devices that are in it are opened in it, so that its
   * queues and memory can be wrapped. NULL: in contexts of their own. */
  void *opencl_context;
} tesela_context_desc;

/** A matrix that is read. Exactly one of data and buffer is set (or packed, in tesela_plan_run()); none is
 * needed where the matrix has no elements or is not read. */
typedef struct tesela_matrix {
  const void *data;            /**< host memory; element (0, 0) */
  const tesela_buffer *buffer; /**< or device memory, of the device of all buffers, or tesela_shards.h */
  int64_t offset;              /**< with buffer: elements before element (0, 0) */
  int64_t row_stride;          /**< elements between a row and the next; may be negative */
  int64_t col_stride;          /**< elements between a column and the next; may be negative */
  int transpose;    /**< nonzero: what is stored is the transpose of what takes part in the product. Sizes
                      m, n, k are those of the product; the default strides are those of what is stored. */
  tesela_type type; /**< of its elements */
  int conjugate;    /**< nonzero: what takes part in the product is the complex conjugate of what is stored. A
                       and B of    tesela_gemm() alone; real matrices are their own conjugates. */
  const tesela_packed *packed; /**< A or B of tesela_plan_run(): what tesela_pack() made of it for it */
} tesela_matrix;

/** A matrix that is written, and read where beta is not 0. Fields as in tesela_matrix. */
typedef struct tesela_result {
  void *data;               /**< host memory; element (0, 0) */
  tesela_buffer *buffer;    /**< or device memory */
  int64_t offset;           /**< with buffer: elements before element (0, 0) */
  int64_t row_stride;       /**< elements between a row and the next; may be negative */
  int64_t col_stride;       /**< elements between a column and the next; may be negative */
  int transpose;            /**< nonzero: what is stored is the transpose of the result */
  tesela_type type;         /**< of its elements */
  int reserved;             /**< 0 */
  const void *reserved_too; /**< NULL */
} tesela_result;

/** A vector that is read: element i is data[i * stride]. Exactly one of data and buffer is set; neither is
 * needed where the vector has no elements or is not read. */
typedef struct tesela_vector {
  const void *data;            /**< host memory; element 0 */
  const tesela_buffer *buffer; /**< or device memory, of the device of all of a call's buffers */
  int64_t offset;              /**< with buffer: elements before element 0 */
  int64_t stride;   /**< elements from one to the next; may be negative. 0: 1; TESELA_STRIDE_ZERO: 0 */
  tesela_type type; /**< of its elements */
} tesela_vector;

/** C = alpha A B + beta C, where A is m x k, B is k x n and C is m x n; or with a last step C = f(alpha A B +
 * beta C + bias), or with scales C = f(alpha diag(scale_a) A B diag(scale_b) + beta C + bias).
 *
 * beta = 0 never reads C, alpha = 0 or k = 0 never reads A or B, and m = 0 or n = 0 touches nothing. C's
 * elements must not overlap each other, nor those of A and B that are read; they may lie between them. An
 * overlap that is certain (the same first element, or ranges without gaps that meet) is refused, any other
 * gives unspecified results.
 *
 * Sums are made in the type of C, in f32 where that is f16 or bf16, and rounded to C once, at the end. A and
 * B have the type of C; or f16 or bf16 where C is f32; e4m3 or e5m2, in any mix, where C is f32, f16 or bf16;
 * i8 or u8 where C is i32. Integers are multiplied modulo 2^32, as two's complement: exact wherever the
 * result fits, in whatever order terms are added, and wrapped where it does not. alpha and beta are rounded
 * to the type of the sums; of integers they are whole numbers.
 *
 * NaN and infinities are those of IEEE 754, in whatever order terms are added; alpha scales what the sum came
 * to, and an empty sum (k = 0, alpha = 0) is 0 and not scaled, whatever alpha is. A complex product is (x u -
 * y v, x v + y u) in real operations and nothing more: C99's Annex G, which makes infinities of some NaN, is
 * not followed, so an infinite factor makes components infinite or NaN. A component of alpha or beta that is
 * 0 may be multiplied or left out.
 *
 * A or B may be symmetric, hermitian or triangular, and of C one triangle be wanted: BLAS's symm, hemm, trmm,
 * syrk and herk. What lies beside the triangle that is stored is never read. Zeros beside a triangular
 * matrix, and the imaginary parts of a hermitian diagonal, may be multiplied or left out, so that an infinity
 * or a NaN they meet may become NaN or be passed over. Products of several ranks (tesela_mpi_gemm()) have
 * general matrices alone.
 *
 * The last step is of general products on one rank, not of integers, and of complex numbers a bias alone. It
 * may go over a C that was rounded to its type, whose range may then be passed between; the record's
 * error_bound counts it. */
typedef struct tesela_gemm_desc {
  int64_t m;           /**< rows of A and C */
  int64_t n;           /**< columns of B and C */
  int64_t k;           /**< columns of A, rows of B */
  tesela_matrix a;     /**< m x k */
  tesela_matrix b;     /**< k x n */
  tesela_result c;     /**< m x n */
  const double *alpha; /**< NULL: 1. One double, or two (real, imaginary) where C is complex. */
  const double *beta;  /**< NULL: 0. As alpha. */
  /** Device to run on, as in tesela_context_desc. NULL: where the buffers are, else the context's. Several:
   * see tesela_shards.h. */
  const char *device;
  /** "name key=value ...": the strategy to use, and its parameters where they shall not be the planner's.
   * NULL: the planner chooses, among vendors' libraries only where TESELA_VENDORS is 1. */
  const char *strategy;
  /** Of tesela_plan_create(): how often the plan will run. What comes before its first run (to open a device,
   * to compile) counts in the choice then, shared out among them. 0: so often that it does not. */
  int64_t runs;
  /** Seconds that making a plan may spend on measuring, on operands of its own, what could run on the device
   * that would be chosen without. It is a limit of time: nothing is begun that is not expected to end in it.
   * What is found is the plan, and goes into the context's wisdom, which then knows better: a problem whose
   * very sizes the context's own wisdom has is not measured again, nor are batches, or what alpha or a size
   * of 0 leaves nothing of. 0: wisdom and models alone decide. */
  double effort;
  /** How right the result is to be: "default", "1e-5" (|error| <= 1e-5 (|alpha||A||B| + |beta||C|), element
   * by element), "e4m3", "tf32", "bf16", "f32" or "f64" (what a careful sum gives of factors that have a
   * type's precision), "exact" (the exact result, rounded once). What cannot guarantee it does not run:
   * TESELA_UNSUPPORTED says which guarantees there are. A number below the rounding of C's type (2^-24 of
   * f32) is guaranteed by exact integers and plain copies alone. NULL: TESELA_ACCURACY as the context found
   * it, else what a strategy guarantees by itself, which tesela_record.error_bound tells. */
  const char *accuracy;
  /** When the same bits are to come again from the same call: "any", "run" (on this machine), "threads" (with
   * any number of threads, too), "devices" (on any device). What cannot promise it does not run. NULL:
   * TESELA_BITS as the context found it, else "any". */
  const char *bits;
  /** Not 0: the result's error is measured once it is there, and told by the record (of tesela_plan_create():
   * in every run of the plan). What it should be is summed in higher precision, for all elements of a small
   * product, else where rows and columns meet that are drawn at random, by this number: the same ones for the
   * same number. How many is such that a product of 4096 x 4096 x 4096 and more takes a few percent longer. A
   * device with double precision makes these sums itself where real operands lie in its buffers. A run whose
   * error is beyond error_bound fails with TESELA_WRONG_RESULT; C holds what it came to, and the record is
   * filled. 0: TESELA_MEASURE_ERROR as the context found it, else it is not measured. TESELA_UNSUPPORTED
   * where an operand is packed, where operands with structures are in buffers of a device, and of queued runs
   * (which TESELA_MEASURE_ERROR passes over). Of a batch a few products are looked at. */
  uint64_t measure_error;
  /** What A is, and which triangle of it is stored, as it lies, before `transpose`. A and B are m x m and n x
   * n where they are not general, one of them at most is that, and all operands then have one type: f32, f64,
   * c64 or c128. Of real matrices hermitian says symmetric. */
  tesela_structure a_structure;
  tesela_triangle a_triangle;   /**< TESELA_WHOLE where A is general */
  tesela_structure b_structure; /**< likewise of B */
  tesela_triangle b_triangle;   /**< likewise of B */
  /** TESELA_GENERAL; or TESELA_HERMITIAN: the diagonal of what is computed is real. Its imaginary parts are
   * not read and become 0; beta is real, and which triangle is computed is said. Or TESELA_SYMMETRIC_SUM, a
   * triangle of C = alpha (A B + (A B)') + beta C: with B of n x k, B' in its place, alpha (A B' + B A') +
   * beta C, BLAS's syr2k; or TESELA_HERMITIAN_SUM, the same with conjugate transposes, where alpha is real,
   * too. error_bound is then of |alpha| (|A||B| + (|A||B|)') + |beta||C|. TESELA_UNSUPPORTED where nothing on
   * the device takes it: two products do the same, the second with beta = 1. */
  tesela_structure c_structure;
  /** The part of C that is computed, as it lies; the rest is neither read nor written. TESELA_LOWER and
   * TESELA_UPPER are of a square C and of general A and B of its type, which may be the same matrix (B = A'
   * makes a symmetric C: BLAS's syrk). */
  tesela_triangle c_triangle;
  /** Nonzero, where A or B is triangular: the other factor is what C holds, C = alpha A C or C = alpha C B.
   * All fields of that factor are 0, and so is beta. */
  int in_place;
  /** What is added, where A, B and C are, too. Its type is C's unless it says f32 where C is f16 or bf16. It
   * must not overlap C. */
  tesela_vector bias;
  tesela_bias_axis bias_axis;   /**< TESELA_NO_BIAS: there is none */
  tesela_activation activation; /**< what is done last */
  tesela_vector
      scale_a; /**< what A is scaled by (tesela_scaling): one number, or m. f32. It must not overlap C. */
  tesela_vector scale_b;    /**< likewise B: one number, or n */
  tesela_scaling scaling_a; /**< TESELA_NO_SCALE: A is not scaled */
  tesela_scaling scaling_b; /**< likewise of B */
  /** A in pieces on several devices (tesela_shards.h); NULL: as desc.a says, of which only transpose, type
   * and conjugate are set then. */
  const tesela_shards *a_shards;
  const tesela_shards *b_shards; /**< likewise of B */
  const tesela_shards *c_shards; /**< likewise of C */
} tesela_gemm_desc;

/** Where the operands of many products lie that are alike in everything else: product i, 0 <= i < count, has
 * A at a[i], or where that is NULL at the description's A and i * a_stride elements further; so have B and C.
 * Addresses are of host memory and stand in place of the description's: where a is given, desc.a has neither
 * data nor buffer nor packed, and no operand is in a buffer. Products must not write each other's C, nor what
 * another one reads. */
typedef struct tesela_batch {
  int64_t count;          /**< products */
  const void *const *a;   /**< element (0, 0) of each product's A; NULL: by strides */
  const void *const *b;   /**< of each B */
  void *const *c;         /**< of each C */
  int64_t a_stride;       /**< elements; may be negative; 0: all products have the same A */
  int64_t b_stride;       /**< likewise of B */
  int64_t c_stride;       /**< likewise of C, each product having its own */
  int64_t bias_stride;    /**< likewise of the bias, which has no addresses */
  int64_t scale_a_stride; /**< likewise of A's scales */
  int64_t scale_b_stride; /**< likewise of B's scales */
} tesela_batch;

/** Vectors of a plan's last step, beside A, B and C of a run: those that the plan has. Only data, buffer and
 * offset are read. */
typedef struct tesela_epilogue {
  tesela_vector bias;    /**< as of tesela_gemm_desc */
  tesela_vector scale_a; /**< likewise */
  tesela_vector scale_b; /**< likewise */
} tesela_epilogue;

/** One element that is written, and read where beta is not 0. Fields as in tesela_vector. */
typedef struct tesela_scalar {
  void *data;            /**< host memory */
  tesela_buffer *buffer; /**< or device memory */
  int64_t offset;        /**< with buffer: elements before it */
  int64_t reserved;      /**< 0 */
  tesela_type type;      /**< of the element */
} tesela_scalar;

/** result = alpha (x[0] y[0] + ... + x[n-1] y[n-1]) + beta result.
 *
 * beta = 0 never reads the result, alpha = 0 or n = 0 never reads x or y. The result overlaps neither. x and
 * y are both f64, f32, f16 or bf16, or each i8 or u8. The result's type is x's unless it says otherwise: f32
 * of f16 and bf16, too, and i32 of integers alone. Sums, alpha and beta are as in tesela_gemm_desc. */
typedef struct tesela_dot_desc {
  int64_t n;              /**< elements of x and y */
  tesela_vector x;        /**< one factor */
  tesela_vector y;        /**< the other */
  tesela_scalar result;   /**< the sum */
  const double *alpha;    /**< NULL: 1. As in tesela_gemm_desc. */
  const double *beta;     /**< NULL: 0. */
  const char *device;     /**< as in tesela_gemm_desc */
  const char *strategy;   /**< as in tesela_gemm_desc: "exact", "fixed_tree", ... */
  int64_t runs;           /**< as in tesela_gemm_desc */
  double effort;          /**< as in tesela_gemm_desc */
  const char *accuracy;   /**< as in tesela_gemm_desc */
  const char *bits;       /**< as in tesela_gemm_desc */
  uint64_t measure_error; /**< as in tesela_gemm_desc; a dot is summed whole, which takes longer than the dot
                             itself */
} tesela_dot_desc;

/** B = alpha A', where A is rows x cols and B is cols x rows, of one type; any type where alpha is 1, which
 * moves elements bit by bit.
 *
 * alpha = 0 never reads A. B's elements must not overlap each other nor A's, unless in_place: then b holds A,
 * which becomes its own transpose, rows = cols, and a is not given. */
typedef struct tesela_transpose_desc {
  int64_t rows;           /**< of A */
  int64_t cols;           /**< of A */
  tesela_matrix a;        /**< rows x cols */
  tesela_result b;        /**< cols x rows */
  int in_place;           /**< nonzero: see above */
  const double *alpha;    /**< NULL: 1. As in tesela_gemm_desc. */
  const char *device;     /**< as in tesela_gemm_desc */
  const char *strategy;   /**< as in tesela_gemm_desc */
  int64_t runs;           /**< as in tesela_gemm_desc */
  double effort;          /**< as in tesela_gemm_desc */
  const char *accuracy;   /**< as in tesela_gemm_desc */
  const char *bits;       /**< as in tesela_gemm_desc */
  uint64_t measure_error; /**< as in tesela_gemm_desc */
} tesela_transpose_desc;

/** X = alpha inverse(A) B, or with `right` X = alpha B inverse(A), where A is triangular: BLAS's trsm. B and
 * X are rows x cols, A is rows x rows, or cols x cols with `right`; all are f32, f64, c64 or c128, of one
 * type.
 *
 * What lies beside the triangle is never read, nor is the diagonal where it is said to be ones. alpha = 0
 * makes X 0 and reads neither A nor B. X's elements must not overlap each other nor A's or B's, unless
 * in_place: then x holds B, and b is not given.
 *
 * The result is substitution's: row after row |alpha B - A X| <= error_bound |A||X|, element by element
 * (magnitudes are moduli of complex numbers), however A is scaled; how far X is from the exact solution is up
 * to A's condition. No singular diagonal is looked for: by IEEE 754 a zero there makes infinities and NaN of
 * its row of X and of what follows from it, and an infinity or a NaN in A or B makes them of what depends on
 * it; NaN times 0 is NaN. A complex quotient of numbers that are not finite, or over zero, has components
 * that are infinite or NaN, one or both. */
typedef struct tesela_solve_desc {
  int64_t rows;               /**< of B and X */
  int64_t cols;               /**< of B and X */
  tesela_matrix a;            /**< the triangle; may be conjugated */
  tesela_structure structure; /**< TESELA_TRIANGULAR, which 0 says as well, or TESELA_UNIT_TRIANGULAR */
  tesela_triangle
      triangle;    /**< TESELA_LOWER or TESELA_UPPER: where A's elements are as it lies, before `transpose` */
  int right;       /**< nonzero: X A = alpha B */
  tesela_matrix b; /**< rows x cols, the right-hand sides */
  tesela_result x; /**< rows x cols */
  int in_place;    /**< nonzero: see above */
  const double *alpha;  /**< NULL: 1. As in tesela_gemm_desc. */
  const char *device;   /**< as in tesela_gemm_desc */
  const char *strategy; /**< as in tesela_gemm_desc */
  int64_t runs;         /**< as in tesela_gemm_desc */
  double effort;        /**< as in tesela_gemm_desc */
  const char *accuracy; /**< as in tesela_gemm_desc, of the error above. It is not measured on samples. */
  const char *bits;     /**< as in tesela_gemm_desc */
} tesela_solve_desc;

/** What ran: filled by tesela_gemm(), tesela_gemm_batched(), tesela_gemm_grouped(), tesela_dot(),
 * tesela_transpose(), tesela_solve() and tesela_plan_run() where it is not NULL. Where copies overlap with
 * computing, copy_in is what came before it and copy_out what came after. */
typedef struct tesela_record {
  const char *plan; /**< the plan's text. It lives as long as the plan, and after a call that made its own
                       plan (tesela_gemm() and its like) until this thread's next such call. */
  double seconds;   /**< wall clock of the whole call */
  double seconds_allocate; /**< part of it: memory on the device, which a plan's later runs find there */
  double seconds_copy_in;  /**< part of it: operands to the device */
  double seconds_compute;  /**< part of it: the strategy, by the device's own clock where it has one */
  double seconds_copy_out; /**< part of it: C back to the host */
  /** What the strategy guarantees of each element of C: |error| <= error_bound * (|alpha||A||B| + |beta||C| +
   * |bias|) + underflow, magnitudes taken element by element (of a transpose, |alpha||A|; of scales,
   * |alpha||scale_a||A||B||scale_b|, whose factors multiply what underflow is of the sums). A factor that
   * grows with k times the unit roundoff of C's type; 0 where the strategy guarantees exactness. Underflow is
   * what roundings among subnormal numbers cost: (max(1, |alpha|) k + 2) times the smallest one of the type
   * of the sums, and the smallest one of C's. */
  double error_bound;
  /** 0, but on matrix units: underflow is flushed_below * (|alpha| k (max |A| + max |B| + 2) + |beta| + 2)
   * there, beside the above. Some of AMD's take smaller magnitudes of bf16 as 0, in A, in B and in sums;
   * NVIDIA's tensor cores cut sums where factors of f16 and bf16 are below the smallest normal number (2^-14,
   * 2^-126) as if these were of its size, so that each factor may count as off by flushed_below, which is
   * error_bound in f32 times that number. With relaxed arithmetic smaller magnitudes may be 0 in C as well.
   */
  double flushed_below;
  /** A sentence where runs of this plan did not go as planned, this one or one before: a device of several
   * that failed, and which one does its part. NULL: nothing. It lives as long as plan. */
  const char *note;
  /** Where desc.measure_error asked for it: the largest |error| / (|alpha||A||B| + |beta||C| + |bias|) that
   * was seen, what underflow may cost taken off, and what the sums that it was compared with may be off
   * added; so it compares with error_bound. */
  double error_measured;
  /** What that rests on: each of so many rows of C was looked at where it meets so many columns, m and n
   * where that is all of them; of a batch, the rows of all products that were looked at. 0: nothing was
   * measured. */
  int64_t measured_rows;
  int64_t measured_cols;  /**< the columns */
  double seconds_measure; /**< what measuring took, beside seconds; these have what a device does */
} tesela_record;

/** What tesela_device_info() tells of a device. Text is owned by the context. */
typedef struct tesela_device {
  const char *name;       /**< "cpu", "opencl:0", "cuda:0": what the other calls take */
  const char *label;      /**< the vendor's name for it */
  const char *platform;   /**< driver or platform, with its version */
  uint64_t memory_bytes;  /**< memory that the device can address */
  uint64_t local_bytes;   /**< local (shared) memory of a work-group; 0 where there is none */
  int compute_units;      /**< cores or multiprocessors */
  int clock_mhz;          /**< highest clock; 0 unknown */
  int group_items_max;    /**< most work-items of a work-group; 0 where there are none */
  int has_f64;            /**< nonzero: computes in double precision */
  int shares_host_memory; /**< nonzero: no copies are needed between host and device */
} tesela_device;

/** @name Sized calls
 * What the functions below come to that are given structs: the same with the sizes of these structs as the
 * caller knows them. For bindings of other languages; C and C++ call the functions without sizes. A size that
 * is less than that of the first version with this function (0.2) is TESELA_BAD_CALL, and fields that this
 * library does not know and that are not zero are TESELA_UNSUPPORTED. The size of what is NULL does not
 * matter.
 * @{ */
/** tesela_context_create() with sizes. */
TESELA_API tesela_status tesela_context_create_sized(const tesela_context_desc *desc,
                                                     tesela_context **context, size_t desc_size);
/** tesela_gemm() with sizes. */
TESELA_API tesela_status tesela_gemm_sized(tesela_context *context, const tesela_gemm_desc *desc,
                                           tesela_record *record, size_t desc_size, size_t record_size);
/** tesela_gemm_batched() with sizes. */
TESELA_API tesela_status tesela_gemm_batched_sized(tesela_context *context, const tesela_gemm_desc *desc,
                                                   const tesela_batch *batch, tesela_record *record,
                                                   size_t desc_size, size_t batch_size, size_t record_size);
/** tesela_gemm_grouped() with sizes, which are also the distances from one description, and one batch, to the
 * next. */
TESELA_API tesela_status tesela_gemm_grouped_sized(tesela_context *context, const tesela_gemm_desc *descs,
                                                   const tesela_batch *batches, int64_t count,
                                                   tesela_record *record, size_t desc_size, size_t batch_size,
                                                   size_t record_size);
/** tesela_dot() with sizes. */
TESELA_API tesela_status tesela_dot_sized(tesela_context *context, const tesela_dot_desc *desc,
                                          tesela_record *record, size_t desc_size, size_t record_size);
/** tesela_transpose() with sizes. */
TESELA_API tesela_status tesela_transpose_sized(tesela_context *context, const tesela_transpose_desc *desc,
                                                tesela_record *record, size_t desc_size, size_t record_size);
/** tesela_solve() with sizes. */
TESELA_API tesela_status tesela_solve_sized(tesela_context *context, const tesela_solve_desc *desc,
                                            tesela_record *record, size_t desc_size, size_t record_size);
/** tesela_plan_create_solve() with sizes. */
TESELA_API tesela_status tesela_plan_create_solve_sized(tesela_context *context,
                                                        const tesela_solve_desc *desc, tesela_plan **plan,
                                                        size_t desc_size);
/** tesela_plan_run_solve() with sizes. */
TESELA_API tesela_status tesela_plan_run_solve_sized(tesela_plan *plan, const tesela_matrix *a,
                                                     const tesela_matrix *b, const tesela_result *x,
                                                     tesela_record *record, size_t record_size);
/** tesela_explain_solve() with sizes. */
TESELA_API tesela_status tesela_explain_solve_sized(tesela_context *context, const tesela_solve_desc *desc,
                                                    char **text, size_t desc_size);
/** tesela_plan_create() with sizes. */
TESELA_API tesela_status tesela_plan_create_sized(tesela_context *context, const tesela_gemm_desc *desc,
                                                  tesela_plan **plan, size_t desc_size);
/** tesela_plan_create_dot() with sizes. */
TESELA_API tesela_status tesela_plan_create_dot_sized(tesela_context *context, const tesela_dot_desc *desc,
                                                      tesela_plan **plan, size_t desc_size);
/** tesela_plan_create_transpose() with sizes. */
TESELA_API tesela_status tesela_plan_create_transpose_sized(tesela_context *context,
                                                            const tesela_transpose_desc *desc,
                                                            tesela_plan **plan, size_t desc_size);
/** tesela_plan_run() with sizes. */
TESELA_API tesela_status tesela_plan_run_sized(tesela_plan *plan, const tesela_matrix *a,
                                               const tesela_matrix *b, const tesela_result *c,
                                               tesela_record *record, size_t record_size);
/** tesela_plan_run_epilogue() with sizes. */
TESELA_API tesela_status tesela_plan_run_epilogue_sized(tesela_plan *plan, const tesela_matrix *a,
                                                        const tesela_matrix *b, const tesela_result *c,
                                                        const tesela_epilogue *finish, tesela_record *record,
                                                        size_t finish_size, size_t record_size);
/** tesela_plan_enqueue_epilogue() with sizes. */
TESELA_API tesela_status tesela_plan_enqueue_epilogue_sized(tesela_plan *plan, tesela_stream *stream,
                                                            const tesela_matrix *a, const tesela_matrix *b,
                                                            const tesela_result *c,
                                                            const tesela_epilogue *finish,
                                                            tesela_buffer *workspace, size_t finish_size);
/** tesela_plan_run_dot() with sizes. */
TESELA_API tesela_status tesela_plan_run_dot_sized(tesela_plan *plan, const tesela_vector *x,
                                                   const tesela_vector *y, const tesela_scalar *result,
                                                   tesela_record *record, size_t record_size);
/** tesela_plan_run_transpose() with sizes. */
TESELA_API tesela_status tesela_plan_run_transpose_sized(tesela_plan *plan, const tesela_matrix *a,
                                                         const tesela_result *b, tesela_record *record,
                                                         size_t record_size);
/** tesela_device_info() with sizes. */
TESELA_API tesela_status tesela_device_info_sized(tesela_context *context, int index, tesela_device *info,
                                                  size_t info_size);
/** tesela_explain() with sizes. */
TESELA_API tesela_status tesela_explain_sized(tesela_context *context, const tesela_gemm_desc *desc,
                                              char **text, size_t desc_size);
/** tesela_explain_dot() with sizes. */
TESELA_API tesela_status tesela_explain_dot_sized(tesela_context *context, const tesela_dot_desc *desc,
                                                  char **text, size_t desc_size);
/** tesela_explain_transpose() with sizes. */
TESELA_API tesela_status tesela_explain_transpose_sized(tesela_context *context,
                                                        const tesela_transpose_desc *desc, char **text,
                                                        size_t desc_size);
/** @} */

/** The library's version, "major.minor.patch", and as a number to compare with TESELA_VERSION_NUMBER, the one
 * of the header that a program was built with: 10000 major + 100 minor + patch. */
TESELA_API const char *tesela_version(void);
/** The same as a number. */
TESELA_API int tesela_version_number(void);

/** "OK", "BAD_CALL", ...; "?" for a value that is no status. */
TESELA_API const char *tesela_status_name(tesela_status status);

/** The sentence that explains this thread's last failed call, without a newline: what happened, where, and
 * what would be right. "" before any failure. Owned by the library, valid until this thread's next call. */
TESELA_API const char *tesela_last_error(void);

/** The compiler's log that belongs to this thread's last TESELA_BUILD_FAILED, or "". Ownership as above. */
TESELA_API const char *tesela_last_log(void);

/** Makes a context. desc may be NULL. Devices are looked for at their first use, so this is fast.
 *  @return TESELA_BAD_CALL for a device name that is malformed, TESELA_OUT_OF_MEMORY. */
static inline tesela_status tesela_context_create(const tesela_context_desc *desc, tesela_context **context) {
  return tesela_context_create_sized(desc, context, sizeof *desc);
}

/** Frees a context. Its plans and buffers must have been destroyed before. NULL is allowed. */
TESELA_API void tesela_context_destroy(tesela_context *context);

/** Multiplies once. Plans are kept inside the context, so that calls with the same sizes, types and strides
 * find theirs again. record may be NULL. When this fails, host C is as it was; only after
 * TESELA_DEVICE_FAILED may it hold a part of the result, because the device or the copy back had begun to
 * write it, and after TESELA_WRONG_RESULT (desc.measure_error) it holds all of it. */
static inline tesela_status tesela_gemm(tesela_context *context, const tesela_gemm_desc *desc,
                                        tesela_record *record) {
  return tesela_gemm_sized(context, desc, record, sizeof *desc, sizeof *record);
}

/** Multiplies many times: product i is desc's, with its operands where batch says. On the processor small
 * products are shared out among threads, and every result has the bits that a call of its own would give. On
 * another device, operands at even distances are brought there together, unless they are there, and
 * multiplied in one run where a strategy can, in its own order of sums. All operands are checked before any
 * product is computed. Where memory runs out when some products may be done, the others are finished by the
 * strategy "sequential" and its order of sums, which takes none. record, which may be NULL, tells of all
 * products together; its plan is that of one, or of the batch.
 *  @return as tesela_gemm(): after any other failure than TESELA_DEVICE_FAILED and TESELA_WRONG_RESULT no
 * product was done, and every C is as it was; where C is in buffers, TESELA_DEVICE_FAILED says so of some.
 * TESELA_BAD_CALL with the product's number where its operands are wrong, and where C is the same for two
 * products. */
static inline tesela_status tesela_gemm_batched(tesela_context *context, const tesela_gemm_desc *desc,
                                                const tesela_batch *batch, tesela_record *record) {
  return tesela_gemm_batched_sized(context, desc, batch, record, sizeof *desc, sizeof *batch, sizeof *record);
}

/** Multiplies products that differ in one call: product i is descs[i], or where batches is not NULL, group i
 * is as many products as batches[i] says, as in tesela_gemm_batched(). Groups may differ in whatever a
 * description says; of sizes, types, scalars and last steps each has its own (the layers of experts of a
 * network, BLAS's gemm_batch). None at all (count = 0) is allowed, and so are groups without products and
 * products without elements.
 *
 * On the processor all threads share out all products by the work that each one is: small ones go to one
 * thread each, the largest first, and one that would keep the others waiting is computed by all of them.
 * Every result has the bits that a call of its own would give. On another device products in buffers are
 * queued one behind the other without a wait in between, those of one shape at even distances, or of several
 * shapes, in one run where a strategy takes them so; these have the order of sums of a batch. Products that
 * ask for bits, or name a strategy's parameters, are never in a run with products of other shapes. Operands
 * in host memory are brought to another device group by group.
 *
 * Everything is checked before anything is computed: a wrong description, operand or batch is named by its
 * number ("product 7: a.data is NULL", "group 3: product 2: ..."), and no C is written. No product may write
 * what another one writes or reads. Two C that begin at one element, or that have no gaps and meet, are
 * refused; other overlaps give unspecified results.
 *
 * record, which may be NULL, tells of all products together: its plan is that of a product with most work (""
 * where there is none), and its bounds are the largest. Thread-safe; the caller keeps both arrays, which are
 * read during the call only. A product of sizes that the context does not know needs a plan, whose choice
 * takes some ten microseconds: longer than a small product does. Descriptions that name a strategy (for small
 * ones "host_small") have their plan in a tenth of that.
 *  @param descs what each product is, or each group's products are
 *  @param batches where each group's products are; NULL: each description is one product
 *  @param count of descriptions, and of batches where there are any
 *  @return as tesela_gemm_batched(). */
static inline tesela_status tesela_gemm_grouped(tesela_context *context, const tesela_gemm_desc *descs,
                                                const tesela_batch *batches, int64_t count,
                                                tesela_record *record) {
  return tesela_gemm_grouped_sized(context, descs, batches, count, record, sizeof *descs, sizeof *batches,
                                   sizeof *record);
}

/** One dot product; everything else as tesela_gemm(). */
static inline tesela_status tesela_dot(tesela_context *context, const tesela_dot_desc *desc,
                                       tesela_record *record) {
  return tesela_dot_sized(context, desc, record, sizeof *desc, sizeof *record);
}

/** One transpose; everything else as tesela_gemm(). */
static inline tesela_status tesela_transpose(tesela_context *context, const tesela_transpose_desc *desc,
                                             tesela_record *record) {
  return tesela_transpose_sized(context, desc, record, sizeof *desc, sizeof *record);
}

/** Makes a plan for products of this shape, these types and strides. The operands' data and buffer may be
 * NULL here: only whether a buffer is given, and on which device, counts. alpha and beta are part of the
 * plan. */
static inline tesela_status tesela_plan_create(tesela_context *context, const tesela_gemm_desc *desc,
                                               tesela_plan **plan) {
  return tesela_plan_create_sized(context, desc, plan, sizeof *desc);
}
/** The same for dot products. */
static inline tesela_status tesela_plan_create_dot(tesela_context *context, const tesela_dot_desc *desc,
                                                   tesela_plan **plan) {
  return tesela_plan_create_dot_sized(context, desc, plan, sizeof *desc);
}
/** One solve with a triangle; everything else as tesela_gemm(). */
static inline tesela_status tesela_solve(tesela_context *context, const tesela_solve_desc *desc,
                                         tesela_record *record) {
  return tesela_solve_sized(context, desc, record, sizeof *desc, sizeof *record);
}

/** tesela_plan_create() for solves. */
static inline tesela_status tesela_plan_create_solve(tesela_context *context, const tesela_solve_desc *desc,
                                                     tesela_plan **plan) {
  return tesela_plan_create_solve_sized(context, desc, plan, sizeof *desc);
}

/** tesela_plan_run() of a plan for solves; in place, b is NULL. */
static inline tesela_status tesela_plan_run_solve(tesela_plan *plan, const tesela_matrix *a,
                                                  const tesela_matrix *b, const tesela_result *x,
                                                  tesela_record *record) {
  return tesela_plan_run_solve_sized(plan, a, b, x, record, sizeof *record);
}

/** tesela_explain() of a solve. */
static inline tesela_status tesela_explain_solve(tesela_context *context, const tesela_solve_desc *desc,
                                                 char **text) {
  return tesela_explain_solve_sized(context, desc, text, sizeof *desc);
}

/** The same for transposes. */
static inline tesela_status
tesela_plan_create_transpose(tesela_context *context, const tesela_transpose_desc *desc, tesela_plan **plan) {
  return tesela_plan_create_transpose_sized(context, desc, plan, sizeof *desc);
}

/** Runs a plan on these operands. Only data, buffer, offset and packed of them are read: sizes, types and
 * strides are the plan's. What the plan does not use may be NULL. Returns when C is complete. record may be
 * NULL. Any number of threads may run one plan at once.
 *  @return TESELA_BAD_CALL where the plan is of another operation. */
static inline tesela_status tesela_plan_run(tesela_plan *plan, const tesela_matrix *a, const tesela_matrix *b,
                                            const tesela_result *c, tesela_record *record) {
  return tesela_plan_run_sized(plan, a, b, c, record, sizeof *record);
}
/** The same of a plan with a last step: of its vectors, too, data or buffer and offset alone are read. */
static inline tesela_status tesela_plan_run_epilogue(tesela_plan *plan, const tesela_matrix *a,
                                                     const tesela_matrix *b, const tesela_result *c,
                                                     const tesela_epilogue *finish, tesela_record *record) {
  return tesela_plan_run_epilogue_sized(plan, a, b, c, finish, record, sizeof *finish, sizeof *record);
}
/** The same of a plan for operands in pieces: of each, in the plan's order, only buffer and offset are read.
 * Runs follow each other. */
TESELA_API tesela_status tesela_plan_run_shards(tesela_plan *plan, const tesela_shards *a,
                                                const tesela_shards *b, const tesela_shards *c);
/** The same of a plan for dot products. */
static inline tesela_status tesela_plan_run_dot(tesela_plan *plan, const tesela_vector *x,
                                                const tesela_vector *y, const tesela_scalar *result,
                                                tesela_record *record) {
  return tesela_plan_run_dot_sized(plan, x, y, result, record, sizeof *record);
}
/** The same of a plan for transposes; in place, a is NULL. */
static inline tesela_status tesela_plan_run_transpose(tesela_plan *plan, const tesela_matrix *a,
                                                      const tesela_result *b, tesela_record *record) {
  return tesela_plan_run_transpose_sized(plan, a, b, record, sizeof *record);
}

/** Packs A or B of a plan once, for many runs with it: the one of a and b that is not NULL, of which only
 * data is read. What host strategies copy in every run (host_packed, host_amx) is copied here; where a
 * strategy has no form of its own, a plain copy is kept, which saves nothing. Either way the matrix may
 * change or go when this returns, and a run with what was packed gives the bits that a run with the matrix
 * gives. Any number of threads may use one packed operand at once. It serves this plan and others of the same
 * text (tesela_plan_describe()), and may outlive them.
 *
 *     tesela_pack(plan, NULL, &b, &packed);
 *     for (...) tesela_plan_run(plan, &a[i], &(tesela_matrix){.packed = packed}, &c[i], NULL);
 *     tesela_packed_destroy(packed);
 *
 *  @return TESELA_BAD_CALL where the plan is for buffers, or does not read that operand;
 * TESELA_OUT_OF_MEMORY. */
TESELA_API tesela_status tesela_pack(tesela_plan *plan, const tesela_matrix *a, const tesela_matrix *b,
                                     tesela_packed **packed);

/** Frees a packed operand that no running call uses. NULL is allowed. */
TESELA_API void tesela_packed_destroy(tesela_packed *packed);

/** The plan as one line of text that tesela_plan_parse() reads. Owned by the plan. */
TESELA_API const char *tesela_plan_describe(const tesela_plan *plan);

/** Seconds that a run of the plan is expected to take, copies included: what it was chosen by. 0 where nobody
 * chose, as of a plan from tesela_plan_parse(), or plan is NULL. */
TESELA_API double tesela_plan_seconds(const tesela_plan *plan);

/** Makes the plan that a line from tesela_plan_describe() tells.
 *  @return TESELA_BAD_INPUT for text that is no plan or has a retired version, naming the word that is wrong.
 */
TESELA_API tesela_status tesela_plan_parse(tesela_context *context, const char *text, tesela_plan **plan);

/** Frees a plan that no thread is running. NULL is allowed. */
TESELA_API void tesela_plan_destroy(tesela_plan *plan);

/** Frees text that a call gave to its caller. NULL is allowed. */
TESELA_API void tesela_text_free(char *text);

/** Says which plan a call would get and why, without running it: what `tesela explain --json` prints
 * (docs/JSON.md), as text for tesela_text_free(). The plan is made for it, with what that opens and compiles;
 * nothing is measured for desc.effort. Operands are as in tesela_plan_create(). That nothing can run is told
 * by "plan": null and each candidate's "refusal".
 *  @return as tesela_plan_create(), where the description is wrong. */
static inline tesela_status tesela_explain(tesela_context *context, const tesela_gemm_desc *desc,
                                           char **text) {
  return tesela_explain_sized(context, desc, text, sizeof *desc);
}
/** tesela_explain() of a dot product. */
static inline tesela_status tesela_explain_dot(tesela_context *context, const tesela_dot_desc *desc,
                                               char **text) {
  return tesela_explain_dot_sized(context, desc, text, sizeof *desc);
}
/** tesela_explain() of a transpose. */
static inline tesela_status tesela_explain_transpose(tesela_context *context,
                                                     const tesela_transpose_desc *desc, char **text) {
  return tesela_explain_transpose_sized(context, desc, text, sizeof *desc);
}

/** @name Wisdom
 * What was measured before, one record a line (docs/WISDOM.md), by which a context chooses. Its own records
 * are those of the user's file, read when the context first chooses a plan; those that are imported; and
 * those that planning measures (effort). Beside them it has the library's, unless TESELA_WISDOM is "none".
 * The user's file is never written by these calls. Any number of threads may call them while others plan and
 * run: a plan that is being made has the records of its beginning, a plan that was made stays as it is, and
 * tesela_gemm() and its like choose anew after a change.
 * @{ */
/** The context's own records as text, for tesela_text_free(); "" where there are none. */
TESELA_API tesela_status tesela_wisdom_export(tesela_context *context, char **text);
/** Adds the records of a text to the context's own. Of two of one identity the faster stays, the newer where
 * their difference is noise. Records of other devices, and of strategies that this library does not have, are
 * kept and mean nothing here; empty lines and lines that start with # are passed over.
 *  @return TESELA_BAD_INPUT where a line is no record, with its number and the word that is wrong: nothing
 * was imported then. */
TESELA_API tesela_status tesela_wisdom_import(tesela_context *context, const char *text);
/** Forgets the context's own records, those of the user's file included, which stays as it is; a new context
 * reads it again. */
TESELA_API tesela_status tesela_wisdom_forget(tesela_context *context);
/** @} */

/** Bytes of device memory that a queued run of the plan needs beside its operands; 0 on the cpu. */
TESELA_API tesela_status tesela_plan_workspace(const tesela_plan *plan, size_t *bytes);

/** Queues a run of the plan and returns: C is complete when the stream has come so far (on the cpu, at once).
 * Operands are as in tesela_plan_run(), in buffers of the plan's device; on the cpu in host memory where the
 * plan is for that. They, and workspace, stay as they are until then; a buffer that wraps may be destroyed at
 * once. workspace has tesela_plan_workspace() bytes; NULL: what the stream has reserved. Nothing is
 * allocated, waited for or asked, so that work can be captured into a CUDA graph (vendors' libraries may do
 * otherwise). Any number of threads may queue one plan at once, each with a workspace of its own.
 *  @return TESELA_BAD_CALL where stream, buffers or workspace are of another device or context, or the
 * workspace is too small; TESELA_UNSUPPORTED where the strategy cannot be queued. Nothing was queued then. */
TESELA_API tesela_status tesela_plan_enqueue(tesela_plan *plan, tesela_stream *stream, const tesela_matrix *a,
                                             const tesela_matrix *b, const tesela_result *c,
                                             tesela_buffer *workspace);
/** The same of a plan with a last step. */
static inline tesela_status tesela_plan_enqueue_epilogue(tesela_plan *plan, tesela_stream *stream,
                                                         const tesela_matrix *a, const tesela_matrix *b,
                                                         const tesela_result *c,
                                                         const tesela_epilogue *finish,
                                                         tesela_buffer *workspace) {
  return tesela_plan_enqueue_epilogue_sized(plan, stream, a, b, c, finish, workspace, sizeof *finish);
}
/** The same of a plan for dot products. */
TESELA_API tesela_status tesela_plan_enqueue_dot(tesela_plan *plan, tesela_stream *stream,
                                                 const tesela_vector *x, const tesela_vector *y,
                                                 const tesela_scalar *result, tesela_buffer *workspace);
/** The same of a plan for transposes. */
TESELA_API tesela_status tesela_plan_enqueue_transpose(tesela_plan *plan, tesela_stream *stream,
                                                       const tesela_matrix *a, const tesela_result *b,
                                                       tesela_buffer *workspace);

/** How many devices this context sees; looks for them at the first call. */
TESELA_API tesela_status tesela_device_count(tesela_context *context, int *count);

/** Describes device `index`, 0 <= index < count. */
static inline tesela_status tesela_device_info(tesela_context *context, int index, tesela_device *info) {
  return tesela_device_info_sized(context, index, info, sizeof *info);
}

#ifdef __cplusplus
}
#endif

#include <tesela/tesela_buffer.h>
#include <tesela/tesela_stream.h>

#endif
