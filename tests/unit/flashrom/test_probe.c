/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>

#include "fake_chip.h"

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

FIXTURE(bench, bench_start_small, bench_stop);

/* A probe for a part that answers `id`, and its result. */
struct probe {
	uint32_t id;
	const char *name;
	bool force;
	int error;
	const struct flash_chip *found;
	const char *message;
};

static int probe(struct bench *bench, const struct probe *wanted)
{
	bench->fake.jedec_id = wanted->id;
	bench->flash.chip = NULL;
	return flash_probe(&bench->flash, twin_lists, wanted->name, wanted->force);
}

static void part_is_probed_for(void **state)
{
	const struct probe *row = *state;
	struct bench bench;

	bench_start(&bench, &small_chip);
	assert_int_equal(probe(&bench, row), row->error);
	if (row->error == 0)
		assert_ptr_equal(bench.flash.chip, row->found);
	assert_true(logged(&bench.captured, row->message));
	bench_stop(&bench);
}

static void unknown_name_is_refused_before_the_bus_is_used(struct bench *bench)
{
	assert_int_equal(probe(bench, &(struct probe){0x445566, .name = "TWIN-Z"}), -EINVAL);
	assert_true(logged(&bench->captured, "Did you mean"));
	assert_int_equal(bench->fake.counts[0x9f], 0);
}

static void chip_of_another_bus_is_refused_before_any_query(struct bench *bench)
{
	bench->fake.base.buses = BUS_LPC;
	bench->flash.chip = NULL;
	assert_int_equal(flash_probe(&bench->flash, twin_lists, "OTHER", false), -ENODEV);
	assert_true(logged(&bench->captured, "another bus"));
	assert_int_equal(bench->fake.counts[0x9f], 0);
}

/* The rest of the longest tVSL passes before the first query, and no longer. */
static void part_powered_by_the_programmer_is_queried_after_power_up(void)
{
	static const uint64_t passed_us[] = {0, 1, POWER_UP_US_MAX - 1, POWER_UP_US_MAX};
	struct bench bench;

	for (size_t i = 0; i < 4; i++) {
		bench_start(&bench, &small_chip);
		bench.fake.jedec_id = 0x445566;
		bench.fake.base.powered_ns = NS_PER_MS;
		bench.fake.now_ns = NS_PER_MS + passed_us[i] * NS_PER_US;
		/* The fake checks this at the end of the first command, which takes 1 us. */
		bench.fake.awake_from_ns = NS_PER_MS + (POWER_UP_US_MAX + 1) * NS_PER_US;
		bench.flash.chip = NULL;
		assert_int_equal(flash_probe(&bench.flash, twin_lists, NULL, false), 0);
		assert_int_equal(bench.fake.sent_while_waking, 0);
		assert_true(bench.fake.now_ns <
			    NS_PER_MS + POWER_UP_US_MAX * NS_PER_US + 100 * NS_PER_US);
		bench_stop(&bench);
	}
}

static void one_query_serves_all_parts_with_the_same_method(struct bench *bench)
{
	assert_int_equal(probe(bench, &(struct probe){.id = 0x445566}), 0);
	assert_int_equal(bench->fake.counts[0x9f], 1);
}

#define PROBED(name_, id_, ...) ROW(part_is_probed_for, probe, name_, .id = id_, __VA_ARGS__)

static const struct CMUnitTest tests[] = {
	PROBED(single_match_is_taken, 0x445566, .found = &twins[2], .message = "\"OTHER\""),
	PROBED(several_matches_ask_for_a_name, 0x112233, .error = -ENOTUNIQ,
		.message = "\"TWIN-A\" \"TWIN-B/TWIN-C\""),
	PROBED(name_decides_between_matches, 0x112233, "TWIN-B/TWIN-C", .found = &twins[1],
		.message = ""),
	PROBED(name_of_another_chip_is_refused, 0x445566, "TWIN-A", .error = -ENODEV,
		.message = "which is \"OTHER\""),
	PROBED(name_of_another_chip_may_be_forced, 0x445566, "TWIN-A", .force = true,
		.found = &twins[0], .message = ""),
	PROBED(unknown_id_is_shown, 0x00beef, .error = -ENODEV, .message = "00beef"),
	PROBED(silent_bus_is_reported, 0xffffff, .error = -ENODEV, .message = "nothing answers"),
	CASE_ON(bench, unknown_name_is_refused_before_the_bus_is_used),
	CASE_ON(bench, chip_of_another_bus_is_refused_before_any_query),
	CASE(part_powered_by_the_programmer_is_queried_after_power_up),
	CASE_ON(bench, one_query_serves_all_parts_with_the_same_method),
};

RUN_CASES(tests)
