# The compiler's best flags for the triple loop: full optimisation, and leave to reorder the sum so that it can use vectors. NaN and
# infinities keep their meaning (no -ffinite-math-only). The same text is compiled per instruction set; sequential_optimized.c chooses at
# run time.
set(folder src/strategy/gemm/sequential_optimized)
set(best ${TESELA_FULL_OPTIMISATION} -funroll-loops -ffp-contract=fast -fassociative-math -fno-signed-zeros -fno-trapping-math -fno-math-errno)
foreach(set generic avx2 avx512)
  set_source_files_properties(${folder}/loops_${set}.c PROPERTIES COMPILE_OPTIONS "${best};${TESELA_FOR_${set}}")
endforeach()
