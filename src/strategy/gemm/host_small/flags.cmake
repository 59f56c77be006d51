# Full optimisation, and multiply-adds fused where the instruction set has them. The sums keep their order: vectors lie along columns of C.
# The same text is compiled per instruction set and type; kernels.c chooses at run time.
set(folder src/strategy/gemm/host_small)
set(best ${TESELA_FULL_OPTIMISATION} -ffp-contract=fast -fno-math-errno)
set(for_generic)
set(for_avx2)
set(for_avx512) # never chosen where there is no x86-64: the device does not offer the capability
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(for_avx2 -mavx2 -mfma)
  set(for_avx512 -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx2 -mfma -mprefer-vector-width=512)
endif()
set(for_avx512_half ${for_avx512})
foreach(set generic avx2 avx512 avx512_half)
  foreach(type f32 f64)
    set_source_files_properties(${folder}/kernels_${set}_${type}.c PROPERTIES COMPILE_OPTIONS "${best};${for_${set}}")
  endforeach()
endforeach()
# Fields that were just written one by one, and are read two at a time, wait until they have reached the cache: longer than
# a tiny product takes.
foreach(file IN ITEMS ${folder}/job.c ${folder}/host_small.c)
  set_source_files_properties(${file} PROPERTIES COMPILE_OPTIONS -fno-tree-slp-vectorize)
endforeach()
