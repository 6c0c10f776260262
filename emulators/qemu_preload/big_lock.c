// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Preloaded into QEMU: its main loop and the thread of its CPUs take turns.
 *
 * With `-icount sleep=off` the main loop skips idle time as soon as all CPUs are halted. QEMU marks
 * a CPU as halted before it counts the instructions up to the halt, and holds no lock in between
 * (QEMU 10.0: do_hlt(), icount_process_data(), icount_start_warp_timer()). If the main loop runs
 * between the two, it computes the idle time from too early a time. The guest then wakes late by
 * the time of the instructions since its last access to a device: one or a few hundred.
 *
 * So the CPU thread keeps QEMU's big lock, except while it waits for a condition: outside such
 * waits, its locks and unlocks of that mutex do nothing. Other threads get the lock when all CPUs
 * are idle or stopped, which is at the same instruction in every run.
 *
 * In the CPU thread, CLOCK_MONOTONIC always reads 0. Otherwise QEMU would find there that a timer
 * of the host's clock is due (icount_get_limit()), and would execute nothing until the main loop
 * has run that timer. The main loop could not run it, since the CPU thread keeps the lock. QMP has
 * such a timer for a second after a guest has set its RTC, to limit the rate of an event.
 *
 * Nothing else in QEMU is changed.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "next_function.h"

/* QEMU's name of that thread, which is set only with `-name ...,debug-threads=on`. */
#define CPU_THREAD "ALL CPUs/TCG"
/* The rig looks for this line: nothing else shows that the library works (machine/arguments.py). */
#define NOTE "qemu-preload: the CPU thread keeps the lock\n"

typedef int mutex_function(pthread_mutex_t *mutex);
typedef int wait_function(pthread_cond_t *cond, pthread_mutex_t *mutex);
typedef int clock_function(clockid_t clock, struct timespec *time);
typedef int name_function(pthread_t thread, const char *name);

static _Thread_local struct {
	bool runs_cpus;
	pthread_mutex_t *big_lock;
} self;

int pthread_setname_np(pthread_t thread, const char *name)
{
	static _Atomic(void *) known;
	name_function *next = (name_function *)next_of(&known, __func__);

	if (pthread_equal(thread, pthread_self()))
		self.runs_cpus = strcmp(name, CPU_THREAD) == 0;
	return next(thread, name);
}

/* The mutex of the CPU thread's first wait, for the start of the machine, is the big lock. */
int pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
	static _Atomic(void *) known;
	wait_function *next = (wait_function *)next_of(&known, __func__);

	if (self.runs_cpus && !self.big_lock) {
		self.big_lock = mutex;
		dprintf(STDERR_FILENO, NOTE);
	}
	return next(cond, mutex);
}

int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	static _Atomic(void *) known;
	mutex_function *next = (mutex_function *)next_of(&known, __func__);

	return mutex == self.big_lock ? 0 : next(mutex);
}

int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	static _Atomic(void *) known;
	mutex_function *next = (mutex_function *)next_of(&known, __func__);

	return mutex == self.big_lock ? 0 : next(mutex);
}

/*
 * Set when the library is loaded. dlsym() may free memory, and an allocator may read the clock then
 * (GCC 14's AddressSanitizer does). Until it is set, clock_gettime() calls the kernel.
 */
static clock_function *next_clock;

__attribute__((constructor)) static void find_next_clock(void)
{
	static _Atomic(void *) known;

	next_clock = (clock_function *)next_of(&known, "clock_gettime");
}

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): libc's are reserved */
int clock_gettime(clockid_t clock, struct timespec *time)
{
	/* QEMU reads QEMU_CLOCK_REALTIME from this clock. */
	if (self.runs_cpus && clock == CLOCK_MONOTONIC) {
		*time = (struct timespec){0};
		return 0;
	}
	return next_clock ? next_clock(clock, time) : (int)syscall(SYS_clock_gettime, clock, time);
}
