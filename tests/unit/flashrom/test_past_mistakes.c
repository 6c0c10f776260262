/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Each build of flashrom/past_mistakes/ has its mistake and no other. */
#include <errno.h>
#include <time.h>

#include "../cases.h"
#include "flash.h"

#define NS_PER_S UINT64_C(1000000000)
#define REAL_NS (UINT64_C(1700000000) * NS_PER_S) /* the wall clock when CLOCK_MONOTONIC is 0 */
#define ROUND_NS 20                               /* a round of a loop when it was calibrated */
#define NEVER UINT64_MAX

/* Past mistakes, by the function names that meson.build gives them. */
#define MISTAKE(name)                                                                              \
	void delay_##name(unsigned int usecs);                                                     \
	extern const char mistake_##name[];
PAST_MISTAKES
#undef MISTAKE
void prepare_calibrated_loop(void);
void prepare_doubling_calibration_2003(void);
void prepare_trusting_getres(void);
int wait_before_buffered_write(struct flash *flash, uint32_t us);

/* Two clocks, a CPU and its interruptions. Wrapped functions get no context, so it is global. */
static struct machine {
	uint64_t now_ns;
	uint64_t reading_ns; /* cost of one look at a clock */
	uint64_t round_ns;   /* a round of a loop now */
	uint64_t slept_ns;
	long resolution_ns; /* as clock_getres() claims */
	unsigned int signals_left;
	uint64_t step_at_ns; /* when the wall clock is set */
	int64_t step_ns;
} machine = {
	/* The builds calibrate before main(). */
	.now_ns = 5 * NS_PER_S,
	.reading_ns = 40,
	.round_ns = ROUND_NS,
	.resolution_ns = 1,
	.step_at_ns = NEVER,
};

int __wrap_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_clock_getres(clockid_t clock, struct timespec *resolution);
int __wrap_clock_nanosleep(
	clockid_t clock, int flags, const struct timespec *until, struct timespec *left);
int __wrap_nanosleep(const struct timespec *length, struct timespec *left);
void __wrap_loop_spin(uint64_t rounds);

static uint64_t shown_ns(clockid_t clock)
{
	uint64_t shown = machine.now_ns;

	if (clock == CLOCK_MONOTONIC)
		return shown;
	assert_int_equal(clock, CLOCK_REALTIME);
	shown += REAL_NS;
	return machine.now_ns < machine.step_at_ns ? shown : shown + (uint64_t)machine.step_ns;
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
	const uint64_t shown = shown_ns(clock);

	now->tv_sec = (time_t)(shown / NS_PER_S);
	now->tv_nsec = (long)(shown % NS_PER_S);
	machine.now_ns += machine.reading_ns;
	return 0;
}

int __wrap_clock_getres(clockid_t clock, struct timespec *resolution)
{
	(void)clock;
	*resolution = (struct timespec){.tv_nsec = machine.resolution_ns};
	return 0;
}

static void sleep_ns(uint64_t length_ns)
{
	machine.now_ns += length_ns;
	machine.slept_ns += length_ns;
}

static int sleep_or_signal(uint64_t length_ns)
{
	if (machine.signals_left == 0) {
		sleep_ns(length_ns);
		return 0;
	}
	machine.signals_left--;
	sleep_ns(length_ns / 20);
	return EINTR;
}

static uint64_t timespec_ns(const struct timespec *time)
{
	assert_in_range(time->tv_nsec, 0, NS_PER_S - 1);
	return (uint64_t)time->tv_sec * NS_PER_S + (uint64_t)time->tv_nsec;
}

/* Sleeps as Linux: a step of the wall clock past the end of an absolute sleep wakes the sleeper. */
int __wrap_clock_nanosleep(
	clockid_t clock, int flags, const struct timespec *until, struct timespec *left)
{
	const uint64_t until_ns = timespec_ns(until);
	const uint64_t now_ns = shown_ns(clock);

	assert_int_equal(flags, TIMER_ABSTIME);
	assert_null(left);
	if (until_ns <= now_ns)
		return 0;
	if (clock == CLOCK_REALTIME && machine.now_ns < machine.step_at_ns &&
		machine.now_ns + (until_ns - now_ns) > machine.step_at_ns) {
		sleep_ns(machine.step_at_ns - machine.now_ns);
		return __wrap_clock_nanosleep(clock, flags, until, left);
	}
	return sleep_or_signal(until_ns - now_ns);
}

