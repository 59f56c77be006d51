tesela_kernels(src/strategy/gemm/host/host_small/kernels/host_small_kernel.c TYPES f32 f64 c64 c128)
# Members that are stored one by one and loaded in pairs wait for both stores, longer than a tiny product.
foreach(file IN ITEMS host_small_job.c host_small.c)
  set_source_files_properties(src/strategy/gemm/host/host_small/${file}
                              PROPERTIES COMPILE_OPTIONS -fno-tree-slp-vectorize)
endforeach()
