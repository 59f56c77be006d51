#include "comm/intervals.h"

tsl_dim tsl_dim_of(const tsl_span *list, int64_t count) {
  return (tsl_dim){list, count, 0, INT64_MAX};
}

tsl_dim tsl_dim_part(const tsl_span *list, int64_t count, int64_t first, int64_t last) {
  return (tsl_dim){list, count, first, last};
}

/* Clips span i to positions [first, last); length <= 0: it lies outside. */
static tsl_span clip_span(const tsl_dim *dim, int64_t i) {
  tsl_span span = dim->list[i];
  if (span.local < dim->first) {
    const int64_t less = dim->first - span.local;
    span = (tsl_span){span.at + less, span.length - less, dim->first};
  }
  if (span.length > dim->last - span.local)
    span.length = dim->last - span.local;
  span.local -= dim->first;
  return span;
}

int64_t tsl_dim_total(const tsl_dim *dim) {
  int64_t total = 0;
  for (int64_t i = 0; i < dim->count; i++) {
    const int64_t length = clip_span(dim, i).length;
    total += length > 0 ? length : 0;
  }
  return total;
}

bool tsl_dim_same(const tsl_dim *a, const tsl_dim *b) {
  if (a->first != b->first || a->last != b->last)
    return false;
  return a->list == b->list || (a->count == 1 && b->count == 1 && a->list->at == b->list->at &&
                                a->list->length == b->list->length && a->list->local == b->list->local);
}

/* Returns the number of the first span of the list that ends after an index, or after a local index. */
static int64_t first_ending_after(const tsl_dim *dim, int64_t index, bool is_local) {
  int64_t low = 0, high = dim->count;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    const tsl_span *span = &dim->list[middle];
    if ((is_local ? span->local : span->at) + span->length > index)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

/* Returns the first span in the part. */
static int64_t first_span_inside(const tsl_dim *dim) {
  return first_ending_after(dim, dim->first, true);
}

/* Sets i and j to the first spans that may meet, by binary search, because lists may be long. */
static void intersect_begin(tsl_spans_intersect *meet) {
  const tsl_dim *a = meet->a, *b = meet->b;
  meet->begun = true;
  meet->i = first_span_inside(a);
  meet->j = first_span_inside(b);
  if (meet->i == a->count || meet->j == b->count)
    return;
  const int64_t from_a = clip_span(a, meet->i).at, from_b = clip_span(b, meet->j).at;
  if (from_a < from_b) {
    const int64_t i = first_ending_after(a, from_b, false);
    meet->i = i > meet->i ? i : meet->i;
  } else {
    const int64_t j = first_ending_after(b, from_a, false);
    meet->j = j > meet->j ? j : meet->j;
  }
}

bool tsl_spans_intersect_next(tsl_spans_intersect *meet) {
  if (!meet->begun)
    intersect_begin(meet);
  while (meet->i < meet->a->count && meet->j < meet->b->count) {
    const tsl_span a = clip_span(meet->a, meet->i), b = clip_span(meet->b, meet->j);
    if (meet->a->list[meet->i].local >= meet->a->last || meet->b->list[meet->j].local >= meet->b->last)
      return false;
    const int64_t end_a = a.at + a.length, end_b = b.at + b.length;
    const int64_t low = a.at > b.at ? a.at : b.at, high = end_a < end_b ? end_a : end_b;
    if (end_a <= end_b)
      meet->i++;
    if (end_b <= end_a)
      meet->j++;
    if (low < high) {
      meet->length = high - low;
      meet->in_a = a.local + (low - a.at);
      meet->in_b = b.local + (low - b.at);
      return true;
    }
  }
  return false;
}

int64_t tsl_dim_common(const tsl_dim *a, const tsl_dim *b) {
  int64_t total = 0;
  for (tsl_spans_intersect meet = {.a = a, .b = b}; tsl_spans_intersect_next(&meet);)
    total += meet.length;
  return total;
}

int64_t tsl_even(int64_t whole, int64_t part, int64_t parts) {
  return whole / parts * part + whole % parts * part / parts;
}

static int64_t intervals_count_blocks(const tsl_dealing *d) {
  return d->size / d->block + (d->size % d->block != 0);
}
static int64_t first_block_of(const tsl_dealing *d, int part) {
  return (part - d->first + d->parts) % d->parts;
}

int64_t tsl_dealing_spans(const tsl_dealing *d, int part) {
  if (d->block == 0)
    return 1;
  const int64_t blocks = intervals_count_blocks(d), turn = first_block_of(d, part);
  return turn < blocks ? (blocks - turn - 1) / d->parts + 1 : 0;
}

/* Writes the intersection of [index, index + length) with the operand. Returns the spans written, 0 or 1. */
static int64_t write_intersection(const tsl_dealing *d, int64_t index, int64_t length, int64_t local,
                                  tsl_span *out) {
  const int64_t end_of_all = d->begin + d->length,
                end = index + length < end_of_all ? index + length : end_of_all;
  const int64_t start = index > d->begin ? index : d->begin;
  if (start >= end)
    return 0;
  *out = (tsl_span){start - d->begin, end - start, local + (start - index)};
  return 1;
}

int64_t tsl_dealing_list(const tsl_dealing *d, int part, tsl_span *out) {
  if (d->block == 0) {
    const int64_t from = tsl_even(d->size, part, d->parts), to = tsl_even(d->size, part + 1, d->parts);
    return write_intersection(d, from, to - from, 0, out);
  }
  int64_t count = 0, local = 0;
  const int64_t blocks = intervals_count_blocks(d);
  for (int64_t block = first_block_of(d, part); block < blocks; block += d->parts) {
    const int64_t at = block * d->block, length = d->size - at < d->block ? d->size - at : d->block;
    count += write_intersection(d, at, length, local, out + count);
    local += length;
  }
  return count;
}

int64_t tsl_dealing_local(const tsl_dealing *d, int part) {
  if (d->block == 0)
    return tsl_even(d->size, part + 1, d->parts) - tsl_even(d->size, part, d->parts);
  const int64_t blocks = intervals_count_blocks(d), turn = first_block_of(d, part),
                own = tsl_dealing_spans(d, part);
  if (own == 0)
    return 0;
  const bool has_last = (blocks - 1 - turn) % d->parts == 0;
  return own * d->block - (has_last ? blocks * d->block - d->size : 0);
}
