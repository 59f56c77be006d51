#include "comm/setup.h"

#include "comm/overlap.h"
#include "core/memory.h"
#include "core/status.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const tsl_alpha_names[2] = {"alpha", "imaginary part of alpha"};
const char *const tsl_beta_names[2] = {"beta", "imaginary part of beta"};

static void agreed_list_append(tsl_agreed_list *list, const char *name, tsl_agreed_value_kind kind,
                               uint64_t value) {
  list->items[list->count++] = (tsl_agreed_value){name, value, kind};
}

void tsl_agreed_list_add(tsl_agreed_list *list, const char *name, int64_t value) {
  agreed_list_append(list, name, TSL_AGREED_VALUE_NUMBER, (uint64_t)value);
}

void tsl_agreed_list_add_word(tsl_agreed_list *list, const char *name, const char *word) {
  agreed_list_append(list, name, TSL_AGREED_VALUE_WORD, tsl_agreed_value_word(word));
  agreed_list_append(list, name, TSL_AGREED_VALUE_HASH, tsl_agreed_value_bytes(word, strlen(word)));
}

void tsl_agreed_list_add_version(tsl_agreed_list *list, const tsl_ranks *ranks) {
  agreed_list_append(list, "version of tesela", TSL_AGREED_VALUE_VERSION, TESELA_VERSION_NUMBER);
  agreed_list_append(list, "version of libtesela_mpi", TSL_AGREED_VALUE_VERSION, (uint64_t)ranks->version);
}

void tsl_agreed_list_add_scalar(tsl_agreed_list *list, const char *const names[2], const double *scalar,
                                bool is_complex, double default_value) {
  agreed_list_append(list, names[0], TSL_AGREED_VALUE_REAL,
                     tsl_agreed_value_double(scalar ? scalar[0] : default_value));
  agreed_list_append(list, names[1], TSL_AGREED_VALUE_REAL,
                     tsl_agreed_value_double(scalar && is_complex ? scalar[1] : 0));
}

/* Returns 0 for ranks in order. */
static uint64_t hash_ranks(const tesela_layout *layout, int ranks) {
  const int64_t places = (int64_t)layout->grid_rows * layout->grid_cols;
  if (!layout->ranks || places <= 0 || places > ranks)
    return 0;
  bool in_order = true;
  for (int i = 0; i < (int)places; i++)
    in_order = in_order && layout->ranks[i] == i;
  return in_order ? 0 : tsl_agreed_value_bytes(layout->ranks, (size_t)places * sizeof(int));
}

void tsl_agreed_list_add_operand(tsl_agreed_list *list, const tsl_rank_operand *operand, int ranks) {
  const tesela_layout *l = operand->layout;
  const tesela_matrix *m = operand->matrix;
#define NAMES(letter)                                                                                        \
  {                                                                                                          \
    "type of " letter, "transpose of " letter, "conjugate of " letter, "layout of " letter " (ranks)",       \
        LAYOUT_NAMES(letter)                                                                                 \
  }
#define LAYOUT_NAMES(letter)                                                                                 \
  "layout of " letter " (kind)", "layout of " letter " (grid_rows)", "layout of " letter " (grid_cols)",     \
      "layout of " letter " (row_block)", "layout of " letter " (col_block)",                                \
      "layout of " letter " (first_row)", "layout of " letter " (first_col)", "layout of " letter " (row)",  \
      "layout of " letter " (col)", "layout of " letter " (rows)", "layout of " letter " (cols)"
  static const char *const names[][15] = {NAMES("A"), NAMES("B"), NAMES("C")};
#undef NAMES
#undef LAYOUT_NAMES
  const char *const *name = names[operand->name[0] - 'a'];
  agreed_list_append(list, name[0], TSL_AGREED_VALUE_TYPE, (uint64_t)m->type);
  agreed_list_append(list, name[1], TSL_AGREED_VALUE_SWITCH, m->transpose != 0);
  agreed_list_append(list, name[2], TSL_AGREED_VALUE_SWITCH, m->conjugate != 0);
  agreed_list_append(list, name[3], TSL_AGREED_VALUE_HASH, hash_ranks(l, ranks));
  const int64_t numbers[] = {l->kind,      l->grid_rows, l->grid_cols, l->row_block,
                             l->col_block, l->first_row, l->first_col, l->row,
                             l->col,       l->rows,      l->cols};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    tsl_agreed_list_add(list, name[4 + i], numbers[i]);
}

