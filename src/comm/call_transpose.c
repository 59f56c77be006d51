#include "comm/comm_call.h"

#include "api/struct_abi.h"
#include "comm/collective_status.h"
#include "comm/job.h"
#include "comm/product.h"
#include "comm/reduce.h"
#include "comm/setup.h"
#include "core/clock.h"
#include "core/memory.h"
#include "core/status.h"

#include <stdio.h>
#include <string.h>

enum { BATCH = 0, TAG = 4 };

/* Handles the elements that rank `owner_in_a` owns in A and `owner_in_b` in B. Packs them into `message`,
 * or stores them: from `arrived`, or within this rank. Returns their number. */
static int64_t comm_transpose_between(const tsl_job *job, int owner_in_a, int owner_in_b, void *message,
                                      const void *arrived) {
  const tsl_rank_part *a = &job->part[TSL_PART_A], *b = &job->part[TSL_PART_C];
  const size_t size = a->type->size;
  const bool here = owner_in_a == owner_in_b;
  int64_t count = 0;
  for (int64_t i = 0; i < tsl_layout_patch_count(&a->layout, owner_in_a); i++)
    for (int64_t j = 0; j < tsl_layout_patch_count(&b->layout, owner_in_b); j++) {
      const tsl_patch source = tsl_layout_patch(&a->layout, owner_in_a, i),
                      target = tsl_layout_patch(&b->layout, owner_in_b, j);
      const size_t before = (size_t)count * size;
      if (message) {
        count += tsl_patch_pack(&source, a->data, &target, b->order, size, (char *)message + before);
      } else {
        const tsl_scaled_store scaled_store = {.from = a->type,
                                               .to = b->type,
                                               .alpha = {job->alpha[0], job->alpha[1]},
                                               .beta = {job->beta[0], job->beta[1]},
                                               .conjugate = a->conjugate,
                                               .sums = here ? a->data : (const char *)arrived + before,
                                               .is_message = !here,
                                               .c = b->data,
                                               .order = b->order};
        count += tsl_scaled_store_run(&scaled_store, &source, &target);
      }
    }
  return count;
}

static int64_t count_between(const tsl_job *job, int owner_in_a, int owner_in_b) {
  const tsl_rank_part *a = &job->part[TSL_PART_A], *b = &job->part[TSL_PART_C];
  int64_t count = 0;
  for (int64_t i = 0; i < tsl_layout_patch_count(&a->layout, owner_in_a); i++) {
    const tsl_patch source = tsl_layout_patch(&a->layout, owner_in_a, i);
    count += tsl_layout_count_owned_in_patch(&b->layout, owner_in_b, &source);
  }
  return count;
}

/* Receives messages in order of ranks into `in`, sends packed ones from `out`, and waits for all. */
static tesela_status comm_transpose_exchange(const tsl_job *job, char *in, char *out) {
  tsl_ranks *ranks = job->ranks;
  const size_t size = job->part[TSL_PART_A].type->size;
  for (int from = 0; from < ranks->size; from++) {
    const size_t bytes = from == ranks->rank ? 0 : (size_t)count_between(job, from, ranks->rank) * size;
    if (bytes > 0)
      TSL_TRY(ranks->ops->receive(ranks, BATCH, from, TAG, in, bytes));
    in += bytes;
  }
  for (int to = 0; to < ranks->size; to++) {
    const size_t bytes =
        to == ranks->rank ? 0 : (size_t)comm_transpose_between(job, ranks->rank, to, out, NULL) * size;
    if (bytes > 0)
      TSL_TRY(ranks->ops->send(ranks, BATCH, to, TAG, out, bytes));
    out += bytes;
  }
  return ranks->ops->wait(ranks, BATCH);
}

/* Computes B; job->part[TSL_PART_A] is op(A), TSL_PART_C is B. Failures as for tsl_ranks_product_run(). */
static tesela_status transpose_run(const tsl_job *job, tesela_mpi_record *record) {
  tsl_ranks *ranks = job->ranks;
  const size_t size = job->part[TSL_PART_A].type->size;
  int64_t in_words = 0, out_words = 0;
  for (int other = 0; other < ranks->size; other++)
    if (other != ranks->rank) {
      in_words += count_between(job, other, ranks->rank);
      out_words += count_between(job, ranks->rank, other);
    }
  void *in = NULL, *out = NULL;
  tesela_status status = tsl_alloc((size_t)in_words * size, "a matrix that arrives", &in);
  if (status == TESELA_OK)
    status = tsl_alloc((size_t)out_words * size, "a matrix that is sent", &out);
  if (status == TESELA_OK)
    status = ranks->ops->reserve(ranks, BATCH, 2 * ranks->size);
  status = tsl_agree(ranks, status);
  double least = 0;
  if (status == TESELA_OK)
    status = ranks->ops->least(ranks, -(double)(in_words > out_words ? in_words : out_words), &least);
  record->words = (int64_t)-least;
  const double begin = tsl_clock();
  if (status == TESELA_OK)
    status = comm_transpose_exchange(job, in, out);
  const double arrived = tsl_clock();
  const char *at = in;
  for (int from = 0; from < ranks->size && status == TESELA_OK; from++) {
    const int64_t count =
        comm_transpose_between(job, from, ranks->rank, NULL, from == ranks->rank ? NULL : at);
    at += from == ranks->rank ? 0 : (size_t)count * size;
  }
  record->seconds_wait = arrived - begin;
  record->seconds_move = tsl_clock() - arrived;
  tsl_free(in);
  tsl_free(out);
  return status;
}

enum { A, B, OPERANDS };

typedef struct transpose_call {
  tesela_mpi_transpose_desc desc;
  tesela_matrix a, b; /* B = alpha A + beta B */
  tsl_rank_operand operands[OPERANDS];
} transpose_call;

