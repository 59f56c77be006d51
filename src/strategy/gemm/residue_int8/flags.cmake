# Each operation rounded where the text rounds it: kernels of GPUs give the same bits. Vectors of 64 bytes (kernels/wide.h) stay in their files,
# so nobody asks how they are handed over. What a tile is told is stored word by word and must be read so: a vector of several would wait for
# all stores before it.
tesela_kernels(src/strategy/gemm/residue_int8/kernels/residue_int8_lines.c TYPES f32 f64 FLAGS -ffp-contract=off -Wno-psabi)
tesela_kernels(src/strategy/gemm/residue_int8/kernels/convert.c TYPES f32 f64 FLAGS -Wno-psabi)
tesela_kernels(src/strategy/gemm/residue_int8/kernels/residue_int8_product.c FLAGS -Wno-psabi)
tesela_kernels(src/strategy/gemm/residue_int8/kernels/residue_int8_registers.c SETS amx FLAGS -fno-tree-slp-vectorize -Wno-psabi)
