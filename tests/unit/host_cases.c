#include "unit/host_cases.h"

#include <stdio.h>
#include <stdlib.h>

#define F32 TESELA_F32, TESELA_F32
#define F64 TESELA_F64, TESELA_F64
#define C64 TESELA_C64, TESELA_C64
#define BF16 TESELA_BF16, TESELA_F32
#define I8 TESELA_I8, TESELA_I32
const host_case host_cases[] = {
    {NULL, TSL_OP_GEMM, F32, 700, 700, 700, ONE, false},
    {NULL, TSL_OP_GEMM, C64, 300, 300, 300, ONE, false},
    {NULL, TSL_OP_GEMM, I8, 700, 700, 700, ONE, false},
    {"sequential", TSL_OP_GEMM, F32, 200, 200, 200, ONE, true},
    {"sequential_optimized", TSL_OP_GEMM, F32, 200, 200, 200, ONE, true},
    {"exact", TSL_OP_GEMM, F32, 100, 100, 300, ONE, false},
    {"residue_int8", TSL_OP_GEMM, F32, 200, 200, 200, ONE, false},
    {"residue_int8", TSL_OP_GEMM, F64, 200, 200, 200, ONE, false},
    {"blocked", TSL_OP_GEMM, F64, 500, 500, 500, ONE, false},
    {"host_packed", TSL_OP_GEMM, F64, 1500, 1500, 600, ONE, false}, /* panels */
    {"host_packed", TSL_OP_GEMM, F32, 4000, 40, 400, ONE, false},   /* rows stream by */
    {"host_packed", TSL_OP_GEMM, F32, 40, 4000, 400, ONE, false},   /* columns */
    {"host_packed", TSL_OP_GEMM, F32, 40, 40, 40000, ONE, false},   /* parts */
    {"host_packed", TSL_OP_GEMM, F32, 600, 600, 2000, PACK, false},
    {"host_amx", TSL_OP_GEMM, BF16, 700, 700, 700, ONE, false},
    {"host_amx", TSL_OP_GEMM, I8, 64, 64, 60000, ONE, false}, /* parts */
    {"host_amx", TSL_OP_GEMM, I8, 600, 600, 2000, PACK, false},
    {"host_small", TSL_OP_GEMM, F32, 30, 30, 30, ONE, true},
    {"host_skinny", TSL_OP_GEMM, F32, 12, 2000, 1000, ONE, false}, /* rows, in tiles */
    {"host_skinny", TSL_OP_GEMM, F64, 2000, 10, 1000, ONE, false}, /* columns, in tiles */
    {"host_skinny", TSL_OP_GEMM, F32, 2000, 2000, 9, ONE, false},  /* an update, in tiles */
    {"host_skinny", TSL_OP_GEMM, F32, 1, 2000, 2000, ONE, false},  /* rows, by lines */
    {"host_skinny", TSL_OP_GEMM, F64, 2000, 2, 2000, ONE, false},  /* columns, by lines */
    {"host_skinny", TSL_OP_GEMM, F32, 2000, 2000, 2, ONE, false},  /* an update, by lines */
    {"host_skinny", TSL_OP_GEMM, C64, 4, 2000, 500, ONE, false},   /* rows of pairs */
    {"host_skinny", TSL_OP_GEMM, C64, 800, 800, 5, ONE, false},    /* an update of pairs */
    {"host_small", TSL_OP_GEMM, F32, 20, 20, 20, BATCH, false},
    {NULL, TSL_OP_GEMM, F64, 60, 60, 60, BATCH, false},
    {"host_packed", TSL_OP_GEMM, F64, 200, 200, 200, BATCH,
     false}, /* of products that are large enough for all */
    {"sequential", TSL_OP_DOT, F32, 1, 1, 1000000, ONE, true},
    {"fixed_tree", TSL_OP_DOT, F32, 1, 1, 4000000, ONE, false},
    {"fixed_tree", TSL_OP_DOT, F64, 1, 1, 4000000, ONE, false},
    {"exact", TSL_OP_DOT, F64, 1, 1, 4000000, ONE, false},
    {"vector", TSL_OP_TRANSPOSE, F32, 2000, 2000, 0, ONE, false},
    {"vector", TSL_OP_TRANSPOSE, F64, 2000, 2000, 0, IN_PLACE, false},
    {"sequential", TSL_OP_SOLVE, F64, 200, 200, 200, ONE, true},
    {"host_blocked", TSL_OP_SOLVE, F32, 600, 1000, 600, ONE, false},
};
const int host_cases_count = sizeof host_cases / sizeof *host_cases;
enum { HOST_CASE_BYTES = 4000000 * 8 };

