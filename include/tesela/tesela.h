/** @file tesela.h
 * @brief Matrix multiplication C = alpha A B + beta C on CPUs, OpenCL and CUDA devices; also dot products,
 * transposes and triangular solves.
 *
 * The shortest program multiplies two row-major float matrices on the best device:
 *
 *     tesela_context *context;
 *     tesela_context_create(NULL, &context);
 *     tesela_gemm_desc desc = {.m = m, .n = n, .k = k, .a = {.data = a}, .b = {.data = b}, .c = {.data = c}};
 *     if (tesela_gemm(context, &desc, NULL) != TESELA_OK) puts(tesela_last_error());
 *     tesela_context_destroy(context);
 *
 * Conventions of the whole header:
 *
 *  - Zero is the default of every member of every struct. Use designated initialisers in C. In C++ use
 *    value initialisation: `tesela_gemm_desc desc = {}; desc.m = m;`. Members added by later versions then
 *    keep their defaults. C++20 compilers warn of each member that a designated initialiser leaves out.
 *
 *  - Descriptions, records and tesela_device may grow at their ends in later versions. The inline functions
 *    of this header pass the structs' sizes, so a program runs with later libraries, too. The library reads
 *    missing members as zero and writes only the members that fit. The structs tesela_matrix, tesela_result,
 *    tesela_vector, tesela_scalar, tesela_epilogue and tesela_memory never grow. Bindings call the functions
 *    that end in _sized.
 *
 *  - A matrix is a pointer with two strides, counted in elements. Element (i, j) of an operand is
 *    data[i * row_stride + j * col_stride]. Two strides of zero mean dense and row-major. A single stride of
 *    zero means 1: `.row_stride = lda` is a row-major matrix, `.col_stride = lda` a column-major one. A
 *    single stride of 1 is refused for a matrix with several rows and columns. For A and B a real distance of
 *    zero (all rows or all columns equal) is written TESELA_STRIDE_ZERO.
 *
 *  - Sizes and strides are 64-bit. The number of elements, not only a dimension, may exceed 2^31.
 *
 *  - Every call that can fail returns a status. The library never prints, aborts or exits.
 *    tesela_last_error() returns the message of the calling thread's last failure.
 *
 *  - Calls are thread-safe. Any number of threads may share a context, a plan, and a buffer that is only
 *    read. A thread that is cancelled inside a call ends at its first cancellation point after it. A call on
 *    the cpu needs less than 48 KiB of stack. Drivers of other devices may need more.
 *
 *  - All threads of a call on the cpu use the caller's rounding mode and its flushing of subnormal numbers.
 *    Exact strategies and other devices always round to nearest. Plans do not depend on the mode. A product
 *    raises overflow, invalid or division by zero only if its result contains such a value. No floating-point
 *    exception traps while a plan runs (docs/ACCURACY.md). */
#ifndef TESELA_TESELA_H
#define TESELA_TESELA_H

#include <stddef.h>
#include <stdint.h>

#include <tesela/tesela_epilogue.h>
#include <tesela/tesela_shards.h>
#include <tesela/tesela_structure.h>
#include <tesela/version.h>

/** Exports a symbol from the library. */
#if defined(__GNUC__) || defined(__clang__)
#define TESELA_API __attribute__((visibility("default")))
#else
#define TESELA_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** List of the status codes: name, value, meaning. The enumeration and tesela_status_name() are
 * generated from it. */
#define TESELA_STATUS_LIST(X)                                                                                \
  X(OK, 0, "done")                                                                                           \
  X(BAD_CALL, 1, "an argument is wrong")                                                                     \
  X(BAD_INPUT, 2, "the content of a file or a text is wrong")                                                \
  X(UNSUPPORTED, 3, "no strategy or device here takes this problem")                                         \
  X(NO_DEVICE, 4, "there is no such device")                                                                 \
  X(OUT_OF_MEMORY, 5, "memory ran out, on the host or on a device")                                          \
  X(DEVICE_FAILED, 6, "a device refused an operation")                                                       \
  X(BUILD_FAILED, 7, "a kernel did not compile")                                                             \
  X(IO_FAILED, 8, "a file could not be read or written")                                                     \
  X(WRONG_RESULT, 9, "a result is outside its error bound")                                                  \
  X(INTERNAL, 10, "tesela broke one of its own rules; please report it")

