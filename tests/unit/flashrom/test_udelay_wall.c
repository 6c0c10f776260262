/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The delay layer on a fake wall clock with steps, in all builds that can fall back to one. */
#include <errno.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "cmocka_headers.h"
#include "fake_slack.h"
#include "udelay_builds.h"

#define NS_PER_US 1000
#define NS_PER_S INT64_C(1000000000)
#define HOUR_NS (3600 * NS_PER_S)
#define SLACK_NS 50000

/* Limits of udelay.c. */
#define STEP_NS_MAX 50000
#define SLEEP_NS_MAX 100000000

/* True time, and a wall clock that is set. Wrapped functions get no context, so it is global. */
static struct fake_world {
	int64_t now_ns;
	int64_t wall_offset_ns;
	int64_t wall_tick_ns;  /* readings are rounded down to it */
	int64_t sleep_unit_ns; /* sleeps are cut to whole ones; 0: they are not */
	int64_t read_ns;       /* time of one reading */
	int64_t start_ns;      /* when the clock was first read */
	int64_t latency_ns;
	unsigned int readings;
	unsigned int sleeps;
	unsigned int interruptions_left;
	unsigned int early_wakes_left;
	int64_t left_too_much_ns; /* error of the rest that an interrupted sleep reports */
	unsigned int steps_left;
	unsigned int step_every; /* readings, from the second on; 0 for no steps */
	unsigned int gap_at;     /* reading before which the thread loses its CPU */
	int64_t gap_ns;
	int64_t step_ns;
	int64_t step_in_sleep_ns; /* during one sleep */
	int sleep_error;
	int slack_ns_max;
	struct fake_slack slack;
} fake;

int __wrap_gettimeofday(struct timeval *now, void *zone);
int __wrap_nanosleep(const struct timespec *length, struct timespec *left);
int __wrap_usleep(useconds_t usecs);
int __wrap_prctl(int option, ...);

static void step_wall(void)
{
	if (fake.steps_left == 0 || fake.step_every == 0 || fake.readings % fake.step_every != 0)
		return;
	fake.steps_left--;
	fake.wall_offset_ns += fake.step_ns;
}

int __wrap_gettimeofday(struct timeval *now, void *zone)
{
	int64_t wall_ns;

	assert_null(zone);
	if (fake.readings++ == 0)
		fake.start_ns = fake.now_ns;
	else
		step_wall();
	if (fake.readings == fake.gap_at)
		fake.now_ns += fake.gap_ns;
	wall_ns = fake.now_ns + fake.wall_offset_ns;
	wall_ns -= wall_ns % fake.wall_tick_ns;
	now->tv_sec = (time_t)(wall_ns / NS_PER_S);
	now->tv_usec = (suseconds_t)(wall_ns % NS_PER_S / NS_PER_US);
	fake.now_ns += fake.read_ns;
	return 0;
}

static struct timespec timespec_of(int64_t ns)
{
	return (struct timespec){(time_t)(ns / NS_PER_S), (long)(ns % NS_PER_S)};
}

static int interrupt_sleep(int64_t length_ns, struct timespec *left)
{
	fake.now_ns += length_ns / 2;
	*left = timespec_of(length_ns - length_ns / 2 + fake.left_too_much_ns);
	errno = EINTR;
	return -1;
}

static int sleep_for(int64_t length_ns, struct timespec *left)
{
	assert_in_range(length_ns, 1, SLEEP_NS_MAX);
	fake.sleeps++;
	if (fake.slack.now_ns > fake.slack_ns_max)
		fake.slack_ns_max = fake.slack.now_ns;
	fake.wall_offset_ns += fake.step_in_sleep_ns;
	fake.step_in_sleep_ns = 0;
	errno = fake.sleep_error;
	if (fake.sleep_error != 0)
		return -1;
	if (fake.interruptions_left > 0) {
		fake.interruptions_left--;
		return interrupt_sleep(length_ns, left);
	}
	if (fake.early_wakes_left > 0) {
		fake.early_wakes_left--;
		fake.now_ns += length_ns / 2;
		return 0;
	}
	if (fake.sleep_unit_ns > 0)
		length_ns -= length_ns % fake.sleep_unit_ns;
	fake.now_ns += length_ns + fake.latency_ns;
	return 0;
}