/* Copies a description of `desc_size` bytes and sets defaults. TESELA_BAD_CALL for NULL. */
static tesela_status call_transpose_import(transpose_call *out, const tesela_mpi_transpose_desc *desc,
                                           size_t desc_size) {
  if (!desc)
    return tsl_fail(TESELA_BAD_CALL, "desc is NULL");
  tesela_mpi_transpose_desc defaults;
  TSL_API_STRUCT_IMPORT(desc, desc_size, defaults, tesela_mpi_transpose_desc, layout_b);
  out->desc = *desc;
  out->a = desc->a;
  out->b = tsl_api_as_matrix(&desc->b);
  if (out->a.type == TESELA_TYPE_DEFAULT)
    out->a.type = TESELA_F32;
  if (out->b.type == TESELA_TYPE_DEFAULT)
    out->b.type = out->a.type;
  /* The transpose of the stored A is added to B; with a.transpose the stored matrix itself. */
  out->a.transpose = !desc->a.transpose;
  out->operands[A] = (tsl_rank_operand){
      "a", TSL_PART_A, &out->a, &out->desc.layout_a, desc->cols, desc->rows, true, true, false};
  out->operands[B] = (tsl_rank_operand){
      "b", TSL_PART_C, &out->b, &out->desc.layout_b, desc->cols, desc->rows, true, true, false};
  return TESELA_OK;
}

/* Checks this rank's arguments, and sets the job's sizes, sums and scalars. TESELA_BAD_CALL. */
static tesela_status call_transpose_check(const transpose_call *c, const tsl_ranks *ranks, tsl_job *job) {
  for (int i = 0; i < OPERANDS; i++)
    TSL_TRY(tsl_rank_operand_check(&c->operands[i], ranks->size));
  if (c->a.type != c->b.type)
    return tsl_fail(TESELA_BAD_CALL, "a is %s and b is %s: a transpose needs equal types",
                    tsl_type(c->a.type)->name, tsl_type(c->b.type)->name);
  job->m = c->desc.cols;
  job->n = c->desc.rows;
  job->sums = tsl_type(tsl_type(c->a.type)->sums);
  TSL_TRY(tsl_load_scalar(c->desc.alpha, "alpha", job->sums, 1, job->alpha));
  TSL_TRY(tsl_load_scalar(c->desc.beta, "beta", job->sums, 0, job->beta));
  const bool plain = job->alpha[0] == 1 && job->alpha[1] == 0 && job->beta[0] == 0 && job->beta[1] == 0;
  if (!plain && tsl_type(c->a.type)->is_integer && c->a.type != TESELA_I32)
    return tsl_fail(TESELA_BAD_CALL,
                    "alpha must be 1 and beta 0 for %s: scaling is not supported for this type",
                    tsl_type(c->a.type)->name);
  return TESELA_OK;
}

static void list_agreed_values(const transpose_call *c, const tsl_ranks *ranks, tsl_agreed_list *agreed) {
  const bool is_complex = c->a.type == TESELA_C64 || c->a.type == TESELA_C128;
  tsl_agreed_list_add(agreed, "rows", c->desc.rows);
  tsl_agreed_list_add(agreed, "cols", c->desc.cols);
  for (int i = 0; i < OPERANDS; i++)
    tsl_agreed_list_add_operand(agreed, &c->operands[i], ranks->size);
  tsl_agreed_list_add_scalar(agreed, tsl_alpha_names, c->desc.alpha, is_complex, 1);
  tsl_agreed_list_add_scalar(agreed, tsl_beta_names, c->desc.beta, is_complex, 0);
}

static tesela_status call_transpose_run(tsl_job *job, transpose_call *c, tesela_mpi_record *record) {
  const bool reads = !(job->alpha[0] == 0 && job->alpha[1] == 0);
  c->operands[A].used = reads;
  c->operands[B].read = job->beta[0] != 0 || job->beta[1] != 0;
  TSL_TRY(tsl_parts_make(job, c->operands, OPERANDS));
  record->ranks = job->ranks->size;
  record->error_bound = (job->sums->is_complex ? 4 : 3) * tsl_type(c->a.type)->unit_roundoff;
  snprintf(record->plan, sizeof record->plan, "every rank to every rank");
  if (reads)
    TSL_TRY(transpose_run(job, record));
  else
    tsl_ranks_product_scale_c_by_beta(job);
  return tsl_part_store(job->ranks, &job->part[TSL_PART_C]);
}

tesela_status tsl_ranks_transpose(tsl_ranks *ranks, tesela_context *context,
                                  const tesela_mpi_transpose_desc *desc, tesela_mpi_record *record,
                                  size_t desc_size, size_t record_size) {
  const double begin = tsl_clock();
  transpose_call c = {0};
  tsl_job job = {.ranks = ranks, .context = context};
  tesela_mpi_record defaults = {0};
  tsl_agreed_list agreed = {.count = 0};
  tsl_agreed_list_add_version(&agreed, ranks);
  tesela_status status = call_transpose_import(&c, desc, desc_size);
  if (status == TESELA_OK) {
    list_agreed_values(&c, ranks, &agreed);
    status = call_transpose_check(&c, ranks, &job);
  }
  status = tsl_agree_start(ranks, status, agreed.items, agreed.count);
  if (status == TESELA_OK)
    status = call_transpose_run(&job, &c, &defaults);
  tsl_parts_free(&job.part[TSL_PART_A], 1);
  tsl_parts_free(&job.part[TSL_PART_C], 1);
  defaults.seconds = tsl_clock() - begin;
  if (status == TESELA_OK && record)
    tsl_api_struct_export(record, record_size, &defaults, sizeof defaults);
  return status;
}
