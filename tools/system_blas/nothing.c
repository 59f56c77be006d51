/* A library that only needs others has no code of its own; ISO C wants a declaration in every file. */
typedef int tesela_nothing;
