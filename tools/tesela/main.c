#include <tesela/tesela.h>

int main(void) { return 0; }
