#include "judge/verify_repair.h"

#include "core/memory.h"
#include "core/status.h"
#include "host/int_math.h"
#include "strategy/params.h"
#include "strategy/strategy_list.h"

#include <string.h>

struct tsl_repair {
  tsl_device host; /* the caller's thread */
  tsl_plan plan;   /* of the whole product, by the specification */
  tsl_operands operands;
  unsigned char *before; /* C0, line by line without gaps; NULL: not read */
};

static tsl_work make_specification(const tsl_problem *problem) {
  const tsl_strategy *strategy = tsl_strategy_specification(problem->op);
  return (tsl_work){.strategy = strategy, .problem = *problem, .config = tsl_strategy_defaults(strategy)};
}

bool tsl_repair_supports(const tsl_plan *plan) {
  const tsl_problem *problem = &plan->work.problem;
  const tsl_work own = make_specification(problem);
  const bool is_as_exact =
      !tsl_numeric_requirements_has_accuracy(&problem->ask) ||
      tsl_strategy_error_bound(own.strategy, problem, &own.config) <= tsl_plan_error_bound(plan);
  return !tsl_problem_has_structure(problem) && !problem->in_place && problem->batch <= 1 &&
         problem->ask.bits == TSL_REPRODUCIBILITY_ANY && is_as_exact;
}

/* Copies a tile of C to the copy of C0, or back. */
static void copy_tile(const tsl_repair *repair, const tsl_repair_tile *tile, bool is_restored) {
  const tsl_shape *c = &repair->plan.work.problem.c;
  const size_t size = tsl_type(c->type)->size;
  const bool by_rows = tsl_abs(c->col_stride) <= tsl_abs(c->row_stride);
  const int64_t lines = by_rows ? tile->rows : tile->cols, length = by_rows ? tile->cols : tile->rows;
  for (int64_t line = 0; line < lines; line++)
    for (int64_t i = 0; i < length; i++) {
      const int64_t row = tile->row + (by_rows ? line : i), col = tile->col + (by_rows ? i : line);
      unsigned char *own = (unsigned char *)repair->operands.c.host +
                           (row * c->row_stride + col * c->col_stride) * (int64_t)size,
                    *saved =
                        repair->before + (size_t)(by_rows ? row * c->cols + col : col * c->rows + row) * size;
      memcpy(is_restored ? own : saved, is_restored ? saved : own, size);
    }
}

tesela_status tsl_repair_begin(const tsl_plan *plan, const tsl_operands *operands, tsl_team team,
                               tsl_repair **repair) {
  const tsl_problem *problem = &plan->work.problem;
  void *block, *before = NULL;
  *repair = NULL;
  TSL_TRY(tsl_alloc_zeroed(sizeof **repair, "a repair", &block));
  tsl_repair *made = block;
  made->host = (tsl_device){.kind = "cpu", .name = "cpu", .capabilities = TSL_CAN_HOST, .threads = 1};
  made->plan = (tsl_plan){.work = make_specification(problem), .place = TSL_PLACE_HOST};
  made->plan.work.device = &made->host;
  made->operands = *operands;
  made->operands.team = team;
  if (tsl_problem_reads(problem, TSL_OPERAND_C)) {
    const size_t bytes = (size_t)(problem->m * problem->n) * tsl_type(problem->c.type)->size;
    const tesela_status status = tsl_alloc(bytes, "a copy of C for its repair", &before);
    if (status != TESELA_OK) {
      tsl_repair_free(made);
      return status;
    }
    made->before = before;
    copy_tile(made, &(tsl_repair_tile){.rows = problem->m, .cols = problem->n}, false);
  }
  *repair = made;
  return TESELA_OK;
}

tesela_status tsl_repair_run(const tsl_repair *repair, const tsl_repair_tile *tile) {
  tsl_plan plan = repair->plan;
  tsl_problem *problem = &plan.work.problem;
  tsl_operands operands = repair->operands;
  tsl_shape *const shapes[TSL_ALL_OPERANDS] = {&problem->a,    &problem->b,       &problem->c,
                                               &problem->bias, &problem->scale_a, &problem->scale_b};
  for (int i = 0; i < TSL_ALL_OPERANDS; i++) {
    tsl_shape *shape = shapes[i];
    tsl_operand *at = &operands.at[i];
    const bool has_rows = i != TSL_OPERAND_B && shape->rows == problem->m,
               has_cols = i != TSL_OPERAND_A && shape->cols == problem->n;
    if (!at->host || !tsl_type(shape->type))
      continue;
    const int64_t first =
        (has_rows ? tile->row * shape->row_stride : 0) + (has_cols ? tile->col * shape->col_stride : 0);
    at->host = (unsigned char *)at->host + first * (int64_t)tsl_type(shape->type)->size;
    shape->rows = has_rows ? tile->rows : shape->rows;
    shape->cols = has_cols ? tile->cols : shape->cols;
  }
  problem->m = tile->rows;
  problem->n = tile->cols;
  if (repair->before)
    copy_tile(repair, tile, true);
  return tsl_plan_run(&plan, &operands, NULL);
}

const char *tsl_repair_strategy(const tsl_repair *repair) {
  return repair->plan.work.strategy->name;
}

double tsl_repair_error_bound(const tsl_repair *repair) {
  const tsl_work *work = &repair->plan.work;
  return tsl_strategy_error_bound(work->strategy, &work->problem, &work->config);
}

void tsl_repair_free(tsl_repair *repair) {
  if (!repair)
    return;
  tsl_free(repair->before);
  tsl_free(repair);
}
