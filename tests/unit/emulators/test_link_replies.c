/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The moments at which replies leave, and at which waits end. */
#include "link_fixture.h"

static void hold(struct fixture *fixture, const char *bytes, size_t len)
{
	uint64_t sent_ns;

	assert_true(link_hold(&fixture->link, (const uint8_t *)bytes, len, &sent_ns));
}

static void reply_is_stamped_before_it_leaves(void **state)
{
	struct fixture *fixture = *state;
	uint64_t before_ns = clock_now_ns(&fixture->clock);
	uint64_t sent_ns;
	char got[2];

	assert_int_equal(
		link_send(&fixture->link, (const uint8_t *)"\x15\x06", 2, &sent_ns), LINK_REQUEST);
	assert_true(sent_ns >= before_ns);
	assert_true(sent_ns <= clock_now_ns(&fixture->clock));
	assert_int_equal(read(fixture->host_fd, got, 2), 2);
	assert_memory_equal(got, "\x15\x06", 2);
}

static void held_reply_leaves_with_the_next(void **state)
{
	struct fixture *fixture = *state;
	uint64_t before_ns = clock_now_ns(&fixture->clock);
	uint64_t held_ns;
	uint64_t sent_ns;
	char got[128];

	assert_true(link_hold(&fixture->link, (const uint8_t *)"\x15", 1, &held_ns));
	assert_true(held_ns >= before_ns);
	assert_int_equal(host_gets(fixture, got), -1);
	assert_int_equal(
		link_send(&fixture->link, (const uint8_t *)"\x06\x02", 2, &sent_ns), LINK_REQUEST);
	assert_true(sent_ns >= held_ns);
	assert_int_equal(host_gets(fixture, got), 3);
	assert_memory_equal(got, "\x15\x06\x02", 3);
}

static void held_reply_leaves_before_a_sleep(void **state)
{
	struct fixture *fixture = *state;
	char got[128];

	hold(fixture, "\x06", 1);
	assert_int_equal(next(fixture), LINK_STOPPED);
	assert_int_equal(host_gets(fixture, got), 1);
}

static void held_reply_leaves_before_a_read(void **state)
{
	struct fixture *fixture = *state;
	char got[128];

	hold(fixture, "\x06", 1);
	host_sends(fixture, "\x00", 1);
	assert_int_equal(next(fixture), LINK_REQUEST);
	assert_int_equal(host_gets(fixture, got), 1);
}

static void held_reply_leaves_before_time_passes(void **state)
{
	struct fixture *fixture = *state;
	char got[128];

	hold(fixture, "\x06", 1);
	assert_int_equal(link_wait_until(&fixture->link, fixture->born_ns), LINK_REQUEST);
	assert_int_equal(host_gets(fixture, got), -1);
	assert_int_equal(link_wait_until(&fixture->link, FAULT_FOR_EVER), LINK_STOPPED);
	assert_int_equal(host_gets(fixture, got), 1);
}

static void reply_that_has_no_room_is_sent_behind_those_held(void **state)
{
	static const char replies[LINK_HELD_BYTES_MAX] = {1, 2, 3};
	struct fixture *fixture = *state;
	uint64_t sent_ns;
	char got[128];

	hold(fixture, replies, LINK_HELD_BYTES_MAX - 1);
	assert_false(link_hold(&fixture->link, (const uint8_t *)"\x06\x02", 2, &sent_ns));
	assert_int_equal(host_gets(fixture, got), -1);
	assert_int_equal(
		link_send(&fixture->link, (const uint8_t *)"\x06\x02", 2, &sent_ns), LINK_REQUEST);
	assert_int_equal(host_gets(fixture, got), LINK_HELD_BYTES_MAX + 1);
	assert_memory_equal(got, replies, LINK_HELD_BYTES_MAX - 1);
	assert_memory_equal(got + LINK_HELD_BYTES_MAX - 1, "\x06\x02", 2);
}

static void wait_for_ever_ends_with_a_signal(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(link_wait_until(&fixture->link, FAULT_FOR_EVER), LINK_STOPPED);
}

static void wait_for_a_moment_gone_by_is_none(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(link_wait_until(&fixture->link, fixture->born_ns), LINK_REQUEST);
}

static void wait_on_a_scripted_clock_ends_at_its_moment(void **state)
{
	struct fixture *fixture = *state;
	uint64_t until_ns = CLOCK_SCRIPTED_START_NS + UINT64_C(3600000000000);

	clock_init_scripted(&fixture->clock, 1000);
	assert_int_equal(link_wait_until(&fixture->link, until_ns), LINK_REQUEST);
	assert_int_equal(clock_now_ns(&fixture->clock), until_ns);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_LINK(reply_is_stamped_before_it_leaves),
		WITH_LINK(held_reply_leaves_with_the_next),
		WITH_LINK(held_reply_leaves_before_a_sleep),
		WITH_LINK(held_reply_leaves_before_a_read),
		WITH_LINK(held_reply_leaves_before_time_passes),
		WITH_LINK(reply_that_has_no_room_is_sent_behind_those_held),
		WITH_LINK(wait_for_ever_ends_with_a_signal),
		WITH_LINK(wait_for_a_moment_gone_by_is_none),
		WITH_LINK(wait_on_a_scripted_clock_ends_at_its_moment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