int __wrap_nanosleep(const struct timespec *length, struct timespec *left)
{
	assert_non_null(left);
	assert_in_range(length->tv_nsec, 0, NS_PER_S - 1);
	return sleep_for((int64_t)length->tv_sec * NS_PER_S + length->tv_nsec, left);
}

int __wrap_usleep(useconds_t usecs)
{
	struct timespec left;

	assert_in_range(usecs, 1, 999999); /* older systems refuse more */
	return sleep_for((int64_t)usecs * NS_PER_US, &left);
}

int __wrap_prctl(int option, ...)
{
	va_list arguments;
	int result;

	va_start(arguments, option);
	result = fake_slack_prctl(&fake.slack, option, arguments);
	va_end(arguments);
	return result;
}

/* 1,600,000,000 s, in the year 2020, fit into 32 bits. */
static void fake_start(void)
{
	fake = (struct fake_world){
		.now_ns = NS_PER_S - 1,
		.wall_offset_ns = 1600000000 * NS_PER_S,
		.wall_tick_ns = NS_PER_US,
		.read_ns = 20 * NS_PER_US,
		.latency_ns = 60 * NS_PER_US,
		.slack = {.now_ns = SLACK_NS},
	};
}

static int64_t passed_ns(void)
{
	if (fake.readings == 0)
		return 0;
	return fake.now_ns - fake.start_ns - fake.read_ns;
}

static void assert_not_early(const struct build *build, unsigned int usecs)
{
	const int64_t wait_ns = (int64_t)kept_us(build, usecs) * NS_PER_US;

	if (passed_ns() < wait_ns)
		print_message("%s(%u) is early\n", build->name, usecs);
	assert_true(passed_ns() >= wait_ns);
}

static int64_t unit_ns(const struct build *build)
{
	return (int64_t)build->sleep_unit_us * NS_PER_US;
}

static bool next_build(const struct build **build)
{
	do {
		*build = *build == NULL ? builds : *build + 1;
	} while (*build != builds + BUILDS && (*build)->monotonic);
	return *build != builds + BUILDS;
}

static bool is_polled_for_long(const struct build *build, unsigned int usecs)
{
	return usecs > 5000000 && !sleeps_for(build, usecs);
}

static void each_wait_is_not_early_and_not_long(void **state)
{
	(void)state;
	for (const struct build *build = NULL; next_build(&build);) {
		for (size_t w = 0; w < WAITS; w++) {
			const int64_t wait_ns = (int64_t)waits_us[w] * NS_PER_US;

			if (is_polled_for_long(build, waits_us[w]))
				continue;
			fake_start();
			build->delay(waits_us[w]);
			assert_not_early(build, waits_us[w]);
			/*
			 * The latency of each sleep is lost: 60 us for each 100 ms, and at the end.
			 * So is the unit by which it may be cut.
			 */
			assert_true(passed_ns() <=
				    wait_ns + wait_ns / 1000 + 200 * NS_PER_US +
					    unit_ns(build) * (2 + wait_ns / SLEEP_NS_MAX * 2));
		}
	}
}

static void sleep_begins_at_threshold(void **state)
{
	(void)state;
	for (const struct build *build = NULL; next_build(&build);) {
		for (size_t w = 0; w < WAITS; w++) {
			if (is_polled_for_long(build, waits_us[w]))
				continue;
			fake_start();
			build->delay(waits_us[w]);
			assert_int_equal(fake.sleeps > 0, sleeps_for(build, waits_us[w]));
			assert_int_equal(fake.slack.now_ns, SLACK_NS);
			if (fake.sleeps > 0)
				assert_int_equal(fake.slack_ns_max, build->slack ? 1 : SLACK_NS);
		}
	}
}

