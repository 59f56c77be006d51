#include "api/api_counted.h"

#include "core/types.h"

#include <stdio.h>
#include <string.h>

void tsl_counted_begin(tsl_counted *counted, tesela_record *record, size_t record_size, bool is_small) {
  memset(counted, 0, sizeof *counted);
  const bool needs_own = !record && !is_small;
  counted->record = needs_own ? &counted->own : record;
  counted->record_size = needs_own ? sizeof counted->own : record_size;
  counted->started = tsl_calls_begin();
}

/* Sets the layout of an operand: letter of its transpose, and the distance of its lines. */
static void describe_operand(tsl_counted *counted, int operand, const tesela_matrix *matrix, int64_t rows,
                             int64_t cols) {
  tsl_calls_key *key = &counted->called.key;
  int64_t row, col;
  tsl_api_strides(matrix, rows, cols, &row, &col);
  if (operand < TSL_CALLS_OPERANDS - 1)
    key->layout[1 + operand] = col == 1 ? 'N' : row == 1 ? 'T' : 'S';
  else
    key->layout[0] = col == 1 ? 'R' : row == 1 ? 'C' : 'S';
  key->ld[operand] = col == 1 ? row : col;
  key->align[operand] = (int8_t)(matrix->data ? tsl_calls_alignment(matrix->data) : 0);
  counted->called.data[operand] = matrix->data;
}

static int8_t beta_of(const tesela_gemm_desc *desc, bool is_complex) {
  const double *beta = desc->beta;
  const double imaginary = beta && is_complex ? beta[1] : 0;
  return !beta || (beta[0] == 0 && imaginary == 0) ? 0 : beta[0] == 1 && imaginary == 0 ? 1 : 2;
}

void tsl_counted_product(tsl_counted *counted, const tesela_gemm_desc *desc, size_t desc_size,
                         int64_t count) {
  if (counted->started <= 0 || !desc)
    return;
  tsl_called *called = &counted->called;
  const tesela_type type = desc->a.type == TESELA_TYPE_DEFAULT ? TESELA_F32 : desc->a.type;
  const tsl_type_info *info = tsl_type(type);
  const tesela_matrix c = tsl_api_as_matrix(&desc->c);
  if (!info)
    return;
  called->key = (tsl_calls_key){.size = {desc->m, desc->n, desc->k},
                                .count = count,
                                .type = (int32_t)type,
                                .sizes = 3,
                                .beta = beta_of(desc, info->is_complex),
                                .same = desc->a.data && desc->a.data == desc->b.data};
  describe_operand(counted, 0, &desc->a, desc->m, desc->k);
  describe_operand(counted, 1, &desc->b, desc->k, desc->n);
  describe_operand(counted, 2, &c, desc->m, desc->n);
  called->flops = (info->is_complex ? 8.0 : 2.0) * (double)desc->m * (double)desc->n * (double)desc->k *
                  (double)(count > 0 ? count : 0);
  called->c_bytes =
      called->key.ld[2] * (called->key.layout[0] == 'R' ? desc->m : desc->n) * (int64_t)info->size;
  if (count != 1 || desc_size != sizeof *desc || desc->structure.a || desc->structure.b || !desc->a.data ||
      !desc->b.data || desc->m <= 0 || desc->n <= 0 || desc->k <= 0 || (desc->alpha && desc->alpha[0] == 0))
    return;
  tsl_calls_factors *f = &counted->factors;
  *f = (tsl_calls_factors){type, {desc->m, desc->n, desc->k}, desc->a.data, desc->b.data, 0, 0, 0, 0};
  tsl_api_strides(&desc->a, desc->m, desc->k, &f->a_row, &f->a_col);
  tsl_api_strides(&desc->b, desc->k, desc->n, &f->b_row, &f->b_col);
  called->sample = tsl_calls_sample;
  called->argument = f;
}

void tsl_counted_sizes(tsl_counted *counted, int64_t rows, int64_t cols) {
  counted->called.key = (tsl_calls_key){.size = {rows, cols}, .count = 1, .sizes = cols ? 2 : 1};
}

tesela_status tsl_counted_end(tsl_counted *counted, const char *name, tesela_status status) {
  char who[TSL_CALLS_WHO] = "tesela";
  const double seconds = tsl_calls_end(counted->started);
  if (seconds <= 0 || status != TESELA_OK)
    return status;
  if (counted->record && counted->record_size >= sizeof counted->record->plan)
    tsl_calls_plan_name(counted->record->plan, who);
  counted->called.name = name;
  counted->called.who = who;
  counted->called.why = "a call of tesela's own interface";
  counted->called.seconds = seconds;
  tsl_calls_add(&counted->called);
  return status;
}
