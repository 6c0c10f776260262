/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Activity in a program while it uses a library: signals that it handles, other threads that
 * compute. Neither touches the library.
 */
#ifndef LIBRARY_CLIENT_NOISE_H
#define LIBRARY_CLIENT_NOISE_H

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#define NOISE_THREADS_MAX 8
#define NOISE_RATE_HZ_MAX 1000

struct noise_config {
	unsigned int rate_hz; /* the rate of signals; 0: none */
	int signal;           /* SIGALRM, SIGCHLD or SIGUSR1 */
	bool restart;         /* SA_RESTART: system calls are restarted where possible */
	unsigned int threads;
};

struct noise {
	struct noise_config config;
	timer_t timer;
	volatile sig_atomic_t signals; /* changed by the handler alone */
	pthread_t thread[NOISE_THREADS_MAX];
	unsigned int threads;
	atomic_bool stop;
	atomic_ullong turns; /* the turns of all threads; in each, a thread computes and sleeps */
};

/*
 * Starts the signals and threads; `noise` must stay where it is until noise_stop(). Returns 0, or a
 * negative errno with nothing started.
 */
int noise_start(struct noise *noise, const struct noise_config *config);

/* Ends the signals and threads, so that the counters are final. */
void noise_stop(struct noise *noise);

#endif
