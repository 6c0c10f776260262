/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The delay layer on a fake CLOCK_MONOTONIC, in all builds that use it. */
#include <errno.h>
#include <pthread.h>
#include <time.h>

#include "fake_slack.h"
#include "udelay_builds.h"

#define NS_PER_S UINT64_C(1000000000)
#define SLACK_NS 50000

/* Limits of udelay.c. */
#define MARGIN_NS_DEFAULT 60000
#define MARGIN_NS_MIN 2000
#define MARGIN_NS_MAX 125000

/*
 * A clock that advances by `step_ns` with each reading, and by sleeps. Wrapped functions get no
 * context, so it is global.
 */
static struct fake_clock {
	uint64_t now_ns;
	uint64_t step_ns;
	uint64_t latency_ns; /* lateness of a sleep's end, besides the slack */
	uint64_t first_ns;   /* the first reading since the start */
	uint64_t last_ns;
	uint64_t until_ns; /* requested end of the last sleep */
	unsigned int readings;
	unsigned int absolute_sleeps;
	unsigned int relative_sleeps;
	unsigned int interruptions_left;
	unsigned int early_wakes_left;
	unsigned int reading_that_goes_back;
	int sleep_error;
} fake;

int __wrap_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_clock_nanosleep(
	clockid_t clock, int flags, const struct timespec *until, struct timespec *left);
int __wrap_nanosleep(const struct timespec *length, struct timespec *left);

int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
	assert_int_equal(clock, CLOCK_MONOTONIC);
	now->tv_sec = (time_t)(fake.now_ns / NS_PER_S);
	now->tv_nsec = (long)(fake.now_ns % NS_PER_S);
	if (fake.readings++ == 0)
		fake.first_ns = fake.now_ns;
	else if (fake.readings == fake.reading_that_goes_back)
		now->tv_sec -= 3;
	fake.last_ns = fake.now_ns;
	fake.now_ns += fake.step_ns;
	return 0;
}

/* Sleeps only half of the time, as if a signal or a kernel bug had ended the sleep. */
static void sleep_half(uint64_t until_ns)
{
	if (until_ns > fake.now_ns)
		fake.now_ns += (until_ns - fake.now_ns) / 2;
}

static int sleep_until(uint64_t until_ns)
{
	fake.until_ns = until_ns;
	fake_slack_see_sleep();
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
	fake.now_ns += fake.latency_ns + (uint64_t)slack.now_ns;
	return 0;
}

static uint64_t timespec_ns(const struct timespec *time)
{
	assert_in_range(time->tv_nsec, 0, NS_PER_S - 1);
	assert_true(time->tv_sec >= 0);
	return (uint64_t)time->tv_sec * NS_PER_S + (uint64_t)time->tv_nsec;
}

int __wrap_clock_nanosleep(
	clockid_t clock, int flags, const struct timespec *until, struct timespec *left)
{
	assert_int_equal(clock, CLOCK_MONOTONIC);
	assert_int_equal(flags, TIMER_ABSTIME);
	assert_null(left);
	fake.absolute_sleeps++;
	return sleep_until(timespec_ns(until));
}

int __wrap_nanosleep(const struct timespec *length, struct timespec *left)
{
	assert_null(left);
	fake.relative_sleeps++;
	errno = sleep_until(fake.last_ns + timespec_ns(length));
	return errno == 0 ? 0 : -1;
}

/* Starts one nanosecond before a full second, so that every sum carries. */
static void fake_start(uint64_t step_ns)
{
	fake = (struct fake_clock){
		.now_ns = 5 * NS_PER_S - 1,
		.step_ns = step_ns,
	};
	slack = (struct fake_slack){.now_ns = SLACK_NS};
}

/* Returns a step with which the wait needs about 500 readings. */
static uint64_t step_for(unsigned int usecs)
{
	return (uint64_t)usecs * 1000 / 512 + 1;
}

static unsigned int sleeps(void)
{
	return fake.absolute_sleeps + fake.relative_sleeps;
}

