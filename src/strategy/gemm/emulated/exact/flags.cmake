# Each operation is rounded by itself, except where the code fuses a multiply-add.
tesela_kernels(src/strategy/gemm/emulated/exact/kernels/exact_near.c
               FLAGS -ffp-contract=off -fno-trapping-math)
