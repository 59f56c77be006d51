# Full optimization, but each operation is rounded as written: none is fused or reordered.
set(exact -ffp-contract=off -fno-fast-math)
set_source_files_properties(src/strategy/dot/portable/fixed_tree/fixed_tree_host.c
  PROPERTIES COMPILE_OPTIONS "${TESELA_KERNEL_FLAGS};${exact}")
tesela_kernels(src/strategy/dot/portable/fixed_tree/kernels/chunks.c FLAGS ${exact})
