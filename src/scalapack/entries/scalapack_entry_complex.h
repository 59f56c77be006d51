#define TRAN tranu_
#define TRAN_LETTER 'T'
#include "scalapack/entries/tran.h"
#undef TRAN
#undef TRAN_LETTER

#define TRAN tranc_
#define TRAN_LETTER 'C'
#include "scalapack/entries/tran.h"
#undef TRAN
#undef TRAN_LETTER
