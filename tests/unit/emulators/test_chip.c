/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests of the chip model that a dialogue in golden/ cannot make. */
#include "../run_cases.h"
#include "bench.h"
#include "model/start_state.h"

TEST(same_commands_at_same_times_give_same_facts)
{
	struct chip_facts traces[2][6];

	for (size_t run = 0; run < 2; run++) {
		struct bench bench;
		uint8_t data[] = {1, 2, 3};

		bench_init(&bench, "GD25Q16C", "typ");
		for (size_t i = 0; i < 6; i++) {
			bench_program(&bench, (uint32_t)i * 100, data, sizeof(data));
			bench.now_ns += i * 17 * US;
			traces[run][i] = bench.facts;
		}
		bench_deinit(&bench);
	}
	assert_memory_equal(traces[0], traces[1], sizeof(traces[0]));
}

/* Power cuts as text. */

TEST(power_cut_text_gives_time_and_duration)
{
	static const struct {
		const char *text;
		struct power_cut cut;
	} rows[] = {
		{"1", {1, true, 50, 0}},
		{"4294967295,0", {UINT32_MAX, false, 0, 0}},
		{"3,100%", {3, true, 100, 0}},
		{"3,1500,2000000", {3, false, 1500, 2000000}},
		{"3,7%,9", {3, true, 7, 9}},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct power_cut cut;

		assert_int_equal(power_cut_parse(rows[i].text, &cut), 0);
		assert_int_equal(cut.nth, rows[i].cut.nth);
		assert_int_equal(cut.is_percent, rows[i].cut.is_percent);
		assert_int_equal(cut.after, rows[i].cut.after);
		assert_int_equal(cut.off_ns, rows[i].cut.off_ns);
	}
}

TEST(other_text_is_not_a_power_cut)
{
	static const char *const texts[] = {"", "0", "x", "-1", "4294967296", "1,", "1,101%",
		"1,5%%", "1,5,", "1,5,6,7", "1 ", "1,,5", "1,18446744073709551616"};

	for (size_t i = 0; i < COUNT(texts); i++) {
		struct power_cut cut = {.nth = 9};

		assert_true(power_cut_parse(texts[i], &cut) < 0);
		assert_int_equal(cut.nth, 9);
	}
}

TEST(share_of_the_longest_work_does_not_overflow)
{
	struct power_cut cut = {.nth = 1, .is_percent = true, .after = 100};

	assert_int_equal(power_cut_after_ns(&cut, UINT64_MAX / 2), UINT64_MAX / 2);
	cut.after = 50;
	assert_int_equal(power_cut_after_ns(&cut, 199), 99);
}

/* States in which a client finds a part. */

TEST(every_part_starts_in_each_state_that_fits_it)
{
	for (size_t i = 0; i < part_table_count; i++) {
		for (int which = START_READY; which <= START_PROTECTED; which++) {
			struct bench bench;
			struct chip before;

			if (!start_state_fits((enum start_state)which, &part_table[i]))
				continue;
			bench_init(&bench, part_table[i].name, "max");
			memcpy(&before, &bench.chip, sizeof(before));
			chip_start_in(
				&bench.chip, (enum start_state)which, bench.now_ns, &bench.facts);
			assert_int_equal(bench.facts.rule, CHIP_RULE_NONE);
			if (which == START_READY)
				assert_memory_equal(&before, &bench.chip, sizeof(before));
			else
				assert_memory_not_equal(&before, &bench.chip, sizeof(before));
			bench_deinit(&bench);
		}
	}
}

TEST(state_fits_only_parts_with_its_bus_and_commands)
{
	assert_false(start_state_fits(START_ASLEEP, part_find("SST39SF040")));
	assert_false(start_state_fits(START_ERASE_SUSPENDED, part_find("MX25L6406E")));
	assert_true(start_state_fits(START_READY, part_find("SST39SF040")));
	assert_true(start_state_fits(START_ASLEEP, part_find("MX25L6406E")));
}

TEST(only_names_of_states_are_parsed)
{
	enum start_state read = START_PROTECTED;

	for (int which = START_READY; which <= START_PROTECTED; which++) {
		assert_int_equal(
			start_state_parse(start_state_name((enum start_state)which), &read), 0);
		assert_int_equal(read, which);
	}
	assert_true(start_state_parse("sleeping", &read) < 0);
	assert_true(start_state_parse("", &read) < 0);
}
