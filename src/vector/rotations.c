#include "vector/rotations.h"

#include <math.h>
#include <stddef.h>

/* Stored elements of a modified rotation: -1 all, 0 off the diagonal, 1 on the diagonal. */
typedef struct modified {
  int flag;
} modified;

#define REAL float
#define NAME(word) word##_f32
#include "vector/rotations_text.h"
#undef REAL
#undef NAME
#define REAL double
#define NAME(word) word##_f64
#include "vector/rotations_text.h"
