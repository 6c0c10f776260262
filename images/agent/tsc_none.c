// SPDX-License-Identifier: GPL-2.0-or-later
/* Only on x86-64 can a plan set the counter's rate, so nothing calls these functions elsewhere. */
#include "tsc.h"

#include <errno.h>

int tsc_prepare(struct tsc_gate *gate)
{
	(void)gate;
	return -ENOSYS;
}

int tsc_give_up(struct tsc_gate *gate)
{
	(void)gate;
	return -ENOSYS;
}

int tsc_serve(struct tsc_gate *gate, pid_t pid, unsigned int mhz)
{
	(void)gate, (void)pid, (void)mhz;
	return -ENOSYS;
}
