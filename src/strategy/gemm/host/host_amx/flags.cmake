tesela_kernels(src/strategy/gemm/host/host_amx/kernels/pack.c)
tesela_kernels(src/strategy/gemm/host/host_amx/kernels/host_amx_dot.c
               SETS ${TESELA_ISA_SETS} avx512_bf16 avx512_vnni neon_bf16 neon_dot)
# A tile's arguments are stored word by word. A vector load would wait for all of these stores.
tesela_kernels(src/strategy/gemm/host/host_amx/kernels/host_amx_registers.c
               SETS amx FLAGS -fno-tree-slp-vectorize)
