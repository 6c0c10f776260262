/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests corners, and the draws of busy times and of the time at which WEL falls. */
#include "../run_cases.h"
#include "bench.h"
#include "model/corner.h"

static const struct busy_time busy = {
	.min = {100, GRADE_ASSUMED},
	.typ = {1000, GRADE_DATASHEET},
	.max = {5000, GRADE_SECONDARY},
};

static uint64_t ns_of(const char *text, const struct corner_use *use)
{
	struct corner corner;

	assert_int_equal(corner_parse(text, &corner), 0);
	return corner_figure(&corner, &busy, use).ns;
}

TEST(corner_is_formatted_as_the_text_that_it_was_parsed_from)
{
	static const char *const texts[] = {"min", "typ", "max", "zero", "draw:0",
		"draw:18446744073709551615", "slow:1", "slow:1000"};

	for (size_t i = 0; i < COUNT(texts); i++) {
		char text[CORNER_TEXT_BYTES];
		struct corner corner;

		assert_int_equal(corner_parse(texts[i], &corner), 0);
		corner_format(&corner, text);
		assert_string_equal(text, texts[i]);
	}
}

TEST(other_text_is_refused_and_leaves_the_corner_unchanged)
{
	static const char *const texts[] = {"", "Max", "max ", "typical", "draw",
		"draw:", "draw:-1", "draw:x", "draw:18446744073709551616", "slow:", "slow:0",
		"slow:1001", "slow:2.5", "zero:1", "min:"};

	for (size_t i = 0; i < COUNT(texts); i++) {
		struct corner corner = {.kind = CORNER_MAX, .seed = 7};

		assert_true(corner_parse(texts[i], &corner) < 0);
		assert_int_equal(corner.kind, CORNER_MAX);
		assert_int_equal(corner.seed, 7);
	}
}

TEST(fixed_corners_give_their_figures)
{
	struct corner_use use = {0};

	assert_int_equal(ns_of("min", &use), 100);
	assert_int_equal(ns_of("typ", &use), 1000);
	assert_int_equal(ns_of("max", &use), 5000);
	assert_int_equal(ns_of("zero", &use), 0);
	assert_int_equal(ns_of("slow:1", &use), 5000);
	assert_int_equal(ns_of("slow:7", &use), 35000);
}

TEST(grade_is_that_of_the_figure_and_assumed_for_slow)
{
	static const struct {
		const char *text;
		enum grade grade;
	} rows[] = {{"typ", GRADE_DATASHEET}, {"max", GRADE_SECONDARY}, {"draw:1", GRADE_SECONDARY},
		{"slow:2", GRADE_ASSUMED}};
	struct corner_use use = {0};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct corner corner;

		assert_int_equal(corner_parse(rows[i].text, &corner), 0);
		assert_int_equal(corner_figure(&corner, &busy, &use).grade, rows[i].grade);
	}
}

TEST(draws_spread_from_typ_to_max)
{
	uint64_t lowest_ns = UINT64_MAX;
	uint64_t highest_ns = 0;

	for (uint32_t i = 0; i < 1000; i++) {
		struct corner_use use = {.opcode = 0x20, .address = i * 4096};
		uint64_t ns = ns_of("draw:1", &use);

		assert_in_range(ns, 1000, 5000);
		lowest_ns = ns < lowest_ns ? ns : lowest_ns;
		highest_ns = ns > highest_ns ? ns : highest_ns;
	}
	assert_true(lowest_ns < 1100);
	assert_true(highest_ns > 4900);
}

TEST(draw_depends_on_seed_opcode_address_and_count)
{
	struct corner_use use = {.opcode = 0x20, .address = 0x1000, .count = 3};
	struct corner_use other_opcode = {.opcode = 0xD8, .address = 0x1000, .count = 3};
	struct corner_use other_address = {.opcode = 0x20, .address = 0x2000, .count = 3};
	struct corner_use other_count = {.opcode = 0x20, .address = 0x1000, .count = 4};
	uint64_t ns = ns_of("draw:1", &use);

	assert_int_equal(ns, ns_of("draw:1", &use));
	assert_int_not_equal(ns, ns_of("draw:2", &use));
	assert_int_not_equal(ns, ns_of("draw:1", &other_opcode));
	assert_int_not_equal(ns, ns_of("draw:1", &other_address));
	assert_int_not_equal(ns, ns_of("draw:1", &other_count));
}