static void zero_returns_without_reading_clock(void **state)
{
	(void)state;
	for (const struct build *build = NULL; next_build(&build);) {
		fake_start();
		build->delay(0);
		assert_int_equal(fake.readings + fake.sleeps + fake.slack.gets, 0);
	}
}

/* A reading may be up to a microsecond old, which must not shorten the wait. */
static void every_start_within_a_microsecond_is_not_early(void **state)
{
	(void)state;
	for (const struct build *build = NULL; next_build(&build);) {
		for (int64_t start_ns = 0; start_ns < NS_PER_US; start_ns += 37) {
			for (unsigned int usecs = 1; usecs < 1000; usecs *= 3) {
				fake_start();
				fake.now_ns = start_ns;
				fake.read_ns = 13;
				build->delay(usecs);
				assert_not_early(build, usecs);
			}
		}
	}
}

static void step_while_polling(int64_t step_ns, unsigned int every, unsigned int count)
{
	fake_start();
	fake.read_ns = 3 * NS_PER_US;
	fake.step_ns = step_ns;
	fake.step_every = every;
	fake.steps_left = count;
}

static void steps_at_any_reading_are_not_early(void **state)
{
	static const int64_t steps_ns[] = {-HOUR_NS * 24 * 365, -HOUR_NS, -NS_PER_S, -STEP_NS_MAX,
		-1, STEP_NS_MAX + NS_PER_US, NS_PER_S, HOUR_NS, HOUR_NS * 24 * 365};

	(void)state;
	for (const struct build *build = NULL; next_build(&build);) {
		for (size_t s = 0; s < sizeof(steps_ns) / sizeof(steps_ns[0]); s++) {
			for (unsigned int every = 1; every < 20; every++) {
				step_while_polling(steps_ns[s], every, 3);
				build->delay(99);
				assert_not_early(build, 99);
				if (!sleeps_for(build, 99) && build->percent == 100)
					assert_in_range(fake.steps_left, 0, 2);
				step_while_polling(steps_ns[s], every, 3);
				build->delay(250);
				assert_not_early(build, 250);
			}
		}
	}
}

/* A small step looks like passed time, and shortens the wait by its own length at most. */
static void step_too_small_to_tell_costs_no_more_than_itself(void **state)
{
	(void)state;
	for (const struct build *build = NULL; next_build(&build);) {
		step_while_polling(30 * NS_PER_US, 5, 1);
		build->delay(99);
		assert_true(passed_ns() >= (int64_t)(kept_us(build, 99) - 30) * NS_PER_US);
	}
}

static void backward_step_while_polling_prolongs_by_little(void **state)
{
	(void)state;
	for (const struct build *build = NULL; next_build(&build);) {
		step_while_polling(-HOUR_NS, 5, 1);
		build->delay(99);
		assert_not_early(build, 99);
		assert_true(passed_ns() <= (99 + 100) * NS_PER_US + unit_ns(build));
	}
}

/* Steps the clock before every other reading, so that the reading between always shows a tick. */
static void poll_between_steps(const struct build *build, int64_t phase_ns, int64_t read_ns)
{
	step_while_polling(-HOUR_NS - 2 * read_ns % NS_PER_US, 2, 100);
	fake.now_ns += phase_ns;
	fake.read_ns = read_ns;
	fake.sleep_error = ENOSYS;
	build->delay(40);
	assert_not_early(build, 40);
}

static void ticks_between_many_steps_do_not_add_up(void **state)
{
	(void)state;
	for (const struct build *build = NULL; next_build(&build);) {
		for (int64_t phase_ns = 0; phase_ns < NS_PER_US; phase_ns += 100) {
			for (int64_t read_ns = 300; read_ns < 2000; read_ns += 100)
				poll_between_steps(build, phase_ns, read_ns);
		}
	}
}

