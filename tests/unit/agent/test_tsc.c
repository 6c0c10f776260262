// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests a time stamp counter of another rate in a process, its child and signal handlers. */

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include <x86intrin.h>

#include "../run_cases.h"
#include "hypercall.h"
#include "tsc.h"

#define MHZ 2400
#define EXIT_NOT_PREPARED 9

void hypercall_leave(void)
{
}

static uint64_t our_counter_at_that_rate(void)
{
	return (uint64_t)((unsigned __int128)__rdtsc() * MHZ / TSC_USUAL_MHZ);
}

/* Runs the program in a child with a counter of MHZ. Returns its wait status. */
static int run(void (*program)(int out), int out)
{
	struct tsc_gate gate;
	int status = 0;
	pid_t pid;

	assert_int_equal(tsc_prepare(&gate), 0);
	pid = fork();
	if (pid == 0) {
		if (tsc_give_up(&gate) < 0)
			_exit(EXIT_NOT_PREPARED);
		program(out);
		_exit(0);
	}
	assert_int_equal(tsc_serve(&gate, pid, MHZ), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	while (waitpid(-1, NULL, 0) > 0)
		; /* also reaps the counter's server */
	return status;
}

static void write_reading(int out)
{
	const uint64_t now = __rdtsc();

	if (write(out, &now, sizeof(now)) != sizeof(now))
		_exit(1);
}

static void write_readings_of_a_child_too(int out)
{
	int status = 0;

	write_reading(out);
	if (fork() == 0) {
		write_reading(out);
		_exit(0);
	}
	wait(&status);
	_exit(status ? 1 : 0);
}

TEST(process_and_its_child_read_a_counter_of_the_other_rate)
{
	const uint64_t before = our_counter_at_that_rate();
	uint64_t reading[2];
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	assert_int_equal(run(write_readings_of_a_child_too, ends[1]), 0);
	assert_int_equal(read(ends[0], reading, sizeof(reading)), sizeof(reading));
	assert_true(before < reading[0]);
	assert_true(reading[0] < reading[1]);
	assert_true(reading[1] < our_counter_at_that_rate());
}

static void fault(int out)
{
	(void)out;
	signal(SIGSEGV, SIG_DFL); /* instead of cmocka's handler */
	raise(SIGSEGV);
}

TEST(fault_still_ends_the_process)
{
	int status = run(fault, -1);

	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGSEGV);
}

static volatile sig_atomic_t is_handled;

static void handle(int signal)
{
	is_handled = signal == SIGUSR1;
}

static void signal_itself(int out)
{
	signal(SIGUSR1, handle);
	raise(SIGUSR1);
	if (!is_handled)
		_exit(1);
	write_reading(out);
}

TEST(signals_still_reach_the_process)
{
	uint64_t reading;
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	assert_int_equal(run(signal_itself, ends[1]), 0);
	assert_int_equal(read(ends[0], &reading, sizeof(reading)), sizeof(reading));
}
