# Full optimisation, and multiply-adds fused where the instruction set has them. The sums keep their order: vectors lie along columns of C.
# The same text is compiled per instruction set; blocked.c chooses at run time.
set(folder src/strategy/gemm/blocked)
set(best ${TESELA_FULL_OPTIMISATION} -ffp-contract=fast -fno-math-errno)
set_source_files_properties(${folder}/blocks_generic.c PROPERTIES COMPILE_OPTIONS "${best}")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set_source_files_properties(${folder}/blocks_avx2.c PROPERTIES COMPILE_OPTIONS "${best};-mavx2;-mfma")
  set_source_files_properties(${folder}/blocks_avx512.c PROPERTIES
    COMPILE_OPTIONS "${best};-mavx512f;-mavx512bw;-mavx512dq;-mavx512vl;-mavx2;-mfma;-mprefer-vector-width=512")
else()
  # Never chosen there: the device does not offer the capability.
  set_source_files_properties(${folder}/blocks_avx2.c ${folder}/blocks_avx512.c PROPERTIES COMPILE_OPTIONS "${best}")
endif()
