// SPDX-License-Identifier: GPL-2.0-or-later
#include "series.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define DMA_LATENCY "/dev/cpu_dma_latency"

static int keep_to(int64_t cpu)
{
	cpu_set_t cpus;

	if (cpu >= CPU_SETSIZE)
		return -EINVAL;
	CPU_ZERO(&cpus);
	CPU_SET((size_t)cpu, &cpus);
	return sched_setaffinity(0, sizeof(cpus), &cpus) < 0 ? -errno : 0;
}

/* Requests a wake-up latency. The request holds while the file is open: until this process ends. */
static int hold_latency(int64_t hold_us)
{
	const int32_t value_us = (int32_t)hold_us;
	const int file = open(DMA_LATENCY, O_WRONLY | O_CLOEXEC);

	if (file < 0)
		return -errno;
	return write(file, &value_us, sizeof(value_us)) == sizeof(value_us) ? 0 : -EIO;
}

int scheduling_apply(const struct series *series, const char **refused)
{
	const struct sched_param param = {.sched_priority = (int)series->fifo_priority};
	int error = 0;

	*refused = "sched_setaffinity()";
	if (series->cpu >= 0)
		error = keep_to(series->cpu);
	if (error)
		return error;
	*refused = "prctl(PR_SET_TIMERSLACK)";
	if (series->slack_ns && prctl(PR_SET_TIMERSLACK, (unsigned long)series->slack_ns) < 0)
		return -errno;
	*refused = DMA_LATENCY;
	if (series->hold_us >= 0)
		error = hold_latency(series->hold_us);
	if (error)
		return error;
	*refused = "sched_setscheduler(SCHED_FIFO)";
	if (series->fifo_priority && sched_setscheduler(0, SCHED_FIFO, &param) < 0)
		return -errno;
	return 0;
}

static void __attribute__((noreturn)) consume(int cpu, pid_t parent)
{
	volatile uint64_t turns = 0;

	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent || keep_to(cpu) < 0)
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
		consume(cpu, parent);
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
	return error;
}

void eaters_end(struct eaters *eaters)
{
	for (size_t i = 0; i < eaters->count; i++)
		kill(eaters->pid[i], SIGKILL);
	while (eaters->count > 0)
		waitpid(eaters->pid[--eaters->count], NULL, 0);
}
