tesela_kernels(src/strategy/gemm/slices/kernels/lines.c)
