tesela_kernels(src/strategy/gemm/blocked/kernels/block.c TYPES f32 f64)
