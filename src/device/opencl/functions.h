/* Used functions, all of OpenCL 1.2: X(name). Their pointer types are in <CL/cl_icd.h>. */
#ifndef TSL_DEVICE_OPENCL_FUNCTIONS_H
#define TSL_DEVICE_OPENCL_FUNCTIONS_H

#define TSL_OPENCL_FUNCTION_LIST(X)                                                                          \
  X(clGetPlatformIDs)                                                                                        \
  X(clGetPlatformInfo)                                                                                       \
  X(clGetDeviceIDs)                                                                                          \
  X(clGetDeviceInfo)                                                                                         \
  X(clCreateContext)                                                                                         \
  X(clGetContextInfo)                                                                                        \
  X(clRetainContext)                                                                                         \
  X(clReleaseContext)                                                                                        \
  X(clCreateCommandQueue)                                                                                    \
  X(clGetCommandQueueInfo)                                                                                   \
  X(clRetainCommandQueue)                                                                                    \
  X(clReleaseCommandQueue)                                                                                   \
  X(clFlush)                                                                                                 \
  X(clFinish)                                                                                                \
  X(clCreateBuffer)                                                                                          \
  X(clCreateSubBuffer)                                                                                       \
  X(clCreateImage)                                                                                           \
  X(clGetMemObjectInfo)                                                                                      \
  X(clRetainMemObject)                                                                                       \
  X(clReleaseMemObject)                                                                                      \
  X(clEnqueueReadBuffer)                                                                                     \
  X(clEnqueueReadBufferRect)                                                                                 \
  X(clEnqueueWriteBuffer)                                                                                    \
  X(clEnqueueWriteBufferRect)                                                                                \
  X(clEnqueueCopyBuffer)                                                                                     \
  X(clEnqueueCopyBufferRect)                                                                                 \
  X(clEnqueueCopyBufferToImage)                                                                              \
  X(clEnqueueFillBuffer)                                                                                     \
  X(clEnqueueMapBuffer)                                                                                      \
  X(clEnqueueUnmapMemObject)                                                                                 \
  X(clEnqueueMigrateMemObjects)                                                                              \
  X(clEnqueueBarrierWithWaitList)                                                                            \
  X(clEnqueueMarkerWithWaitList)                                                                             \
  X(clWaitForEvents)                                                                                         \
  X(clReleaseEvent)                                                                                          \
  X(clGetEventProfilingInfo)                                                                                 \
  X(clCreateProgramWithSource)                                                                               \
  X(clCreateProgramWithBinary)                                                                               \
  X(clBuildProgram)                                                                                          \
  X(clGetProgramInfo)                                                                                        \
  X(clGetProgramBuildInfo)                                                                                   \
  X(clReleaseProgram)                                                                                        \
  X(clCreateKernel)                                                                                          \
  X(clCreateKernelsInProgram)                                                                                \
  X(clReleaseKernel)                                                                                         \
  X(clGetKernelInfo)                                                                                         \
  X(clGetKernelWorkGroupInfo)                                                                                \
  X(clSetKernelArg)                                                                                          \
  X(clEnqueueNDRangeKernel)

#endif
