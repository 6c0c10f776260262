// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE /* pthread_getaffinity_np() */
#include <errno.h>
#include <sched.h>
#include <unistd.h>

#include "../run_cases.h"
#include "options.h"

#define LIMIT_S 20

static const int handled[] = {SIGALRM, SIGCHLD, SIGUSR1};

/* Sleeps until `count` signals were handled. Returns false if that takes longer than LIMIT_S. */
static bool wait_for_signals(const struct noise *noise, sig_atomic_t count)
{
	const struct timespec look = {0, 10000000};
	const time_t end_s = time(NULL) + LIMIT_S;

	while (noise->signals < count && time(NULL) < end_s)
		nanosleep(&look, NULL);
	return noise->signals >= count;
}

/* Sleeps until the threads took `count` turns. Returns false after LIMIT_S. */
static bool wait_for_turns(const struct noise *noise, unsigned int count)
{
	const struct timespec look = {0, 10000000};
	const time_t end_s = time(NULL) + LIMIT_S;

	while (noise->turns < count && time(NULL) < end_s)
		nanosleep(&look, NULL);
	return noise->turns >= count;
}

TEST(each_signal_interrupts_a_sleep)
{
	const struct timespec hour = {3600, 0};

	for (size_t i = 0; i < COUNT(handled); i++) {
		for (int restart = 0; restart < 2; restart++) {
			const struct noise_config config = {
				.rate_hz = 100, .signal = handled[i], .restart = restart};
			struct noise noise;

			assert_int_equal(noise_start(&noise, &config), 0);
			assert_int_equal(nanosleep(&hour, NULL), -1);
			assert_int_equal(errno, EINTR);
			assert_true(wait_for_signals(&noise, 3));
			noise_stop(&noise);
		}
	}
}

struct writer {
	const struct noise *noise;
	int end;
	bool wrote_late;
};

static void *write_byte(void *context)
{
	struct writer *writer = context;

	writer->wrote_late = wait_for_signals(writer->noise, 3);
	writer->wrote_late &= write(writer->end, "x", 1) == 1;
	return NULL;
}

/* Reads a byte that another thread sends after a few signals. Returns the result of the read. */
static ssize_t read_through_signals(bool restart)
{
	const struct noise_config config = {.rate_hz = 100, .signal = SIGALRM, .restart = restart};
	struct noise noise;
	struct writer writer = {.noise = &noise};
	pthread_t thread;
	sigset_t alarm;
	int ends[2];
	ssize_t got;
	char byte;

	assert_int_equal(pipe(ends), 0);
	writer.end = ends[1];
	assert_int_equal(noise_start(&noise, &config), 0);
	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &alarm, NULL);
	assert_int_equal(pthread_create(&thread, NULL, write_byte, &writer), 0);
	pthread_sigmask(SIG_UNBLOCK, &alarm, NULL);
	got = read(ends[0], &byte, 1);
	pthread_join(thread, NULL);
	noise_stop(&noise);
	assert_true(writer.wrote_late);
	close(ends[0]);
	close(ends[1]);
	return got;
}

TEST(read_is_interrupted_unless_calls_are_restarted)
{
	assert_int_equal(read_through_signals(false), -1);
	assert_int_equal(read_through_signals(true), 1);
}

TEST(no_signal_comes_after_the_stop)
{
	const struct noise_config config = {.rate_hz = 1000, .signal = SIGUSR1};
	const struct timespec pause = {0, 20000000};
	struct noise noise;
	sig_atomic_t before;

	assert_int_equal(noise_start(&noise, &config), 0);
	assert_true(wait_for_signals(&noise, 1));
	noise_stop(&noise);
	before = noise.signals;
	assert_int_equal(nanosleep(&pause, NULL), 0);
	assert_int_equal(noise.signals, before);
}

TEST(threads_run_and_leave_signals_to_the_caller)
{
	const struct noise_config config = {.rate_hz = 100, .signal = SIGALRM, .threads = 3};
	struct noise noise;

	assert_int_equal(noise_start(&noise, &config), 0);
	assert_true(wait_for_turns(&noise, 4));
	assert_true(wait_for_signals(&noise, 1));
	noise_stop(&noise);
	assert_int_equal(noise.threads, 0);
}

TEST(threads_avoid_the_core_that_the_caller_is_pinned_to)
{
	const struct noise_config config = {.threads = 1};
	cpu_set_t all, one, theirs;
	struct noise noise;
	int core = 0;

	assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
	if (CPU_COUNT(&all) < 2)
		skip();
	while (!CPU_ISSET(core, &all))
		core++;
	CPU_ZERO(&one);
	CPU_SET(core, &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	assert_int_equal(noise_start(&noise, &config), 0);
	assert_true(wait_for_turns(&noise, 1));
	assert_int_equal(pthread_getaffinity_np(noise.thread[0], sizeof(theirs), &theirs), 0);
	noise_stop(&noise);
	assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);
	assert_false(CPU_ISSET(core, &theirs));
	assert_true(CPU_COUNT(&theirs) > 0);
}

TEST(config_of_zeros_starts_neither_signals_nor_threads)
{
	const struct noise_config config = {.rate_hz = 0};
	const struct timespec pause = {0, 20000000};
	struct noise noise;

	assert_int_equal(noise_start(&noise, &config), 0);
	assert_int_equal(nanosleep(&pause, NULL), 0);
	noise_stop(&noise);
	assert_int_equal(noise.signals, 0);
	assert_int_equal(noise.turns, 0);
}
