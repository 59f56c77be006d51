tesela_kernels(src/strategy/gemm/ladder/blocked/kernels/blocked_block.c TYPES f32 f64)
