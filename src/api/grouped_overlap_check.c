/* Checks that the results of grouped products do not overlap. */
#include "api/grouped.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Memory range of one C. */
typedef struct grouped_overlap_check_span {
  uintptr_t memory;     /* buffer whose start the range is relative to; 0: host memory */
  uintptr_t start, end; /* lowest byte, and one past the highest byte */
  bool dense;
  int64_t number, index; /* number of the member, and of the product in it */
} grouped_overlap_check_span;

static grouped_overlap_check_span grouped_overlap_check_span_of(const tsl_grouped *group, int64_t member,
                                                                int64_t index) {
  const tsl_products *of = &group->members[member];
  const tsl_address_range *reach = &of->plan->reach[TSL_OPERAND_C];
  const tesela_result *c = &of->desc->c;
  const tesela_batch *batch = of->batch;
  const int64_t steps = batch->c ? 0 : index * batch->c_stride;
  const uintptr_t first = batch->c    ? (uintptr_t)batch->c[index]
                          : c->buffer ? (uintptr_t)(c->offset + steps) * reach->size
                                      : (uintptr_t)c->data + (uintptr_t)(steps * (int64_t)reach->size);
  return (grouped_overlap_check_span){.memory = c->buffer && !batch->c ? (uintptr_t)c->buffer->memory : 0,
                                      .start = first - (uintptr_t)reach->below * reach->size,
                                      .end = first + (uintptr_t)reach->above * reach->size,
                                      .dense = reach->dense && of->desc->c_triangle == TESELA_WHOLE,
                                      .number = of->group,
                                      .index = index};
}

static grouped_overlap_check_span span_at_once(const tsl_small_gemm *gemm) {
  return (grouped_overlap_check_span){
      .start = gemm->start, .end = gemm->end, .dense = gemm->is_dense, .number = gemm->number};
}

static bool is_behind(const grouped_overlap_check_span *a, const grouped_overlap_check_span *b) {
  return b->memory == a->memory ? b->start > a->start : b->memory > a->memory;
}

static int grouped_overlap_check_compare(const void *x, const void *y) {
  const grouped_overlap_check_span *a = x, *b = y;
  return is_behind(b, a) ? 1 : is_behind(a, b) ? -1 : 0;
}

static void grouped_overlap_check_say(const tsl_grouped *group, const grouped_overlap_check_span *span,
                                      char *text, size_t size) {
  if (group->is_one)
    snprintf(text, size, "product %" PRId64, span->number);
  else
    snprintf(text, size, "group %" PRId64 "'s product %" PRId64, span->number, span->index);
}

static tesela_status grouped_overlap_check_fail(const tsl_grouped *group, const grouped_overlap_check_span *a,
                                                const grouped_overlap_check_span *b) {
  char first[64], second[64];
  const bool in_order = a->number < b->number || (a->number == b->number && a->index < b->index);
  const grouped_overlap_check_span *low = in_order ? a : b, *high = in_order ? b : a;
  grouped_overlap_check_say(group, low, first, sizeof first);
  grouped_overlap_check_say(group, high, second, sizeof second);
  return tsl_fail(TESELA_BAD_CALL, "C of %s overlaps C of %s: each product needs its own C", second, first);
}

/* Refuses overlapping ranges. spans is sorted by start. Each range is compared with the gapless range
 * before it that has the largest end. */
static tesela_status check_sorted(const tsl_grouped *group, const grouped_overlap_check_span *spans,
                                  int64_t count) {
  const grouped_overlap_check_span *furthest = NULL;
  for (int64_t i = 0; i < count; i++) {
    const grouped_overlap_check_span *one = &spans[i];
    if (i > 0 && one->memory == spans[i - 1].memory && one->start == spans[i - 1].start)
      return grouped_overlap_check_fail(group, &spans[i - 1], one);
    if (!one->dense)
      continue;
    if (furthest && furthest->memory == one->memory && one->start < furthest->end)
      return grouped_overlap_check_fail(group, furthest, one);
    if (!furthest || furthest->memory != one->memory || one->end > furthest->end)
      furthest = one;
  }
  return TESELA_OK;
}

/* Adds a range; returns true if spans is still sorted. */
static bool grouped_overlap_check_add(grouped_overlap_check_span span, grouped_overlap_check_span *spans,
                                      int64_t *count) {
  spans[*count] = span;
  return (*count)++ == 0 || is_behind(&spans[*count - 2], &spans[*count - 1]);
}

tesela_status tsl_grouped_check_apart(const tsl_grouped *group) {
  int64_t count = group->at_once.count, at = 0;
  bool sorted = true;
  void *block;
  for (int64_t i = 0; i < group->count; i++)
    if (group->members[i].plan->reach[TSL_OPERAND_C].used)
      count += group->batches[i].count;
  size_t bytes;
  if (!tsl_size_mul((size_t)count, sizeof(grouped_overlap_check_span), &bytes))
    return tsl_fail(TESELA_OUT_OF_MEMORY, "a group's products exceed the address space");
  TSL_TRY(tsl_alloc(bytes, "where a group's results lie", &block));
  grouped_overlap_check_span *spans = block;
  for (int64_t i = 0; i < group->count; i++)
    for (int64_t j = 0; j < group->batches[i].count && group->members[i].plan->reach[TSL_OPERAND_C].used; j++)
      sorted &= grouped_overlap_check_add(grouped_overlap_check_span_of(group, i, j), spans, &at);
  for (int64_t i = 0; i < group->at_once.count; i++)
    sorted &= grouped_overlap_check_add(span_at_once(&group->at_once.all[i]), spans, &at);
  if (!sorted)
    qsort(spans, (size_t)count, sizeof *spans, grouped_overlap_check_compare);
  const tesela_status status = check_sorted(group, spans, count);
  tsl_free(spans);
  return status;
}
