# Full optimisation, and multiply-adds fused where the instruction set has them. The sums keep their order: vectors lie along columns of C.
# The same text is compiled per instruction set and type; host_packed.c chooses at run time.
set(folder src/strategy/gemm/host_packed)
set(best ${TESELA_FULL_OPTIMISATION} -ffp-contract=fast -fno-math-errno)
set(for_generic)
set(for_avx2)
set(for_avx512) # never chosen where there is no x86-64: the device does not offer the capability
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(for_avx2 -mavx2 -mfma)
  set(for_avx512 -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx2 -mfma -mprefer-vector-width=512)
endif()
foreach(set generic avx2 avx512)
  foreach(type f32 f64 c64 c128)
    set_source_files_properties(${folder}/kernels_${set}_${type}.c PROPERTIES COMPILE_OPTIONS "${best};${for_${set}}")
  endforeach()
endforeach()
