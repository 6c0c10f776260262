/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The function that a function of this library takes the place of: what QEMU would have called.
 *
 * In a header, so that a preloaded library gives QEMU no further name.
 */
#ifndef EMULATORS_QEMU_PRELOAD_NEXT_FUNCTION_H
#define EMULATORS_QEMU_PRELOAD_NEXT_FUNCTION_H

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>

/*
 * Looked up once for each @known, which begins as NULL; that two threads may both do so is of no
 * consequence. Where there is none, the process ends.
 */
static inline void *next_of(_Atomic(void *) *known, const char *name)
{
	void *function = atomic_load(known);

	if (!function) {
		function = dlsym(RTLD_NEXT, name);
		if (!function)
			abort();
		atomic_store(known, function);
	}
	return function;
}

#endif
