/**
 * @file tesela.h
 * @brief tesela multiplies matrices, C = alpha A B + beta C, on every processor that a machine has, with dot products
 * and transposes beside it.
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
 *    initialisation (C++), and fields added later keep their default.
 *  - Matrices are a pointer with two strides, counted in elements: element (i, j) of an operand is
 *    data[i * row_stride + j * col_stride]. Both strides zero means dense and row-major.
 *  - Sizes and strides are 64-bit; element counts, not only dimensions, may pass 2^31.
 *  - Every call returns a status. Nothing prints, aborts or exits. tesela_last_error() has the sentence.
 *  - Calls are thread-safe: any number of threads may share a context, a plan and a device buffer that is
 *    only read. A thread that is cancelled inside of a call ends when the call is done. On the cpu a call needs less
 *    than 48 KiB of stack; drivers of other devices may need more.
 */
#ifndef TESELA_TESELA_H
#define TESELA_TESELA_H

#include <stddef.h>
#include <stdint.h>

#include <tesela/version.h>

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

/** Element types. TESELA_TYPE_DEFAULT is f32 for a product's A and B, and for C A's type, or i32 where A is i8 or u8; of
 * a dot and a transpose, f32 for the first operand, and its type for the others (i32 for a dot of i8 or u8). */
typedef enum tesela_type {
  TESELA_TYPE_DEFAULT = 0,
  TESELA_F64 = 1,  /**< IEEE 754 binary64 */
  TESELA_F32 = 2,  /**< IEEE 754 binary32 */
  TESELA_F16 = 3,  /**< IEEE 754 binary16 */
  TESELA_BF16 = 4, /**< the upper half of a binary32 */
  TESELA_I8 = 5,   /**< two's complement, 8 bits */
  TESELA_I32 = 6,  /**< two's complement, 32 bits */
  TESELA_C64 = 7,  /**< two f32: real, imaginary */
  TESELA_C128 = 8, /**< two f64: real, imaginary */
  TESELA_U8 = 9    /**< unsigned, 8 bits */
} tesela_type;

/** Owns devices, compiled kernels and remembered plans. */
typedef struct tesela_context tesela_context;
/** A decision made once, to run many times: a problem, a strategy with its parameters, a device. */
typedef struct tesela_plan tesela_plan;
/** Memory on a device of a context. */
typedef struct tesela_buffer tesela_buffer;
/** An operand of a plan's runs, copied once into the form that the plan's strategy computes on. */
typedef struct tesela_packed tesela_packed;

/** How a context is made. Zero everywhere is the usual context. */
typedef struct tesela_context_desc {
  /** Device that plans use unless they name one: "cpu", "opencl:0", "cuda:1", a kind alone ("cuda") for its
   * first device, or "auto". NULL: the environment's TESELA_DEVICE, else "auto". */
  const char *device;
  /** Most threads that calls on this context use in host code, the caller's included; never more than 0 stands for.
   * 0: TESELA_THREADS, else the processors that this process may run on. Drivers (PoCL) have threads of their own. */
  int threads;
} tesela_context_desc;

/** One matrix of a product. Exactly one of data and buffer is set (or packed, in tesela_plan_run()); none is needed
 * where the matrix has no elements or is not read. */
typedef struct tesela_matrix {
  void *data;            /**< host memory; element (0, 0). A and B are never written. */
  tesela_buffer *buffer; /**< or device memory; all of a call's buffers are on one device, which runs it */
  int64_t offset;        /**< with buffer: elements before element (0, 0) */
  int64_t row_stride;    /**< elements between a row and the next; may be negative */
  int64_t col_stride;    /**< elements between a column and the next; may be negative */
  int transpose; /**< nonzero: what is stored is the transpose of what takes part in the product. Sizes
                      m, n, k are those of the product; the default strides are those of what is stored. */
  tesela_type type;
  int conjugate; /**< nonzero: what takes part in the product is the complex conjugate of what is stored. A and B of
                      tesela_gemm() alone; real matrices are their own conjugates. */
  const tesela_packed
      *packed; /**< A or B of tesela_plan_run(): what tesela_pack() made of it for this plan */
} tesela_matrix;

