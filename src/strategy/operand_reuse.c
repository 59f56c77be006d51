#include "strategy/operand_reuse.h"

#include <stddef.h>

static const tsl_hash nothing = {0, 0};

void tsl_operand_reuse_start(tsl_operand_reuse *stays, int operand) {
  stays->operand = operand;
  stays->before = stays->left = nothing;
}

void tsl_operand_reuse_turn(tsl_operand_reuse *stays) {
  stays->before = stays->left;
  stays->left = nothing;
}

static bool operand_reuse_same(tsl_hash a, tsl_hash b) {
  return a.high == b.high && a.low == b.low;
}

bool tsl_operand_reuse_has(tsl_operand_reuse *stays, tsl_hash hash) {
  if (!stays || operand_reuse_same(stays->before, nothing) || !operand_reuse_same(stays->before, hash))
    return false;
  stays->kept++;
  return true;
}

void tsl_operand_reuse_leave(tsl_operand_reuse *stays, tsl_hash hash) {
  if (stays)
    stays->left = hash;
}
