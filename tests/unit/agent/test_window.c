/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../run_cases.h"
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

/* Returns the number of bytes at the beginning that have that value. */
static size_t run_of(const uint8_t *bytes, uint8_t value)
{
	size_t count = 0;

	while (count < WINDOW_BYTES && bytes[count] == value)
		count++;
	return count;
}

static const struct {
	size_t requested, copied;
} counts[] = {{0, 0}, {1, 8}, {7, 8}, {8, 8}, {9, 16}, {WINDOW_BYTES, WINDOW_BYTES}};

TEST_ON(bench, show_copies_whole_words_to_the_memory)
{
	for (size_t i = 0; i < COUNT(counts); i++) {
		bench_init(bench);
		window_show(&bench->window, counts[i].requested);
		assert_int_equal(run_of(bench->memory, OURS), counts[i].copied);
		assert_int_equal(run_of(bench->bytes, OURS), WINDOW_BYTES);
	}
}

TEST_ON(bench, look_copies_whole_words_from_the_memory)
{
	for (size_t i = 0; i < COUNT(counts); i++) {
		bench_init(bench);
		window_look(&bench->window, counts[i].requested);
		assert_int_equal(run_of(bench->bytes, THEIRS), counts[i].copied);
		assert_int_equal(run_of(bench->memory, THEIRS), WINDOW_BYTES);
	}
}

TEST_ON(bench, window_without_a_copy_is_not_accessed)
{
	bench->window.memory = NULL; /* any access crashes */
	bench->window.bytes = NULL;
	window_show(&bench->window, WINDOW_BYTES);
	window_look(&bench->window, WINDOW_BYTES);
}
