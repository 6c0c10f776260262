// SPDX-License-Identifier: GPL-2.0-or-later
#include "confine.h"

#include <asm/unistd.h>

static const unsigned int numbers[] = {
#include "calls.inc"
};

const struct calls *calls_native(void)
{
	static const struct calls calls = {
		.numbers = numbers,
		.count = sizeof(numbers) / sizeof(numbers[0]),
		.clone = __NR_clone,
		.socket = __NR_socket,
	};

	return &calls;
}
