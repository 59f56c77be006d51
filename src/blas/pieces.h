/* Products that are parts of a call. */
#ifndef TSL_BLAS_PIECES_H
#define TSL_BLAS_PIECES_H

#include "blas/loops.h"
#include "blas/symbol.h"

/* Computes it, whatever comes: at once where it is small, else by a plan that is kept, else by loops. record may be NULL. */
void tsl_blas_piece(const tsl_blas_symbol *symbol, const tsl_blas_work *work, tesela_record *record);

#endif
