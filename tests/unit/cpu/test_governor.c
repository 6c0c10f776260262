/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../run_cases.h"
#include "cpu_plugin/vcpu.h"

#define MS UINT64_C(1000000)

#define MIN_KIPS 50000u
#define MAX_KIPS 250000u

static const struct governor_limits limits = {
	.fixed_kips = 80000,
	.min_kips = MIN_KIPS,
	.max_kips = MAX_KIPS,
	.sampling_ns = 10 * MS,
};

static const struct governor_model *model(const char *name)
{
	return governor_find(name, (uint32_t)strlen(name));
}

static struct governor started(const char *name)
{
	struct governor governor;

	assert_non_null(model(name));
	governor_init(&governor, model(name), &limits, 0);
	return governor;
}

/* Lets the governor watch up to @until_ns. Returns the speed that it then wants. */
static uint32_t watched(struct governor *governor, uint64_t until_ns, bool busy)
{
	uint64_t at_ns;

	while (governor_watch(governor, until_ns, busy, governor->wanted_kips, &at_ns))
		;
	return governor->wanted_kips;
}

TEST(unknown_governor_is_not_found)
{
	assert_null(model("turbo"));
	assert_null(model(""));
	assert_null(governor_find("fixed", 4));
	assert_string_equal(governor_name(model("ondemand")), "ondemand");
}

TEST(every_listed_name_is_found)
{
	const char *names = GOVERNOR_NAMES;

	while (*names) {
		size_t len = strcspn(names, " ");

		assert_non_null(governor_find(names, (uint32_t)len));
		names += len + (names[len] == ' ');
	}
}

TEST(steady_governors_ignore_the_load)
{
	struct governor fixed = started("fixed");
	struct governor slow = started("powersave");
	struct governor fast = started("performance");

	assert_int_equal(watched(&fixed, 500 * MS, true), 80000);
	assert_int_equal(watched(&fixed, 1000 * MS, false), 80000);
	assert_int_equal(watched(&slow, 500 * MS, true), MIN_KIPS);
	assert_int_equal(watched(&fast, 500 * MS, false), MAX_KIPS);
}

TEST(ondemand_decides_at_the_end_of_a_period)
{
	struct governor governor = started("ondemand");
	uint64_t at_ns = 0;

	assert_int_equal(watched(&governor, 10 * MS - 1, true), MIN_KIPS);
	assert_true(governor_watch(&governor, 25 * MS, true, MIN_KIPS, &at_ns));
	assert_int_equal(at_ns, 10 * MS);
	assert_int_equal(governor.wanted_kips, MAX_KIPS);
}

TEST(ondemand_wants_the_highest_speed_above_80_percent_load)
{
	struct governor at = started("ondemand");
	struct governor above = started("ondemand");

	watched(&at, 8 * MS, true);
	assert_int_equal(watched(&at, 10 * MS, false), MIN_KIPS + (MAX_KIPS - MIN_KIPS) / 5 * 4);
	watched(&above, 8 * MS + MS / 10, true);
	assert_int_equal(watched(&above, 10 * MS, false), MAX_KIPS);
}

TEST(ondemand_wants_the_lowest_speed_after_one_idle_period)
{
	struct governor governor = started("ondemand");

	assert_int_equal(watched(&governor, 20 * MS, true), MAX_KIPS);
	assert_int_equal(watched(&governor, 30 * MS, false), MIN_KIPS);
}

TEST(schedutil_rises_step_by_step_under_load)
{
	struct governor governor = started("schedutil");
	uint32_t before = MIN_KIPS;

	/* A vCPU at min_kips uses at most that speed, so the governor wants at most 5/4 of it. */
	assert_in_range(watched(&governor, 20 * MS, true), MIN_KIPS, MIN_KIPS * 5 / 4);
	for (int ms = 100; ms <= 400; ms += 100) {
		uint32_t now = watched(&governor, (uint64_t)ms * MS, true);

		assert_true(now > before || now == MAX_KIPS);
		before = now;
	}
	assert_int_equal(watched(&governor, 1000 * MS, true), MAX_KIPS);
}

/* Usage halves in 32 slices of 1.024 ms, about 33 ms. */
TEST(schedutil_halves_its_load_in_32_idle_ms)
{
	struct governor governor = started("schedutil");
	uint64_t full;

	watched(&governor, 2000 * MS, true);
	full = governor.work;
	watched(&governor, 2000 * MS + 33 * MS, false);
	assert_in_range(governor.work, full * 48 / 100, full * 52 / 100);
	assert_int_equal(watched(&governor, 3000 * MS, false), MIN_KIPS);
}

TEST(idle_hour_has_the_effect_of_idle_seconds)
{
	struct governor hour = started("schedutil");
	struct governor seconds = started("schedutil");
	uint64_t at_ns;

	watched(&hour, 1000 * MS, true);
	watched(&seconds, 1000 * MS, true);
	assert_true(governor_watch(&hour, 3600 * 1000 * MS, false, MAX_KIPS, &at_ns));
	assert_int_equal(watched(&hour, 3600 * 1000 * MS, false), MIN_KIPS);
	assert_int_equal(watched(&seconds, 5000 * MS, false), MIN_KIPS);
	assert_int_equal(hour.work, seconds.work);
}

TEST(watching_the_same_or_an_earlier_time_changes_nothing)
{
	struct governor governor = started("ondemand");
	uint64_t at_ns;

	watched(&governor, 9 * MS, false);
	assert_false(governor_watch(&governor, 9 * MS, true, MIN_KIPS, &at_ns));
	assert_false(governor_watch(&governor, 5 * MS, true, MIN_KIPS, &at_ns));
	assert_int_equal(watched(&governor, 10 * MS, false), MIN_KIPS);
}

TEST(governor_without_its_limits_is_reported)
{
	const struct governor_limits none = {.sampling_ns = MS};
	const struct governor_limits crossed = {.min_kips = 2, .max_kips = 1, .sampling_ns = MS};

	assert_null(governor_complaint(model("fixed"), &none));
	assert_non_null(governor_complaint(model("powersave"), &none));
	assert_non_null(governor_complaint(model("performance"), &none));
	assert_non_null(governor_complaint(model("ondemand"), &crossed));
	assert_null(governor_complaint(model("powersave"), &crossed));
	assert_null(governor_complaint(model("schedutil"), &limits));
}