/** Status codes; TESELA_STATUS_LIST has their meanings. */
typedef enum tesela_status {
#define TESELA_STATUS_MEMBER(name, value, meaning) TESELA_##name = (value),
  TESELA_STATUS_LIST(TESELA_STATUS_MEMBER)
#undef TESELA_STATUS_MEMBER
} tesela_status;

/** Element types. TESELA_TYPE_DEFAULT is f32 for the first operand, and the first operand's type for
 * the other operands. Exceptions: the result of i8 or u8 operands is i32 by default, or f32 with
 * scales. The result of a product of e4m3 or e5m2 is f32 by default. */
typedef enum tesela_type {
  TESELA_TYPE_DEFAULT = 0,
  TESELA_F64 = 1,   /**< IEEE 754 binary64 */
  TESELA_F32 = 2,   /**< IEEE 754 binary32 */
  TESELA_F16 = 3,   /**< IEEE 754 binary16 */
  TESELA_BF16 = 4,  /**< upper half of a binary32 */
  TESELA_I8 = 5,    /**< two's complement, 8 bits */
  TESELA_I32 = 6,   /**< two's complement, 32 bits */
  TESELA_C64 = 7,   /**< two f32: real, imaginary */
  TESELA_C128 = 8,  /**< two f64: real, imaginary */
  TESELA_U8 = 9,    /**< unsigned, 8 bits */
  TESELA_E4M3 = 10, /**< 8-bit OCP float: largest value 448, NaN, no infinity */
  TESELA_E5M2 = 11  /**< 8-bit OCP float: largest value 57344, infinities, NaN */
} tesela_type;

/** Stride of zero elements; a plain 0 means "default". As row_stride it makes all rows of a matrix
 * equal, as col_stride all columns. `.row_stride = TESELA_STRIDE_ZERO, .col_stride = 1` repeats a
 * vector in each row. It is valid for matrices and vectors that are only read. */
#define TESELA_STRIDE_ZERO INT64_MIN

/** Owner of devices, compiled kernels and cached plans. Create it with tesela_context_create(). */
typedef struct tesela_context tesela_context;
/** Choice of strategy, parameters and device for one problem, made once and run many times. */
typedef struct tesela_plan tesela_plan;
/** Memory on a device of a context. */
typedef struct tesela_buffer tesela_buffer;
/** A or B, copied once into the form that a plan's strategy computes on. Create it with tesela_pack(). */
typedef struct tesela_packed tesela_packed;
/** In-order queue of work on a device of a context. */
typedef struct tesela_stream tesela_stream;
/** Mark in a stream, to measure times. */
typedef struct tesela_event tesela_event;

/** Parameters of a context. All members zero give the usual context. */
typedef struct tesela_context_desc {
  /** Default device of plans that name none. Names: "cpu", "opencl:0", "cuda:1", a kind such as "cuda" for
   * its first device, or "auto". A list such as "cuda:*" or "opencl:0,cpu" spreads products in host memory
   * over several devices (docs/SCALE.md). NULL: TESELA_DEVICE of the environment, else "auto". */
  const char *device;
  /** Maximum number of threads that calls on this context use in host code, the caller included. 0:
   * TESELA_THREADS of the environment, else the processors that this process may run on. Larger
   * values are lowered to that number. Drivers (PoCL) have threads of their own. */
  int threads;
  int reserved; /**< must be 0 */
  /** cl_context of the caller, or NULL. Its OpenCL devices are opened in it, so that its queues and memory
   * can be wrapped. The caller keeps ownership. NULL: tesela creates its own OpenCL contexts. */
  void *opencl_context;
} tesela_context_desc;

/** Matrix that is only read. Set exactly one of data and buffer; tesela_plan_run() also accepts packed.
 * A matrix that has no elements, or is not read, needs none. */
