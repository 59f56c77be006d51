tesela_kernels(src/strategy/gemm/host_packed/kernels/packed.c TYPES f32 f64 c64 c128)
