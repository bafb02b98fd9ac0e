/* For tests under Wine 8, which has no such library: the one function that Rust's standard library asks for. */
#include <windows.h>

BOOLEAN NTAPI SystemFunction036(void *buffer, ULONG size); /* RtlGenRandom */

__declspec(dllexport) BOOL WINAPI ProcessPrng(BYTE *buffer, SIZE_T size) { return SystemFunction036(buffer, (ULONG)size); }
