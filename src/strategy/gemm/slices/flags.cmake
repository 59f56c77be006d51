tesela_kernels(src/strategy/gemm/slices/kernels/slices_lines.c)
