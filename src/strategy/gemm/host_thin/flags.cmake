tesela_kernels(src/strategy/gemm/host_thin/kernels/thin.c TYPES f32 f64)
