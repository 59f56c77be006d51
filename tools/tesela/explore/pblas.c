#include "explore/pblas.h"

#include "cli/ranks.h"
#include "comm/collective_status.h"
#include "core/env.h"
#include "core/library.h"
#include "core/status.h"

#include <stdio.h>
#include <string.h>

/* Signature of p?gemm, equal for all four types; scalars have the function's type. */
typedef void multiply(const char *trans_a, const char *trans_b, const int32_t *m, const int32_t *n,
                      const int32_t *k, const void *alpha, const void *a, const int32_t *ia,
                      const int32_t *ja, const int32_t *desc_a, const void *b, const int32_t *ib,
                      const int32_t *jb, const int32_t *desc_b, const void *beta, void *c, const int32_t *ic,
                      const int32_t *jc, const int32_t *desc_c);

static struct pblas {
  multiply *psgemm, *pdgemm, *pcgemm, *pzgemm;
  void (*pinfo)(int32_t *rank, int32_t *count);
  void (*get)(const int32_t *context, const int32_t *what, int32_t *value);
  void (*gridinit)(int32_t *context, const char *order, const int32_t *rows, const int32_t *cols);
  void (*gridinfo)(const int32_t *context, int32_t *rows, int32_t *cols, int32_t *row, int32_t *col);
  void (*gridexit)(const int32_t *context);
  int64_t (*numroc)(const int64_t *size, const int64_t *block, const int64_t *process, const int64_t *first,
                    const int64_t *processes);
  void (*blas)(void);
  void (*openblas_threads)(int count);
  void (*mkl_threads)(int count);
} pblas;

static const tsl_library_symbol symbols[] = {
    {"psgemm_", offsetof(struct pblas, psgemm), 0},
    {"pdgemm_", offsetof(struct pblas, pdgemm), 0},
    {"pcgemm_", offsetof(struct pblas, pcgemm), 0},
    {"pzgemm_", offsetof(struct pblas, pzgemm), 0},
    {"numroc_", offsetof(struct pblas, numroc), 0},
    {"blacs_pinfo_", offsetof(struct pblas, pinfo), 0},
    {"blacs_get_", offsetof(struct pblas, get), 0},
    {"blacs_gridinit_", offsetof(struct pblas, gridinit), 0},
    {"blacs_gridinfo_", offsetof(struct pblas, gridinfo), 0},
    {"blacs_gridexit_", offsetof(struct pblas, gridexit), 0},
    {"dgemm_", offsetof(struct pblas, blas), 1},
    {"openblas_set_num_threads", offsetof(struct pblas, openblas_threads), 1},
    {"MKL_Set_Num_Threads", offsetof(struct pblas, mkl_threads), 1},
};

/* --- loading --- */

/* Library names for each MPI: the distribution's, then MKL's, which needs further libraries. */
#define MKL_NAMES "libmkl_scalapack_lp64.so.3", "libmkl_scalapack_lp64.so.2", NULL
static const char *const of_openmpi[] = {"libscalapack-openmpi.so.2.2", "libscalapack-openmpi.so.2.1", NULL};
static const char *const of_mpich[] = {"libscalapack-mpich.so.2.2", "libscalapack-mpich.so.2.1", NULL};
static const char *const any_openmpi[] = {"libscalapack-openmpi.so.2.2", "libscalapack-openmpi.so.2.1",
                                          MKL_NAMES};
static const char *const any_mpich[] = {"libscalapack-mpich.so.2.2", "libscalapack-mpich.so.2.1", MKL_NAMES};
static const char *const none[] = {NULL};

static const struct flavour {
  const char *mpi;
  const char *const *alone, *const *all;
  const char *mkl_blacs;
} flavours[] = {
    {"openmpi", of_openmpi, any_openmpi, "libmkl_blacs_openmpi_lp64.so"},
    {"mpich", of_mpich, any_mpich, "libmkl_blacs_intelmpi_lp64.so"},
    {"", none, none, "libmkl_blacs_intelmpi_lp64.so"},
};

/* Libraries that contain MPI's functions. */
static const char *const mpis[] = {"libmpi.so", "libmpich.so", NULL};

static const struct flavour *find_flavour(void) {
  const struct flavour *at = flavours;
  while (*at->mpi && strcmp(at->mpi, tsl_ranks_mpi()) != 0)
    at++;
  return at;
}

