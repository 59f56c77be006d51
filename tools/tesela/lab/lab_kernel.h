/* A kernel of one's own: a folder with one kernel file and a file `parameters`.
 *
 * kernel.cl (OpenCL C), kernel.cu (CUDA C++) or kernel.c (C11) has the function as its language writes it.
 * Its arguments are recognised by their names (TSL_LAB_ARGUMENT_LIST). Matrices lie row by row. `parameters`
 * has one "name = value" a line; a "#" begins a comment. */
#ifndef TSL_TOOL_LAB_KERNEL_H
#define TSL_TOOL_LAB_KERNEL_H

#include "cli/language.h"
#include "core/hash.h"
#include "core/text.h"
#include "problem/problem.h"

#include <limits.h>

/* Languages. X(NAME, word of --language, extension, name for people) */
#define TSL_LAB_LANGUAGE_LIST(X)                                                                             \
  X(OPENCL, "opencl", "cl", "OpenCL C")                                                                      \
  X(CUDA, "cuda", "cu", "CUDA C++")                                                                          \
  X(C, "c", "c", "C11")

typedef enum tsl_lab_language {
#define TSL_LAB_LANGUAGE_MEMBER(name, word, extension, title) TSL_LAB_##name,
  TSL_LAB_LANGUAGE_LIST(TSL_LAB_LANGUAGE_MEMBER)
#undef TSL_LAB_LANGUAGE_MEMBER
      TSL_LAB_LANGUAGES
} tsl_lab_language;

/* Kinds of a kernel's argument. */
typedef enum tsl_lab_role { TSL_LAB_SIZE, TSL_LAB_SCALAR, TSL_LAB_OPERAND, TSL_LAB_LOCAL } tsl_lab_role;

/* Arguments. V(NAME, name in the kernel, role, meaning) */
#define TSL_LAB_ARGUMENT_LIST(V)                                                                             \
  V(M, "m", SIZE, N_("rows of C"))                                                                           \
  V(N, "n", SIZE, N_("columns of C; of a dot, the length"))                                                  \
  V(K, "k", SIZE, N_("columns of A and rows of B"))                                                          \
  V(ROWS, "rows", SIZE, N_("rows of A (transpose)"))                                                         \
  V(COLS, "cols", SIZE, N_("columns of A (transpose)"))                                                      \
  V(LDA, "lda", SIZE, N_("elements from a row of A to the next"))                                            \
  V(LDB, "ldb", SIZE, N_("elements from a row of B to the next"))                                            \
  V(LDC, "ldc", SIZE, N_("elements from a row of C to the next"))                                            \
  V(ALPHA, "alpha", SCALAR, N_("factor of the product"))                                                     \
  V(BETA, "beta", SCALAR, N_("factor of C before the product is added"))                                     \
  V(A, "a", OPERAND, N_("the matrix A"))                                                                     \
  V(B, "b", OPERAND, N_("the matrix B"))                                                                     \
  V(C, "c", OPERAND, N_("the result C"))                                                                     \
  V(X, "x", OPERAND, N_("the first vector (dot)"))                                                           \
  V(Y, "y", OPERAND, N_("the second vector (dot)"))                                                          \
  V(SUMS, "sums", OPERAND, N_("one sum of each work-group, which the host adds (dot)"))                      \
  V(LOCAL, "local", LOCAL, N_("local memory; the line \"NAME = local N\" has its elements"))

typedef enum tsl_lab_meaning {
#define TSL_LAB_ARGUMENT_MEMBER(name, word, role, what) TSL_LAB_ARG_##name,
  TSL_LAB_ARGUMENT_LIST(TSL_LAB_ARGUMENT_MEMBER)
#undef TSL_LAB_ARGUMENT_MEMBER
      TSL_LAB_MEANINGS
} tsl_lab_meaning;

enum { TSL_LAB_ARGUMENTS_MAX = 24, TSL_LAB_WORD_MAX = 64 };

typedef struct tsl_lab_argument {
  char name[TSL_LAB_WORD_MAX]; /* name in the kernel */
  tsl_lab_meaning meaning;
  int bytes;                    /* bytes of a size or a scalar */
  bool is_float;                /* the type is float or double */
  char local[TSL_LAB_WORD_MAX]; /* TSL_LAB_ARG_LOCAL: elements, as an expression */
} tsl_lab_argument;

typedef struct tsl_lab_kernel {
  char folder[PATH_MAX]; /* as the user named it */
  char name[128];        /* last part of the folder */
  char file[PATH_MAX];   /* path of the kernel file */
  char base[32];         /* its name in messages: "kernel.cl" */
  tsl_lab_language language;
  tsl_op op;
  tesela_type type;
  char function[TSL_LAB_WORD_MAX];
  char from[TSL_LAB_WORD_MAX]; /* strategy that the kernel began as; "" if unknown */
  tsl_lab_argument arguments[TSL_LAB_ARGUMENTS_MAX];
  int argument_count;
  /* expressions of the work-items and of a group's items in each dimension; "" after the last */
  char items[3][TSL_LAB_WORD_MAX], group[3][TSL_LAB_WORD_MAX];
  char *text;    /* the kernel file */
  tsl_hash hash; /* hash of the kernel file and of `parameters` */
} tsl_lab_kernel;

const char *tsl_lab_language_word(tsl_lab_language language);
const char *tsl_lab_language_title(tsl_lab_language language);
const char *tsl_lab_language_extension(tsl_lab_language language);
/* Returns the language of a word; TSL_LAB_LANGUAGES if there is none. */
tsl_lab_language tsl_lab_language_find(const char *word);
tsl_lab_role tsl_lab_role_of(tsl_lab_meaning meaning);

/* Reads a file as a string for free(). TESELA_BAD_INPUT names the file. */
tesela_status tsl_lab_read_file(const char *path, char **text);
/* Reads the folder. TESELA_BAD_INPUT tells file, line and what would be right. */
tesela_status tsl_lab_kernel_read(const char *folder, tsl_lab_kernel *kernel);
void tsl_lab_kernel_free(tsl_lab_kernel *kernel);

bool tsl_lab_takes(const tsl_lab_kernel *kernel, tsl_lab_meaning meaning);
/* Returns the value of a size argument for a problem, whose C and B have the problem's strides. */
int64_t tsl_lab_size(const tsl_problem *problem, tsl_lab_meaning meaning);
/* Computes an expression: numbers, sizes, and numbers that the kernel defines, with * and / (rounded up). */
tesela_status tsl_lab_evaluate(const tsl_lab_kernel *kernel, const char *expression,
                               const tsl_problem *problem, int64_t *value);

/* Work-groups of each dimension, and items of a group. */
typedef struct tsl_lab_range {
  int64_t groups[3], items[3];
} tsl_lab_range;
/* Computes the range: items rounded up to whole groups, at least one group. */
tesela_status tsl_lab_range_of(const tsl_lab_kernel *kernel, const tsl_problem *problem,
                               tsl_lab_range *range);

#endif
