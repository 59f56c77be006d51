#include "blas/xerbla.h"

#include <stdio.h>
#include <string.h>

#include "blas/names.h"

char told_name[32];
int64_t told_number;

static void tell(const char *name, size_t length, int64_t number) {
  snprintf(told_name, sizeof told_name, "%.*s", (int)length, name);
  told_number = number;
}
void xerbla_(const char *name, const int32_t *info, size_t length) {
  tell(name, length, *info);
}
void xerbla_64_(const char *name, const int64_t *info, size_t length) {
  tell(name, length, *info + 1000);
}
void cblas_xerbla(int info, const char *name, const char *form, ...) {
  (void)form;
  tell(name, strlen(name), info);
}
