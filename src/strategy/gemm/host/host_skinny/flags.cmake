# Loops of four multiply-adds took up to 1.7 times as long where they crossed a cache line
# (docs/lab/host_skinny.md).
tesela_kernels(src/strategy/gemm/host/host_skinny/kernels/host_skinny_kernel.c WRITTEN_OUT TYPES f32 f64
               FLAGS -falign-loops=64)
