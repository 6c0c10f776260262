/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../cases.h"
#include "window.h"

#define WINDOW_BYTES 32u
#define OURS 0x11
#define THEIRS 0x22

/* A window whose bytes are a copy of its memory, as on arm64. */
struct bench {
	uint8_t bytes[WINDOW_BYTES] __attribute__((aligned(8)));
	uint8_t memory[WINDOW_BYTES] __attribute__((aligned(8)));
	struct window window;
};

static void bench_init(struct bench *bench)
{
	memset(bench->bytes, OURS, sizeof(bench->bytes));
	memset(bench->memory, THEIRS, sizeof(bench->memory));
	bench->window = (struct window){
		.bytes = bench->bytes, .size_bytes = WINDOW_BYTES, .memory = bench->memory};
}

FIXTURE(bench, bench_init, NOTHING);

/* Returns how many bytes from the first on have that value. */
static size_t run_of(const uint8_t *bytes, uint8_t value)
{
	size_t count = 0;

	while (count < WINDOW_BYTES && bytes[count] == value)
		count++;
	return count;
}

static const struct {
	size_t asked, copied;
} counts[] = {{0, 0}, {1, 8}, {7, 8}, {8, 8}, {9, 16}, {WINDOW_BYTES, WINDOW_BYTES}};

static void what_is_shown_goes_over_in_whole_words(struct bench *bench)
{
	for (size_t i = 0; i < COUNT(counts); i++) {
		bench_init(bench);
		window_show(&bench->window, counts[i].asked);
		assert_int_equal(run_of(bench->memory, OURS), counts[i].copied);
		assert_int_equal(run_of(bench->bytes, OURS), WINDOW_BYTES);
	}
}

static void what_is_looked_at_comes_over_in_whole_words(struct bench *bench)
{
	for (size_t i = 0; i < COUNT(counts); i++) {
		bench_init(bench);
		window_look(&bench->window, counts[i].asked);
		assert_int_equal(run_of(bench->bytes, THEIRS), counts[i].copied);
		assert_int_equal(run_of(bench->memory, THEIRS), WINDOW_BYTES);
	}
}

static void memory_that_is_used_directly_is_left_alone(struct bench *bench)
{
	bench->window.memory = NULL; /* any access crashes */
	bench->window.bytes = NULL;
	window_show(&bench->window, WINDOW_BYTES);
	window_look(&bench->window, WINDOW_BYTES);
}

static const struct CMUnitTest tests[] = {
	CASE_ON(bench, what_is_shown_goes_over_in_whole_words),
	CASE_ON(bench, what_is_looked_at_comes_over_in_whole_words),
	CASE_ON(bench, memory_that_is_used_directly_is_left_alone),
};

RUN_CASES(tests)
