tesela_kernels(src/strategy/gemm/host/host_skinny/kernels/host_skinny_kernel.c TYPES f32 f64)
