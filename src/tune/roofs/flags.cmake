tesela_kernels(src/tune/roofs/kernels/loops.c)
