/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PART_BENCH_H
#define PART_BENCH_H

#include <stdbool.h>

#include "captured_log.h"
#include "dummy.h"
#include "flash.h"

/*
 * A part of emulators/ on a clock that stands still unless somebody waits or looks, behind a wire
 * that a test may break or speak on itself, as an earlier session did.
 */
struct part_bench {
	struct programmer wire; /* first */
	struct programmer *part;
	unsigned int fail_countdown; /* the n-th command from now is lost; 0: none */
	bool lost_after;             /* it reaches the part, and the programmer fails behind it */
	unsigned int commands;
	uint64_t now_ns;
	struct clock clock;
	struct captured_log captured;
	struct log log;
	struct flash flash;
	uint32_t size_bytes;
	uint8_t *image;
};

/* The part as it is when power comes. `image` is what it holds: noise. */
void part_bench_start(struct part_bench *bench, const char *part, const char *corner);
void part_bench_stop(struct part_bench *bench);

/* Speak to the part past the driver. */
void part_bench_send(struct part_bench *bench, const uint8_t *tx, size_t tx_bytes);
uint8_t part_bench_ask(struct part_bench *bench, uint8_t opcode);
#define PART_BENCH_SEND(bench, ...)                                                                \
	part_bench_send(                                                                           \
		(bench), (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

/* Probe and open; NULL asks for whatever is there. */
void part_bench_find(struct part_bench *bench, const char *name);

/* Write all of `image`, and look that the part holds it. */
void part_bench_write(struct part_bench *bench);
void part_bench_assert_holds_image(struct part_bench *bench);

/* Nothing came before its time. What a sleeping part could not hear may be among the violations. */
void part_bench_assert_in_time(const struct part_bench *bench);

/* Bytes that hold no pattern. */
void part_bench_noise(uint8_t *data, size_t bytes, uint32_t seed);

#endif
