/* A program that calls ScaLAPACK and has tesela's names for it installed. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

void pdgemm_(void);

int main(void) {
  void *program = dlopen(NULL, RTLD_LAZY),
       *library = dlopen("libtesela_scalapack.so.2", RTLD_LAZY | RTLD_NOLOAD);
  void (*called)(void) = pdgemm_;
  void *named = library ? dlsym(library, "pdgemm_") : NULL;
  printf("pdgemm_ is %s\n",
         named && program && !memcmp(&called, &named, sizeof named) ? "tesela's" : "another's");
  return !named || memcmp(&called, &named, sizeof named) != 0;
}
