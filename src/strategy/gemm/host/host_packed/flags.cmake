# Tiles of few rows run up to 1.14 times as long where the linker moves their loops by 16 bytes.
tesela_kernels(src/strategy/gemm/host/host_packed/kernels/host_packed_kernel.c TYPES f32 f64 c64 c128
               FLAGS -falign-functions=64)
