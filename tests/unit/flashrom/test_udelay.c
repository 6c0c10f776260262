/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The delay layer on a fake clock, built once for each of several thresholds. */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <time.h>

#include "cmocka_headers.h"

#define NS_PER_S UINT64_C(1000000000)

/* The names that meson.build gives default_delay() in each build. */
void delay_threshold_0(unsigned int usecs);
void delay_threshold_1(unsigned int usecs);
void delay_threshold_100(unsigned int usecs);
void delay_threshold_100000(unsigned int usecs);
void delay_threshold_4294967295(unsigned int usecs);
void delay_threshold_unset(unsigned int usecs);
void delay_cut_to_half(unsigned int usecs);

struct variant {
	void (*delay)(unsigned int usecs);
	unsigned int threshold_us;
};

static const struct variant variants[] = {
	{delay_threshold_0, 0},
	{delay_threshold_1, 1},
	{delay_threshold_100, 100},
	{delay_threshold_100000, 100000},
	{delay_threshold_4294967295, UINT_MAX},
	{delay_threshold_unset, 100},
};

#define VARIANTS (sizeof(variants) / sizeof(variants[0]))

/* 4,294,967 us is where a product with 1000 leaves 32 bits. */
static const unsigned int waits_us[] = {0, 1, 2, 99, 100, 101, 99999, 100000, 100001, 999999,
	1000000, 1000001, 4294967, 4294968, 5000000, UINT_MAX - 1, UINT_MAX};

#define WAITS (sizeof(waits_us) / sizeof(waits_us[0]))

/*
 * A clock that moves by `step_ns` whenever it is read, and by what is slept. Wrapped functions get
 * no context, so it has to be here.
 */
static struct fake_clock {
	uint64_t now_ns;
	uint64_t step_ns;
	uint64_t first_ns; /* of the readings since the start */
	uint64_t last_ns;
	unsigned int readings;
	unsigned int sleeps;
	unsigned int interruptions_left;
	unsigned int early_wakes_left;
	int sleep_error;
} fake;

int __wrap_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_clock_nanosleep(
	clockid_t clock, int flags, const struct timespec *until, struct timespec *left);

int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
	assert_int_equal(clock, CLOCK_MONOTONIC);
	now->tv_sec = (time_t)(fake.now_ns / NS_PER_S);
	now->tv_nsec = (long)(fake.now_ns % NS_PER_S);
	if (fake.readings++ == 0)
		fake.first_ns = fake.now_ns;
	fake.last_ns = fake.now_ns;
	fake.now_ns += fake.step_ns;
	return 0;
}

/* Half way to the goal, as a signal or a careless kernel may wake a sleeper. */
static void sleep_half(uint64_t until_ns)
{
	if (until_ns > fake.now_ns)
		fake.now_ns += (until_ns - fake.now_ns) / 2;
}

int __wrap_clock_nanosleep(
	clockid_t clock, int flags, const struct timespec *until, struct timespec *left)
{
	const uint64_t until_ns = (uint64_t)until->tv_sec * NS_PER_S + (uint64_t)until->tv_nsec;

	assert_int_equal(clock, CLOCK_MONOTONIC);
	assert_int_equal(flags, TIMER_ABSTIME);
	assert_null(left);
	assert_in_range(until->tv_nsec, 0, NS_PER_S - 1);
	fake.sleeps++;
	if (fake.sleep_error != 0)
		return fake.sleep_error;
	if (fake.interruptions_left > 0) {
		fake.interruptions_left--;
		sleep_half(until_ns);
		return EINTR;
	}
	if (fake.early_wakes_left > 0) {
		fake.early_wakes_left--;
		sleep_half(until_ns);
		return 0;
	}
	if (fake.now_ns < until_ns)
		fake.now_ns = until_ns;
	return 0;
}

/* One nanosecond before a full second, so that every sum has to carry. */
static void fake_start(unsigned int usecs)
{
	const uint64_t wait_ns = (uint64_t)usecs * 1000;

	fake = (struct fake_clock){
		.now_ns = 5 * NS_PER_S - 1,
		.step_ns = wait_ns / 512 + 1,
	};
}

static uint64_t seen_ns(void)
{
	return fake.last_ns - fake.first_ns;
}

static void assert_not_early(unsigned int usecs)
{
	assert_true(seen_ns() >= (uint64_t)usecs * 1000);
}

static bool sleeps_for(const struct variant *variant, unsigned int usecs)
{
	return usecs >= variant->threshold_us && usecs > 0;
}

