# OpenCL's headers, from the distribution; the library itself is loaded at run time.
find_path(TESELA_OPENCL_HEADERS CL/cl_icd.h DOC "Folder that holds CL/cl.h and CL/cl_icd.h")
if(NOT TESELA_OPENCL_HEADERS)
  message(FATAL_ERROR "The OpenCL headers are missing (CL/cl_icd.h): install the package opencl-headers "
                      "(Debian, Ubuntu, Fedora, Arch), or name their folder with -DTESELA_OPENCL_HEADERS=...")
endif()
target_include_directories(tesela_settings SYSTEM INTERFACE ${TESELA_OPENCL_HEADERS})