void host_case_memory(void *memory[3]) {
  for (int i = 0; i < 3; i++)
    memory[i] = calloc(1, HOST_CASE_BYTES);
}

/* A case of operands that are dense, far enough apart for batches. */
static tesela_status host_case_gemm(tesela_context *context, const host_case *case_in,
                                    void *const memory[3]) {
  tesela_gemm_desc desc = {.m = case_in->m,
                           .n = case_in->n,
                           .k = case_in->k,
                           .a = {.data = memory[0], .type = case_in->type},
                           .b = {.data = memory[1], .type = case_in->type},
                           .c = {.data = memory[2], .type = case_in->result},
                           .options.strategy = case_in->strategy};
  const tesela_batch batch = {.count = 50, .c_stride = case_in->m * case_in->n};
  tesela_plan *plan;
  tesela_packed *packed;
  if (case_in->way == BATCH)
    return tesela_gemm_batched(context, &desc, &batch, NULL);
  if (case_in->way == ONE)
    return tesela_gemm(context, &desc, NULL);
  tesela_status status = tesela_plan_create(context, &desc, &plan);
  if (status != TESELA_OK)
    return status;
  status = tesela_pack(plan, NULL, &desc.b, &packed); /* and is not run: packing alone is counted */
  if (status == TESELA_OK)
    tesela_packed_destroy(packed);
  tesela_plan_destroy(plan);
  return status;
}

tesela_status host_case_run(tesela_context *context, const host_case *case_in, void *const memory[3]) {
  const bool in_place = case_in->way == IN_PLACE;
  const tesela_dot_desc dot = {.n = case_in->k,
                               .x = {.data = memory[0], .type = case_in->type},
                               .y = {.data = memory[1], .type = case_in->type},
                               .result = {.data = memory[2], .type = case_in->result},
                               .options.strategy = case_in->strategy};
  const tesela_transpose_desc transpose = {
      .rows = case_in->m,
      .cols = case_in->n,
      .a = {.data = in_place ? NULL : memory[0], .type = in_place ? TESELA_TYPE_DEFAULT : case_in->type},
      .b = {.data = memory[in_place ? 0 : 2], .type = case_in->type},
      .in_place = in_place,
      .options.strategy = case_in->strategy};
  const tesela_solve_desc solve = {.rows = case_in->m,
                                   .cols = case_in->n,
                                   .a = {.data = memory[0], .type = case_in->type},
                                   .triangle = TESELA_LOWER,
                                   .b = {.data = memory[1], .type = case_in->type},
                                   .x = {.data = memory[2], .type = case_in->result},
                                   .options.strategy = case_in->strategy};
  return case_in->op == TSL_OP_GEMM    ? host_case_gemm(context, case_in, memory)
         : case_in->op == TSL_OP_DOT   ? tesela_dot(context, &dot, NULL)
         : case_in->op == TSL_OP_SOLVE ? tesela_solve(context, &solve, NULL)
                                       : tesela_transpose(context, &transpose, NULL);
}

const char *host_case_name(const host_case *case_in, char text[128]) {
  snprintf(text, 128, "%s %s, %lld x %lld x %lld", tsl_op_name(case_in->op),
           case_in->strategy ? case_in->strategy : "auto", (long long)case_in->m, (long long)case_in->n,
           (long long)case_in->k);
  return text;
}
