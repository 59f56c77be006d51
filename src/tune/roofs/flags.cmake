tesela_kernels(src/tune/roofs/kernels/loops.c FLAGS -ffp-contract=fast) # nobody keeps the sums