tesela_status tsl_rank_operand_check(const tsl_rank_operand *operand, int ranks) {
  const tesela_matrix *m = operand->matrix;
  char name[24] = "layout of a";
  name[10] = operand->name[0];
  if (m->packed)
    return tsl_fail(TESELA_UNSUPPORTED, "%s is packed, which is not supported on ranks: pass a matrix",
                    operand->name);
  if (m->shards)
    return tsl_fail(
        TESELA_UNSUPPORTED,
        "%s is in shards, which are only supported on one rank: the layout defines each rank's part",
        operand->name);
  if (m->data && m->buffer)
    return tsl_fail(TESELA_BAD_CALL, "%s has both data and a buffer: one must be NULL", operand->name);
  if (m->offset != 0 && !m->buffer)
    return tsl_fail(TESELA_BAD_CALL, "%s.offset is %lld, but there is no buffer", operand->name,
                    (long long)m->offset);
  int64_t elements = 0;
  if (!tsl_type(m->type))
    return tsl_fail(TESELA_BAD_CALL, "%s.type is %d, which is not a type", operand->name, (int)m->type);
  if (operand->rows < 0 || operand->cols < 0 || !tsl_i64_mul(operand->rows, operand->cols, &elements) ||
      elements > INT64_MAX / 64)
    return tsl_fail(TESELA_BAD_CALL, "%s is %lld x %lld, which is not a valid size", operand->name,
                    (long long)operand->rows, (long long)operand->cols);
  return tsl_layout_check(operand->layout, name, ranks, m->transpose ? operand->cols : operand->rows,
                          m->transpose ? operand->rows : operand->cols);
}

tesela_status tsl_load_scalar(const double *argument, const char *name, const tsl_type_info *sums,
                              double default_value, double out[2]) {
  const double value[2] = {argument ? argument[0] : default_value,
                           argument && sums->is_complex ? argument[1] : 0};
  unsigned char rounded[16];
  if (sums->is_integer && value[0] != floor(value[0]))
    return tsl_fail(TESELA_BAD_CALL, "%s is %g, and C is of whole numbers", name, value[0]);
  tsl_type_store(sums->type, rounded, value);
  tsl_type_load(sums->type, rounded, out);
  return TESELA_OK;
}

typedef struct gathered_rectangles {
  int64_t *count_by_rank;
  tsl_bare_rectangle *own_rectangles, *all_rectangles;
  const tsl_bare_rectangle **by_rank; /* rectangles of each rank, in `all_rectangles` */
  int64_t rectangles_per_rank_max;
} gathered_rectangles;

static void free_gathered_rectangles(gathered_rectangles *c) {
  free(c->count_by_rank);
  free(c->own_rectangles);
  free(c->all_rectangles);
  free(c->by_rank);
}

/* Gathers all ranks' rectangles. Collective. Each rank allocates first; all stop if one has no memory. */
static tesela_status gather_rectangles(tsl_ranks *ranks, const tesela_layout *layout,
                                       gathered_rectangles *out) {
  tesela_status status = TESELA_OK;
  const size_t size = (size_t)ranks->size;
  double most = 0;
  out->count_by_rank = malloc(size * sizeof *out->count_by_rank);
  out->by_rank = malloc(size * sizeof *out->by_rank);
  if (!out->count_by_rank || !out->by_rank)
    status = tsl_fail(TESELA_OUT_OF_MEMORY, "out of memory for the rectangles of %d ranks", ranks->size);
  TSL_TRY(tsl_agree(ranks, status));
  TSL_TRY(ranks->ops->gather(ranks, &layout->count, sizeof layout->count, out->count_by_rank));
  TSL_TRY(ranks->ops->least(ranks, -(double)layout->count, &most));
  out->rectangles_per_rank_max = (int64_t)-most;
  const size_t bytes = (size_t)out->rectangles_per_rank_max * sizeof(tsl_bare_rectangle);
  out->own_rectangles = calloc(1, bytes + 1);
  out->all_rectangles = malloc(bytes * size + 1);
  if (!out->own_rectangles || !out->all_rectangles)
    status = tsl_fail(TESELA_OUT_OF_MEMORY, "out of memory for %lld rectangles of each of %d ranks",
                      (long long)out->rectangles_per_rank_max, ranks->size);
  TSL_TRY(tsl_agree(ranks, status));
  for (int64_t i = 0; i < layout->count; i++)
    out->own_rectangles[i] = (tsl_bare_rectangle){layout->rectangles[i].row, layout->rectangles[i].col,
                                                  layout->rectangles[i].rows, layout->rectangles[i].cols};
  TSL_TRY(ranks->ops->gather(ranks, out->own_rectangles, bytes, out->all_rectangles));
  for (int i = 0; i < ranks->size; i++)
    out->by_rank[i] = out->all_rectangles + (int64_t)i * out->rectangles_per_rank_max;
  return TESELA_OK;
}

