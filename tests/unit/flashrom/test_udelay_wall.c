/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The delay layer on a fake wall clock with steps, in all builds that use one. */
#include <errno.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "fake_slack.h"
#include "udelay_builds.h"

#define NS_PER_US 1000
#define NS_PER_S INT64_C(1000000000)
#define HOUR_NS (3600 * NS_PER_S)
#define SLACK_NS 50000

/* Limits of udelay.c. */
#define STEP_NS_MAX 50000
#define SLEEP_NS_MAX 100000000

/* True time, and a wall clock that steps. Wrapped functions get no context, so it is global. */
static struct fake_world {
	int64_t now_ns;
	int64_t wall_offset_ns;
	int64_t wall_tick_ns;  /* readings are rounded down to whole ticks */
	int64_t sleep_unit_ns; /* sleeps are cut to whole units; 0: they are not */
	int64_t read_ns;       /* time of one reading */
	int64_t start_ns;      /* when the clock was first read */
	int64_t latency_ns;
	unsigned int readings;
	unsigned int sleeps;
	unsigned int interruptions_left;
	unsigned int early_wakes_left;
	int64_t remainder_error_ns; /* error of the time left that an interrupted sleep reports */
	unsigned int steps_left;
	unsigned int step_every; /* readings, from the second on; 0 for no steps */
	unsigned int gap_at;     /* reading before which the thread loses its CPU */
	int64_t gap_ns;
	int64_t step_ns;
	int64_t step_in_sleep_ns; /* during one sleep */
	int sleep_error;
} fake;

int __wrap_gettimeofday(struct timeval *now, void *zone);
int __wrap_nanosleep(const struct timespec *length, struct timespec *left);
int __wrap_usleep(useconds_t usecs);

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
	*left = timespec_of(length_ns - length_ns / 2 + fake.remainder_error_ns);
	errno = EINTR;
	return -1;
}