/* An hour is the longest time that a chip file may give. */
TEST(draw_of_the_longest_erase_does_not_overflow)
{
	static const struct busy_time erase = {
		.typ = {UINT64_C(40000000000), GRADE_DATASHEET},
		.max = {UINT64_C(3600000000000), GRADE_DATASHEET},
	};
	struct corner corner = {.kind = CORNER_DRAW};

	for (uint32_t i = 0; i < 100; i++) {
		struct corner_use use = {.opcode = 0xC7, .count = i};

		assert_in_range(
			corner_figure(&corner, &erase, &use).ns, erase.typ.ns, erase.max.ns);
	}
}

/* Draws for the work of a part. */

static uint64_t drawn_erase_ns(struct bench *bench, uint8_t opcode, uint32_t address)
{
	bench_erase_at(bench, opcode, address);
	bench_finish_work(bench);
	return bench->facts.work_ns;
}

TEST(work_elsewhere_does_not_change_a_draw)
{
	struct bench quiet;
	struct bench noisy;
	uint8_t zero = 0;

	bench_init(&quiet, "W25Q128JV", "draw:5");
	bench_init(&noisy, "W25Q128JV", "draw:5");
	for (int i = 0; i < 3; i++) {
		drawn_erase_ns(&noisy, 0x20, 0x2000);
		drawn_erase_ns(&noisy, 0xD8, 0);
		bench_program(&noisy, 0x1000, &zero, 1);
		bench_finish_work(&noisy);
		assert_int_equal(
			drawn_erase_ns(&noisy, 0x20, 0x1000), drawn_erase_ns(&quiet, 0x20, 0x1234));
	}
	bench_deinit(&quiet);
	bench_deinit(&noisy);
}

TEST(second_erase_of_a_block_has_another_draw)
{
	struct bench bench;
	uint64_t first_ns;

	bench_init(&bench, "W25Q128JV", "draw:5");
	first_ns = drawn_erase_ns(&bench, 0x20, 0x1000);
	assert_int_not_equal(first_ns, drawn_erase_ns(&bench, 0x20, 0x1000));
	bench_deinit(&bench);
}

#define STEPS 1000u

/* Returns WIP and WEL. */
static uint8_t busy_bits(struct bench *bench)
{
	return bench_status(bench) & STATUS_BUSY_AND_ENABLED;
}

/* Returns how many thousandths of an erase pass before WEL falls; STEPS if it falls with WIP. */
static unsigned int wel_falls_at(struct bench *bench, uint32_t address)
{
	unsigned int step = 0;
	uint64_t start_ns;

	bench_write_register(bench, 0x01, (const uint8_t[]){0x00}, 1);
	bench_finish_work(bench);
	start_ns = bench->now_ns;
	bench_erase_at(bench, 0xD8, address);
	assert_int_equal(bench->facts.work, CHIP_WORK_ERASE);
	while (step < STEPS) {
		bench->now_ns = start_ns + (bench->chip.busy_until_ns - start_ns) / STEPS * step;
		if (busy_bits(bench) == 0x01)
			break;
		assert_int_equal(busy_bits(bench), STATUS_BUSY_AND_ENABLED);
		step++;
	}
	bench->now_ns = bench->chip.busy_until_ns - 1;
	assert_int_equal(busy_bits(bench) & 0x01, 0x01);
	bench_finish_work(bench);
	assert_int_equal(busy_bits(bench), 0x00);
	return step;
}

TEST(wel_falls_within_the_busy_time_at_another_time_for_each_erase)
{
	static const char *const parts[] = {"M25P80", "M25P10-A", "AT25SF161", "AT25DF641"};

	for (size_t i = 0; i < COUNT(parts); i++) {
		struct bench bench;
		unsigned int steps[3];

		bench_init(&bench, parts[i], "typ");
		steps[0] = wel_falls_at(&bench, 0);
		steps[1] = wel_falls_at(&bench, 0);
		steps[2] = wel_falls_at(&bench, 0x10000);
		for (size_t j = 0; j < 3; j++)
			assert_in_range(steps[j], 0, STEPS - 1);
		assert_int_not_equal(steps[0], steps[1]);
		assert_int_not_equal(steps[0], steps[2]);
		bench_deinit(&bench);
	}
}

TEST(time_at_which_wel_falls_depends_on_the_seed_but_not_on_work_elsewhere)
{
	struct bench benches[3];
	unsigned int first;

	for (size_t i = 0; i < 3; i++)
		bench_init(&benches[i], "M25P80", "typ");
	first = wel_falls_at(&benches[0], 0);
	(void)wel_falls_at(&benches[1], 0x10000);
	assert_int_equal(wel_falls_at(&benches[1], 0), first);
	benches[2].chip.noise_seed = 1;
	assert_int_not_equal(wel_falls_at(&benches[2], 0), first);
	for (size_t i = 0; i < 3; i++)
		bench_deinit(&benches[i]);
}
