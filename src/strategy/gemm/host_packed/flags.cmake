# Full optimisation, and multiply-adds fused where the instruction set has them. The sums keep their order: vectors lie along columns of C.
# The same text is compiled per instruction set and type; host_packed.c chooses at run time.
set(folder src/strategy/gemm/host_packed)
set(best ${TESELA_FULL_OPTIMISATION} -ffp-contract=fast -fno-math-errno)
foreach(set generic avx2 avx512)
  foreach(type f32 f64 c64 c128)
    set_source_files_properties(${folder}/kernels_${set}_${type}.c PROPERTIES COMPILE_OPTIONS "${best};${TESELA_FOR_${set}}")
  endforeach()
endforeach()
