tesela_kernels(src/strategy/gemm/host_small/kernels/host_small_kernel.c TYPES f32 f64)
# Fields that were just written one by one, and are read two at a time, wait until they have reached the cache: longer than
# a tiny product takes.
foreach(file IN ITEMS host_small_job.c host_small.c)
  set_source_files_properties(src/strategy/gemm/host_small/${file} PROPERTIES COMPILE_OPTIONS -fno-tree-slp-vectorize)
endforeach()
