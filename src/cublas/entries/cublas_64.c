/* Names with 64-bit integers, of CUDA 12 and later. */
#include <stdint.h>

#define TSL_CUBLAS_INTEGER int64_t
#define NAME(name) name##_64
#define NAME_V2(name) name##_v2_64
#include "cublas/entries/cublas_routines.h"
