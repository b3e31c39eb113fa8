#pragma once
/// \file nvToolsExt.h: the functions of NVTX that this project uses, carried out by tests/cuda/fake_nvtx.cpp.
///
/// Source: NVTX 3.1, nvToolsExt.h.

extern "C" {
/// Nested ranges of the calling thread. The depth, from 0; negative: an error.
int nvtxRangePushA(const char* message);
int nvtxRangePop(void);
}
