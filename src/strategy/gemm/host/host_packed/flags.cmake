tesela_kernels(src/strategy/gemm/host/host_packed/kernels/host_packed_kernel.c TYPES f32 f64 c64 c128)
