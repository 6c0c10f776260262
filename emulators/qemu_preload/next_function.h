/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the original of a function that this library replaces, which QEMU would have called.
 *
 * It is inline in a header, so that the library exports no further name to QEMU.
 */
#ifndef EMULATORS_QEMU_PRELOAD_NEXT_FUNCTION_H
#define EMULATORS_QEMU_PRELOAD_NEXT_FUNCTION_H

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>

/*
 * Returns the original function of that name, and keeps it in @known, which begins as NULL. Two
 * threads may both look it up, with the same result. Ends the process if there is none.
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
