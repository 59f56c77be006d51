# -ffp-contract=off: each operation is rounded as written, so that GPU kernels give the same bits.
# -Wno-psabi: vectors of 64 bytes (kernels/wide.h) never cross files, so their calling convention does not matter.
# -fno-tree-slp-vectorize: the members of a tile's arguments are stored and read one by one; a vector read of several would
# wait for all stores before it.
tesela_kernels(src/strategy/gemm/residue_int8/kernels/residue_int8_lines.c TYPES f32 f64 FLAGS -ffp-contract=off -Wno-psabi)
tesela_kernels(src/strategy/gemm/residue_int8/kernels/convert.c TYPES f32 f64 FLAGS -Wno-psabi)
tesela_kernels(src/strategy/gemm/residue_int8/kernels/residue_int8_product.c FLAGS -Wno-psabi)
tesela_kernels(src/strategy/gemm/residue_int8/kernels/residue_int8_registers.c SETS amx FLAGS -fno-tree-slp-vectorize -Wno-psabi)
