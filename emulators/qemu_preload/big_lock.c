// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Preloaded into QEMU: its main loop and the thread of its CPUs take turns.
 *
 * With `-icount sleep=off` the main loop skips idle time as soon as all CPUs are halted. A CPU is
 * marked as halted before the instructions up to there are counted, and no lock is held in between
 * (QEMU 10.0: do_hlt(), icount_process_data(), icount_start_warp_timer()). Where the host lets the
 * main loop run just then, it reckons from an earlier moment, and the guest wakes late by what it
 * executed since it last touched a device: one instruction or a few hundred.
 *
 * So the CPU thread keeps QEMU's big lock but for its waits: between those it passes over each
 * unlock and the lock after it. Who else wants the lock gets it when all CPUs are idle or stopped,
 * at the same instruction in every run.
 *
 * Nor does the CPU thread see this host's time. It asks for it to let the main loop run timers of
 * that clock (icount_get_limit()), and executes nothing while one is due: for ever, since it keeps
 * the lock. There is one for a second after a guest has set its RTC, for which QMP has an event.
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

/* QEMU's name of it, where threads have names (`-name ...,debug-threads=on`). */
#define CPU_THREAD "ALL CPUs/TCG"
/* The rig looks for it: nothing else shows that the library is in effect (machine/arguments.py). */
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

/* The first wait of the CPU thread, for the machine's start, is with the big lock. */
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
 * Found as the library is loaded. dlsym() may free memory, and an allocator may read the clock
 * meanwhile (GCC 14's AddressSanitizer does): until then the kernel is asked directly.
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
	/* QEMU_CLOCK_REALTIME */
	if (self.runs_cpus && clock == CLOCK_MONOTONIC) {
		*time = (struct timespec){0};
		return 0;
	}
	return next_clock ? next_clock(clock, time) : (int)syscall(SYS_clock_gettime, clock, time);
}
