#include "core/kinds.h"

#include "core/list_text.h"
#include "core/memory.h"
#include "core/pool.h"
#include "core/status.h"

#include <math.h>
#include <string.h>

static const char *const names[TSL_KIND_COUNT] = {TSL_KIND_LIST(TSL_LIST_TEXT)};

const char *tsl_kind_name(tsl_kind kind) {
  return names[kind];
}

const char *tsl_kind_names(void) {
#define NAME(upper, name, what) "|" name
  static const char all[] = TSL_KIND_LIST(NAME);
#undef NAME
  return all + 1;
}

bool tsl_kind_parse(const char *name, tsl_kind *kind) {
  for (int i = 0; i < TSL_KIND_COUNT; i++)
    if (strcmp(names[i], name) == 0) {
      *kind = (tsl_kind)i;
      return true;
    }
  return false;
}

int tsl_kinds_parse(const char *list, tsl_kind *kinds) {
  int count = 0;
  if (strcmp(list, "all") == 0) {
    for (; count < TSL_KIND_COUNT; count++)
      kinds[count] = (tsl_kind)count;
    return count;
  }
  for (const char *name = list; name; name = strchr(name, ',')) {
    char word[32];
    name += name != list;
    const size_t length = strcspn(name, ",");
    if (count == TSL_KIND_COUNT || length >= sizeof word)
      return 0;
    memcpy(word, name, length);
    word[length] = '\0';
    if (!tsl_kind_parse(word, &kinds[count++]))
      return 0;
  }
  return count;
}

bool tsl_kind_is_drawn(tsl_kind kind, tsl_distribution *distribution) {
  static const struct {
    tsl_kind kind;
    tsl_distribution drawn;
  } drawn[] = {{TSL_KIND_NORMAL, TSL_DRAW_NORMAL},
               {TSL_KIND_UNIFORM, TSL_DRAW_UNIFORM},
               {TSL_KIND_GRADED, TSL_DRAW_GRADED},
               {TSL_KIND_INTEGER, TSL_DRAW_INTEGER}};
  *distribution = TSL_DRAW_NORMAL;
  for (size_t i = 0; i < sizeof drawn / sizeof *drawn; i++)
    if (drawn[i].kind == kind) {
      *distribution = drawn[i].drawn;
      return true;
    }
  return false;
}

/* Replaces each x by exp(4 x), divided by their sum. */
static void apply_softmax(double *x, int64_t count) {
  double sum = 0;
  for (int64_t j = 0; j < count; j++)
    sum += x[j] = exp(4 * x[j]);
  for (int64_t j = 0; j < count; j++)
    x[j] /= sum;
}

/* Fills a row with exp(-d^2 / 0.005), d being the distance of the relative positions i and j in [0, 1]. */
static void fill_gaussian_kernel_row(double *x, int64_t row, int64_t rows, int64_t count) {
  const double position = (double)row / (double)(rows > 1 ? rows - 1 : 1);
  for (int64_t j = 0; j < count; j++) {
    const double distance = position - (double)j / (double)(count > 1 ? count - 1 : 1);
    x[j] = exp(-distance * distance / 0.005);
  }
}

/* Returns the number of element `index` of a matrix by rows; not for kinds that are random. */
static double indexed_number(tsl_kind kind, double index) {
  return kind == TSL_KIND_ONES ? 1 : kind == TSL_KIND_INDEX ? index : 0 - index;
}

/* Returns the kind's number for a normal x, or for random bits (image, sparse90). */
static double transform_number(tsl_kind kind, double x, uint64_t random_bits) {
  return kind == TSL_KIND_RELU        ? (x > 0 ? x : 0)
         : kind == TSL_KIND_LOGNORMAL ? exp(2 * x)
         : kind == TSL_KIND_IMAGE     ? (double)(random_bits >> 56) / 255
         : kind == TSL_KIND_SPARSE90  ? (random_bits % 10 == 0 ? x : 0)
                                      : x;
}

void tsl_kind_fill_row(tsl_kind kind, uint64_t seed, int64_t row, int64_t rows, int64_t cols,
                       tesela_type type, double *workspace, void *out) {
  const tsl_type_info *info = tsl_type(type);
  const int64_t count = info->is_complex ? 2 * cols : cols;
  const uint64_t first = (uint64_t)row * (uint64_t)count;
  tsl_distribution distribution;
  (void)tsl_kind_is_drawn(kind, &distribution);
  tsl_random_fill(distribution, seed, first, TESELA_F64, workspace, (size_t)count);
  if (kind == TSL_KIND_SOFTMAX)
    apply_softmax(workspace, count);
  else if (kind == TSL_KIND_KERNEL)
    fill_gaussian_kernel_row(workspace, row, rows, count);
  else if (kind == TSL_KIND_ONES || kind == TSL_KIND_INDEX || kind == TSL_KIND_MINUS_INDEX)
    for (int64_t j = 0; j < count; j++) /* the imaginary parts are 0 */
      workspace[j] =
          info->is_complex && j % 2
              ? 0
              : indexed_number(kind, (double)row * (double)cols + (double)(info->is_complex ? j / 2 : j));
  else
    for (int64_t j = 0; j < count; j++)
      workspace[j] = kind == TSL_KIND_IDENTITY
                         ? (j == (info->is_complex ? 2 * row : row) ? 1 : 0)
                         : transform_number(kind, workspace[j], tsl_random_u64(~seed, first + (uint64_t)j));
  tsl_type_convert(TESELA_F64, workspace, 1, info->component, out, 1, (size_t)count);
}

typedef struct kind_fill_job {
  tsl_kind kind;
  uint64_t seed;
  int64_t rows, cols;
  tesela_type type;
  double *workspace;
  unsigned char *out;
} kind_fill_job;

static void fill_row_task(void *argument, int64_t row, int worker) {
  const kind_fill_job *job = argument;
  const size_t size = tsl_type(job->type)->size;
  tsl_kind_fill_row(job->kind, job->seed, row, job->rows, job->cols, job->type,
                    job->workspace + worker * 2 * job->cols, job->out + (size_t)(row * job->cols) * size);
}

tesela_status tsl_kind_fill(tsl_kind kind, uint64_t seed, int64_t rows, int64_t cols, tesela_type type,
                            void *out) {
  tsl_pool *pool = tsl_pool_shared();
  void *workspace;
  TSL_TRY(tsl_alloc((size_t)tsl_pool_threads(pool) * 2 * (size_t)cols * sizeof(double), "rows of numbers",
                    &workspace));
  kind_fill_job job = {kind, seed, rows, cols, type, workspace, out};
  tsl_pool_run(pool, rows, fill_row_task, &job);
  tsl_free(workspace);
  return TESELA_OK;
}
