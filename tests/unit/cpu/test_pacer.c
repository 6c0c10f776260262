/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../run_cases.h"
#include "cpu_plugin/vcpu.h"

#define US UINT64_C(1000)
#define MS UINT64_C(1000000)

#define START (1000 * MS)
#define CATCH_UP (5 * MS)
#define GRACE (250 * US)

static void start(struct pacer *pacer)
{
	pacer_init(pacer, START, CATCH_UP, GRACE);
}

FIXTURE(pacer, start, NOTHING);

TEST_ON(pacer, early_vcpu_waits_for_its_time)
{
	assert_int_equal(pacer_advance(pacer, START + 40 * US, 250 * US), START + 250 * US);
	assert_int_equal(pacer->lost_ns, 0);
}

TEST_ON(pacer, vcpu_that_is_exactly_on_time_does_not_wait)
{
	assert_int_equal(pacer_advance(pacer, START + 250 * US, 250 * US), START + 250 * US);
	assert_int_equal(pacer_take_late_ns(pacer), 0);
}

TEST_ON(pacer, wait_that_ended_late_makes_the_next_one_shorter)
{
	pacer_advance(pacer, START + 40 * US, 250 * US);
	pacer_release(pacer, START + 310 * US);
	assert_int_equal(pacer_advance(pacer, START + 350 * US, 250 * US), START + 500 * US);
}

/* Each of 400 sleeps ends 60 us late; their sum is late by one quantum at most. */
TEST_ON(pacer, steady_lateness_does_not_add_up)
{
	uint64_t now_ns = START;

	for (int i = 0; i < 400; i++) {
		now_ns = pacer_advance(pacer, now_ns + 40 * US, 250 * US) + 60 * US;
		pacer_release(pacer, now_ns);
	}
	assert_in_range(now_ns, START + 100 * MS, START + 100 * MS + 250 * US);
	assert_int_equal(pacer->lost_ns, 0);
}

TEST_ON(pacer, late_vcpu_catches_up_by_a_quarter_of_its_speed_at_most)
{
	uint64_t now_ns = START + 4 * MS;

	assert_int_equal(pacer_advance(pacer, now_ns, 250 * US), now_ns);
	pacer_release(pacer, now_ns);
	/* It waits although it is behind: 250 us of work need 200 us at least. */
	assert_int_equal(pacer_advance(pacer, now_ns + 40 * US, 250 * US), now_ns + 200 * US);
}

TEST_ON(pacer, late_vcpu_is_on_time_again_in_the_end)
{
	uint64_t now_ns = START + 4 * MS;
	int quanta = 0;

	do {
		now_ns = pacer_advance(pacer, now_ns, 250 * US);
		pacer_release(pacer, now_ns);
		quanta++;
	} while (now_ns != pacer->due_ns && quanta < 1000);
	/* 3.75 ms behind after the first quantum, and 50 us less after each of the others. */
	assert_int_equal(quanta, 1 + 75);
	assert_int_equal(pacer->lost_ns, 0);
	assert_int_equal(pacer_take_late_ns(pacer), 3750 * US);
	assert_int_equal(pacer_take_late_ns(pacer), 0);
}

TEST_ON(pacer, lateness_is_lost_from_the_limit_on)
{
	struct pacer above = *pacer;

	pacer_advance(pacer, START + 250 * US + CATCH_UP, 250 * US);
	assert_int_equal(pacer->lost_ns, 0);
	pacer_advance(&above, START + 250 * US + CATCH_UP + 1, 250 * US);
	assert_int_equal(above.lost_ns, 1);
	assert_int_equal(above.due_ns, pacer->due_ns + 1);
}

TEST_ON(pacer, idle_time_does_not_shorten_later_waits)
{
	pacer_idle(pacer, START + 250 * US, 250 * US);
	pacer_resume(pacer, START + 900 * MS);
	assert_int_equal(pacer_advance(pacer, START + 900 * MS + 40 * US, 250 * US),
		START + 900 * MS + 250 * US);
	assert_int_equal(pacer->lost_ns, 0);
}

TEST_ON(pacer, work_done_too_early_before_idling_is_waited_for_afterwards)
{
	pacer_idle(pacer, START + 30 * US, 100 * US);
	pacer_resume(pacer, START + 50 * MS);
	assert_int_equal(pacer_advance(pacer, START + 50 * MS, 0), START + 50 * MS + 70 * US);
}

TEST_ON(pacer, lateness_survives_idling_up_to_the_grace)
{
	pacer_idle(pacer, START + 100 * US + GRACE + 9, 100 * US);
	assert_int_equal(pacer->lost_ns, 9);
	pacer_resume(pacer, START + 50 * MS);
	assert_int_equal(pacer->due_ns, START + 50 * MS - GRACE);
}