typedef struct tesela_matrix {
  const void *data; /**< host address of element (0, 0) */
  /** device memory, instead of data. All buffers of a call are on one device; tesela_shards.h has
   * operands on several devices. */
  const tesela_buffer *buffer;
  int64_t offset; /**< elements from the buffer's start to element (0, 0); only with buffer */
  /** elements from a row to the next; may be negative; 0: see the conventions above */
  int64_t row_stride;
  /** elements from a column to the next; may be negative; 0: see the conventions above */
  int64_t col_stride;
  /** Nonzero: the operand is the transpose of the stored matrix. The sizes m, n and k are the
   * product's; default strides are the stored matrix's. */
  int transpose;
  tesela_type type; /**< element type */
  /** Nonzero: the operand is the complex conjugate of the stored matrix. Allowed for A and B of
   * tesela_gemm(), and for A of tesela_solve() and tesela_mpi_transpose(). No effect on real matrices. */
  int conjugate;
  const tesela_packed *packed; /**< A or B from tesela_pack(), instead of data; only in tesela_plan_run() */
  /** A or B as shards on several devices, instead of data (tesela_shards.h). Of the other members only
   * transpose, type and conjugate are set. */
  const tesela_shards *shards;
} tesela_matrix;

/** Matrix that is written, and also read if beta is not 0. Members as in tesela_matrix. */
typedef struct tesela_result {
  void *data;                  /**< host address of element (0, 0) */
  tesela_buffer *buffer;       /**< device memory, instead of data */
  int64_t offset;              /**< elements from the buffer's start to element (0, 0); only with buffer */
  int64_t row_stride;          /**< elements from a row to the next; may be negative */
  int64_t col_stride;          /**< elements from a column to the next; may be negative */
  int transpose;               /**< nonzero: the transpose of the result is stored */
  tesela_type type;            /**< element type */
  int reserved;                /**< must be 0 */
  const tesela_shards *shards; /**< C as shards on several devices, instead of data */
} tesela_result;

/** Vector that is only read: element i is data[i * stride]. Set exactly one of data and buffer. A vector
 * that has no elements, or is not read, needs neither. */
typedef struct tesela_vector {
  const void *data;            /**< host address of element 0 */
  const tesela_buffer *buffer; /**< device memory, instead of data; all buffers of a call are on one device */
  int64_t offset;              /**< elements from the buffer's start to element 0; only with buffer */
  /** elements from one to the next; may be negative. 0 means 1; TESELA_STRIDE_ZERO means 0. */
  int64_t stride;
  tesela_type type; /**< element type */
} tesela_vector;

