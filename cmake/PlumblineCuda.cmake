# CUDA by PLUMBLINE_NVCC, for the folder that includes this: a language is enabled where its sources are.
set(PLUMBLINE_CUDA_ARCHITECTURES "80-real;90a-real" CACHE STRING "GPUs that the module is compiled for")
set(CMAKE_CUDA_COMPILER ${PLUMBLINE_NVCC})
set(CMAKE_CUDA_ARCHITECTURES ${PLUMBLINE_CUDA_ARCHITECTURES})
set(CMAKE_CUDA_HOST_COMPILER ${CMAKE_CXX_COMPILER})
enable_language(CUDA)
if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake 3.25 does not know how nvcc 13 is asked for it
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
  list(APPEND CMAKE_CUDA_COMPILE_FEATURES cuda_std_20)
endif()
find_package(CUDAToolkit 12 REQUIRED)
