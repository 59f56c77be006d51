tesela_kernels(src/strategy/gemm/blocked/kernels/blocked_block.c TYPES f32 f64)