static void step_in_a_sleep(const struct build *build, int64_t step_ns)
{
	fake_start();
	fake.step_in_sleep_ns = step_ns;
	build->delay(1000000);
	assert_not_early(build, 1000000);
	assert_true(passed_ns() <= NS_PER_S + SLEEP_NS_MAX + 20 * NS_PER_US * 1000);
}

static void step_in_a_sleep_is_not_early_and_prolongs_by_one_sleep(void **state)
{
	(void)state;
	for (const struct build *build = NULL; next_build(&build);) {
		if (!sleeps_for(build, 1000000))
			continue;
		step_in_a_sleep(build, HOUR_NS);
		step_in_a_sleep(build, 50000000);
		step_in_a_sleep(build, -50000000);
		step_in_a_sleep(build, -HOUR_NS);
	}
}

/* In 2038, a 32-bit clock falls back to 1901. */
static void clock_that_wraps_is_waited_out(void **state)
{
	(void)state;
	for (const struct build *build = NULL; next_build(&build);) {
		fake_start();
		fake.step_in_sleep_ns = -2 * INT64_C(2147483647) * NS_PER_S;
		fake.wall_offset_ns = INT64_C(2147483646) * NS_PER_S;
		build->delay(100000);
		assert_not_early(build, 100000);
	}
}

static void storm(const struct build *build, int64_t left_too_much_ns)
{
	fake_start();
	fake.interruptions_left = 10;
	fake.left_too_much_ns = left_too_much_ns;
	fake.step_in_sleep_ns = HOUR_NS;
	build->delay(1000000);
	assert_not_early(build, 1000000);
	assert_true(passed_ns() <= 2 * NS_PER_S);
	assert_int_equal(fake.slack.now_ns, SLACK_NS);
}

/* Linux counts the slack as remaining time, which may exceed the request. */
static void signal_storm_is_slept_through(void **state)
{
	(void)state;
	for (const struct build *build = NULL; next_build(&build);) {
		if (!sleeps_for(build, 1000000))
			continue;
		storm(build, 0);
		assert_int_equal(fake.interruptions_left, 0);
		storm(build, SLACK_NS);
		storm(build, HOUR_NS);
	}
}

static void sleep_that_wakes_early_is_slept_again(void **state)
{
	(void)state;
	for (const struct build *build = NULL; next_build(&build);) {
		if (!sleeps_for(build, 50000))
			continue;
		fake_start();
		fake.early_wakes_left = 7;
		build->delay(50000);
		assert_not_early(build, 50000);
		if (build->sleep_unit_us == 0) /* others sleep longer than they have to */
			assert_int_equal(fake.early_wakes_left, 0);
	}
}

static void sleep_that_fails_is_polled_instead(void **state)
{
	(void)state;
	for (const struct build *build = NULL; next_build(&build);) {
		fake_start();
		fake.sleep_error = ENOSYS;
		build->delay(50000);
		assert_not_early(build, 50000);
		assert_true(passed_ns() <= 51 * 1000 * NS_PER_US);
		assert_int_equal(fake.slack.now_ns, SLACK_NS);
	}
}

/* Only builds that were told so can know that a sleep is cut. */
static void sleeps_of_whole_units_beside_a_coarse_clock_are_not_early(void **state)
{
	static const int64_t ticks_ns[] = {NS_PER_US, 10000000, 15625000};
	unsigned int seen = 0;

	(void)state;
	for (const struct build *build = NULL; next_build(&build);) {
		for (size_t t = 0; t < 3 && build->sleep_unit_us > 0; t++) {
			for (unsigned int usecs = 1; usecs < 3000000; usecs = usecs * 3 + 17) {
				fake_start();
				fake.latency_ns = 0;
				fake.sleep_unit_ns = unit_ns(build);
				fake.wall_tick_ns = ticks_ns[t];
				build->delay(usecs);
				assert_not_early(build, usecs);
				seen++;
			}
		}
	}
	assert_true(seen > 0);
}