/** Options of every operation: how to compute, and what to guarantee. */
typedef struct tesela_options {
  /** Device to run on, named as in tesela_context_desc. NULL: the device of the buffers, else the
   * context's device. For several devices see tesela_shards.h. */
  const char *device;
  /** Strategy to use: "name key=value ...". The planner chooses the parameters that are not named. NULL: the
   * planner chooses the strategy, too. It considers vendors' libraries only if TESELA_VENDORS is 1.
   *
   * "not name, name" excludes strategies from the choice, also for parts of the product. */
  const char *strategy;
  /** Required accuracy, as a text: NULL, "default", a number or a name.
   *
   * "default" is the strategy's own guarantee. The number "1e-5" means |error| <= 1e-5 (|alpha||A||B| +
   * |beta||C|) for each element. The names "e4m3", "tf32", "bf16", "f32" and "f64" mean the accuracy of
   * a careful sum of factors with the type's precision. "exact" means the exact result, rounded once.
   *
   * Strategies without this guarantee are not used. If none remains the call returns TESELA_UNSUPPORTED
   * and the message lists the possible guarantees. Only exact integer strategies and plain copies
   * guarantee a number below the rounding of C's type (2^-24 for f32). NULL: TESELA_ACCURACY at the
   * context's creation, else "default". tesela_record.error_bound has the guarantee. */
  const char *accuracy;
  /** Required reproducibility: the condition under which the same call gives the same bits.
   *
   * "any" requires nothing. "run" means the same bits on this machine, "threads" also with any number
   * of threads, "devices" on any device. The level "rows": an element of C depends on its row
   * of A, its column of B, k and types only (docs/SAME_BITS.md). Strategies without this guarantee are
   * not used. NULL: TESELA_BITS at the context's creation, else "any". Calls with "any" that recur may then
   * try a second plan. */
  const char *reproducibility;
  /** Expected number of runs of the plan; used by tesela_plan_create(). The cost of opening a device
   * and compiling is divided by this number when strategies are compared. 0: the plan runs so often
   * that this cost does not count. */
  int64_t expected_runs;
  /** Seconds that planning may spend on measurements, on operands of its own, on the device that would be
   * chosen without them. A measurement starts only if it is expected to end in time. The winner becomes the
   * plan and is added to the context's wisdom. Nothing is measured for sizes that the context's own wisdom
   * has, for batches, or if alpha or a size is 0. 0: the planner uses only wisdom and models. */
  double tuning_seconds;
  /** Nonzero: each run measures the result's error, and the value is the seed of the sample. The record gets
   * the error; a plan measures in every run. The reference is summed in higher precision. Small products are
   * checked completely, larger ones at the crossings of randomly drawn rows and columns; equal seeds draw
   * equal samples. The sample adds a few percent of time to products from 4096 x 4096 x 4096 on. A device
   * with double precision computes the reference itself if real operands are in its buffers. Of a batch a few
   * products are checked.
   *
   * If the error exceeds error_bound the call returns TESELA_WRONG_RESULT; C and the record are complete
   * then. TESELA_UNSUPPORTED: for packed operands, structured operands in device buffers, and queued runs. 0:
   * TESELA_MEASURE_ERROR at the context's creation, else no measurement; queued runs ignore that variable. */
  uint64_t measure_error;
  /** Verification of the whole result of each run by checksums (docs/VERIFY.md): NULL, "none", "all",
   * "memory" or "repair". Integers are compared exactly. For other types each row of C must fit the
   * guaranteed error, and tesela_record.hidden_error is the error that may be overlooked. It needs memory for
   * k n / 128 and m n / 64 numbers.
   *
   * "all": a wrong result gives TESELA_WRONG_RESULT; C and the record are complete then. Kernels may sum C
   * before they store it. "memory": C is read from memory after the run. "repair": as "all", but wrong tiles
   * are computed again first. tesela_record.note reports it. TESELA_UNSUPPORTED: for activations, triangles
   * of C, packed operands, transposes, solves, operands on several devices, queued runs; in device buffers
   * also for biases, scales and structures. NULL: TESELA_VERIFY at the context's creation, else "none".
   * Unsupported calls ignore that variable. */
  const char *verify;
} tesela_options;

/** Structures of the matrices of a product. */
typedef struct tesela_structures {
  /** Structure of A: general, symmetric, hermitian or triangular. A structured A is m x m, a structured
   * B n x n; A and B cannot both be structured. All operands then have the same type: f32, f64, c64 or
   * c128. A real hermitian matrix is symmetric. */
  tesela_structure a;
  tesela_triangle a_triangle; /**< Stored triangle of A, before `transpose`; TESELA_WHOLE if A is general */
  tesela_structure b;         /**< structure of B; rules as for A */
  tesela_triangle b_triangle; /**< stored triangle of B, before `transpose`; TESELA_WHOLE if B is general */
  /** Structure of C: TESELA_GENERAL, TESELA_HERMITIAN, TESELA_SYMMETRIC_SUM or TESELA_HERMITIAN_SUM.
   *
   * TESELA_HERMITIAN: the diagonal of C is real. Imaginary parts of the diagonal are not read and
   * become 0; beta is real and c_triangle is set.
   *
   * TESELA_SYMMETRIC_SUM: a triangle of C = alpha (A B + (A B)') + beta C. With B' of an n x k
   * matrix B in place of B it is alpha (A B' + B A') + beta C, BLAS's syr2k. TESELA_HERMITIAN_SUM:
   * the same formula with conjugate transposes; alpha and beta are real. error_bound then refers to
   * |alpha| (|A||B| + (|A||B|)') + |beta||C|. If no strategy on the device supports the sum, the
   * call returns TESELA_UNSUPPORTED; two products, the second with beta = 1, give the result. */
  tesela_structure c;
  /** Part of C that is computed: TESELA_WHOLE, or a triangle of the stored matrix. The rest is
   * neither read nor written. A triangle needs a square C and general A and B of C's type. A and B
   * may be the same matrix; B = A' makes a symmetric C, BLAS's syrk. */
  tesela_triangle c_triangle;
  /** Nonzero: C is also the general factor: C = alpha A C if A is triangular, C = alpha C B if B is.
   * All members of the other factor's matrix are 0, and so is beta. */
  int in_place;
} tesela_structures;