static uint64_t elapsed_ns(void)
{
	return fake.last_ns - fake.first_ns;
}

static void assert_not_early(const struct build *build, unsigned int usecs)
{
	if (elapsed_ns() < (uint64_t)actual_us(build, usecs) * 1000)
		print_message("%s(%u) is early\n", build->name, usecs);
	assert_true(elapsed_ns() >= (uint64_t)actual_us(build, usecs) * 1000);
}

static bool is_monotonic(const struct build *build)
{
	return build->monotonic;
}

/* Such a build waits too briefly on purpose; the rig must find that. */
static bool is_shortened(const struct build *build)
{
	return build->monotonic && build->percent != 100;
}

static bool is_learner(const struct build *build)
{
	return build->monotonic && build->learns && build->hybrid && build->percent == 100 &&
	       sleeps_for(build, 1000);
}

static bool cannot_learn(const struct build *build)
{
	return build->monotonic && !build->learns && build->hybrid;
}

static void each_wait_is_neither_early_nor_long(const struct build *build)
{
	for (size_t w = 0; w < WAITS; w++) {
		const uint64_t wait_ns = (uint64_t)actual_us(build, waits_us[w]) * 1000;

		fake_start(step_for(waits_us[w]));
		build->delay(waits_us[w]);
		assert_not_early(build, waits_us[w]);
		assert_true(elapsed_ns() <= wait_ns + SLACK_NS + 2 * fake.step_ns);
	}
}

static void sleep_begins_at_threshold(const struct build *build)
{
	for (size_t w = 0; w < WAITS; w++) {
		fake_start(step_for(waits_us[w]));
		build->delay(waits_us[w]);
		assert_int_equal(sleeps() > 0, sleeps_for(build, waits_us[w]));
		assert_int_equal(build->absolute ? fake.relative_sleeps : fake.absolute_sleeps, 0);
	}
}

static void zero_returns_without_reading_clock(const struct build *build)
{
	fake_start(1);
	build->delay(0);
	assert_int_equal(fake.readings + sleeps() + slack.gets, 0);
}

/* The disturbances of a wait. A field of 0 changes nothing. */
struct trouble {
	unsigned int usecs;
	uint64_t step_ns;
	uint64_t now_ns;
	unsigned int interruptions;
	unsigned int early_wakes;
	unsigned int reading_that_goes_back;
	int sleep_error;
	unsigned int sleeps_min, sleeps_max; /* both 0: builds that do not sleep are tested, too */
};

static void wait_in_trouble(const struct build *build, const struct trouble *trouble)
{
	fake_start(trouble->step_ns != 0 ? trouble->step_ns : step_for(trouble->usecs));
	if (trouble->now_ns != 0)
		fake.now_ns = trouble->now_ns;
	fake.interruptions_left = trouble->interruptions;
	fake.early_wakes_left = trouble->early_wakes;
	fake.reading_that_goes_back = trouble->reading_that_goes_back;
	fake.sleep_error = trouble->sleep_error;
	build->delay(trouble->usecs);
	assert_not_early(build, trouble->usecs);
	assert_int_equal(slack.now_ns, SLACK_NS);
	if (trouble->sleeps_max > 0)
		assert_in_range(sleeps(), trouble->sleeps_min, trouble->sleeps_max);
	assert_int_equal(fake.interruptions_left, 0);
}

static void wait_in_trouble_is_not_early(void **state)
{
	const struct trouble *trouble = *state;

	for (size_t i = 0; i < BUILDS; i++) {
		if (is_monotonic(&builds[i]) &&
			(trouble->sleeps_max == 0 || sleeps_for(&builds[i], trouble->usecs)))
			wait_in_trouble(&builds[i], trouble);
	}
}

static void every_start_within_a_second_carries(const struct build *build)
{
	for (uint64_t start_ns = 0; start_ns < NS_PER_S; start_ns += 99999999) {
		fake_start(step_for(999999));
		fake.now_ns = start_ns;
		build->delay(999999);
		assert_not_early(build, 999999);
	}
}

