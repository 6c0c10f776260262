// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE
#include "scheduling.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>

#define DMA_LATENCY "/dev/cpu_dma_latency"

static int keep_to(int64_t cpu)
{
	cpu_set_t cpus;

	if (cpu < 0)
		return 0;
	if (cpu >= CPU_SETSIZE)
		return -EINVAL;
	CPU_ZERO(&cpus);
	CPU_SET((size_t)cpu, &cpus);
	return sched_setaffinity(0, sizeof(cpus), &cpus) < 0 ? -errno : 0;
}

/* The request holds as long as the file is open: until this process ends, however it does. */
static int hold_latency(int64_t hold_us)
{
	const int32_t value_us = (int32_t)hold_us;
	int file;

	if (hold_us < 0)
		return 0;
	file = open(DMA_LATENCY, O_WRONLY | O_CLOEXEC);
	if (file < 0)
		return -errno;
	return write(file, &value_us, sizeof(value_us)) == sizeof(value_us) ? 0 : -EIO;
}

static int set_slack(int64_t slack_ns)
{
	if (slack_ns == 0)
		return 0;
	return prctl(PR_SET_TIMERSLACK, (unsigned long)slack_ns) < 0 ? -errno : 0;
}

static int take_fifo(int64_t priority)
{
	const struct sched_param param = {.sched_priority = (int)priority};

	if (priority == 0)
		return 0;
	return sched_setscheduler(0, SCHED_FIFO, &param) < 0 ? -errno : 0;
}

int scheduling_apply(const struct series *series, const char **refused)
{
	int error;

	*refused = "sched_setaffinity()";
	error = keep_to(series->cpu);
	if (error)
		return error;
	*refused = "prctl(PR_SET_TIMERSLACK)";
	error = set_slack(series->slack_ns);
	if (error)
		return error;
	*refused = DMA_LATENCY;
	error = hold_latency(series->hold_us);
	if (error)
		return error;
	*refused = "sched_setscheduler(SCHED_FIFO)";
	return take_fifo(series->fifo_priority);
}