/** Epilogue of a product: scales, bias and activation, applied to each sum before it is stored. The call
 * reads it; it may be freed when the call returns. In the operands of a plan's run only data, buffer and
 * offset of the vectors are read. */
typedef struct tesela_epilogue {
  /** Vector that is added to each row or column of C; see bias_axis. It is in host memory or on the
   * device, as A, B and C are. Its type is C's by default; f32 is allowed if C is f16 or bf16. It
   * must not overlap C. */
  tesela_vector bias;
  tesela_bias_axis bias_axis;   /**< direction of the bias; TESELA_NO_BIAS: the product has no bias */
  tesela_activation activation; /**< function applied to each element of the result, after the bias */
  /** Scales of A in f32: one number or m numbers; see scaling_a. It must not overlap C. */
  tesela_vector scale_a;
  /** Scales of B in f32: one number or n numbers; see scaling_b. It must not overlap C. */
  tesela_vector scale_b;
  tesela_scaling scaling_a; /**< number of scales of A; TESELA_NO_SCALE: A is not scaled */
  tesela_scaling scaling_b; /**< number of scales of B; TESELA_NO_SCALE: B is not scaled */
} tesela_epilogue;

/** Describes a product C = alpha A B + beta C. A is m x k, B is k x n and C is m x n. With an
 * epilogue it is C = f(alpha A B + beta C + bias). With scales it is C = f(alpha diag(scale_a) A B
 * diag(scale_b) + beta C + bias).
 *
 * beta = 0 never reads C. alpha = 0 or k = 0 never reads A or B. m = 0 or n = 0 touches nothing.
 * Elements of C must not overlap each other, nor elements of A and B that are read. Elements of C may
 * lie between elements of A and B. A certain overlap is refused: equal first elements, or gapless
 * ranges that meet. Any other overlap gives unspecified results.
 *
 * Sums are computed in the type of C, or in f32 if C is f16 or bf16. Each sum is rounded to C once, at
 * the end. A and B have the type of C, with these exceptions. If C is f32, A and B may be f16 or bf16.
 * If C is f32, f16 or bf16, they may be e4m3 or e5m2 in any mix. If C is i32, they are i8 or u8.
 * Integers are multiplied modulo 2^32 in two's complement: a sum that does not fit is wrapped.
 * The factors alpha and beta are rounded to the type of the sums; for integers they must be whole numbers.
 *
 * NaN and infinities follow IEEE 754, whatever the order of the terms. alpha scales the finished sum.
 * An empty sum (k = 0 or alpha = 0) is 0, whatever alpha is. A complex product is (x u - y v, x v + y
 * u) in real operations. It does not follow Annex G of C99, so an infinite factor gives infinite or NaN
 * components. A zero component of alpha or beta may be multiplied or left out.
 *
 * A or B may be symmetric, hermitian or triangular, and C may be one triangle: BLAS's symm, hemm, trmm,
 * syrk and herk. Elements outside a stored triangle are never read. Zeros outside a triangular matrix,
 * and imaginary parts of a hermitian diagonal, may be multiplied or left out. An infinity or NaN that
 * meets such a zero may become NaN or have no effect. Products of several ranks (tesela_mpi_gemm())
 * accept general matrices only.
 *
 * Bias and activation need general matrices on one rank, and no integer result. Complex types accept a
 * bias only. Without scales the epilogue may read a C that is already rounded to its type. Then a sum
 * outside that type's range has become infinite; the record's error_bound includes the second rounding. */
