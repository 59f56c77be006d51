# As strategy/exact's: each operation rounded by itself, but for those that are written fused.
tesela_kernels(src/strategy/gemm/exact/kernels/exact_near.c FLAGS -ffp-contract=off -fno-trapping-math)
