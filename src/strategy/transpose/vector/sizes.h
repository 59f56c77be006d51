/* The loops for every size of an element, and the table of them. After one of lanes_*.h. */
#include <stddef.h>
#include <string.h>

#define SIZE 1
#define NAME(word) word##_1
#include "strategy/transpose/vector/loops.h"
#undef SIZE
#undef NAME
#define SIZE 2
#define NAME(word) word##_2
#include "strategy/transpose/vector/loops.h"
#undef SIZE
#undef NAME
#define SIZE 4
#define NAME(word) word##_4
#include "strategy/transpose/vector/loops.h"
#undef SIZE
#undef NAME
#define SIZE 8
#define NAME(word) word##_8
#include "strategy/transpose/vector/loops.h"
#undef SIZE
#undef NAME
#define SIZE 16
#define NAME(word) word##_16
#include "strategy/transpose/vector/loops.h"
#undef SIZE
#undef NAME
#define REAL float
#define REAL_VECTOR vector_f32
#define SIZE 4
#define NAME(word) word##_f32
#include "strategy/transpose/vector/loops.h"
#undef SIZE
#undef NAME
#undef REAL
#undef REAL_VECTOR
#define REAL double
#define REAL_VECTOR vector_f64
#define SIZE 8
#define NAME(word) word##_f64
#include "strategy/transpose/vector/loops.h"

#define MOVES_ROW(name, bytes)                                                                               \
  [TSL_MOVES_##name] = {transpose_##name, gather_##name, exchange_##name, exchange_apart_##name, copy_##name},
#define MOVES_TABLE                                                                                          \
  { TSL_MOVES_LIST(MOVES_ROW) }
