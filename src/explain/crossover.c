#include "explain/crossover.h"

#include "core/status.h"

#include <stdlib.h>

static void set_square_shape(const tsl_shape *like, int64_t n, tsl_shape *shape) {
  const bool by_cols = like->row_stride == 1 && like->col_stride != 1;
  *shape = (tsl_shape){.type = like->type,
                       .rows = n,
                       .cols = n,
                       .row_stride = by_cols ? 1 : n,
                       .col_stride = by_cols ? n : 1,
                       .structure = like->structure,
                       .triangle = like->triangle};
}

/* Finds the device that a square product of this size runs on; NULL: none. */
static tesela_status find_device_for_size(const tsl_problem *like, const tsl_choice *choice, int64_t n,
                                          const tsl_device **device) {
  tsl_problem square = *like;
  tsl_candidate *list;
  int count;
  square.m = square.n = square.k = n;
  set_square_shape(&like->a, n, &square.a);
  set_square_shape(&like->b, n, &square.b);
  set_square_shape(&like->c, n, &square.c);
  tsl_problem_add_bias(&square, like->bias_axis, like->bias.type, 1);
  tsl_problem_add_scale(&square, TSL_OPERAND_SCALE_A, like->scaling_a, 1);
  tsl_problem_add_scale(&square, TSL_OPERAND_SCALE_B, like->scaling_b, 1);
  TSL_TRY(tsl_planner_list(&square, choice, &list, &count));
  *device = count > 0 && !list[0].refusal[0] ? list[0].device : NULL;
  free(list);
  return TESELA_OK;
}

/* Narrows the smallest size that runs on `device` (`high`; `low` does not) to an eighth of its value. */
static tesela_status narrow_crossover(const tsl_problem *like, const tsl_choice *choice, int64_t low,
                                      int64_t *high, const tsl_device *device) {
  while (*high - low > *high / 8) {
    const int64_t middle = low + (*high - low) / 2;
    const tsl_device *found;
    TSL_TRY(find_device_for_size(like, choice, middle, &found));
    if (found == device)
      *high = middle;
    else
      low = middle;
  }
  return TESELA_OK;
}

tesela_status tsl_crossover_find(const tsl_problem *like, const tsl_choice *choice, tsl_crossover *out) {
  const tsl_device *last = NULL;
  *out = (tsl_crossover){.count = 0};
  for (int64_t n = TSL_CROSSOVER_MIN; n <= TSL_CROSSOVER_MAX; n *= 2) {
    const tsl_device *device;
    TSL_TRY(find_device_for_size(like, choice, n, &device));
    if (!device || device == last || out->count == TSL_CROSSOVER_PARTS)
      continue;
    int64_t from = n;
    if (last)
      TSL_TRY(narrow_crossover(like, choice, n / 2, &from, device));
    out->parts[out->count++] = (tsl_crossover_part){from, device};
    last = device;
  }
  return TESELA_OK;
}

void tsl_crossover_print(const tsl_crossover *found, tsl_text *out) {
  for (int i = 0; i < found->count; i++)
    if (i == 0)
      tsl_text_add(out, "%s", found->parts[i].device->name);
    else
      tsl_text_add(out, ", from %lld on %s", (long long)found->parts[i].from, found->parts[i].device->name);
}
