/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "service.h"

#include <errno.h>
#include <time.h>

#define NS_PER_S UINT64_C(1000000000)

uint64_t core_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static void sleep_until(uint64_t until_ns)
{
	const struct timespec until = {
		.tv_sec = (time_t)(until_ns / NS_PER_S),
		.tv_nsec = (long)(until_ns % NS_PER_S),
	};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
		;
}

static void wait_until(uint64_t now_ns, uint64_t until_ns, uint64_t spin_ns)
{
	if (until_ns > now_ns + spin_ns)
		sleep_until(until_ns - spin_ns);
	while (spin_ns > 0 && core_now_ns() < until_ns)
		;
}

uint64_t core_settle(struct core *core, uint64_t instructions, uint64_t spin_ns)
{
	uint64_t now_ns;
	uint64_t until_ns;
	uint64_t quantum;

	pthread_mutex_lock(&core->lock);
	now_ns = core_now_ns();
	until_ns = vcpu_settle(&core->vcpu, now_ns, instructions);
	quantum = vcpu_quantum(&core->vcpu);
	pthread_mutex_unlock(&core->lock);
	if (until_ns <= now_ns)
		return quantum;
	wait_until(now_ns, until_ns, spin_ns);
	pthread_mutex_lock(&core->lock);
	vcpu_release(&core->vcpu, core_now_ns());
	pthread_mutex_unlock(&core->lock);
	return quantum;
}

void core_idle(struct core *core, uint64_t instructions)
{
	pthread_mutex_lock(&core->lock);
	vcpu_idle(&core->vcpu, core_now_ns(), instructions);
	pthread_mutex_unlock(&core->lock);
}

uint64_t core_resume(struct core *core)
{
	uint64_t quantum;

	pthread_mutex_lock(&core->lock);
	vcpu_resume(&core->vcpu, core_now_ns());
	quantum = vcpu_quantum(&core->vcpu);
	pthread_mutex_unlock(&core->lock);
	return quantum;
}
