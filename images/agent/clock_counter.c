// SPDX-License-Identifier: GPL-2.0-or-later
/* The agent's clock where instructions are time: the raw counter. */
#include "hypercall.h"
#include "serprog/counter.h"

uint64_t hypercall_virtual_ns(void)
{
	return counter_read_ns();
}
