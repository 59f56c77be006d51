/* Functions of other libraries. A front end (libtesela_blas, libtesela_scalapack) interposes the names of the
 * host library, which the program would use without tesela. */
#ifndef TSL_INTERPOSE_NEXT_SYMBOL_H
#define TSL_INTERPOSE_NEXT_SYMBOL_H

#include "core/symbol_search.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <tesela/tesela.h>

typedef void tsl_next_function(void);

/* Function of another library, searched until it is found. */
typedef struct tsl_lazy_symbol {
  tsl_next_function *_Atomic found;
  atomic_uint tries;
} tsl_lazy_symbol;

/* Returns the host library's function of a name; NULL: none so far. */
tsl_next_function *tsl_interpose_next(tsl_lazy_symbol *late, const char *name);
/* Returns a function of the program, or of any library but this one; NULL: none so far. */
tsl_next_function *tsl_interpose_program(tsl_lazy_symbol *late, const char *name);

/* Returns true if the function is found, or if it is time to search again: after 1, 2, 4, 8, ... calls. For
 * frequent calls of one process; all processes of a job must search alike. */
bool tsl_interpose_is_due(tsl_lazy_symbol *late);

/* The search itself, for front ends that trust fewer libraries. */

/* Returns false for NULL, for this library and its copies, and for libraries that may forward to it. */
bool tsl_interpose_is_foreign(void *address);
/* Returns true if the library of an address was loaded before this one. */
bool tsl_interpose_is_earlier(const void *address);
/* Searches by RTLD_NEXT, or in the program, and then in every loaded library, until `ask` answers TAKE, or
 * KEEP for the first address. */
void *tsl_interpose_search(const char *name, bool program_first, tsl_loaded_ask *ask, void *state);
/* Returns a name's address in the program or the libraries that it was started with; NULL: none. */
void *tsl_interpose_program_has(const char *name);
tsl_next_function *tsl_interpose_function(void *address);

#endif
