/* For tests under Wine 8, which has no ICU: no converter can be opened, so Qt goes on without one.
   icu_names.h is made from what Qt6Core.dll imports, a NOTHING(name) each. */
#include <stddef.h>

#define FILE_ACCESS_ERROR 4

static void *open_none(const char *name, int *error) {
    *error = FILE_ACCESS_ERROR;
    return NULL;
}

static void *nothing(void) { return NULL; }

/* Every name but one does nothing; `ucnv_open` says that it failed. */
#define ucnv_open ucnv_open_of_the_list
#define NOTHING(name) __declspec(dllexport) void *name(void) { return nothing(); }
#include "icu_names.h"
#undef ucnv_open

__declspec(dllexport) void *ucnv_open(const char *name, int *error) { return open_none(name, error); }
