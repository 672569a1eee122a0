// libcublas.so.13: handles and their settings. Every computation is in the generated part and
// throws. Declared here without cuBLAS's header, whose macros rename functions.
#include "simulator/stand_ins/handles.h"

DEVSAN_HANDLE(cublasCreate_v2, cublasDestroy_v2)

DEVSAN_LIBRARY_API int cublasGetVersion_v2(void*, int* version) {
  *version = DEVSAN_CUBLAS_VERSION;
  return 0;
}

DEVSAN_LIBRARY_API int cublasGetPointerMode_v2(void*, int* mode) {
  *mode = 0;  // CUBLAS_POINTER_MODE_HOST
  return 0;
}

DEVSAN_LIBRARY_API int cublasGetMathMode(void*, int* mode) {
  *mode = 0;  // CUBLAS_DEFAULT_MATH
  return 0;
}

DEVSAN_LIBRARY_API const char* cublasGetStatusString(int status) {
  return status == 0 ? "success" : "not emulated by the devsan simulator";
}
