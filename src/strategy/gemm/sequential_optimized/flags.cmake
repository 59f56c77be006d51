# The compiler's best flags for the triple loop: full optimisation, and leave to reorder the sum so that it can use vectors. NaN and
# infinities keep their meaning (no -ffinite-math-only). The same text is compiled per instruction set; sequential_optimized.c chooses at
# run time.
set(folder src/strategy/gemm/sequential_optimized)
set(best ${TESELA_FULL_OPTIMISATION} -funroll-loops -ffp-contract=fast -fassociative-math -fno-signed-zeros -fno-trapping-math -fno-math-errno)
set_source_files_properties(${folder}/loops_generic.c PROPERTIES COMPILE_OPTIONS "${best}")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set_source_files_properties(${folder}/loops_avx2.c PROPERTIES COMPILE_OPTIONS "${best};-mavx2;-mfma")
  set_source_files_properties(${folder}/loops_avx512.c PROPERTIES
    COMPILE_OPTIONS "${best};-mavx512f;-mavx512bw;-mavx512dq;-mavx512vl;-mavx2;-mfma;-mprefer-vector-width=512")
else()
  # Never chosen there: the device does not offer the capability.
  set_source_files_properties(${folder}/loops_avx2.c ${folder}/loops_avx512.c PROPERTIES COMPILE_OPTIONS "${best}")
endif()
