#include "api/api.h"

#include "core/floats.h"
#include "core/memory.h"
#include "core/status.h"
#include "problem/structure.h"

#include <string.h>

tesela_status tsl_api_packed(const tesela_plan *plan, const char *where, int operand,
                             const tesela_matrix *matrix, tsl_operand *out) {
  const tesela_packed *packed = matrix->packed;
  const char *name = plan->reach[operand].name;
  if (packed->operand != operand)
    return tsl_fail(TESELA_BAD_CALL, "%s%s.packed was packed as %s", where, name,
                    plan->reach[packed->operand].name);
  if (strcmp(packed->plan, plan->plan->text) != 0)
    return tsl_fail(TESELA_BAD_CALL, "%s%s.packed was packed for another plan, \"%.200s\"", where, name,
                    packed->plan);
  *out = packed->used;
  return TESELA_OK;
}

static tesela_status packed_pack(const tsl_work *work, tesela_packed *packed, const tsl_address_range *reach,
                                 const tsl_operand *from) {
  const tsl_strategy *strategy = work->strategy;
  const tsl_shape *shape = tsl_problem_shape(&work->problem, packed->operand);
  const size_t bytes = strategy->prepack.bytes ? strategy->prepack.bytes(work, packed->operand) : 0;
  if (bytes > 0) {
    tsl_operand operand = *from;
    operand.row_stride = shape->row_stride;
    operand.col_stride = shape->col_stride;
    TSL_TRY(tsl_alloc(bytes, "a packed operand", &packed->memory));
    strategy->prepack.pack(work, packed->operand, &operand, packed->memory, tsl_device_team(work->device));
    packed->used.packed = packed->memory;
    return TESELA_OK;
  }
  TSL_TRY(
      tsl_alloc((size_t)(reach->below + reach->above) * reach->size, "a packed operand", &packed->memory));
  packed->used.host = (unsigned char *)packed->memory + (size_t)reach->below * reach->size;
  tsl_shape_copy_stored(shape, from->host, packed->used.host);
  return TESELA_OK;
}

static tesela_status packed_make(const tesela_plan *plan, int operand, const tsl_operand *from,
                                 tesela_packed **packed) {
  const size_t length = strlen(plan->plan->text) + 1;
  void *block, *text;
  TSL_TRY(tsl_alloc_zeroed(sizeof **packed, "a packed operand", &block));
  tesela_packed *new_packed = block;
  tesela_status status = tsl_alloc(length, "a plan's text", &text);
  if (status == TESELA_OK) {
    new_packed->plan = memcpy(text, plan->plan->text, length);
    new_packed->operand = operand;
    status = packed_pack(tsl_plan_work(plan->plan), new_packed, &plan->reach[operand], from);
  }
  if (status != TESELA_OK) {
    tesela_packed_destroy(new_packed);
    return status;
  }
  *packed = new_packed;
  return TESELA_OK;
}

tesela_status tesela_pack(tesela_plan *plan, const tesela_matrix *a, const tesela_matrix *b,
                          tesela_packed **packed) {
  TSL_NOT_CANCELLED;
  TSL_DEFAULT_FLOATS;
  tsl_operand from;
  if (!plan || !packed)
    return tsl_fail(TESELA_BAD_CALL, "%s is NULL", !plan ? "plan" : "packed");
  *packed = NULL;
  if (!a == !b)
    return tsl_fail(TESELA_BAD_CALL, "a and b are both %s: set exactly one", a ? "given" : "NULL");
  const int operand = a ? TSL_OPERAND_A : TSL_OPERAND_B;
  const tsl_address_range *reach = &plan->reach[operand];
  if (plan->plan->place != TSL_PLACE_HOST)
    return tsl_fail(TESELA_BAD_CALL, "the plan is for buffers: operands in host memory are packed");
  if (!reach->used)
    return tsl_fail(TESELA_BAD_CALL, "the plan does not read %s", *reach->name ? reach->name : "b");
  TSL_TRY(tsl_api_host_operand(reach, "", a ? a : b, &from));
  return packed_make(plan, operand, &from, packed);
}

void tesela_packed_destroy(tesela_packed *packed) {
  if (!packed)
    return;
  tsl_free(packed->memory);
  tsl_free(packed->plan);
  tsl_free(packed);
}
