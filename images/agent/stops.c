// SPDX-License-Identifier: GPL-2.0-or-later
#include "hazards.h"
#include "shared/timespec.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* Runs in a process with the agent's priority, so that the subject cannot delay the signals. */
static void __attribute__((noreturn)) stop_and_go(
	pid_t subject, unsigned int hz, volatile uint64_t *count)
{
	const struct timespec half = timespec_of(NS_PER_S / 2 / hz);

	for (;;) {
		nanosleep(&half, NULL);
		if (kill(subject, SIGSTOP) == 0)
			(*count)++;
		nanosleep(&half, NULL);
		kill(subject, SIGCONT);
	}
}

int stops_start(struct stops *stops, pid_t subject, unsigned int hz)
{
	*stops = (struct stops){0};
	if (hz == 0)
		return 0;
	stops->count = mmap(NULL, sizeof(*stops->count), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (stops->count == MAP_FAILED)
		return -errno;
	stops->pid = fork();
	if (stops->pid < 0)
		return -errno;
	if (stops->pid == 0)
		stop_and_go(subject, hz, stops->count);
	return 0;
}

uint64_t stops_end(struct stops *stops)
{
	if (stops->pid <= 0)
		return 0;
	kill(stops->pid, SIGKILL);
	waitpid(stops->pid, NULL, 0);
	stops->pid = 0;
	return *stops->count;
}
