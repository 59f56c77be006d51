# Multiply-adds are fused where the set has them. No addition here has two products to choose from, as the
# texts write fma there.
tesela_kernels(src/vector/kernels/lines_kernel.c TYPES f32 f64 c64 c128 FLAGS -ffp-contract=fast)
tesela_kernels(src/vector/kernels/columns.c TYPES f32 f64 c64 c128 FLAGS -ffp-contract=fast)