static void each_wait_is_not_early_and_not_long(void **state)
{
	(void)state;
	for (size_t v = 0; v < VARIANTS; v++) {
		for (size_t w = 0; w < WAITS; w++) {
			fake_start(waits_us[w]);
			variants[v].delay(waits_us[w]);
			assert_not_early(waits_us[w]);
			assert_true(seen_ns() <= (uint64_t)waits_us[w] * 1000 + 2 * fake.step_ns);
		}
	}
}

static void sleep_begins_at_threshold(void **state)
{
	(void)state;
	for (size_t v = 0; v < VARIANTS; v++) {
		for (size_t w = 0; w < WAITS; w++) {
			fake_start(waits_us[w]);
			variants[v].delay(waits_us[w]);
			assert_int_equal(fake.sleeps > 0, sleeps_for(&variants[v], waits_us[w]));
		}
	}
}

static void zero_returns_without_reading_clock(void **state)
{
	(void)state;
	for (size_t v = 0; v < VARIANTS; v++) {
		fake_start(0);
		variants[v].delay(0);
		assert_int_equal(fake.readings, 0);
		assert_int_equal(fake.sleeps, 0);
	}
}

static void delay_across_32bit_nanoseconds_is_not_early(void **state)
{
	(void)state;
	for (unsigned int usecs = 4294960; usecs < 4294975; usecs++) {
		fake_start(usecs);
		delay_threshold_100(usecs);
		assert_not_early(usecs);
	}
}

static void signal_storm_is_slept_through(void **state)
{
	(void)state;
	for (size_t w = 1; w < WAITS; w++) {
		fake_start(waits_us[w]);
		fake.step_ns = 0;
		fake.interruptions_left = 10000;
		delay_threshold_0(waits_us[w]);
		assert_not_early(waits_us[w]);
		assert_int_equal(seen_ns(), (uint64_t)waits_us[w] * 1000);
	}
}

static void sleep_that_wakes_early_is_slept_again(void **state)
{
	(void)state;
	fake_start(5000000);
	fake.step_ns = 1;
	fake.early_wakes_left = 7;
	delay_threshold_100(5000000);
	assert_not_early(5000000);
	assert_int_equal(fake.sleeps, 8);
}

static void sleep_that_fails_is_polled_instead(void **state)
{
	(void)state;
	fake_start(5000000);
	fake.sleep_error = ENOTSUP;
	delay_threshold_100(5000000);
	assert_not_early(5000000);
	assert_int_equal(fake.sleeps, 1);
}

/* A tick of 4 ms, as without high-resolution timers: late by one tick at most, never early. */
static void coarse_clock_is_not_early(void **state)
{
	(void)state;
	fake_start(10);
	fake.step_ns = 4000000;
	delay_threshold_100(10);
	assert_not_early(10);
}

static void every_start_within_a_second_carries(void **state)
{
	(void)state;
	for (uint64_t start_ns = 0; start_ns < NS_PER_S; start_ns += 99999999) {
		fake_start(999999);
		fake.now_ns = start_ns;
		delay_threshold_100(999999);
		assert_not_early(999999);
		assert_true(seen_ns() <= UINT64_C(999999000) + 2 * fake.step_ns);
	}
}

/* What the rig has to convict is really wrong, by as much as it says. */
static void cut_build_is_early_by_half(void **state)
{
	(void)state;
	for (size_t w = 0; w < WAITS; w++) {
		const uint64_t half_ns = (uint64_t)(waits_us[w] / 2) * 1000;

		fake_start(waits_us[w]);
		delay_cut_to_half(waits_us[w]);
		assert_true(seen_ns() >= half_ns);
		assert_true(seen_ns() <= half_ns + 2 * fake.step_ns);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_wait_is_not_early_and_not_long),
		cmocka_unit_test(sleep_begins_at_threshold),
		cmocka_unit_test(zero_returns_without_reading_clock),
		cmocka_unit_test(delay_across_32bit_nanoseconds_is_not_early),
		cmocka_unit_test(signal_storm_is_slept_through),
		cmocka_unit_test(sleep_that_wakes_early_is_slept_again),
		cmocka_unit_test(sleep_that_fails_is_polled_instead),
		cmocka_unit_test(coarse_clock_is_not_early),
		cmocka_unit_test(every_start_within_a_second_carries),
		cmocka_unit_test(cut_build_is_early_by_half),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