typedef struct tesela_gemm_desc {
  int64_t m;       /**< rows of A and C */
  int64_t n;       /**< columns of B and C */
  int64_t k;       /**< columns of A and rows of B */
  tesela_matrix a; /**< left factor, m x k */
  tesela_matrix b; /**< right factor, k x n */
  tesela_result c; /**< result, m x n */
  /** Scalar factor of the product: one double, or two (real, imaginary) if C is complex. NULL: 1. */
  const double *alpha;
  /** Scalar factor of the old C: one double, or two (real, imaginary) if C is complex. NULL: 0. */
  const double *beta;
  tesela_structures structure;     /**< structures of A, B and C; zero: all are general */
  const tesela_epilogue *epilogue; /**< bias, activation and scales; NULL: none */
  tesela_options options;          /**< how to compute; zero: the context decides */
} tesela_gemm_desc;

/** Report of a call: the plan, its times and its errors. The record is filled by tesela_gemm(),
 * tesela_gemm_batched(), tesela_gemm_grouped(), tesela_dot(), tesela_transpose(), tesela_solve()
 * and tesela_plan_run() if the pointer is not NULL. If copies overlap with computing,
 * seconds_copy_in counts only copies before it and seconds_copy_out only copies after it. */
typedef struct tesela_record {
  /** Text of the plan; owned by the plan. Calls without a plan, such as tesela_gemm(), keep it valid
   * until this thread's next call of that kind. */
  const char *plan;
  double seconds; /**< wall-clock seconds of the whole call */
  /** part of seconds: allocating device memory; later runs of a plan reuse that memory */
  double seconds_allocate;
  double seconds_copy_in;  /**< part of seconds: copying operands to the device */
  double seconds_compute;  /**< part of seconds: computing, by the device's own clock if it has one */
  double seconds_copy_out; /**< part of seconds: copying C to the host */
  /** Guaranteed error of each element of C: |error| <= error_bound * (|alpha||A||B| + |beta||C| +
   * |bias|) + underflow.
   *
   * Magnitudes are taken element by element. For a transpose the scale is |alpha||A|. With scales the
   * first term is |alpha||scale_a||A||B||scale_b|, and the sums' part of underflow is multiplied by the
   * scales. The value is a factor that grows with k, times the unit roundoff of C's type. 0 means exact.
   *
   * Underflow is the error of roundings among subnormal numbers. It is (max(1, |alpha|) k + 2) times
   * the smallest number of the sums' type, plus the smallest number of C's type. */
  double error_bound;
  /** Magnitude below which matrix units treat inputs as zero or less precisely; 0 for other strategies. It
   * adds flushed_below * (|alpha| k (max |A| + max |B| + 2) + |beta| + 2) to the underflow above. Some matrix
   * units of AMD replace smaller magnitudes of bf16 by 0, in A, in B and in sums. NVIDIA's tensor cores align
   * f16 and bf16 factors below the smallest normal number (2^-14, 2^-126) as if they had that size. Each
   * factor may then be wrong by flushed_below, here error_bound in f32 times that number. With relaxed
   * arithmetic smaller magnitudes of C may become 0, too. */
  double flushed_below;
  /** Message about this or an earlier run of the plan that did not go as planned; NULL: none. Example: one of
   * several devices failed, and another device does its part. Valid as long as `plan`. */
  const char *note;
  /** Largest measured |error| / (|alpha||A||B| + |beta||C| + |bias|), if options.measure_error is set.
   * Allowed underflow is subtracted and the reference's own error is added. So it may be compared
   * with error_bound. */
  double error_measured;
  /** Number of rows of C that were checked for error_measured; m if all were. Each was checked in
   * measured_cols columns. For a batch it counts the rows of all checked products. 0: nothing was
   * measured. */
  int64_t measured_rows;
  int64_t measured_cols; /**< number of columns in which each of these rows was checked; n if all were */
  /** seconds of the measurement, not part of seconds; the device's part of the work is in seconds */
  double seconds_measure;
  /** Number of elements of C that were verified, if options.verify is set. For a batch it counts all
   * products. 0: nothing was verified. */
  int64_t verified;
  /** Number of elements of C that were not verified, because of infinity, NaN or possible overflow. */
  int64_t unverified;
  /** Largest absolute error of an element that the verification may overlook; 0 for integers. Smaller errors
   * may be overlooked, larger ones are found. */
  double hidden_error;
  int64_t wrong_row;     /**< row of C with a wrong element; meaningful if wrong_cols is not 0 */
  int64_t wrong_col;     /**< first column of that row with a possibly wrong element */
  int64_t wrong_cols;    /**< number of possibly wrong columns; 1: the element is known; 0: none is wrong */
  double seconds_verify; /**< seconds of the verification, not part of seconds */
} tesela_record;

