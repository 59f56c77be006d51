#define TRAN tran_
#define TRAN_LETTER 'T'
#include "scalapack/entries/tran.h"
#undef TRAN
#undef TRAN_LETTER
