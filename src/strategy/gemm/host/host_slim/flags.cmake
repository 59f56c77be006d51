tesela_kernels(src/strategy/gemm/host/host_slim/kernels/slim.c TYPES f32 f64)
