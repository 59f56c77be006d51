#include "strategy/run_hints.h"

static const tsl_hash nothing = {0, 0};

void tsl_operand_reuse_start(tsl_operand_reuse *reuse, int operand) {
  reuse->operand = operand;
  reuse->before = reuse->left = nothing;
}

void tsl_operand_reuse_turn(tsl_operand_reuse *reuse) {
  reuse->before = reuse->left;
  reuse->left = nothing;
}

static bool operand_reuse_same(tsl_hash a, tsl_hash b) {
  return a.high == b.high && a.low == b.low;
}

bool tsl_operand_reuse_has(tsl_operand_reuse *reuse, tsl_hash hash) {
  if (!reuse || operand_reuse_same(reuse->before, nothing) || !operand_reuse_same(reuse->before, hash))
    return false;
  reuse->kept++;
  return true;
}

void tsl_operand_reuse_leave(tsl_operand_reuse *reuse, tsl_hash hash) {
  if (reuse)
    reuse->left = hash;
}