/** C = alpha A B + beta C, where A is m x k, B is k x n and C is m x n.
 *
 * beta = 0 never reads C, alpha = 0 or k = 0 never reads A or B, and m = 0 or n = 0 touches nothing. C's
 * elements must not overlap each other, nor those of A and B that are read; they may lie between them. An
 * overlap that is certain (the same first element, or ranges without gaps that meet) is refused, any other
 * gives unspecified results.
 *
 * Sums are made in the type of C, in f32 where that is f16 or bf16, and rounded to C once, at the end. Integers are
 * multiplied modulo 2^32, as two's complement: exact wherever the result fits, in whatever order terms are added, and
 * wrapped where it does not. alpha and beta are rounded to the type of the sums; of integers they are whole numbers.
 *
 * NaN and infinities are those of IEEE 754, in whatever order terms are added; alpha scales what the sum came to, and an
 * empty sum (k = 0, alpha = 0) is 0 and not scaled, whatever alpha is. A complex product is (x u - y v, x v + y u) in real
 * operations and nothing more: C99's Annex G, which makes infinities of some NaN, is not followed, so an infinite factor
 * makes components infinite or NaN. A component of alpha or beta that is 0 may be multiplied or left out. */
typedef struct tesela_gemm_desc {
  int64_t m, n, k;
  tesela_matrix a, b, c;
  const double *alpha; /**< NULL: 1. One double, or two (real, imaginary) where C is complex. */
  const double *beta;  /**< NULL: 0. As alpha. */
  /** Device to run on, as in tesela_context_desc. NULL: where the buffers are, else the context's. */
  const char *device;
  /** "name key=value ...": the strategy to use, and its parameters where they shall not be the planner's.
   * NULL: the planner chooses, among vendors' libraries only where TESELA_VENDORS is 1. */
  const char *strategy;
  /** Of tesela_plan_create(): how often the plan will run. What comes before its first run (to open a device, to compile)
   * counts in the choice then, shared out among them. 0: so often that it does not. */
  int64_t runs;
} tesela_gemm_desc;

/** Where the operands of many products lie that are alike in everything else: product i, 0 <= i < count, has A at
 * a[i], or where that is NULL at the description's A and i * a_stride elements further; so have B and C. Addresses are of
 * host memory and stand in place of the description's: where a is given, desc.a has neither data nor buffer nor packed,
 * and no operand is in a buffer. Products must not write each other's C, nor what another one reads. */
typedef struct tesela_batch {
  int64_t count;
  void *const *a, *const *b, *const *c; /**< element (0, 0) of each product's operand; NULL: by strides */
  int64_t a_stride, b_stride, c_stride; /**< may be negative; 0: all products have the same A, or B */
} tesela_batch;

/** A vector: element i is data[i * stride]. Exactly one of data and buffer is set; neither is needed where the vector
 * has no elements or is not read. */
typedef struct tesela_vector {
  void *data;            /**< host memory; element 0. What is only read is never written. */
  tesela_buffer *buffer; /**< or device memory; all of a call's buffers are on one device, which runs it */
  int64_t offset;        /**< with buffer: elements before element 0 */
  int64_t stride;        /**< elements from one to the next; may be negative. 0: 1 */
  tesela_type type;
} tesela_vector;

/** result = alpha (x[0] y[0] + ... + x[n-1] y[n-1]) + beta result, where result is a vector of one element.
 *
 * beta = 0 never reads the result, alpha = 0 or n = 0 never reads x or y. The result overlaps neither. x and y are both f64,
 * f32, f16 or bf16, or each i8 or u8. The result's type is x's unless it says otherwise: f32 of f16 and bf16, too, and i32
 * of integers alone. Sums, alpha and beta are as in tesela_gemm_desc. */
typedef struct tesela_dot_desc {
  int64_t n;
  tesela_vector x, y, result;
  const double *alpha;           /**< NULL: 1. As in tesela_gemm_desc. */
  const double *beta;            /**< NULL: 0. */
  const char *device, *strategy; /**< as in tesela_gemm_desc: "exact", "fixed_tree", ... */
  int64_t runs;                  /**< as in tesela_gemm_desc */
} tesela_dot_desc;

/** B = alpha A', where A is rows x cols and B is cols x rows, of one type; any type where alpha is 1, which moves
 * elements bit by bit.
 *
 * alpha = 0 never reads A. B's elements must not overlap each other nor A's, unless in_place: then A becomes its own
 * transpose, rows = cols, and b is not given. */
typedef struct tesela_transpose_desc {
  int64_t rows, cols;
  tesela_matrix a, b;
  int in_place;
  const double *alpha;           /**< NULL: 1. As in tesela_gemm_desc. */
  const char *device, *strategy; /**< as in tesela_gemm_desc */
  int64_t runs;                  /**< as in tesela_gemm_desc */
} tesela_transpose_desc;