static void shortened_build_is_early(const struct build *build)
{
	fake_start(1000);
	build->delay(1000);
	assert_true(elapsed_ns() < 600000 + SLACK_NS);
}

/* Runs waits whose sleeps end late by `latency_ns`. Returns the margin of the last one. */
static uint64_t margin_after(const struct build *build, uint64_t latency_ns, unsigned int waits)
{
	for (unsigned int i = 0; i < waits; i++) {
		fake_start(100);
		slack.now_ns = 1; /* so that `latency_ns` is the only latency */
		fake.latency_ns = latency_ns;
		build->delay(1000);
	}
	return fake.first_ns + 1000000 - fake.until_ns;
}

static void margin_follows_latency(const struct build *build)
{
	assert_in_range(margin_after(build, 20000, 2000), 20000, 22000);
	assert_in_range(margin_after(build, 90000, 50), 85000, 91000);
	assert_in_range(margin_after(build, 30000, 2000), 30000, 32000);
}

static void margin_is_bounded(const struct build *build)
{
	assert_in_range(margin_after(build, MARGIN_NS_MAX - 1000, 50), 120000, MARGIN_NS_MAX);
	assert_in_range(margin_after(build, 0, 5000), MARGIN_NS_MIN, MARGIN_NS_MIN + 500);
}

static void latency_beyond_the_limit_leaves_the_margin_unchanged(const struct build *build)
{
	const uint64_t margin_ns = margin_after(build, 20000, 2000);

	assert_int_equal(margin_after(build, MARGIN_NS_MAX + 1, 50), margin_ns);
	assert_int_equal(margin_after(build, 100000000, 50), margin_ns);
}

static void learnt_margin_hides_latency(const struct build *build)
{
	margin_after(build, 40000, 1000);
	assert_not_early(build, 1000);
	assert_true(elapsed_ns() <= 1000000 + 2 * fake.step_ns);
}

/* The longest margin exceeds this wait. */
static void at_least_an_eighth_of_a_wait_is_slept(const struct build *build)
{
	if (!sleeps_for(build, 100))
		return;
	margin_after(build, MARGIN_NS_MAX - 1000, 50);
	fake_start(100);
	build->delay(100);
	assert_not_early(build, 100);
	assert_int_equal(fake.until_ns - fake.first_ns, 100000 / 8);
}

static void build_that_cannot_learn_keeps_its_margin(const struct build *build)
{
	assert_int_equal(margin_after(build, 90000, 10), MARGIN_NS_DEFAULT);
	assert_int_equal(margin_after(build, 0, 10), MARGIN_NS_DEFAULT);
}

static void build_without_hybrid_sleeps_to_the_end(const struct build *build)
{
	if (build->hybrid || !sleeps_for(build, 1000))
		return;
	fake_start(100);
	build->delay(1000);
	assert_int_equal(fake.until_ns - fake.first_ns, 1000000);
}

struct first_margin {
	const struct build *build;
	uint64_t margin_ns;
};

static void *measure_first_margin(void *context)
{
	struct first_margin *first = context;

	first->margin_ns = margin_after(first->build, 0, 1);
	return NULL;
}