int __wrap_nanosleep(const struct timespec *length, struct timespec *left)
{
	assert_null(left);
	errno = sleep_or_signal(timespec_ns(length));
	return errno == 0 ? 0 : -1;
}

void __wrap_loop_spin(uint64_t rounds)
{
	machine.now_ns += rounds * machine.round_ns;
}

enum hazard {
	CALM,
	FASTER_CPU, /* five times faster, after the loop was calibrated */
	COARSE_CLAIM,
	COARSE_CLAIM_FASTER_CPU,
	SIGNAL,
	CLOCK_FORWARD, /* an hour forward, during the wait */
	CLOCK_BACK,    /* a second back */
};

static bool is_coarse(enum hazard hazard)
{
	return hazard == COARSE_CLAIM || hazard == COARSE_CLAIM_FASTER_CPU;
}

static bool gets_faster(enum hazard hazard)
{
	return hazard == FASTER_CPU || hazard == COARSE_CLAIM_FASTER_CPU;
}

static void machine_start(enum hazard hazard, uint64_t wait_us)
{
	machine = (struct machine){
		.now_ns = 5 * NS_PER_S,
		.reading_ns = 40,
		.round_ns = ROUND_NS,
		.resolution_ns = is_coarse(hazard) ? 4000000 : 1,
		.step_at_ns = NEVER,
	};
	prepare_calibrated_loop();
	prepare_doubling_calibration_2003();
	prepare_trusting_getres();
	if (gets_faster(hazard))
		machine.round_ns = ROUND_NS / 5;
	machine.signals_left = hazard == SIGNAL;
	if (hazard == CLOCK_FORWARD || hazard == CLOCK_BACK)
		machine.step_at_ns = machine.now_ns + wait_us * 1000 / 20;
	machine.step_ns = (int64_t)NS_PER_S * (hazard == CLOCK_FORWARD ? 3600 : -1);
	machine.reading_ns = wait_us * 1000 / 4096 + 1;
	machine.slept_ns = 0;
}

/* The quality of a wait. A correct delay layer would be RIGHT in each case. */
enum outcome {
	RIGHT,  /* never early, at most 6 % late, and cheap */
	POLLED, /* in time, but it polled where it should sleep */
	SLEPT,  /* in time, but it slept where it should poll */
	EARLY,
	LATE,
};

#define SLEEP_US_MIN 100
#define LATE_PERCENT_MAX 106 /* a calibrated loop rounds up */

static enum outcome judge(unsigned int usecs, uint64_t took_ns)
{
	const bool slept = machine.slept_ns > 0;

	if (took_ns < (uint64_t)usecs * 1000)
		return EARLY;
	if (took_ns > (uint64_t)usecs * 10 * LATE_PERCENT_MAX + 2 * machine.reading_ns)
		return LATE;
	if (slept == (usecs >= SLEEP_US_MIN))
		return RIGHT;
	return slept ? SLEPT : POLLED;
}

struct scene {
	const char *mistake;
	void (*delay)(unsigned int usecs);
	enum hazard hazard;
	unsigned int usecs;
	enum outcome outcome;
};

#define SCENE(name, ...) {#name, delay_##name, __VA_ARGS__}

