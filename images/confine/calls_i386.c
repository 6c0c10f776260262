// SPDX-License-Identifier: GPL-2.0-or-later
#include "confine.h"

#ifdef __x86_64__
#include <asm/unistd_32.h>

static const unsigned int numbers[] = {
#include "calls.inc"
};

const struct calls *calls_i386(void)
{
	static const struct calls calls = {
		.numbers = numbers,
		.count = sizeof(numbers) / sizeof(numbers[0]),
		.clone = __NR_clone,
		.socket = __NR_socket,
	};

	return &calls;
}
#else
const struct calls *calls_i386(void)
{
	return NULL;
}
#endif
