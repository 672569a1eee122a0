# LibTorch from a PyPI wheel, with the CUDA headers of the nvidia-* wheels beside it.
#
# The wheel's own CMake package stops where there is no CUDA toolkit ("uses CUDA but I cannot find the
# CUDA libraries"); none is needed to compile or to run, so the targets are made here.
#
#   DEVSAN_SITE_PACKAGES   the folder that holds torch/ and nvidia/ (default: .deps/venv's)
#
#   LibTorch_VERSION, LibTorch_MAJOR_MINOR ("2.11"), LibTorch_GIT_VERSION, LibTorch_LIB_DIR
#   LibTorch::headers      headers and the flags they need, nothing to link
#   LibTorch::cpu          libtorch_cpu, libc10
#   LibTorch::cuda         the same and libtorch_cuda, libc10_cuda, CUDA headers
#   LibTorch::cuda_headers the CUDA runtime, cuBLAS, cuDNN and NCCL headers alone

if(NOT DEVSAN_SITE_PACKAGES)
  file(GLOB _candidates "${PROJECT_SOURCE_DIR}/.deps/venv/lib/python3*/site-packages")
  if(_candidates)
    list(GET _candidates 0 _first)
    set(DEVSAN_SITE_PACKAGES "${_first}" CACHE PATH "Folder that holds torch/ and nvidia/")
  endif()
endif()

set(_root "${DEVSAN_SITE_PACKAGES}/torch")
find_path(LibTorch_INCLUDE_DIR ATen/ATen.h PATHS "${_root}/include" NO_DEFAULT_PATH)
find_library(LibTorch_CPU_LIBRARY torch_cpu PATHS "${_root}/lib" NO_DEFAULT_PATH)
find_path(LibTorch_CUDA_INCLUDE_DIR cuda_runtime_api.h
  PATHS "${DEVSAN_SITE_PACKAGES}/nvidia/cu13/include" NO_DEFAULT_PATH)

if(EXISTS "${_root}/version.py")
  file(STRINGS "${_root}/version.py" _lines REGEX "^(__version__|git_version) = ")
  foreach(_line IN LISTS _lines)
    if(_line MATCHES "^__version__ = '([0-9]+)\\.([0-9]+)\\.([0-9]+)")
      set(LibTorch_VERSION "${CMAKE_MATCH_1}.${CMAKE_MATCH_2}.${CMAKE_MATCH_3}")
      set(LibTorch_MAJOR_MINOR "${CMAKE_MATCH_1}.${CMAKE_MATCH_2}")
    elseif(_line MATCHES "^git_version = '([0-9a-f]+)'")
      set(LibTorch_GIT_VERSION "${CMAKE_MATCH_1}")
    endif()
  endforeach()
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LibTorch
  REQUIRED_VARS LibTorch_CPU_LIBRARY LibTorch_INCLUDE_DIR LibTorch_CUDA_INCLUDE_DIR LibTorch_GIT_VERSION
  VERSION_VAR LibTorch_VERSION
  REASON_FAILURE_MESSAGE "ci/setup puts the wheel under .deps/venv. Or set DEVSAN_SITE_PACKAGES to the folder that holds torch/")

if(LibTorch_FOUND AND NOT TARGET LibTorch::headers)
  set(LibTorch_LIB_DIR "${_root}/lib")

  add_library(LibTorch::headers INTERFACE IMPORTED)
  target_include_directories(LibTorch::headers SYSTEM INTERFACE
    "${LibTorch_INCLUDE_DIR}" "${LibTorch_INCLUDE_DIR}/torch/csrc/api/include")
  # record_function.h changes the layout of RecordFunction without NDEBUG; the wheel is built with it.
  target_compile_definitions(LibTorch::headers INTERFACE NDEBUG)

  add_library(LibTorch::cuda_headers INTERFACE IMPORTED)
  target_include_directories(LibTorch::cuda_headers SYSTEM INTERFACE "${LibTorch_CUDA_INCLUDE_DIR}"
    "${DEVSAN_SITE_PACKAGES}/nvidia/cudnn/include" "${DEVSAN_SITE_PACKAGES}/nvidia/nccl/include")

  foreach(_name c10 torch_cpu c10_cuda torch_cuda)
    add_library(LibTorch::${_name} SHARED IMPORTED)
    set_target_properties(LibTorch::${_name} PROPERTIES IMPORTED_LOCATION "${LibTorch_LIB_DIR}/lib${_name}.so")
  endforeach()

  add_library(LibTorch::cpu INTERFACE IMPORTED)
  target_link_libraries(LibTorch::cpu INTERFACE LibTorch::headers LibTorch::torch_cpu LibTorch::c10)

  # Nothing of a program refers to libtorch_cuda by name: its kernels register themselves when it is loaded.
  add_library(LibTorch::cuda INTERFACE IMPORTED)
  target_link_libraries(LibTorch::cuda INTERFACE LibTorch::cpu LibTorch::cuda_headers
    -Wl,--no-as-needed LibTorch::torch_cuda LibTorch::c10_cuda -Wl,--as-needed)
  target_link_options(LibTorch::cuda INTERFACE -Wl,--allow-shlib-undefined)
  target_compile_definitions(LibTorch::cuda INTERFACE USE_CUDA)
endif()
