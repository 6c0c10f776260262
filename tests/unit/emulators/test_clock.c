/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../run_cases.h"
#include "serprog/clock.h"
#include "serprog/counter.h"

static void start(struct clock *clock)
{
	assert_int_equal(clock_init(clock, CLOCK_SOURCE_MONOTONIC), 0);
}

FIXTURE(clock, start, NOTHING);

TEST_ON(clock, scripted_clock_stands_still_between_ticks)
{
	clock_init_scripted(clock, 250);
	assert_int_equal(clock_now_ns(clock), CLOCK_SCRIPTED_START_NS);
	assert_int_equal(clock_now_ns(clock), CLOCK_SCRIPTED_START_NS);
	clock_tick(clock);
	assert_int_equal(clock_now_ns(clock), CLOCK_SCRIPTED_START_NS + 250);
	assert_int_equal(clock->step_ns, 250);
}

TEST_ON(clock, wait_advances_a_scripted_clock_exactly_and_never_back)
{
	clock_init_scripted(clock, 250);
	clock_wait_until(clock, CLOCK_SCRIPTED_START_NS + 7);
	assert_int_equal(clock_now_ns(clock), CLOCK_SCRIPTED_START_NS + 7);
	clock_wait_until(clock, CLOCK_SCRIPTED_START_NS + 6);
	assert_int_equal(clock_now_ns(clock), CLOCK_SCRIPTED_START_NS + 7);
	assert_int_equal(clock->backward_count, 0);
}

TEST_ON(clock, readable_stop_fd_ends_a_long_wait)
{
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	clock->stop_fd = fds[0];
	assert_int_equal(write(fds[1], "", 1), 1);
	assert_int_equal(clock_wait_until(clock, UINT64_MAX), -ECANCELED);
	close(fds[0]);
	close(fds[1]);
}

TEST_ON(clock, peer_that_hangs_up_ends_a_long_wait_but_its_bytes_do_not)
{
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	clock->peer_fd = fds[0];
	assert_int_equal(write(fds[1], "", 1), 1);
	assert_int_equal(clock_wait_until(clock, clock_now_ns(clock) + 30000000), 0);
	close(fds[1]);
	assert_int_equal(clock_wait_until(clock, UINT64_MAX), -ECANCELED);
	close(fds[0]);
}

TEST_ON(clock, uninterrupted_wait_is_never_early)
{
	const uint64_t until_ns = clock_now_ns(clock) + 30000000;

	assert_int_equal(clock_wait_until(clock, until_ns), 0);
	assert_true(clock_now_ns(clock) >= until_ns);
}

TEST_ON(clock, tick_does_not_advance_the_monotonic_clock)
{
	uint64_t before_ns;

	assert_true(clock->step_ns > 0);
	clock->step_ns = UINT64_C(1) << 60;
	before_ns = clock_now_ns(clock);
	clock_tick(clock);
	assert_true(clock_now_ns(clock) - before_ns < UINT64_C(1) << 60);
}

TEST(clock_has_the_name_of_its_option)
{
	assert_string_equal(clock_source_name(CLOCK_SOURCE_MONOTONIC), "monotonic");
	assert_string_equal(clock_source_name(CLOCK_SOURCE_COUNTER), COUNTER_NAME);
	assert_string_equal(clock_source_name(CLOCK_SOURCE_SCRIPTED), "scripted");
}

/* Two rates are those of QEMU's arm64 counter. A tick of the third is not a whole nanosecond. */
TEST(count_at_any_rate_is_rounded_down_to_nanoseconds)
{
	static const struct {
		uint64_t count, rate_hz, ns;
	} cases[] = {
		{0, 62500000, 0},
		{1, 62500000, 16},
		{1, 1000000000, 1},
		{1, 19200000, 52},
		{19199999, 19200000, 999999947},
		{19200000, 19200000, 1000000000},
	};

	for (size_t i = 0; i < COUNT(cases); i++)
		assert_int_equal(counter_to_ns(cases[i].count, cases[i].rate_hz), cases[i].ns);
}

TEST(count_of_centuries_does_not_overflow)
{
	const uint64_t seconds = UINT64_C(18000000000);

	assert_int_equal(counter_to_ns(seconds * 62500000 + 1, 62500000), seconds * NS_PER_S + 16);
	assert_int_equal(counter_to_ns(UINT64_MAX, 1000000000), UINT64_MAX);
}

TEST(counter_of_this_machine_advances)
{
	struct clock clock;

	assert_int_equal(clock_init(&clock, CLOCK_SOURCE_COUNTER), 0);
	assert_true(clock.step_ns > 0);
}