/* Loads MKL's BLAS and the BLACS for the MPI before MKL's ScaLAPACK, which does not list them as
 * dependencies. Does nothing for other names. */
static void share_mkl(const char *name, const struct flavour *flavour_in) {
  static const char start[] = "libmkl_scalapack_lp64.so";
  static const char *const versions[] = {".3", ".2", ""};
  const char *const slash = strrchr(name, '/'), *const file = slash ? slash + 1 : name;
  const char *const needed[] = {"libmkl_core.so", "libmkl_gnu_thread.so", "libmkl_intel_lp64.so",
                                flavour_in->mkl_blacs};
  if (strncmp(file, start, strlen(start)) != 0)
    return;
  (void)tsl_library_open_global("libgomp.so.1");
  for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
    char path[4096];
    bool is_there = false; /* a missing library is reported when ScaLAPACK itself is loaded */
    for (size_t v = 0; !is_there && v < sizeof versions / sizeof *versions; v++) {
      snprintf(path, sizeof path, "%.*s%s%s", (int)(file - name), name, needed[i], versions[v]);
      is_there = tsl_library_open_global(path);
    }
  }
}

static tesela_status load_from(const char *chosen, const char *const *names) {
  return tsl_library_load("ScaLAPACK", *chosen ? chosen : NULL, names, symbols,
                          sizeof symbols / sizeof *symbols, &pblas);
}

/* Loads a ScaLAPACK. MKL's dependencies are loaded last, since other libraries would bind to their
 * functions. */
static tesela_status pblas_load(void) {
  const struct flavour *of = find_flavour();
  const char *chosen = tsl_env_get(TSL_ENV_PBLAS);
  tsl_status_saved saved;
  if (!*chosen && !of->all[0])
    return tsl_fail(TESELA_NO_DEVICE, "the MPI that started the processes is unknown: name a ScaLAPACK built "
                                      "for it with TESELA_PBLAS=PATH");
  if (!*chosen && load_from(chosen, of->alone) == TESELA_OK)
    return TESELA_OK;
  for (const char *const *name = of->all; !*chosen && *name; name++)
    share_mkl(*name, of);
  share_mkl(chosen, of);
  if (load_from(chosen, of->all) == TESELA_OK)
    return TESELA_OK;
  tsl_status_save(&saved);
  return tsl_fail(TESELA_NO_DEVICE, "%s (TESELA_PBLAS names %s)", saved.sentence, *chosen ? "it" : "one");
}

/* Checks that integers have 32 bits. NUMROC returns how many of n rows a single process has; a
 * 32-bit library sees only the lower half of n. */
static tesela_status check_width(void) {
  static const int64_t n = ((int64_t)3 << 32) + 11, block = 7, zero = 0, one = 1;
  const int64_t rows = pblas.numroc(&n, &block, &zero, &zero, &one);
  if (rows != n)
    return TESELA_OK;
  return tsl_fail(TESELA_NO_DEVICE,
                  "its integers have 64 bits instead of 32 (TESELA_PBLAS names another library)");
}

/* Checks that the library uses the running MPI. `before`: number of MPI libraries in the process
 * before loading. An MPI function with another MPI's handle may never return. */
static tesela_status check_mpi(const tsl_ranks *ranks, int before) {
  int32_t rank, count;
  if (tsl_library_count(mpis) != before)
    return tsl_fail(TESELA_NO_DEVICE,
                    "it loads another MPI's library (TESELA_PBLAS names another ScaLAPACK)");
  pblas.pinfo(&rank, &count);
  if (rank == ranks->rank && count == ranks->size)
    return TESELA_OK;
  return tsl_fail(TESELA_NO_DEVICE,
                  "it is another MPI's: its BLACS sees %d processes where there are %d (TESELA_PBLAS names "
                  "another library)",
                  (int)count, ranks->size);
}

/* --- the name in reports --- */

static void name_it(tsl_pblas *out) {
  char file[224], blas[224] = "";
  void (*first)(void);
  memcpy(&first, &pblas.pdgemm, sizeof first);
  tsl_library_file(first, file, sizeof file);
  if (pblas.blas)
    tsl_library_file(pblas.blas, blas, sizeof blas);
  snprintf(out->name, sizeof out->name, "%s%s%s%s", file, *blas ? " with " : "", blas,
           pblas.openblas_threads || pblas.mkl_threads ? "" : ", with threads of its own choice");
}

