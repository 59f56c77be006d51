# Kernel sources become one generated C file, sorted by path: see src/base/source.h.
function(tesela_embed out file)
  file(WRITE ${file}.empty "typedef int tesela_nothing_embedded;\n")
  configure_file(${file}.empty ${file} COPYONLY)
  set(${out} ${file} PARENT_SCOPE)
endfunction()
