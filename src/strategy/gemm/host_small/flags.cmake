# Full optimisation, and multiply-adds fused where the instruction set has them. The sums keep their order: vectors lie along columns of C.
# The same text is compiled per instruction set and type; kernels.c chooses at run time.
set(folder src/strategy/gemm/host_small)
set(best ${TESELA_FULL_OPTIMISATION} -ffp-contract=fast -fno-math-errno)
set(TESELA_FOR_avx2_half ${TESELA_FOR_avx2})
set(TESELA_FOR_avx512_half ${TESELA_FOR_avx512})
set(TESELA_FOR_avx512_wide ${TESELA_FOR_avx512})
set(TESELA_FOR_avx512_quarter ${TESELA_FOR_avx512})
foreach(set generic avx2 avx2_half avx512 avx512_half avx512_quarter avx512_wide)
  foreach(type f32 f64)
    set_source_files_properties(${folder}/kernels_${set}_${type}.c PROPERTIES COMPILE_OPTIONS "${best};${TESELA_FOR_${set}}")
  endforeach()
endforeach()
# Fields that were just written one by one, and are read two at a time, wait until they have reached the cache: longer than
# a tiny product takes.
foreach(file IN ITEMS ${folder}/job.c ${folder}/host_small.c)
  set_source_files_properties(${file} PROPERTIES COMPILE_OPTIONS -fno-tree-slp-vectorize)
endforeach()
