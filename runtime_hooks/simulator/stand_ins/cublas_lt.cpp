// libcublasLt.so.13: handles, layouts and preferences; in a probe a heuristic that finds one
// algorithm. cublasLtMatmul is in the generated part and throws.
#include <cublasLt.h>

#include <cstring>

#include "simulator/core/not_emulated.h"
#include "simulator/core/probe.h"
#include "simulator/stand_ins/handles.h"

using devsan::sim::make_handle;

namespace {

cublasStatus_t status(int code) {
  return code == 0 ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_ALLOC_FAILED;
}

cublasStatus_t destroy(void* handle) {
  std::free(handle);
  return CUBLAS_STATUS_SUCCESS;
}

}  // namespace

DEVSAN_LIBRARY_API size_t cublasLtGetVersion() {
  return DEVSAN_CUBLAS_VERSION;
}

DEVSAN_LIBRARY_API cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  return status(make_handle(handle));
}

DEVSAN_LIBRARY_API cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  return destroy(handle);
}

DEVSAN_LIBRARY_API cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* descriptor,
                                                           cublasComputeType_t, cudaDataType_t) {
  return status(make_handle(descriptor));
}

DEVSAN_LIBRARY_API cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t descriptor) {
  return destroy(descriptor);
}

DEVSAN_LIBRARY_API cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout,
                                                             cudaDataType, uint64_t, uint64_t,
                                                             int64_t) {
  return status(make_handle(layout));
}

DEVSAN_LIBRARY_API cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  return destroy(layout);
}

DEVSAN_LIBRARY_API cublasStatus_t
cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) {
  return status(make_handle(preference));
}

DEVSAN_LIBRARY_API cublasStatus_t
cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  return destroy(preference);
}

DEVSAN_LIBRARY_API cublasStatus_t cublasLtMatmulAlgoGetHeuristic(
    cublasLtHandle_t, cublasLtMatmulDesc_t, cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
    cublasLtMatrixLayout_t, cublasLtMatrixLayout_t, cublasLtMatmulPreference_t, int requested,
    cublasLtMatmulHeuristicResult_t* results, int* returned) {
  if (!devsan::sim::probing()) throw devsan::sim::NotEmulated("cublasLtMatmul");
  std::memset(results, 0, sizeof *results * static_cast<std::size_t>(requested));
  *returned = 1;
  return CUBLAS_STATUS_SUCCESS;
}