static const struct scene scenes[] = {
	SCENE(busy_threshold_100ms, CALM, 10, RIGHT),
	SCENE(busy_threshold_100ms, CALM, 100, POLLED),
	SCENE(busy_threshold_100ms, CALM, 100000, POLLED),
	SCENE(busy_threshold_100ms, CALM, 100001, RIGHT),
	SCENE(busy_threshold_100ms, SIGNAL, 5000000, RIGHT),
	SCENE(busy_threshold_1s, CALM, 10, RIGHT),
	SCENE(busy_threshold_1s, CALM, 1000000, POLLED),
	SCENE(busy_threshold_1s, CALM, 1000001, RIGHT),
	SCENE(busy_threshold_1s, SIGNAL, 5000000, RIGHT),

	SCENE(calibrated_loop, CALM, 10, RIGHT),
	SCENE(calibrated_loop, CALM, 5000000, POLLED),
	SCENE(calibrated_loop, CLOCK_FORWARD, 400000, POLLED),
	SCENE(calibrated_loop, FASTER_CPU, 10, EARLY),
	SCENE(calibrated_loop, FASTER_CPU, 5000000, EARLY),
	SCENE(doubling_calibration_2003, CALM, 10, LATE),
	SCENE(doubling_calibration_2003, CALM, 5000000, LATE),
	SCENE(doubling_calibration_2003, FASTER_CPU, 10, EARLY),

	SCENE(trusting_getres, CALM, 10, RIGHT),
	SCENE(trusting_getres, CALM, 5000000, RIGHT),
	SCENE(trusting_getres, FASTER_CPU, 5000000, RIGHT),
	SCENE(trusting_getres, SIGNAL, 5000000, RIGHT),
	SCENE(trusting_getres, COARSE_CLAIM, 10, RIGHT),
	SCENE(trusting_getres, COARSE_CLAIM, 5000000, POLLED),
	SCENE(trusting_getres, COARSE_CLAIM_FASTER_CPU, 10, EARLY),
	SCENE(trusting_getres, COARSE_CLAIM_FASTER_CPU, 5000000, EARLY),

	SCENE(eintr_ignored, CALM, 10, RIGHT),
	SCENE(eintr_ignored, CALM, 5000000, RIGHT),
	SCENE(eintr_ignored, SIGNAL, 10, RIGHT),
	SCENE(eintr_ignored, SIGNAL, 100, EARLY),
	SCENE(eintr_ignored, SIGNAL, 1000000, EARLY),
	SCENE(eintr_ignored, CLOCK_FORWARD, 400000, RIGHT),

	SCENE(wrap_32bit, CALM, 10, RIGHT),
	SCENE(wrap_32bit, CALM, 4294967, RIGHT),
	SCENE(wrap_32bit, CALM, 4294968, EARLY),
	SCENE(wrap_32bit, CALM, 20000000, EARLY),
	SCENE(wrap_32bit, SIGNAL, 1000000, RIGHT),

	SCENE(wall_clock, CALM, 10, RIGHT),
	SCENE(wall_clock, CALM, 5000000, RIGHT),
	SCENE(wall_clock, SIGNAL, 5000000, RIGHT),
	SCENE(wall_clock, CLOCK_FORWARD, 10, EARLY),
	SCENE(wall_clock, CLOCK_FORWARD, 400000, EARLY),
	SCENE(wall_clock, CLOCK_BACK, 400000, LATE),

	SCENE(us_ms_slip, CALM, 10, LATE),
	SCENE(us_ms_slip, CALM, 5000000, LATE),
	SCENE(ms_us_slip, CALM, 10, EARLY),
	SCENE(ms_us_slip, CALM, 5000000, EARLY),

	SCENE(two_percent_short, CALM, 1000, EARLY),
	SCENE(two_percent_short, CALM, 5000000, EARLY),

	SCENE(threshold_turned_round, CALM, 10, SLEPT),
	SCENE(threshold_turned_round, CALM, 101, POLLED),
	SCENE(threshold_turned_round, CALM, 5000000, POLLED),
	SCENE(threshold_turned_round, SIGNAL, 10, SLEPT),

	SCENE(seconds_dropped, CALM, 10, RIGHT),
	SCENE(seconds_dropped, CALM, 999999, RIGHT),
	SCENE(seconds_dropped, CALM, 1000000, EARLY),
	SCENE(seconds_dropped, CALM, 2000000, EARLY),
	SCENE(seconds_dropped, CALM, 5000001, EARLY),
	SCENE(seconds_dropped, SIGNAL, 999999, RIGHT),
};

static uint64_t run_scene(const struct scene *scene)
{
	uint64_t start_ns;

	machine_start(scene->hazard, scene->usecs);
	start_ns = machine.now_ns;
	scene->delay(scene->usecs);
	return machine.now_ns - start_ns;
}

