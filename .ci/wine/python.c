/* python.exe and pythonw.exe: all they do is to call the library. */
#include <stdlib.h>
#include <wchar.h>
#include <windows.h>

__declspec(dllimport) int Py_Main(int count, wchar_t **words);

#ifdef WINDOWED
int WINAPI wWinMain(HINSTANCE self, HINSTANCE before, PWSTR line, int show) { return Py_Main(__argc, __wargv); }
#else
int wmain(int count, wchar_t **words) { return Py_Main(count, words); }
#endif
