#include "api/grouped.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct overlap_span {
  uintptr_t memory;     /* buffer whose start the range is relative to; 0: host memory */
  uintptr_t start, end; /* lowest byte, and one past the highest byte */
  bool dense;
  int64_t number, index; /* number of the member, and of the product in it */
} overlap_span;

static overlap_span overlap_get_span(const tsl_grouped *group, int64_t member, int64_t index) {
  const tsl_products *products = &group->members[member];
  const tsl_address_range *reach = &products->plan->reach[TSL_OPERAND_C];
  const tesela_result *c = &products->desc->c;
  const tesela_batch *batch = products->batch;
  const int64_t steps = batch->c ? 0 : index * batch->c_stride;
  const uintptr_t first = batch->c    ? (uintptr_t)batch->c[index]
                          : c->buffer ? (uintptr_t)(c->offset + steps) * reach->size
                                      : (uintptr_t)c->data + (uintptr_t)(steps * (int64_t)reach->size);
  return (overlap_span){.memory = c->buffer && !batch->c ? (uintptr_t)c->buffer->memory : 0,
                        .start = first - (uintptr_t)reach->below * reach->size,
                        .end = first + (uintptr_t)reach->above * reach->size,
                        .dense = reach->dense && products->desc->structure.c_triangle == TESELA_WHOLE,
                        .number = products->group,
                        .index = index};
}

static overlap_span overlap_get_small_span(const tsl_small_gemm *gemm) {
  return (overlap_span){
      .start = gemm->start, .end = gemm->end, .dense = gemm->is_dense, .number = gemm->number};
}

static bool overlap_starts_after(const overlap_span *a, const overlap_span *b) {
  return b->memory == a->memory ? b->start > a->start : b->memory > a->memory;
}

static int overlap_compare(const void *x, const void *y) {
  const overlap_span *a = x, *b = y;
  return overlap_starts_after(b, a) ? 1 : overlap_starts_after(a, b) ? -1 : 0;
}

static void overlap_describe_product(const tsl_grouped *group, const overlap_span *span, char *text,
                                     size_t size) {
  if (group->is_one)
    snprintf(text, size, "product %" PRId64, span->number);
  else
    snprintf(text, size, "group %" PRId64 "'s product %" PRId64, span->number, span->index);
}

static tesela_status overlap_fail(const tsl_grouped *group, const overlap_span *a, const overlap_span *b) {
  char first[64], second[64];
  const bool in_order = a->number < b->number || (a->number == b->number && a->index < b->index);
  const overlap_span *low = in_order ? a : b, *high = in_order ? b : a;
  overlap_describe_product(group, low, first, sizeof first);
  overlap_describe_product(group, high, second, sizeof second);
  return tsl_fail(TESELA_BAD_CALL, "C of %s overlaps C of %s: each product needs its own C", second, first);
}

/* Refuses overlaps of sorted ranges. Compares each with the earlier gapless range with the largest end. */
static tesela_status check_sorted(const tsl_grouped *group, const overlap_span *spans, int64_t count) {
  const overlap_span *furthest = NULL;
  for (int64_t i = 0; i < count; i++) {
    const overlap_span *span = &spans[i];
    if (i > 0 && span->memory == spans[i - 1].memory && span->start == spans[i - 1].start)
      return overlap_fail(group, &spans[i - 1], span);
    if (!span->dense)
      continue;
    if (furthest && furthest->memory == span->memory && span->start < furthest->end)
      return overlap_fail(group, furthest, span);
    if (!furthest || furthest->memory != span->memory || span->end > furthest->end)
      furthest = span;
  }
  return TESELA_OK;
}

/* Adds a range; returns true if spans is still sorted. */
static bool overlap_add(overlap_span span, overlap_span *spans, int64_t *count) {
  spans[*count] = span;
  return (*count)++ == 0 || overlap_starts_after(&spans[*count - 2], &spans[*count - 1]);
}

tesela_status tsl_grouped_check_apart(const tsl_grouped *group) {
  int64_t count = group->small.count, added = 0;
  bool sorted = true;
  void *block;
  for (int64_t i = 0; i < group->count; i++)
    if (group->members[i].plan->reach[TSL_OPERAND_C].used)
      count += group->batches[i].count;
  size_t bytes;
  if (!tsl_size_mul((size_t)count, sizeof(overlap_span), &bytes))
    return tsl_fail(TESELA_OUT_OF_MEMORY, "a group's products exceed the address space");
  TSL_TRY(tsl_alloc(bytes, "where a group's results lie", &block));
  overlap_span *spans = block;
  for (int64_t i = 0; i < group->count; i++)
    for (int64_t j = 0; j < group->batches[i].count && group->members[i].plan->reach[TSL_OPERAND_C].used; j++)
      sorted &= overlap_add(overlap_get_span(group, i, j), spans, &added);
  for (int64_t i = 0; i < group->small.count; i++)
    sorted &= overlap_add(overlap_get_small_span(&group->small.all[i]), spans, &added);
  if (!sorted)
    qsort(spans, (size_t)count, sizeof *spans, overlap_compare);
  const tesela_status status = check_sorted(group, spans, count);
  tsl_free(spans);
  return status;
}
