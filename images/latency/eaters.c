// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE
#include "eaters.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void __attribute__((noreturn)) eat(int cpu, pid_t parent)
{
	volatile uint64_t turns = 0;
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET((size_t)cpu, &cpus);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent ||
		sched_setaffinity(0, sizeof(cpus), &cpus) < 0)
		_exit(1);
	for (;;)
		turns = turns + 1;
}

static int start_on(struct eaters *eaters, int cpu)
{
	const pid_t parent = getpid();
	pid_t pid;

	if (eaters->count == EATERS_MAX)
		return -ENOSPC;
	pid = fork();
	if (pid < 0)
		return -errno;
	if (pid == 0)
		eat(cpu, parent);
	eaters->pid[eaters->count++] = pid;
	return 0;
}

int eaters_start(struct eaters *eaters, int64_t each, int64_t wanted)
{
	cpu_set_t cpus;
	int error = 0;

	eaters->count = 0;
	if (sched_getaffinity(0, sizeof(cpus), &cpus) < 0)
		return -errno;
	if (wanted >= 0 && wanted < CPU_SETSIZE && !CPU_ISSET((size_t)wanted, &cpus)) {
		CPU_ZERO(&cpus);
		CPU_SET((size_t)wanted, &cpus);
	}
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		for (int64_t i = 0; !error && i < each && CPU_ISSET((size_t)cpu, &cpus); i++)
			error = start_on(eaters, cpu);
	}
	if (error)
		eaters_end(eaters);
	return error;
}

void eaters_end(struct eaters *eaters)
{
	for (size_t i = 0; i < eaters->count; i++)
		kill(eaters->pid[i], SIGKILL);
	while (eaters->count > 0)
		waitpid(eaters->pid[--eaters->count], NULL, 0);
}
