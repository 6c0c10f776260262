// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE /* CPU_XOR(), sched_setaffinity() */
#include "options.h"
#include "shared/timespec.h"

#include <errno.h>
#include <sched.h>
#include <string.h>

/* A thread computes a tenth of the time. More would leave QEMU no idle time to skip. */
#define COMPUTE_NS NS_PER_MS
#define SLEEP_NS (9 * NS_PER_MS)

/* Counts the timer's signals; the timer's value points to the noise. */
static void count_signal(int number, siginfo_t *info, void *context)
{
	struct noise *noise = info->si_value.sival_ptr;

	(void)number;
	(void)context;
	if (info->si_code == SI_TIMER)
		noise->signals++;
}

/* Starts a timer like setitimer()'s, but with any signal. */
static int start_signals(struct noise *noise)
{
	const struct timespec period = timespec_of(NS_PER_S / noise->config.rate_hz);
	const struct itimerspec each = {.it_interval = period, .it_value = period};
	struct sigaction action;
	struct sigevent event;

	memset(&action, 0, sizeof(action));
	action.sa_sigaction = count_signal;
	action.sa_flags = SA_SIGINFO | (noise->config.restart ? SA_RESTART : 0);
	memset(&event, 0, sizeof(event));
	event.sigev_notify = SIGEV_SIGNAL;
	event.sigev_signo = noise->config.signal;
	event.sigev_value.sival_ptr = noise;
	if (sigaction(noise->config.signal, &action, NULL) < 0 ||
		timer_create(CLOCK_MONOTONIC, &event, &noise->timer) < 0)
		return -errno;
	if (timer_settime(noise->timer, 0, &each, NULL) == 0)
		return 0;
	timer_delete(noise->timer);
	return -errno;
}

static void compute(uint64_t ns)
{
	const uint64_t begin_ns = monotonic_ns();

	while (monotonic_ns() - begin_ns < ns)
		;
}

/*
 * Moves the thread to cores that the program may not use, if there are any. There it takes no time
 * from the program's first thread, but still adds to the CPU time of the process.
 */
static void take_other_cores(void)
{
	cpu_set_t ours, others;

	memset(&others, 0xff, sizeof(others));
	if (sched_getaffinity(0, sizeof(ours), &ours) == 0) {
		CPU_XOR(&others, &others, &ours);
		sched_setaffinity(0, sizeof(others), &others);
	}
}

static void *run_thread(void *context)
{
	const struct timespec pause = timespec_of(SLEEP_NS);
	struct noise *noise = context;

	take_other_cores();
	while (!atomic_load(&noise->stop)) {
		compute(COMPUTE_NS);
		nanosleep(&pause, NULL);
		atomic_fetch_add(&noise->turns, 1);
	}
	return NULL;
}

/* The threads inherit blocked signals, so that the thread that uses the library gets them all. */
static int start_threads(struct noise *noise)
{
	sigset_t all, before;
	int error = 0;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	while (!error && noise->threads < noise->config.threads) {
		error = pthread_create(&noise->thread[noise->threads], NULL, run_thread, noise);
		noise->threads += !error;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -error;
}

int noise_start(struct noise *noise, const struct noise_config *config)
{
	int error;

	memset(noise, 0, sizeof(*noise));
	noise->config = *config;
	error = start_threads(noise);
	if (!error && config->rate_hz)
		error = start_signals(noise);
	if (error) {
		noise->config.rate_hz = 0; /* there is no timer to end */
		noise_stop(noise);
	}
	return error;
}

void noise_stop(struct noise *noise)
{
	if (noise->config.rate_hz)
		timer_delete(noise->timer);
	atomic_store(&noise->stop, true);
	while (noise->threads > 0)
		pthread_join(noise->thread[--noise->threads], NULL);
}