static void margin_belongs_to_its_thread(const struct build *build)
{
	struct first_margin first = {.build = build};
	pthread_t thread;

	margin_after(build, 110000, 50);
	assert_int_equal(pthread_create(&thread, NULL, measure_first_margin, &first), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(first.margin_ns, MARGIN_NS_DEFAULT);
	assert_in_range(margin_after(build, 110000, 1), 100000, MARGIN_NS_MAX);
}

static void slack_is_1_ns_in_a_sleep_and_restored_after_it(const struct build *build)
{
	for (size_t w = 0; w < WAITS; w++) {
		fake_start(step_for(waits_us[w]));
		build->delay(waits_us[w]);
		assert_int_equal(slack.now_ns, SLACK_NS);
		if (!sleeps_for(build, waits_us[w]) || !build->slack)
			assert_int_equal(slack.gets + slack.sets, 0);
		else
			assert_int_equal(slack.ns_max, 1);
	}
}

static void slack_that_is_small_or_unknown_is_not_changed(const struct build *build)
{
	static const int answers[] = {-1, 1};

	for (size_t a = 0; a < COUNT(answers); a++) {
		fake_start(step_for(1000));
		slack.get_result = answers[a];
		build->delay(1000);
		assert_not_early(build, 1000);
		assert_int_equal(slack.sets, 0);
	}
}

static void slack_that_cannot_be_set_is_not_restored(const struct build *build)
{
	fake_start(step_for(1000));
	slack.set_result = -1;
	build->delay(1000);
	assert_not_early(build, 1000);
	assert_in_range(slack.sets, 0, 1);
}

#define TROUBLE(name, ...) ROW(wait_in_trouble_is_not_early, trouble, name, __VA_ARGS__)

static const struct CMUnitTest tests[] = {
	ON_BUILDS(is_monotonic, each_wait_is_neither_early_nor_long),
	ON_BUILDS(is_monotonic, sleep_begins_at_threshold),
	ON_BUILDS(is_monotonic, zero_returns_without_reading_clock),
	TROUBLE(delay_across_32bit_nanoseconds_is_not_early, .usecs = 4294968,
		.now_ns = (UINT64_C(1) << 32) - 1),
	/* A time_t of 32 bits cannot go further; one of 64 bits leaves this second during the wait.
	 */
	TROUBLE(delay_at_the_end_of_32bit_seconds_is_not_early, .usecs = 1000000,
		.now_ns = (uint64_t)(INT32_MAX - (sizeof(time_t) > 4 ? 0 : 2)) * NS_PER_S),
	TROUBLE(signal_storm_is_slept_through, .usecs = 5000000, .step_ns = 1000,
		.interruptions = 20, .sleeps_min = 21, .sleeps_max = 22),
	TROUBLE(sleep_that_wakes_early_is_slept_again, .usecs = 5000000, .step_ns = 1000,
		.early_wakes = 7, .sleeps_min = 8, .sleeps_max = 8),
	TROUBLE(sleep_that_fails_is_polled_instead, .usecs = 5000000, .sleep_error = ENOTSUP,
		.sleeps_min = 1, .sleeps_max = 1),
	/* A tick of 4 ms, as without high-resolution timers. */
	TROUBLE(coarse_clock_is_not_early, .usecs = 10, .step_ns = 4000000),
	/* A monotonic clock must not go back, but on some machines it did. */
	TROUBLE(clock_that_goes_back_is_waited_out, .usecs = 100000, .reading_that_goes_back = 2),
	ON_BUILDS(is_monotonic, every_start_within_a_second_carries),
	ON_BUILDS(is_shortened, shortened_build_is_early),
	ON_BUILDS(is_learner, margin_follows_latency),
	ON_BUILDS(is_learner, margin_is_bounded),
	ON_BUILDS(is_learner, latency_beyond_the_limit_leaves_the_margin_unchanged),
	ON_BUILDS(is_learner, learnt_margin_hides_latency),
	ON_BUILDS(is_learner, at_least_an_eighth_of_a_wait_is_slept),
	ON_BUILDS(cannot_learn, build_that_cannot_learn_keeps_its_margin),
	ON_BUILDS(is_monotonic, build_without_hybrid_sleeps_to_the_end),
	ON_BUILDS(is_learner, margin_belongs_to_its_thread),
	ON_BUILDS(is_monotonic, slack_is_1_ns_in_a_sleep_and_restored_after_it),
	ON_BUILDS(is_monotonic, slack_that_is_small_or_unknown_is_not_changed),
	ON_BUILDS(is_monotonic, slack_that_cannot_be_set_is_not_restored),
};

RUN_CASES(tests)