#include <tesela/tesela_sized.h>

/** Returns the library's version, "major.minor.patch", a static string. */
TESELA_API const char *tesela_version(void);
/** Returns the library's version as a number: 10000 major + 100 minor + patch. Compare it with
 * TESELA_VERSION_NUMBER, the version of the header. */
TESELA_API int tesela_version_number(void);

/** Returns the name of a status, "OK", "BAD_CALL", ..., a static string; "?" if the value is no status. */
TESELA_API const char *tesela_status_name(tesela_status status);

/** Returns the message of this thread's last failed call, without a newline: what happened, where,
 * and what would be right. Returns "" if no call has failed. The library owns the text; it is valid
 * until this thread's next call. */
TESELA_API const char *tesela_last_error(void);

/** Returns the compiler's log of this thread's last TESELA_BUILD_FAILED, or "". The library owns the
 * text; it is valid until this thread's next call. */
TESELA_API const char *tesela_last_log(void);

/** Creates a context; free it with tesela_context_destroy(). desc may be NULL. The call is fast:
 * devices are looked for at their first use.
 * @return TESELA_BAD_CALL if a device name is malformed; TESELA_OUT_OF_MEMORY. */
static inline tesela_status tesela_context_create(const tesela_context_desc *desc, tesela_context **context) {
  return tesela_context_create_sized(desc, context, sizeof *desc);
}

/** Frees a context. Destroy its plans, buffers and streams first. NULL is allowed. */
TESELA_API void tesela_context_destroy(tesela_context *context);

/** Computes one product, C = alpha A B + beta C, and returns when C is complete. The context caches the plan,
 * so later calls with equal sizes, types and strides do not plan again. record may be NULL. Thread-safe.
 *
 * If the call fails, C in host memory is unchanged, with two exceptions. After TESELA_DEVICE_FAILED C may
 * hold a part of the result. After TESELA_WRONG_RESULT (options.measure_error or options.verify) C holds the
 * whole result.
 * @return TESELA_BAD_CALL if an argument is wrong; TESELA_UNSUPPORTED if no strategy supports the product;
 * TESELA_NO_DEVICE; TESELA_OUT_OF_MEMORY; TESELA_DEVICE_FAILED; TESELA_BUILD_FAILED; TESELA_WRONG_RESULT. */
static inline tesela_status tesela_gemm(tesela_context *context, const tesela_gemm_desc *desc,
                                        tesela_record *record) {
  return tesela_call_sized(context, TESELA_GEMM, desc, record, sizeof *desc, sizeof *record);
}

/** Frees a text that a call returned in a char ** argument. NULL is allowed. */
TESELA_API void tesela_text_free(char *text);

/** Explains which plan a call would use and why, without running it. *text is the JSON of `tesela
 * explain --json` (docs/JSON.md); free it with tesela_text_free(). The call creates the plan, so it
 * may open devices and compile. It ignores options.tuning_seconds and measures nothing. Operands are as in
 * tesela_plan_create(). If nothing can run, "plan" is null and each candidate has a "refusal".
 * @return as tesela_plan_create() if the description is wrong. */
static inline tesela_status tesela_explain(tesela_context *context, const tesela_gemm_desc *desc,
                                           char **text) {
  return tesela_explain_sized(context, TESELA_GEMM, desc, text, sizeof *desc);
}

#ifdef __cplusplus
}
#endif

#include <tesela/tesela_batch.h>
#include <tesela/tesela_buffer.h>
#include <tesela/tesela_dense.h>
#include <tesela/tesela_device.h>
#include <tesela/tesela_operations.h>
#include <tesela/tesela_plan.h>
#include <tesela/tesela_stream.h>
#include <tesela/tesela_wisdom.h>

#endif
