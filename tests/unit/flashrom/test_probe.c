/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>

#include "bench.h"
#include "spi25.h"

#define TWIN(part, jedec_id)                                                                       \
	{.vendor = "Test",                                                                         \
		.name = (part),                                                                    \
		.id = (jedec_id),                                                                  \
		.size_bytes = 1,                                                                   \
		.buses = BUS_SPI,                                                                  \
		.identify = &spi25_rdid}

static const struct flash_chip twins[] = {
	TWIN("TWIN-A", 0x112233),
	TWIN("TWIN-B/TWIN-C", 0x112233),
	TWIN("OTHER", 0x445566),
};
static const struct chip_list twin_list = {twins, 3};
static const struct chip_list *const twin_lists[] = {&twin_list, NULL};

/* Probes a part that answers 112233; leaves the chosen chip, or NULL, in the bench. */
static int probe(struct bench *bench, uint32_t id, const char *name, bool force)
{
	int error;

	bench_start(bench, &small_chip);
	bench->fake.jedec_id = id;
	bench->flash.chip = NULL;
	error = flash_probe(&bench->flash, twin_lists, name, force);
	bench_stop(bench);
	return error;
}

static void single_match_is_taken(void **state)
{
	struct bench bench;

	(void)state;
	assert_int_equal(probe(&bench, 0x445566, NULL, false), 0);
	assert_ptr_equal(bench.flash.chip, &twins[2]);
	assert_true(logged(&bench.captured, "\"OTHER\""));
}

static void several_matches_ask_for_a_name(void **state)
{
	struct bench bench;

	(void)state;
	assert_int_equal(probe(&bench, 0x112233, NULL, false), -ENOTUNIQ);
	assert_true(logged(&bench.captured, "\"TWIN-A\" \"TWIN-B/TWIN-C\""));
}

static void name_decides_between_matches(void **state)
{
	struct bench bench;

	(void)state;
	assert_int_equal(probe(&bench, 0x112233, "TWIN-B/TWIN-C", false), 0);
	assert_ptr_equal(bench.flash.chip, &twins[1]);
}

static void name_of_another_chip_is_refused_unless_forced(void **state)
{
	struct bench bench;

	(void)state;
	assert_int_equal(probe(&bench, 0x445566, "TWIN-A", false), -ENODEV);
	assert_true(logged(&bench.captured, "which is \"OTHER\""));
	assert_int_equal(probe(&bench, 0x445566, "TWIN-A", true), 0);
	assert_ptr_equal(bench.flash.chip, &twins[0]);
}

static void unknown_name_is_refused_before_the_bus_is_used(void **state)
{
	struct bench bench;

	(void)state;
	assert_int_equal(probe(&bench, 0x445566, "TWIN-Z", false), -EINVAL);
	assert_true(logged(&bench.captured, "Did you mean"));
	assert_int_equal(bench.fake.counts[0x9f], 0);
}

static void unknown_id_is_shown(void **state)
{
	struct bench bench;

	(void)state;
	assert_int_equal(probe(&bench, 0x00beef, NULL, false), -ENODEV);
	assert_true(logged(&bench.captured, "00beef"));
}

static void chip_of_another_bus_is_refused_before_it_is_asked(void **state)
{
	struct bench bench;

	(void)state;
	bench_start(&bench, &small_chip);
	bench.fake.base.buses = BUS_LPC;
	bench.flash.chip = NULL;
	assert_int_equal(flash_probe(&bench.flash, twin_lists, "OTHER", false), -ENODEV);
	assert_true(logged(&bench.captured, "another bus"));
	assert_int_equal(bench.fake.counts[0x9f], 0);
	bench_stop(&bench);
}

/* The rest of the longest tVSL passes before the first question, and no wait follows it. */
static void part_powered_with_the_pins_is_asked_once_it_may_be(void **state)
{
	static const uint64_t passed_us[] = {0, 1, POWER_UP_US_MAX - 1, POWER_UP_US_MAX};
	struct bench bench;

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		bench_start(&bench, &small_chip);
		bench.fake.jedec_id = 0x445566;
		bench.fake.base.powered_ns = NS_PER_MS;
		bench.fake.now_ns = NS_PER_MS + passed_us[i] * NS_PER_US;
		bench.flash.chip = NULL;
		assert_int_equal(flash_probe(&bench.flash, twin_lists, NULL, false), 0);
		assert_true(bench.fake.now_ns >= NS_PER_MS + POWER_UP_US_MAX * NS_PER_US);
		assert_true(bench.fake.now_ns <
			    NS_PER_MS + POWER_UP_US_MAX * NS_PER_US + 100 * NS_PER_US);
		bench_stop(&bench);
	}
}

/* One question serves two parts with the same method. */
static void one_question_serves_all_who_ask_alike(void **state)
{
	struct bench bench;

	(void)state;
	assert_int_equal(probe(&bench, 0x445566, NULL, false), 0);
	assert_int_equal(bench.fake.counts[0x9f], 1);
}

static void silent_bus_is_reported(void **state)
{
	struct bench bench;

	(void)state;
	assert_int_equal(probe(&bench, 0xffffff, NULL, false), -ENODEV);
	assert_true(logged(&bench.captured, "nothing answers"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(single_match_is_taken),
		cmocka_unit_test(several_matches_ask_for_a_name),
		cmocka_unit_test(name_decides_between_matches),
		cmocka_unit_test(name_of_another_chip_is_refused_unless_forced),
		cmocka_unit_test(unknown_name_is_refused_before_the_bus_is_used),
		cmocka_unit_test(unknown_id_is_shown),
		cmocka_unit_test(chip_of_another_bus_is_refused_before_it_is_asked),
		cmocka_unit_test(part_powered_with_the_pins_is_asked_once_it_may_be),
		cmocka_unit_test(one_question_serves_all_who_ask_alike),
		cmocka_unit_test(silent_bus_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
