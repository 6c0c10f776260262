// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE
#include "ask.h"

#include <errno.h>
#include <link.h>
#include <string.h>

#define LIBRARY "/libflashrom.so.1"

/* One that takes fewer bits, or fewer arguments, ignores the rest. */
typedef void delay_function(uint64_t first, uint64_t second, uint64_t third);

/* Where the library was put; the list of what is loaded ends with it. */
static int note_base(struct dl_phdr_info *info, size_t bytes, void *base)
{
	(void)bytes;
	if (!strstr(info->dlpi_name, LIBRARY))
		return 0;
	memcpy(base, &info->dlpi_addr, sizeof(info->dlpi_addr));
	return 1;
}

int ask_delays(uint64_t address, unsigned int argument, const uint64_t *ask, size_t asks)
{
	delay_function *delay;
	ElfW(Addr) place;

	if (!dl_iterate_phdr(note_base, &place))
		return -ENOENT;
	place += (ElfW(Addr))address;
	memcpy((void *)&delay, &place, sizeof(delay));
	for (size_t i = 0; i < asks; i++) {
		uint64_t given[ASK_ARGUMENT_MAX + 1] = {0};

		given[argument] = ask[i];
		delay(given[0], given[1], given[2]);
	}
	return 0;
}
