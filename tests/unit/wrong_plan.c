#include "unit/wrong_plan.h"

#include "core/types.h"
#include "unit/calls.h"

#include <string.h>

planted_fault planted;
tesela_status (*right_run)(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream);

static void make_fault(tesela_type type, unsigned char *address) {
  double value[2];
  if (planted.bit >= 0) {
    address[planted.bit / 8] ^= (unsigned char)(1 << planted.bit % 8);
    return;
  }
  tsl_type_load(type, address, value);
  value[0] += planted.off;
  tsl_type_store(type, address, value);
}

tesela_status wrong_run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream) {
  unsigned char saved[16];
  if (planted.left == 0)
    return right_run(work, operands, stream);
  planted.left--;
  const tsl_operand *at = &operands->at[planted.operand];
  const tesela_type type = tsl_problem_shape(&work->problem, planted.operand)->type;
  const size_t size = tsl_type(type)->size;
  unsigned char *address = (unsigned char *)at->host +
                           (planted.row * at->row_stride + planted.col * at->col_stride) * (int64_t)size;
  if (planted.operand == TSL_OPERAND_C) {
    const tesela_status status = right_run(work, operands, stream);
    make_fault(type, address);
    return status;
  }
  memcpy(saved, address, size);
  make_fault(type, address);
  const tesela_status status = right_run(work, operands, stream);
  memcpy(address, saved, size);
  return status;
}

void make_wrong_plan(tesela_context *context, const tesela_gemm_desc *desc, wrong_plan *wrong) {
  must(tesela_plan_create(context, desc, &wrong->plan));
  tsl_plan *plan = wrong->plan->plan;
  tsl_work *work =
      tsl_problem_has_scales(&plan->work.problem) && !plan->work.fuses_epilogue ? &plan->sums : &plan->work;
  wrong->strategy = *work->strategy;
  right_run = wrong->strategy.run;
  wrong->strategy.run = wrong_run;
  work->strategy = &wrong->strategy;
}

tesela_status run_wrong_plan(const wrong_plan *wrong, const tesela_gemm_desc *desc, tesela_record *record) {
  return tesela_plan_run(wrong->plan,
                         &(tesela_operands){.a = &desc->a,
                                            .b = desc->structure.in_place && !desc->b.data ? NULL : &desc->b,
                                            .c = &desc->c,
                                            .epilogue = desc->epilogue},
                         record);
}

void plant(const tsl_shape *shape, int operand, int64_t row, int64_t col, int bit, double off) {
  planted = (planted_fault){
      .shape = shape, .operand = operand, .row = row, .col = col, .bit = bit, .off = off, .left = 1};
}