/** What ran: filled by tesela_gemm(), tesela_gemm_batched(), tesela_dot(), tesela_transpose() and tesela_plan_run() where
 * it is not NULL. */
typedef struct tesela_record {
  const char
      *plan;      /**< the plan's text. It lives as long as the plan, and after a call that made its own plan
                         (tesela_gemm() and its like) until this thread's next such call. */
  double seconds; /**< wall clock of the whole call */
  double seconds_allocate; /**< part of it: memory on the device, which a plan's later runs find there */
  double seconds_copy_in;  /**< part of it: operands to the device */
  double seconds_compute;  /**< part of it: the strategy, by the device's own clock where it has one */
  double seconds_copy_out; /**< part of it: C back to the host */
  /** What the strategy guarantees of each element of C: |error| <= error_bound * (|alpha||A||B| + |beta||C|) + underflow,
   * magnitudes taken element by element (of a transpose, |alpha||A|). A factor that grows with k times the unit
   * roundoff of C's type; 0 where the strategy guarantees exactness. Underflow is what roundings among subnormal numbers
   * cost: (max(1, |alpha|) k + 2) times the smallest one of the type of the sums, and the smallest one of C's. */
  double error_bound;
  /** 0, but on matrix units that take smaller magnitudes as 0, in A, in B and in sums (bf16 on some of AMD's), and with
   * relaxed arithmetic, in C as well: underflow is flushed_below * (|alpha| k (max |A| + max |B| + 2) + |beta| + 2) then,
   * beside the above. */
  double flushed_below;
} tesela_record;

/** The library's version, "major.minor.patch". */
TESELA_API const char *tesela_version(void);

/** "OK", "BAD_CALL", ...; "?" for a value that is no status. */
TESELA_API const char *tesela_status_name(tesela_status status);

/** The sentence that explains this thread's last failed call, without a newline: what happened, where, and
 * what would be right. "" before any failure. Owned by the library, valid until this thread's next call. */
TESELA_API const char *tesela_last_error(void);

/** The compiler's log that belongs to this thread's last TESELA_BUILD_FAILED, or "". Ownership as above. */
TESELA_API const char *tesela_last_log(void);

/** Makes a context. desc may be NULL. Devices are looked for at their first use, so this is fast.
 *  @return TESELA_BAD_CALL for a device name that is malformed, TESELA_OUT_OF_MEMORY. */
TESELA_API tesela_status tesela_context_create(const tesela_context_desc *desc, tesela_context **context);

/** Frees a context. Its plans and buffers must have been destroyed before. NULL is allowed. */
TESELA_API void tesela_context_destroy(tesela_context *context);

/** Multiplies once. Plans are kept inside the context, so that calls with the same sizes, types and strides
 * find theirs again. record may be NULL. When this fails, host C is as it was; only after TESELA_DEVICE_FAILED may
 * it hold a part of the result, because the device or the copy back had begun to write it. */
TESELA_API tesela_status tesela_gemm(tesela_context *context, const tesela_gemm_desc *desc,
                                     tesela_record *record);

/** Multiplies many times: product i is desc's, with its operands where batch says. On the processor small products are
 * shared out among threads, and every result has the bits that a call of its own would give. On another device, operands
 * at even distances are brought there together, unless they are there, and multiplied in one run where a strategy can, in
 * its own order of sums. All operands are checked before any product is computed. Where memory runs out when some
 * products may be done, the others are finished by the strategy "sequential" and its order of sums, which takes none.
 * record, which may be NULL, tells of all products together; its plan is that of one, or of the batch.
 *  @return as tesela_gemm(): after any other failure than TESELA_DEVICE_FAILED no product was done, and every C is as it
 *  was; where C is in buffers, TESELA_DEVICE_FAILED says so of some. TESELA_BAD_CALL with the product's number where its
 *  operands are wrong, and where C is the same for two products. */
TESELA_API tesela_status tesela_gemm_batched(tesela_context *context, const tesela_gemm_desc *desc,
                                             const tesela_batch *batch, tesela_record *record);

/** One dot product; everything else as tesela_gemm(). */
TESELA_API tesela_status tesela_dot(tesela_context *context, const tesela_dot_desc *desc,
                                    tesela_record *record);

/** One transpose; everything else as tesela_gemm(). */
TESELA_API tesela_status tesela_transpose(tesela_context *context, const tesela_transpose_desc *desc,
                                          tesela_record *record);