/* usleep() does not tell what a signal left of it. */
static void signals_faster_than_a_sleep_end_with_shorter_sleeps(void **state)
{
	(void)state;
	for (const struct build *build = NULL; next_build(&build);) {
		fake_start();
		fake.interruptions_left = 6;
		fake.wall_tick_ns = 10000000;
		build->delay(1000000);
		assert_not_early(build, 1000000);
		assert_true(passed_ns() <= 2 * NS_PER_S);
	}
}

/* Ticks of 4 and 10 ms exceed a credible step, so a sleep must measure the time. */
static void coarse_clock_is_not_early_and_ends(void **state)
{
	(void)state;
	for (const struct build *build = NULL; next_build(&build);) {
		for (int64_t tick_ns = 4000000; tick_ns <= 10000000; tick_ns += 6000000) {
			fake_start();
			fake.wall_tick_ns = tick_ns;
			build->delay(60);
			assert_not_early(build, 60);
			assert_true(passed_ns() <= 2 * tick_ns);
		}
	}
}

static void coarse_clock_that_cannot_sleep_ends(void **state)
{
	(void)state;
	for (const struct build *build = NULL; next_build(&build);) {
		fake_start();
		fake.wall_tick_ns = 4000000;
		fake.sleep_error = ENOSYS;
		build->delay(60);
		assert_not_early(build, 60);
	}
}

static void thread_that_lost_its_cpu_is_not_early(void **state)
{
	(void)state;
	for (const struct build *build = NULL; next_build(&build);) {
		fake_start();
		fake.gap_at = 3;
		fake.gap_ns = 5000000;
		build->delay(99);
		assert_not_early(build, 99);
		assert_true(passed_ns() <= fake.gap_ns + 300 * NS_PER_US + unit_ns(build));
	}
}

static void cut_build_is_early_by_what_it_says(void **state)
{
	unsigned int seen = 0;

	(void)state;
	for (const struct build *build = NULL; next_build(&build);) {
		if (build->percent == 100)
			continue;
		fake_start();
		build->delay(1000);
		assert_true(passed_ns() < 700 * NS_PER_US);
		seen++;
	}
	assert_in_range(seen, 1, BUILDS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_wait_is_not_early_and_not_long),
		cmocka_unit_test(sleep_begins_at_threshold),
		cmocka_unit_test(zero_returns_without_reading_clock),
		cmocka_unit_test(every_start_within_a_microsecond_is_not_early),
		cmocka_unit_test(steps_at_any_reading_are_not_early),
		cmocka_unit_test(step_too_small_to_tell_costs_no_more_than_itself),
		cmocka_unit_test(backward_step_while_polling_prolongs_by_little),
		cmocka_unit_test(ticks_between_many_steps_do_not_add_up),
		cmocka_unit_test(step_in_a_sleep_is_not_early_and_prolongs_by_one_sleep),
		cmocka_unit_test(clock_that_wraps_is_waited_out),
		cmocka_unit_test(signal_storm_is_slept_through),
		cmocka_unit_test(sleep_that_wakes_early_is_slept_again),
		cmocka_unit_test(sleep_that_fails_is_polled_instead),
		cmocka_unit_test(sleeps_of_whole_units_beside_a_coarse_clock_are_not_early),
		cmocka_unit_test(signals_faster_than_a_sleep_end_with_shorter_sleeps),
		cmocka_unit_test(coarse_clock_is_not_early_and_ends),
		cmocka_unit_test(coarse_clock_that_cannot_sleep_ends),
		cmocka_unit_test(thread_that_lost_its_cpu_is_not_early),
		cmocka_unit_test(cut_build_is_early_by_what_it_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
