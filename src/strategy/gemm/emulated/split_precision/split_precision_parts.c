/* Parts of split_precision: forms, depth of a part, and products of parts. */
#include "strategy/gemm/emulated/split_precision/split_precision.h"

#include "core/status.h"
#include "host/int_math.h"

static const tsl_split_form forms[] = {
    {6, 3, TESELA_BF16, 2.1}, {9, 3, TESELA_BF16, 0}, {3, 2, TESELA_BF16, 774}, {1, 1, TESELA_F16, 16388}};

enum { DEPTH_UNIT = 16 };

/* Pairs of parts, from 0, in the order of multiplication, smallest products first; the last ones are used. */
static const struct {
  int a, b;
} pairs[TSL_SPLIT_PRODUCTS_MOST] = {{2, 2}, {1, 2}, {2, 1}, {0, 2}, {2, 0}, {1, 1}, {0, 1}, {1, 0}, {0, 0}};

const tsl_split_form *tsl_split_form_of(const tsl_config *config) {
  const tsl_split_form *form = forms;
  while (form->products != config->value[TSL_SPLIT_PRODUCTS])
    form++;
  return form;
}

int64_t tsl_split_depth(const tsl_problem *problem, const tsl_config *config) {
  return tsl_split_form_of(config)->parts == 1 ? problem->k : tsl_round_up(problem->k, DEPTH_UNIT);
}

bool tsl_split_is_swapped(const tsl_problem *problem) {
  return problem->c.col_stride != 1 && problem->c.row_stride == 1;
}

tesela_status tsl_split_multiply(const tsl_work *work, const tsl_operands *first, const int64_t step[2],
                                 tsl_stream *stream) {
  const tsl_split_state *state = work->state;
  const int64_t begin = TSL_SPLIT_PRODUCTS_MOST - work->config.value[TSL_SPLIT_PRODUCTS];
  for (int64_t i = begin; i < TSL_SPLIT_PRODUCTS_MOST; i++) {
    const int64_t a = pairs[i].a * step[0], b = pairs[i].b * step[1];
    tsl_subplan *product = i == begin ? state->first : state->more;
    tsl_operands operands = *first;
    if (first->a.host) {
      operands.a.host = (uint16_t *)first->a.host + a, operands.b.host = (uint16_t *)first->b.host + b;
      TSL_TRY(work->subplans->run(product, &operands));
      continue;
    }
    operands.a.offset += a, operands.b.offset += b;
    TSL_TRY(work->subplans->enqueue(product, &operands, stream, first->scratch));
  }
  return TESELA_OK;
}
