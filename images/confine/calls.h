/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The numbers of the system calls in calls.txt, which each architecture has for itself. */
#ifndef CONFINE_CALLS_H
#define CONFINE_CALLS_H

#include <stddef.h>

struct calls {
	const unsigned int *numbers;
	size_t count;
	/* Those whose arguments are looked at; they are among the numbers, too. */
	unsigned int clone;
	unsigned int socket;
};

const struct calls *calls_native(void);

/* NULL where this machine runs no such programs. */
const struct calls *calls_i386(void);

#endif
