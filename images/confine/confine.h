/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The filter of the system calls of a confined program. */
#ifndef CONFINE_CONFINE_H
#define CONFINE_CONFINE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Allows the calling process and its descendants only the system calls of calls.txt, whatever their
 * rights. The i386 calls are allowed only if @is_32_bit, because they expose more of the kernel.
 * Returns 0 or a negative errno.
 */
int filter_install(bool is_32_bit);

/* The numbers of the system calls in calls.txt, which differ by architecture. */
struct calls {
	const unsigned int *numbers;
	size_t count;
	/* The numbers of the calls whose first argument is checked; `numbers` has them, too. */
	unsigned int clone;
	unsigned int socket;
};

const struct calls *calls_native(void);

/* Returns NULL if this machine cannot run i386 programs. */
const struct calls *calls_i386(void);

#endif