static void each_mistake_shows_in_its_hazards_only(void)
{
	for (size_t i = 0; i < COUNT(scenes); i++) {
		const uint64_t took_ns = run_scene(&scenes[i]);
		const enum outcome outcome = judge(scenes[i].usecs, took_ns);

		if (outcome != scenes[i].outcome)
			print_message("%s(%u) in hazard %d took %llu ns\n", scenes[i].mistake,
				scenes[i].usecs, scenes[i].hazard, (unsigned long long)took_ns);
		assert_int_equal(outcome, scenes[i].outcome);
	}
}

static void two_percent_short_is_early_by_two_percent(void)
{
	const struct scene scene = SCENE(two_percent_short, CALM, 1000000, EARLY);

	assert_in_range(run_scene(&scene), 980000000, 980000000 + 2 * machine.reading_ns);
}

static void doubled_calibration_waits_twice_as_long(void)
{
	const struct scene scene = SCENE(doubling_calibration_2003, CALM, 1000000, LATE);

	assert_in_range(run_scene(&scene), 1900000000, 2000000000);
}

static void unit_slips_are_wrong_by_a_factor_of_1000(void)
{
	const struct scene up = SCENE(us_ms_slip, CALM, 3000, LATE);
	const struct scene down = SCENE(ms_us_slip, CALM, 3000, EARLY);

	assert_in_range(run_scene(&up), 3 * NS_PER_S, 3 * NS_PER_S + 2 * machine.reading_ns);
	assert_in_range(run_scene(&down), 3000, 3000 + 2 * machine.reading_ns);
}

/* A programmer that buffers its commands, and records flushes and waits. */
struct buffered {
	struct programmer programmer; /* must be the first field */
	bool flushed;
	bool flushed_at_wait;
	unsigned int waited_us;
	struct clock clock;
	struct flash flash;
};

static int note_flush(struct programmer *programmer)
{
	struct buffered *buffered = (struct buffered *)programmer;

	buffered->flushed = true;
	return 0;
}

static void note_wait(void *context, unsigned int us)
{
	struct buffered *buffered = context;

	buffered->waited_us = us;
	buffered->flushed_at_wait = buffered->flushed;
}

static void buffered_start(struct buffered *buffered)
{
	static const struct programmer_ops ops = {.flush = note_flush};

	*buffered = (struct buffered){
		.programmer = {.ops = &ops},
		.clock = {.delay_us = note_wait, .context = buffered},
	};
	flash_init(&buffered->flash, &buffered->programmer, &buffered->clock, NULL);
}

static void wait_passes_before_buffered_bytes_are_sent(void)
{
	struct buffered buffered;

	buffered_start(&buffered);
	assert_int_equal(wait_before_buffered_write(&buffered.flash, 3000), 0);
	assert_int_equal(buffered.waited_us, 3000);
	assert_false(buffered.flushed);
	buffered_start(&buffered);
	assert_int_equal(flash_wait_us(&buffered.flash, 3000), 0);
	assert_int_equal(buffered.waited_us, 3000);
	assert_true(buffered.flushed_at_wait);
}

static void each_mistake_has_a_description(void)
{
#define MISTAKE(name) mistake_##name,
	static const char *const mistakes[] = {PAST_MISTAKES};
#undef MISTAKE
	const size_t count = COUNT(mistakes);

	for (size_t i = 0; i < count; i++) {
		assert_in_range(strlen(mistakes[i]), 20, 80);
		for (size_t other = 0; other < i; other++)
			assert_string_not_equal(mistakes[i], mistakes[other]);
	}
}

static const struct CMUnitTest tests[] = {
	CASE(each_mistake_shows_in_its_hazards_only),
	CASE(two_percent_short_is_early_by_two_percent),
	CASE(doubled_calibration_waits_twice_as_long),
	CASE(unit_slips_are_wrong_by_a_factor_of_1000),
	CASE(wait_passes_before_buffered_bytes_are_sent),
	CASE(each_mistake_has_a_description),
};

RUN_CASES(tests)
