tesela_kernels(src/strategy/gemm/emulated/split_precision/kernels/split_precision_lines.c)
