tesela_kernels(src/strategy/gemm/host_amx/kernels/pack.c)
tesela_kernels(src/strategy/gemm/host_amx/kernels/host_amx_dot.c SETS ${TESELA_ISA_SETS} avx512_bf16 avx512_vnni neon_bf16 neon_dot)
# What a tile is told is stored word by word and must be read so: a vector of several would wait for all stores before it.
tesela_kernels(src/strategy/gemm/host_amx/kernels/host_amx_registers.c SETS amx FLAGS -fno-tree-slp-vectorize)
