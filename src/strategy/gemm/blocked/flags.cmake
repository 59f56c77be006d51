# Full optimisation, and multiply-adds fused where the instruction set has them. The sums keep their order: vectors lie along columns of C.
# The same text is compiled per instruction set; blocked.c chooses at run time.
set(folder src/strategy/gemm/blocked)
set(best ${TESELA_FULL_OPTIMISATION} -ffp-contract=fast -fno-math-errno)
foreach(set generic avx2 avx512)
  set_source_files_properties(${folder}/blocks_${set}.c PROPERTIES COMPILE_OPTIONS "${best};${TESELA_FOR_${set}}")
endforeach()
