// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE
#include "ask.h"
#include "events.h"
#include "serprog/counter.h"

#include <errno.h>
#include <link.h>
#include <string.h>
#include <time.h>

#define LIBRARY "/libflashrom.so.1"
#define NS_PER_US UINT64_C(1000)
#define NS_PER_S UINT64_C(1000000000)

typedef void delay_function(unsigned int us);

/* Where the library was put; the list of what is loaded ends with it. */
static int note_base(struct dl_phdr_info *info, size_t bytes, void *base)
{
	(void)bytes;
	if (!strstr(info->dlpi_name, LIBRARY))
		return 0;
	memcpy(base, &info->dlpi_addr, sizeof(info->dlpi_addr));
	return 1;
}

static uint64_t monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static void ask(delay_function *delay, unsigned int us, struct delay_call *call)
{
	uint64_t begin_ns = monotonic_ns();

	call->requested_ns = us * NS_PER_US;
	call->start_ns = counter_read_ns();
	delay(us);
	call->actual_ns = counter_read_ns() - call->start_ns;
	call->monotonic_ns = monotonic_ns() - begin_ns;
}

int ask_delays(uint64_t address, const unsigned int *ask_us, size_t asks, FILE *events)
{
	delay_function *delay;
	ElfW(Addr) place;

	if (!dl_iterate_phdr(note_base, &place))
		return -ENOENT;
	place += (ElfW(Addr))address;
	memcpy((void *)&delay, &place, sizeof(delay));
	for (size_t i = 0; i < asks; i++) {
		struct delay_call call;

		ask(delay, ask_us[i], &call);
		events_delay_call(events, &call);
	}
	return 0;
}
