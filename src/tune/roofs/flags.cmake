tesela_kernels(src/tune/roofs/kernels/loops_kernel.c FLAGS -ffp-contract=fast) # nobody keeps the sums
