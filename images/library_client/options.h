/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command line: flashrom's own options for a job on one region, and the client's.
 *
 *   -p NAME:PARAMETERS -c CHIP [-l LAYOUT -i REGION] [-r FILE | -w FILE | -v FILE | -E] [-N]
 *   --signals RATE[,alrm|chld|usr1][,restart]   signals a second while the library works
 *   --threads N                                 other threads while the library works
 *   --delay ADDRESS --ask LENGTH[,LENGTH...]    calls of the delay function after the job; ADDRESS
 *                                               is its address in the library's file
 *   --across LENGTH                             ACROSS_CALLS calls of the delay function across a
 *                                               full second of each clock that waits use
 *   --argument N                                the number of the argument with the length, from 0
 *   --events FILE                               the file for events
 */
#ifndef LIBRARY_CLIENT_OPTIONS_H
#define LIBRARY_CLIENT_OPTIONS_H

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

/*
 * Activity in a program while it uses a library: signals that it handles, and other threads that
 * compute. Neither uses the library.
 */

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
	atomic_ullong turns; /* the number of times that any thread computed and slept */
};

/*
 * Starts the signals and threads; `noise` must stay where it is until noise_stop(). Returns 0, or a
 * negative errno with nothing started.
 */
int noise_start(struct noise *noise, const struct noise_config *config);

/* Ends the signals and threads, so that the counters are final. */
void noise_stop(struct noise *noise);

#define ASKS_MAX 64
#define ASK_ARGUMENT_MAX 2
#define ACROSS_CALLS 200

enum job { JOB_PROBE, JOB_READ, JOB_ERASE, JOB_WRITE, JOB_VERIFY };

/* The strings point into the command line. */
struct options {
	char *programmer;
	char *parameters;        /* the programmer's parameters; NULL: none */
	const char *chip;        /* NULL: any */
	const char *layout_path; /* NULL: the whole chip */
	const char *region;
	enum job job;
	const char *image_path; /* the file to read to, or to write or verify from */
	struct noise_config noise;
	uint64_t delay_address;
	unsigned int delay_argument; /* the other arguments are 0 */
	uint64_t ask[ASKS_MAX];      /* in the function's own unit */
	size_t asks;
	uint64_t across; /* 0: no calls across a full second */
	const char *events_path;
};

/* Parses `argv`, and changes its words. Returns 0, or -EINVAL with a message on standard error. */
int options_parse(int argc, char *argv[], struct options *options);

#endif
