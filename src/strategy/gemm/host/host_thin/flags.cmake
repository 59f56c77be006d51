tesela_kernels(src/strategy/gemm/host/host_thin/kernels/thin.c TYPES f32 f64)
