# The same loops per instruction set; roofs/host.c chooses at run time. As in strategy/gemm/blocked.
set(folder src/tune/roofs)
set(best ${TESELA_FULL_OPTIMISATION} -ffp-contract=fast -fno-math-errno)
foreach(set generic avx2 avx512)
  set_source_files_properties(${folder}/loops_${set}.c PROPERTIES COMPILE_OPTIONS "${best};${TESELA_FOR_${set}}")
endforeach()
