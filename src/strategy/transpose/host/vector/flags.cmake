tesela_kernels(src/strategy/transpose/host/vector/kernels/vector_moves.c)