/* Checks that a result's elements share no memory with each other or with an operand that is read. */
static tesela_status setup_check_overlaps(const tsl_job *job, const tsl_rank_operand *all, int result) {
  const tsl_rank_part *c = &job->part[all[result].part];
  const int rank = job->ranks->rank;
  TSL_TRY(tsl_overlap_check_result(c, all[result].name, rank));
  for (int i = 0; i < result; i++)
    if (all[i].used)
      TSL_TRY(tsl_overlap_check_operand(c, all[result].name, &job->part[all[i].part], all[i].name, rank));
  return TESELA_OK;
}

/* Makes the layout and memory of one operand. Collective; one status on all ranks. */
static tesela_status make_part(tsl_job *job, const tsl_rank_operand *all, int index) {
  tsl_ranks *ranks = job->ranks;
  const tsl_rank_operand *operand = &all[index];
  tsl_rank_part *out = &job->part[operand->part];
  const tesela_matrix *m = operand->matrix;
  *out = (tsl_rank_part){.type = tsl_type(m->type), .conjugate = m->conjugate != 0};
  gathered_rectangles rectangles = {0};
  tesela_status status = TESELA_OK;
  if (operand->layout->kind == TESELA_LAYOUT_RECTANGLES)
    status = gather_rectangles(ranks, operand->layout, &rectangles);
  if (status == TESELA_OK) {
    const char name[2] = {operand->name[0], 0};
    status = tsl_layout_make(operand->layout, name, ranks->size, ranks->rank,
                             m->transpose ? operand->cols : operand->rows,
                             m->transpose ? operand->rows : operand->cols, m->row_stride, m->col_stride,
                             rectangles.by_rank, rectangles.count_by_rank, &out->layout);
    if (status == TESELA_OK && operand->used && !m->data && !m->buffer &&
        tsl_layout_count_owned(&out->layout, ranks->rank) > 0)
      status =
          tsl_fail(TESELA_BAD_CALL, "%s.data is NULL, but this rank holds elements of it", operand->name);
    if (status == TESELA_OK && operand->used)
      status = tsl_overlap_check_reach(out, operand->name, ranks->rank);
    if (status == TESELA_OK && operand->used)
      status = tsl_host_copy_create(m, operand->name, out->type, &out->layout, ranks->rank, &out->mirror);
    if (status == TESELA_OK && operand->used && operand->part == TSL_PART_C)
      status = setup_check_overlaps(job, all, index);
    if (status == TESELA_OK && !operand->copies_later)
      status = tsl_host_copy_update(&out->mirror, out->type, &out->layout, ranks->rank, operand->read);
    out->data = out->mirror.data;
    status = tsl_agree(ranks, status);
  }
  free_gathered_rectangles(&rectangles);
  if (status != TESELA_OK)
    return status;
  if (m->transpose)
    tsl_layout_transpose(&out->layout);
  double least = 0;
  const bool none = tsl_layout_count_owned(&out->layout, ranks->rank) == 0;
  TSL_TRY(ranks->ops->least(ranks, none ? TSL_COLUMNS : tsl_layout_order(&out->layout, ranks->rank), &least));
  out->order = least == TSL_ROWS ? TSL_ROWS : TSL_COLUMNS;
  return TESELA_OK;
}

tesela_status tsl_parts_make(tsl_job *job, const tsl_rank_operand *operand, int count) {
  for (int i = 0; i < count; i++)
    TSL_TRY(make_part(job, operand, i));
  return TESELA_OK;
}

tesela_status tsl_part_make_host_copy(const tsl_ranks *ranks, tsl_rank_part *part, bool reads) {
  TSL_TRY(tsl_host_copy_update(&part->mirror, part->type, &part->layout, ranks->rank, reads));
  part->data = part->mirror.data;
  return TESELA_OK;
}

tesela_status tsl_part_store(tsl_ranks *ranks, const tsl_rank_part *part) {
  tesela_status status = tsl_host_copy_store(&part->mirror, part->type, &part->layout, ranks->rank);
  if (status != TESELA_OK) {
    tsl_status_saved saved;
    tsl_status_save(&saved);
    status = tsl_fail(status, "%s; the result is lost, a part of it was written", saved.sentence);
  }
  return tsl_agree(ranks, status);
}

void tsl_parts_free(tsl_rank_part *parts, int count) {
  for (int i = 0; i < count; i++) {
    tsl_layout_free(&parts[i].layout);
    tsl_host_copy_free(&parts[i].mirror);
  }
}
