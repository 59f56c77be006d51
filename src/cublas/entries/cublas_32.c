/* Usual names, with int. */
#define TSL_CUBLAS_INTEGER int
#define NAME(name) name
#define NAME_V2(name) name##_v2
#include "cublas/entries/cublas_routines.h"
