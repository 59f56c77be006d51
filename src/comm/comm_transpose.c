#include "comm/comm_transpose.h"

#include "comm/collective_status.h"
#include "comm/reduce.h"
#include "core/clock.h"
#include "core/memory.h"
#include "core/status.h"

enum { BATCH = 0, TAG = 4 };

/* Handles the elements that rank `owner_in_a` owns in A and `owner_in_b` in B. Packs them into `message`,
 * stores them from `arrived` or within this rank, or only counts. Returns their number. */
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
      } else if (arrived || here) {
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
      } else {
        count += tsl_patch_common(&source, &target);
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

tesela_status tsl_transpose_run(const tsl_job *job, tesela_mpi_record *record) {
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
