#include "strategy/gemm/emulated/residue_int8/residue_int8.h"

tsl_operand_reuse *tsl_residue_reuse(const tsl_operands *operands) {
  return operands->hints ? operands->hints->reuse : NULL;
}

int tsl_residue_stays(const tsl_operands *operands, bool is_swapped) {
  const tsl_operand_reuse *reuse = tsl_residue_reuse(operands);
  return reuse && (reuse->operand == TSL_OPERAND_B) != is_swapped;
}

/* Measuring depends on the rules' k, candidates and allowed error; numbers of lines matter to the choice
 * only. */
tsl_hash tsl_residue_made_of(const tsl_problem *problem, const residue_rules *rules, int number,
                             int64_t lines, const residue_matrix *matrix, const tsl_buffer *factor,
                             const tsl_buffer *scratch, const tsl_residue_lying *lying) {
  const int64_t words[] = {problem->c.type,
                           number,
                           lines,
                           rules->k,
                           rules->candidates,
                           rules->sieves[0].moduli,
                           rules->sieves[1].moduli,
                           rules->sieves[2].moduli,
                           rules->margin,
                           rules->fraction,
                           rules->guard,
                           (int64_t)(intptr_t)factor,
                           matrix->offset,
                           matrix->across,
                           matrix->along,
                           matrix->is_conjugate,
                           (int64_t)(intptr_t)scratch,
                           lying->planes,
                           lying->plane,
                           lying->keys,
                           lying->candidates,
                           lying->made};
  return tsl_hash_add(tsl_hash_start(), words, sizeof words);
}
