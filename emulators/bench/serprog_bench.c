/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * serprog-bench: measures how many requests a second serprog-emu answers, next to a bare echo
 * server.
 *
 * It asks both in turns, in short rounds, and reports the median of the ratios, so other load on
 * the machine slows both alike. Quartiles far apart mean that there was too much other load.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "peer.h"

#define EXIT_USAGE 2
#define ROUNDS 501
#define REQUESTS_IN_ROUND 100 /* serprog-emu hangs up after 65536 NOPs in a row */
#define REQUEST_BYTES_MAX 8
#define NS_PER_S 1e9

/*
 * A request, and the number of bytes in the answer of serprog-emu. The echo server answers with as
 * many bytes as it gets.
 */
struct question {
	const char *name;
	uint8_t request[REQUEST_BYTES_MAX];
	size_t request_bytes;
	size_t reply_bytes;
};

static const struct question questions[] = {
	{"nop", {0x00}, 1, 1},
	{"status read", {0x13, 1, 0, 0, 1, 0, 0, 0x05}, 8, 2},
};

#define QUESTION_COUNT (sizeof(questions) / sizeof(questions[0]))

static const char *const line_names[] = {[PEER_TCP] = "tcp", [PEER_PTY] = "pty"};

#define LINE_COUNT (sizeof(line_names) / sizeof(line_names[0]))

struct rates {
	double echo_hz[ROUNDS];
	double emulator_hz[ROUNDS];
	double ratio[ROUNDS];
};

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / NS_PER_S;
}

static int ask(int fd, const struct question *question, size_t reply_bytes)
{
	uint8_t reply[REQUEST_BYTES_MAX];
	size_t have = 0;

	if (write(fd, question->request, question->request_bytes) !=
		(ssize_t)question->request_bytes)
		return -EIO;
	while (have < reply_bytes) {
		ssize_t got = read(fd, reply, reply_bytes - have);

		if (got <= 0)
			return -EIO;
		have += (size_t)got;
	}
	return 0;
}

static int measure_hz(int fd, const struct question *question, size_t reply_bytes, double *hz)
{
	double start_s = now_s();

	for (int i = 0; i < REQUESTS_IN_ROUND; i++) {
		int ret = ask(fd, question, reply_bytes);

		if (ret < 0)
			return ret;
	}
	*hz = REQUESTS_IN_ROUND / (now_s() - start_s);
	return 0;
}

static int by_size(const void *a, const void *b)
{
	double first = *(const double *)a;
	double second = *(const double *)b;

	return (first > second) - (first < second);
}

static void report(enum peer_line line, const struct question *question, struct rates *rates)
{
	qsort(rates->echo_hz, ROUNDS, sizeof(double), by_size);
	qsort(rates->emulator_hz, ROUNDS, sizeof(double), by_size);
	qsort(rates->ratio, ROUNDS, sizeof(double), by_size);
	printf("%s, %s: echo %.0f/s, serprog-emu %.0f/s, ratio %.2f (%.2f to %.2f)\n",
		line_names[line], question->name, rates->echo_hz[ROUNDS / 2],
		rates->emulator_hz[ROUNDS / 2], rates->ratio[ROUNDS / 2], rates->ratio[ROUNDS / 4],
		rates->ratio[ROUNDS - 1 - ROUNDS / 4]);
	fflush(stdout);
}

static int measure_question(enum peer_line line, const struct peer *echo,
	const struct peer *emulator, const struct question *question)
{
	struct rates rates;

	for (size_t i = 0; i < ROUNDS; i++) {
		int ret =
			measure_hz(echo->fd, question, question->request_bytes, &rates.echo_hz[i]);

		if (ret == 0)
			ret = measure_hz(emulator->fd, question, question->reply_bytes,
				&rates.emulator_hz[i]);
		if (ret < 0)
			return ret;
		rates.ratio[i] = rates.emulator_hz[i] / rates.echo_hz[i];
	}
	report(line, question, &rates);
	return 0;
}

static int measure_with(enum peer_line line, const struct peer *echo, const char *path)
{
	struct peer emulator;
	int ret = peer_start_emulator(&emulator, line, path);

	if (ret < 0)
		return ret;
	for (size_t i = 0; ret == 0 && i < QUESTION_COUNT; i++)
		ret = measure_question(line, echo, &emulator, &questions[i]);
	peer_stop(&emulator);
	return ret;
}

static int measure_line(enum peer_line line, const char *path)
{
	struct peer echo;
	int ret = peer_start_echo(&echo, line);

	if (ret == 0) {
		ret = measure_with(line, &echo, path);
		peer_stop(&echo);
	}
	if (ret < 0)
		fprintf(stderr, "serprog-bench: %s: %s\n", line_names[line], strerror(-ret));
	return ret;
}

int main(int argc, char *argv[])
{
	int status = 0;

	if (argc != 2) {
		fprintf(stderr, "usage: serprog-bench SERPROG-EMU\n");
		return EXIT_USAGE;
	}
	for (size_t line = 0; line < LINE_COUNT; line++) {
		if (measure_line((enum peer_line)line, argv[1]) < 0)
			status = 1;
	}
	return status;
}
