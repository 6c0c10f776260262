/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PART_BENCH_H
#define PART_BENCH_H

#include <stdbool.h>

#include "../cases.h"
#include "captured_log.h"
#include "flash.h"
#include "programmers.h"

/*
 * A part of emulators/, with a clock that advances only by waits and readings. A test may break the
 * wire between driver and part, or bypass the driver, as an earlier session would have done.
 */
struct part_bench {
	struct programmer wire; /* must be the first field */
	struct programmer *part;
	unsigned int fail_countdown; /* the n-th command from now gets lost; 0 for none */
	bool lost_after;             /* true if the part still gets that command */
	unsigned int commands;
	uint64_t now_ns;
	struct clock clock;
	struct captured_log captured;
	struct log log;
	struct captured_log part_captured; /* a line for each command that the part refuses */
	struct log part_log;
	struct flash flash;
	uint32_t size_bytes;
	uint8_t *image;
	bool goes_unheard; /* the test expects that the part refuses commands */
};

/* Starts with a part right after power-up, without the wire. */
void part_bench_open(struct part_bench *bench, const char *part, const char *corner);

/* Stops the previous part, if any, and starts another. `image` is noise that the part holds. */
void part_bench_start(struct part_bench *bench, const char *part, const char *corner);

/* Closes flash and part. The test fails if the part refused a command, unless goes_unheard. */
void part_bench_stop(struct part_bench *bench);

void part_bench_pass_us(struct part_bench *bench, uint64_t us);

/* Sends to the part without the driver. */
void part_bench_send(struct part_bench *bench, const uint8_t *tx, size_t tx_bytes);
uint8_t part_bench_ask(struct part_bench *bench, uint8_t opcode);
#define PART_BENCH_SEND(bench, ...)                                                                \
	part_bench_send(                                                                           \
		(bench), (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

/* Probes for the part of that name, or for any if NULL, and opens it. */
void part_bench_find(struct part_bench *bench, const char *name);

/* Writes all of `image`; checks that the part holds it. */
void part_bench_write(struct part_bench *bench);
void part_bench_assert_holds_image(struct part_bench *bench);

void part_bench_assert_same(const uint8_t *found, const uint8_t *expected, size_t bytes);

/* Fills in bytes without a pattern; no two blocks are equal. */
void part_bench_noise(uint8_t *data, size_t bytes, uint32_t seed);

/*
 * Runs a case for each part that is tested, with a `struct dummy_part` in *state, so that a failure
 * names the part. Returns the exit code. Fewer than `count_min` parts are a failure, so that a
 * changed name loses none.
 */
int part_bench_run_each(void (*test)(void **state),
	bool (*is_tested)(const struct dummy_part *part), size_t count_min,
	CMFixtureFunction set_up, CMFixtureFunction tear_down);

#endif
