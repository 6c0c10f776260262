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
	bool restart;         /* SA_RESTART: calls that can be are taken up again */
	unsigned int threads;
};

struct noise {
	struct noise_config config;
	timer_t timer;
	volatile sig_atomic_t signals; /* changed by the handler alone */
	pthread_t thread[NOISE_THREADS_MAX];
	unsigned int threads;
	atomic_bool stop;
	atomic_ullong turns; /* times that any of the threads has computed and slept */
};

/*
 * Starts it all. `noise` stays where it is until noise_stop().
 * Returns 0 or a negative errno, after which nothing goes on.
 */
int noise_start(struct noise *noise, const struct noise_config *config);

/* Ends it all; the counters are then at rest. */
void noise_stop(struct noise *noise);

#endif
