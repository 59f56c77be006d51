# Flags: `-ffp-contract=off` rounds each operation as written, so that GPU kernels give equal bits.
# `-Wno-psabi`: no vector of 64 bytes (kernels/wide.h) crosses files, so calling conventions do not matter.
# `-fno-tree-slp-vectorize`: a vector read of several members of a tile's arguments would wait for all stores.
tesela_kernels(src/strategy/gemm/emulated/residue_int8/kernels/residue_int8_lines.c TYPES f32 f64
               FLAGS -ffp-contract=off -Wno-psabi)
tesela_kernels(src/strategy/gemm/emulated/residue_int8/kernels/convert.c TYPES f32 f64 FLAGS -Wno-psabi)
tesela_kernels(src/strategy/gemm/emulated/residue_int8/kernels/residue_int8_product.c FLAGS -Wno-psabi)
tesela_kernels(src/strategy/gemm/emulated/residue_int8/kernels/residue_int8_registers.c SETS amx
               FLAGS -fno-tree-slp-vectorize -Wno-psabi)
