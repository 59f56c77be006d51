tesela_kernels(src/strategy/gemm/emulated/slices/kernels/slices_lines.c)
