// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <sys/wait.h>

#include "../run_cases.h"
#include "hypercall.h"
#include "process.h"

/* Only x86-64 lets a program have a time stamp counter of another rate. */
#ifdef __x86_64__
#define MHZ 1
#else
#define MHZ 0
#endif

uint64_t hypercall_virtual_ns(void)
{
	return 0;
}

int scarcity_begin(const struct scarcity *scarcity)
{
	(void)scarcity;
	return 0;
}

int uptime_begin(uint64_t uptime_ns)
{
	(void)uptime_ns;
	return 100;
}

int uptime_end(int descriptor)
{
	assert_int_equal(descriptor, 100);
	return -EPERM;
}

TEST(program_is_not_started_if_our_uptime_cannot_be_restored)
{
	struct spec_words words = {.word = {"/bin/true"}, .count = 1};
	const struct program program = {.words = &words,
		.root = "/",
		.output = "/dev/null",
		.uptime_ns = 1,
		.tsc_mhz = MHZ};
	const int lowest_free = dup(0);
	pid_t pid;

	close(lowest_free);
	assert_int_equal(process_start(&pid, &program), -EPERM);
	assert_int_equal(waitpid(-1, NULL, 0), -1);
	assert_int_equal(errno, ECHILD);
	assert_int_equal(dup(0), lowest_free);
	close(lowest_free);
}