static tesela_status pblas_find(const tsl_ranks *ranks, int threads, tsl_pblas *out) {
  const int before = tsl_library_count(mpis);
  TSL_TRY(pblas_load());
  TSL_TRY(check_width());
  TSL_TRY(check_mpi(ranks, before));
  if (pblas.openblas_threads)
    pblas.openblas_threads(threads);
  if (pblas.mkl_threads)
    pblas.mkl_threads(threads);
  name_it(out);
  return TESELA_OK;
}

tesela_status tsl_pblas_open(tsl_ranks *ranks, const tsl_cyclic_grid *grid, int threads, tsl_pblas *out) {
  static const int32_t nobody = -1, system = 0;
  const int32_t rows = grid->rows, cols = grid->cols;
  int32_t seen_rows, seen_cols, row, col;
  *out = (tsl_pblas){.context = 0};
  TSL_TRY(tsl_agree(ranks, pblas_find(ranks, threads, out)));
  pblas.get(&nobody, &system, &out->context);
  pblas.gridinit(&out->context, "R", &rows, &cols);
  pblas.gridinfo(&out->context, &seen_rows, &seen_cols, &row, &col);
  out->is_open = true;
  if (row == grid->row && col == grid->col)
    return tsl_agree(ranks, TESELA_OK);
  return tsl_agree(ranks, tsl_fail(TESELA_NO_DEVICE,
                                   "its BLACS places this process at %d, %d of the grid instead of %d, %d",
                                   (int)row, (int)col, grid->row, grid->col));
}

void tsl_pblas_close(tsl_pblas *pblas_in) {
  if (pblas_in->is_open)
    pblas.gridexit(&pblas_in->context);
  pblas_in->is_open = false;
}

/* --- products --- */

static const struct named {
  tesela_type type;
  size_t function;
} functions[] = {{TESELA_F32, offsetof(struct pblas, psgemm)},
                 {TESELA_F64, offsetof(struct pblas, pdgemm)},
                 {TESELA_C64, offsetof(struct pblas, pcgemm)},
                 {TESELA_C128, offsetof(struct pblas, pzgemm)}};

static multiply *function_of(tesela_type type) {
  multiply *function = NULL;
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
    if (functions[i].type == type)
      memcpy(&function, (char *)&pblas + functions[i].function, sizeof function);
  return function;
}

const char *tsl_pblas_refuse(const tsl_problem *problem) {
  const int64_t sizes[] = {problem->m, problem->n, problem->k};
  if (problem->a.type != problem->c.type || problem->b.type != problem->c.type ||
      !function_of(problem->c.type))
    return "ScaLAPACK multiplies f32, f64, c64 and c128, and no mixture";
  for (int i = 0; i < 3; i++)
    if (sizes[i] > INT32_MAX)
      return "its integers have 32 bits";
  return NULL;
}

enum { FIELDS = 9 };

static void pblas_describe(const tsl_pblas *library, const tsl_cyclic *matrix, int32_t desc[FIELDS]) {
  const int32_t block = (int32_t)matrix->block, leading = (int32_t)matrix->leading;
  const int32_t fields[FIELDS] = {
      1, library->context, (int32_t)matrix->rows, (int32_t)matrix->cols, block, block, 0, 0, leading};
  memcpy(desc, fields, sizeof fields);
}

void tsl_pblas_multiply(const tsl_pblas *library, const tsl_cyclic *a, const tsl_cyclic *b,
                        const tsl_cyclic *c) {
  static const int32_t one = 1;
  static const double one_f64[2] = {1, 0};
  static const float one_f32[2] = {1, 0};
  static const double zero[2] = {0, 0}; /* 0 in any type */
  const int32_t m = (int32_t)c->rows, n = (int32_t)c->cols, k = (int32_t)a->cols;
  const bool is_single = c->type == TESELA_F32 || c->type == TESELA_C64;
  const void *alpha = is_single ? (const void *)one_f32 : one_f64;
  int32_t desc_a[FIELDS], desc_b[FIELDS], desc_c[FIELDS];
  pblas_describe(library, a, desc_a);
  pblas_describe(library, b, desc_b);
  pblas_describe(library, c, desc_c);
  function_of(c->type)("N", "N", &m, &n, &k, alpha, a->data, &one, &one, desc_a, b->data, &one, &one, desc_b,
                       zero, c->data, &one, &one, desc_c);
}
