/* The problem that tesela tune is about, from its words and options. */
#include "core/status.h"
#include "inventory/strategy_limits.h"
#include "tune/report.h"

/* Names of M, N and K for each operation; "" ends a list. */
static const char *const size_names[TSL_OP_COUNT][3] = {[TSL_OP_GEMM] = {"M", "N", "K"},
                                                        [TSL_OP_DOT] = {"N", ""},
                                                        [TSL_OP_TRANSPOSE] = {"M", "N", ""},
                                                        [TSL_OP_SOLVE] = {"M", "N", ""}};

static void store_transposed(tsl_shape *shape) {
  shape->row_stride = 1;
  shape->col_stride = shape->rows;
}

tesela_status tsl_tune_read_problem(const tsl_command_call *call, tsl_problem *problem) {
  const tsl_tune_options *given = call->options;
  const tsl_op op = tsl_select_op(given->op);
  const char *const *names = size_names[op];
  int64_t sizes[3] = {1, 1, 1};
  int count = 0;
  while (count < 3 && *names[count])
    count++;
  if (call->word_count != count)
    return tsl_fail(TESELA_BAD_CALL,
                    "tune of a %s takes %s%s%s%s%s; --from-log FILE and --replay FILE stand alone", given->op,
                    names[0], count > 1 ? " " : "", count > 1 ? names[1] : "", count > 2 ? " " : "",
                    count > 2 ? names[2] : "");
  for (int i = 0; i < count; i++)
    if (!tsl_parse_i64(call->words[i], &sizes[i]) || sizes[i] < 1)
      return tsl_fail(TESELA_BAD_CALL, "%s: \"%s\" is not a size, a whole number from 1 up", names[i],
                      call->words[i]);
  TSL_TRY(tsl_terms_check_type(op, given->type));
  if (op != TSL_OP_GEMM && (given->transpose_a || given->transpose_b))
    return tsl_fail(TESELA_BAD_CALL, "--transpose-a and --transpose-b are about products");
  *problem = tsl_problem_of(op, sizes[0], sizes[1], op == TSL_OP_DOT ? sizes[0] : sizes[2], given->type);
  if (given->transpose_a)
    store_transposed(&problem->a);
  if (given->transpose_b)
    store_transposed(&problem->b);
  problem->beta[0] = given->beta.value;
  tsl_problem_round(problem);
  return tsl_problem_check(problem);
}
