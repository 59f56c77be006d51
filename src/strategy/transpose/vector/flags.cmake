tesela_kernels(src/strategy/transpose/vector/kernels/vector_moves.c)
