tesela_kernels(src/strategy/transpose/vector/kernels/moves.c)
