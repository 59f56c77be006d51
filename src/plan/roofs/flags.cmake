# The same loops per instruction set; roofs/host.c chooses at run time. As in strategy/gemm/blocked.
set(folder src/plan/roofs)
set(best ${TESELA_FULL_OPTIMISATION} -ffp-contract=fast -fno-math-errno)
set_source_files_properties(${folder}/loops_generic.c PROPERTIES COMPILE_OPTIONS "${best}")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set_source_files_properties(${folder}/loops_avx2.c PROPERTIES COMPILE_OPTIONS "${best};-mavx2;-mfma")
  set_source_files_properties(${folder}/loops_avx512.c PROPERTIES
    COMPILE_OPTIONS "${best};-mavx512f;-mavx512bw;-mavx512dq;-mavx512vl;-mavx2;-mfma;-mprefer-vector-width=512")
else()
  # Never chosen there: the device does not offer the capability.
  set_source_files_properties(${folder}/loops_avx2.c ${folder}/loops_avx512.c PROPERTIES COMPILE_OPTIONS "${best}")
endif()
