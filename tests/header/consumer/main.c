/* A program of a user with an installed tesela. */
#include <tesela/tesela.h>

#include <stdio.h>
#include <string.h>

int main(void) {
  printf("tesela %s, status 1 is %s\n", tesela_version(), tesela_status_name(TESELA_BAD_CALL));
  return strcmp(tesela_version(), TESELA_VERSION) != 0 ||
         strcmp(tesela_status_name(TESELA_BAD_CALL), "BAD_CALL") != 0;
}