static int sleep_for(int64_t length_ns, struct timespec *left)
{
	assert_in_range(length_ns, 1, SLEEP_NS_MAX);
	fake.sleeps++;
	fake_slack_see_sleep();
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

/* 1,600,000,000 s, in the year 2020, fit into 32 bits. */
static void fake_start(void)
{
	fake = (struct fake_world){
		.now_ns = NS_PER_S - 1,
		.wall_offset_ns = 1600000000 * NS_PER_S,
		.wall_tick_ns = NS_PER_US,
		.read_ns = 20 * NS_PER_US,
		.latency_ns = 60 * NS_PER_US,
	};
	slack = (struct fake_slack){.now_ns = SLACK_NS};
}

static int64_t elapsed_ns(void)
{
	if (fake.readings == 0)
		return 0;
	return fake.now_ns - fake.start_ns - fake.read_ns;
}

static void assert_not_early(const struct build *build, unsigned int usecs)
{
	const int64_t wait_ns = (int64_t)actual_us(build, usecs) * NS_PER_US;

	if (elapsed_ns() < wait_ns)
		print_message("%s(%u) is early\n", build->name, usecs);
	assert_true(elapsed_ns() >= wait_ns);
}

static int64_t unit_ns(const struct build *build)
{
	return (int64_t)build->sleep_unit_us * NS_PER_US;
}

static bool is_on_wall(const struct build *build)
{
	return !build->monotonic;
}

static bool is_shortened(const struct build *build)
{
	return !build->monotonic && build->percent != 100;
}

static bool knows_unit(const struct build *build)
{
	return !build->monotonic && build->sleep_unit_us > 0;
}

static bool is_polled_for_long(const struct build *build, unsigned int usecs)
{
	return usecs > 5000000 && !sleeps_for(build, usecs);
}

static void each_wait_is_neither_early_nor_long(const struct build *build)
{
	for (size_t w = 0; w < WAITS; w++) {
		const int64_t wait_ns = (int64_t)waits_us[w] * NS_PER_US;

		if (is_polled_for_long(build, waits_us[w]))
			continue;
		fake_start();
		build->delay(waits_us[w]);
		assert_not_early(build, waits_us[w]);
		/*
		 * Each sleep adds its latency: 60 us for each 100 ms, and at the end. It also adds
		 * the unit by which it may be cut.
		 */
		assert_true(
			elapsed_ns() <= wait_ns + wait_ns / 1000 + 200 * NS_PER_US +
						unit_ns(build) * (2 + wait_ns / SLEEP_NS_MAX * 2));
	}
}

static void sleep_begins_at_threshold(const struct build *build)
{
	for (size_t w = 0; w < WAITS; w++) {
		if (is_polled_for_long(build, waits_us[w]))
			continue;
		fake_start();
		build->delay(waits_us[w]);
		assert_int_equal(fake.sleeps > 0, sleeps_for(build, waits_us[w]));
		assert_int_equal(slack.now_ns, SLACK_NS);
		if (fake.sleeps > 0)
			assert_int_equal(slack.ns_max, build->slack ? 1 : SLACK_NS);
	}
}

static void zero_returns_without_reading_clock(const struct build *build)
{
	fake_start();
	build->delay(0);
	assert_int_equal(fake.readings + fake.sleeps + slack.gets, 0);
}

/* A reading may be up to a microsecond old, which must not shorten the wait. */
static void every_start_within_a_microsecond_is_not_early(const struct build *build)
{
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

static void step_while_polling(int64_t step_ns, unsigned int every, unsigned int count)
{
	fake_start();
	fake.read_ns = 3 * NS_PER_US;
	fake.step_ns = step_ns;
	fake.step_every = every;
	fake.steps_left = count;
}

static void steps_at_any_reading_are_not_early(const struct build *build)
{
	static const int64_t steps_ns[] = {-HOUR_NS * 24 * 365, -HOUR_NS, -NS_PER_S, -STEP_NS_MAX,
		-1, STEP_NS_MAX + NS_PER_US, NS_PER_S, HOUR_NS, HOUR_NS * 24 * 365};

	for (size_t s = 0; s < COUNT(steps_ns); s++) {
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

/* A small step cannot be distinguished from passed time. */
static void small_step_shortens_the_wait_by_its_own_length_at_most(const struct build *build)
{
	step_while_polling(30 * NS_PER_US, 5, 1);
	build->delay(99);
	assert_true(elapsed_ns() >= (int64_t)(actual_us(build, 99) - 30) * NS_PER_US);
}

static void backward_step_while_polling_prolongs_by_little(const struct build *build)
{
	step_while_polling(-HOUR_NS, 5, 1);
	build->delay(99);
	assert_not_early(build, 99);
	assert_true(elapsed_ns() <= (99 + 100) * NS_PER_US + unit_ns(build));
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

static void ticks_between_many_steps_do_not_add_up(const struct build *build)
{
	for (int64_t phase_ns = 0; phase_ns < NS_PER_US; phase_ns += 100) {
		for (int64_t read_ns = 300; read_ns < 2000; read_ns += 100)
			poll_between_steps(build, phase_ns, read_ns);
	}
}

static void step_in_a_sleep(const struct build *build, int64_t step_ns)
{
	fake_start();
	fake.step_in_sleep_ns = step_ns;
	build->delay(1000000);
	assert_not_early(build, 1000000);
	assert_true(elapsed_ns() <= NS_PER_S + SLEEP_NS_MAX + 20 * NS_PER_US * 1000);
}

static void step_in_a_sleep_is_not_early_and_prolongs_by_one_sleep(const struct build *build)
{
	if (!sleeps_for(build, 1000000))
		return;
	step_in_a_sleep(build, HOUR_NS);
	step_in_a_sleep(build, 50000000);
	step_in_a_sleep(build, -50000000);
	step_in_a_sleep(build, -HOUR_NS);
}

/* The disturbances of a wait. A field of 0 changes nothing. */
struct trouble {
	unsigned int usecs;
	int64_t longest_ns; /* 0: any */
	int64_t wall_tick_ns;
	int64_t wall_offset_ns;
	int64_t step_in_sleep_ns;
	unsigned int interruptions;
	unsigned int early_wakes;
	unsigned int gap_at;
	int64_t gap_ns;
	int sleep_error;
};

static void wait_in_trouble(const struct build *build, const struct trouble *trouble)
{
	const int64_t may_be_short_ns = trouble->gap_ns != 0 ? unit_ns(build) : 0;

	fake_start();
	if (trouble->wall_tick_ns != 0)
		fake.wall_tick_ns = trouble->wall_tick_ns;
	if (trouble->wall_offset_ns != 0)
		fake.wall_offset_ns = trouble->wall_offset_ns;
	fake.step_in_sleep_ns = trouble->step_in_sleep_ns;
	fake.interruptions_left = trouble->interruptions;
	fake.early_wakes_left = trouble->early_wakes;
	fake.gap_at = trouble->gap_at;
	fake.gap_ns = trouble->gap_ns;
	fake.sleep_error = trouble->sleep_error;
	build->delay(trouble->usecs);
	assert_not_early(build, trouble->usecs);
	assert_int_equal(slack.now_ns, SLACK_NS);
	if (trouble->longest_ns != 0)
		assert_true(elapsed_ns() <= trouble->longest_ns + may_be_short_ns);
	/* A build with a sleep unit sleeps longer than requested, so it needs fewer sleeps. */
	if (sleeps_for(build, trouble->usecs) && build->sleep_unit_us == 0)
		assert_int_equal(fake.early_wakes_left, 0);
}

static void wait_in_trouble_is_not_early(void **state)
{
	const struct trouble *trouble = *state;

	for (size_t i = 0; i < BUILDS; i++) {
		if (is_on_wall(&builds[i]))
			wait_in_trouble(&builds[i], trouble);
	}
}

static void storm(const struct build *build, int64_t remainder_error_ns)
{
	fake_start();
	fake.interruptions_left = 10;
	fake.remainder_error_ns = remainder_error_ns;
	fake.step_in_sleep_ns = HOUR_NS;
	build->delay(1000000);
	assert_not_early(build, 1000000);
	assert_true(elapsed_ns() <= 2 * NS_PER_S);
	assert_int_equal(slack.now_ns, SLACK_NS);
}

/* Linux counts the slack as remaining time, which may exceed the request. */
static void signal_storm_is_slept_through(const struct build *build)
{
	if (!sleeps_for(build, 1000000))
		return;
	storm(build, 0);
	assert_int_equal(fake.interruptions_left, 0);
	storm(build, SLACK_NS);
	storm(build, HOUR_NS);
}

/* Only builds with a sleep unit know that sleeps are cut. */
static void sleeps_of_whole_units_beside_a_coarse_clock_are_not_early(const struct build *build)
{
	static const int64_t ticks_ns[] = {NS_PER_US, 10000000, 15625000};

	for (size_t t = 0; t < COUNT(ticks_ns); t++) {
		for (unsigned int usecs = 1; usecs < 3000000; usecs = usecs * 3 + 17) {
			fake_start();
			fake.latency_ns = 0;
			fake.sleep_unit_ns = unit_ns(build);
			fake.wall_tick_ns = ticks_ns[t];
			build->delay(usecs);
			assert_not_early(build, usecs);
		}
	}
}

static void shortened_build_is_early(const struct build *build)
{
	fake_start();
	build->delay(1000);
	assert_true(elapsed_ns() < 700 * NS_PER_US);
}

#define TROUBLE(name, ...) ROW(wait_in_trouble_is_not_early, trouble, name, __VA_ARGS__)

static const struct CMUnitTest tests[] = {
	ON_BUILDS(is_on_wall, each_wait_is_neither_early_nor_long),
	ON_BUILDS(is_on_wall, sleep_begins_at_threshold),
	ON_BUILDS(is_on_wall, zero_returns_without_reading_clock),
	/* In 2038, a 32-bit clock falls back to 1901. */
	TROUBLE(clock_that_wraps_is_waited_out, .usecs = 100000,
		.step_in_sleep_ns = -2 * INT64_C(2147483647) * NS_PER_S,
		.wall_offset_ns = INT64_C(2147483646) * NS_PER_S),
	TROUBLE(sleep_that_wakes_early_is_slept_again, .usecs = 50000, .early_wakes = 7),
	TROUBLE(sleep_that_fails_is_polled_instead, .usecs = 50000, .sleep_error = ENOSYS,
		.longest_ns = 51 * 1000 * NS_PER_US),
	/* After a signal, usleep() does not return the time that was left. */
	TROUBLE(wait_ends_in_spite_of_frequent_signals, .usecs = 1000000, .interruptions = 6,
		.wall_tick_ns = 10000000, .longest_ns = 2 * NS_PER_S),
	/* Ticks of 4 and 10 ms exceed a credible step, so a sleep must measure the time. */
	TROUBLE(coarse_clock_is_not_early_and_ends, .usecs = 60, .wall_tick_ns = 4000000,
		.longest_ns = 8000000),
	TROUBLE(coarser_clock_is_not_early_and_ends, .usecs = 60, .wall_tick_ns = 10000000,
		.longest_ns = 20000000),
	TROUBLE(coarse_clock_that_cannot_sleep_ends, .usecs = 60, .wall_tick_ns = 4000000,
		.sleep_error = ENOSYS),
	TROUBLE(thread_that_lost_its_cpu_is_not_early, .usecs = 99, .gap_at = 3, .gap_ns = 5000000,
		.longest_ns = 5000000 + 300 * NS_PER_US),
	ON_BUILDS(is_on_wall, every_start_within_a_microsecond_is_not_early),
	ON_BUILDS(is_on_wall, steps_at_any_reading_are_not_early),
	ON_BUILDS(is_on_wall, small_step_shortens_the_wait_by_its_own_length_at_most),
	ON_BUILDS(is_on_wall, backward_step_while_polling_prolongs_by_little),
	ON_BUILDS(is_on_wall, ticks_between_many_steps_do_not_add_up),
	ON_BUILDS(is_on_wall, step_in_a_sleep_is_not_early_and_prolongs_by_one_sleep),
	ON_BUILDS(is_on_wall, signal_storm_is_slept_through),
	ON_BUILDS(knows_unit, sleeps_of_whole_units_beside_a_coarse_clock_are_not_early),
	ON_BUILDS(is_shortened, shortened_build_is_early),
};

RUN_CASES(tests)
