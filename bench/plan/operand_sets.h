/* Where this lay before, for bench/models.c. */
#include "tune/operand_sets.h"