/** Makes a plan for products of this shape, these types and strides. The operands' data and buffer may be
 * NULL here: only whether a buffer is given, and on which device, counts. alpha and beta are part of the
 * plan. */
TESELA_API tesela_status tesela_plan_create(tesela_context *context, const tesela_gemm_desc *desc,
                                            tesela_plan **plan);
/** The same for dot products and transposes. */
TESELA_API tesela_status tesela_plan_create_dot(tesela_context *context, const tesela_dot_desc *desc,
                                                tesela_plan **plan);
TESELA_API tesela_status tesela_plan_create_transpose(tesela_context *context,
                                                      const tesela_transpose_desc *desc, tesela_plan **plan);

/** Runs a plan on these operands. Only data, buffer, offset and packed of a, b and c are read: sizes, types and
 * strides are the plan's. Of a dot, a is x, b is y and c the result; of a transpose, a is A and c is B, and in place c
 * is A; what the plan does not use may be NULL. Returns when C is complete. record may be NULL. Any number of threads
 * may run one plan at once. */
TESELA_API tesela_status tesela_plan_run(tesela_plan *plan, const tesela_matrix *a, const tesela_matrix *b,
                                         const tesela_matrix *c, tesela_record *record);

/** Packs A or B of a plan once, for many runs with it: the one of a and b that is not NULL, of which only data is read.
 * What host strategies copy in every run (host_packed, host_amx) is copied here; where a strategy has no form of its
 * own, a plain copy is kept, which saves nothing. Either way the matrix may change or go when this returns, and a run
 * with what was packed gives the bits that a run with the matrix gives. Any number of threads may use one packed
 * operand at once. It serves this plan and others of the same text (tesela_plan_describe()), and may outlive them.
 *
 *     tesela_pack(plan, NULL, &b, &packed);
 *     for (...) tesela_plan_run(plan, &a[i], &(tesela_matrix){.packed = packed}, &c[i], NULL);
 *     tesela_packed_destroy(packed);
 *
 *  @return TESELA_BAD_CALL where the plan is for buffers, or does not read that operand; TESELA_OUT_OF_MEMORY. */
TESELA_API tesela_status tesela_pack(tesela_plan *plan, const tesela_matrix *a, const tesela_matrix *b,
                                     tesela_packed **packed);

/** Frees a packed operand that no running call uses. NULL is allowed. */
TESELA_API void tesela_packed_destroy(tesela_packed *packed);

/** The plan as one line of text that tesela_plan_parse() reads. Owned by the plan. */
TESELA_API const char *tesela_plan_describe(const tesela_plan *plan);

/** Seconds that a run of the plan is expected to take, copies included: what it was chosen by. 0 where nobody chose, as of
 * a plan from tesela_plan_parse(), or plan is NULL. */
TESELA_API double tesela_plan_seconds(const tesela_plan *plan);

/** Makes the plan that a line from tesela_plan_describe() tells.
 *  @return TESELA_BAD_INPUT for text that is no plan or has a retired version, naming the word that is wrong.
 */
TESELA_API tesela_status tesela_plan_parse(tesela_context *context, const char *text, tesela_plan **plan);

/** Frees a plan that no thread is running. NULL is allowed. */
TESELA_API void tesela_plan_destroy(tesela_plan *plan);

/** Takes device memory of at least `bytes` bytes on a device named as in tesela_context_desc. NULL: the
 * context's device; where that is "auto", the one with the highest peak. */
TESELA_API tesela_status tesela_buffer_create(tesela_context *context, const char *device, size_t bytes,
                                              tesela_buffer **buffer);

/** Copies host memory into a buffer, `offset` bytes from its start; host may be used again on return. */
TESELA_API tesela_status tesela_buffer_write(tesela_buffer *buffer, size_t offset, const void *host,
                                             size_t bytes);

/** Copies from a buffer to host memory. */
TESELA_API tesela_status tesela_buffer_read(const tesela_buffer *buffer, size_t offset, void *host,
                                            size_t bytes);

/** Frees a buffer that no running call uses. NULL is allowed. */
TESELA_API void tesela_buffer_destroy(tesela_buffer *buffer);

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

/** How many devices this context sees; looks for them at the first call. */
TESELA_API tesela_status tesela_device_count(tesela_context *context, int *count);

/** Describes device `index`, 0 <= index < count. */
TESELA_API tesela_status tesela_device_info(tesela_context *context, int index, tesela_device *info);

#ifdef __cplusplus
}
#endif

#endif
