/* Where this lay before, for bench/models.c. */
#include "tune/measure.h"
