/* Choice of the library for a call, for the entries. */
#ifndef TSL_CUBLAS_CUBLAS_TAKE_H
#define TSL_CUBLAS_CUBLAS_TAKE_H

#include "cublas/cublas_lt.h"

/* State of a call of the program's function. */
typedef struct tsl_cublas_ticket {
  struct tsl_cublas_kind *raced; /* kind that is timed; NULL: the call is not timed */
  struct tsl_cublas_thread *thread;
} tsl_cublas_ticket;

/* Returns the program's function, which the entry must call; NULL: *status is the call's result. */
tsl_next_function *tsl_cublas_take(tsl_cublas_symbol *symbol, const tsl_cublas_call *call,
                                   tsl_cublas_ticket *ticket, int *status);
/* Is tsl_cublas_take() for cublasLt. arguments NULL: the program's function computes the call. */
tsl_next_function *tsl_cublas_take_lt(tsl_cublas_symbol *symbol, const tsl_lt_arguments *arguments,
                                      tsl_cublas_ticket *ticket, int *status);
/* Ends a call of the program's function. Returns its status. */
int tsl_cublas_end(const tsl_cublas_ticket *ticket, int status);

#endif
