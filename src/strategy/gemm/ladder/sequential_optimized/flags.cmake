# The compiler may reorder the sum, and so use vectors. NaN and infinities keep their meaning.
tesela_kernels(src/strategy/gemm/ladder/sequential_optimized/kernels/sequential_optimized_loops.c
               FLAGS -ffp-contract=fast -funroll-loops -fassociative-math -fno-signed-zeros -fno-trapping-math)
