/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A link learns from a client's requests, sleeps accordingly, and leaves bytes unread. */
#include <sys/socket.h>
#include <unistd.h>

#include "../cases.h"
#include "serprog/link.h"

static const struct serprog_request transfer = {.op = SERPROG_O_SPIOP, .size_bytes = 8};
static const struct serprog_request nop = {.op = SERPROG_NOP, .size_bytes = 1};

struct fixture {
	struct patience patience;
	int fd;
	int host_fd;
};

static void set_up(struct fixture *fixture)
{
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
	fixture->fd = fds[0];
	fixture->host_fd = fds[1];
	fixture->patience.wake_suffices = true;
	patience_init(&fixture->patience);
}

static void tear_down(struct fixture *fixture)
{
	close(fixture->fd);
	close(fixture->host_fd);
}

FIXTURE(fixture, set_up, tear_down);

/* Returns the number of bytes that wake a reader (SO_RCVLOWAT). */
static int bytes_that_wake(const struct fixture *fixture)
{
	int bytes = 0;
	socklen_t len = sizeof(bytes);

	assert_int_equal(getsockopt(fixture->fd, SOL_SOCKET, SO_RCVLOWAT, &bytes, &len), 0);
	return bytes;
}

static void note_transfer(struct patience *patience)
{
	patience_note_request(patience, &transfer, true);
}

/* Notes a transfer, then the first read after it, which got those bytes. */
static void note_bytes_after_transfer(struct patience *patience, const char *bytes, size_t len)
{
	note_transfer(patience);
	patience_note_bytes(patience, (const uint8_t *)bytes, len);
}

/* Makes the next sleep a patient one. */
static void make_patient(struct patience *patience)
{
	note_bytes_after_transfer(patience, "\x13", 1);
	note_transfer(patience);
}

static void host_of_which_nothing_is_known_is_slept_for_without_end(struct fixture *fixture)
{
	assert_int_equal(patience_begin_ms(&fixture->patience, fixture->fd), -1);
	note_transfer(&fixture->patience);
	assert_int_equal(patience_begin_ms(&fixture->patience, fixture->fd), -1);
	assert_int_equal(bytes_that_wake(fixture), 1);
}

static void opcode_by_itself_after_a_transfer_makes_sleeps_after_transfers_patient(
	struct fixture *fixture)
{
	make_patient(&fixture->patience);
	assert_int_equal(patience_begin_ms(&fixture->patience, fixture->fd), PATIENCE_MS);
	assert_int_equal(bytes_that_wake(fixture), 2);
	patience_note_request(&fixture->patience, &nop, true);
	assert_int_equal(patience_begin_ms(&fixture->patience, fixture->fd), -1);
	assert_int_equal(bytes_that_wake(fixture), 1);
	note_transfer(&fixture->patience);
	assert_int_equal(patience_begin_ms(&fixture->patience, fixture->fd), PATIENCE_MS);
}

static void whole_requests_other_opcodes_and_first_ones_teach_no_patience(struct fixture *fixture)
{
	patience_note_bytes(&fixture->patience, (const uint8_t *)"\x13", 1);
	note_bytes_after_transfer(&fixture->patience, "\x13\x01", 2);
	note_bytes_after_transfer(&fixture->patience, "\x00", 1);
	/* This 13h is the second byte of a request; its first byte was read before. */
	patience_note_bytes(&fixture->patience, (const uint8_t *)"\x13", 1);
	note_transfer(&fixture->patience);
	assert_int_equal(patience_begin_ms(&fixture->patience, fixture->fd), -1);
}

static void transfer_that_others_came_behind_is_followed_by_no_patience(struct fixture *fixture)
{
	make_patient(&fixture->patience);
	patience_note_request(&fixture->patience, &transfer, false);
	assert_false(patience_expects_nothing(&fixture->patience));
	assert_int_equal(patience_begin_ms(&fixture->patience, fixture->fd), -1);
}

static void nothing_is_expected_between_a_transfer_and_what_is_read_next(struct fixture *fixture)
{
	assert_false(patience_expects_nothing(&fixture->patience));
	note_transfer(&fixture->patience);
	assert_true(patience_expects_nothing(&fixture->patience));
	patience_note_bytes(&fixture->patience, (const uint8_t *)"\x13\x01", 2);
	assert_false(patience_expects_nothing(&fixture->patience));
}

static void moment_that_needs_a_read_causes_no_patient_sleep(struct fixture *fixture)
{
	fixture->patience.wake_suffices = false;
	patience_init(&fixture->patience);
	make_patient(&fixture->patience);
	assert_false(patience_expects_nothing(&fixture->patience));
	assert_int_equal(patience_begin_ms(&fixture->patience, fixture->fd), -1);
}

static void any_byte_wakes_once_patience_is_over(struct fixture *fixture)
{
	make_patient(&fixture->patience);
	patience_begin_ms(&fixture->patience, fixture->fd);
	patience_end(&fixture->patience, fixture->fd);
	assert_int_equal(bytes_that_wake(fixture), 1);
	assert_false(patience_expects_nothing(&fixture->patience));
	assert_int_equal(patience_begin_ms(&fixture->patience, fixture->fd), -1);
}

static void request_of_a_byte_is_held_up_by_a_patient_sleep_alone(struct fixture *fixture)
{
	make_patient(&fixture->patience);
	patience_begin_ms(&fixture->patience, fixture->fd);
	note_transfer(&fixture->patience);
	patience_note_request(&fixture->patience, &nop, true);
	assert_false(fixture->patience.held_up);
	note_transfer(&fixture->patience);
	patience_begin_ms(&fixture->patience, fixture->fd);
	patience_note_request(&fixture->patience, &nop, true);
	assert_true(fixture->patience.held_up);
}

static void file_without_a_low_water_mark_is_asked_once(struct fixture *fixture)
{
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	make_patient(&fixture->patience);
	assert_int_equal(patience_begin_ms(&fixture->patience, fds[0]), -1);
	/* A socket, which would accept the option, is not asked either. */
	note_transfer(&fixture->patience);
	assert_int_equal(patience_begin_ms(&fixture->patience, fixture->fd), -1);
	assert_int_equal(bytes_that_wake(fixture), 1);
	close(fds[0]);
	close(fds[1]);
}

static void bytes_that_are_read_stay_until_they_are_taken_and_no_others_go(struct fixture *fixture)
{
	uint8_t bytes[8] = {0};
	uint8_t room[8];

	assert_int_equal(write(fixture->host_fd, "\x13\x01", 2), 2);
	assert_int_equal(patience_read(&fixture->patience, fixture->fd, bytes, sizeof(bytes)), 2);
	assert_memory_equal(bytes, "\x13\x01", 2);
	assert_int_equal(write(fixture->host_fd, "\x10", 1), 1);
	assert_int_equal(recv(fixture->fd, bytes, sizeof(bytes), MSG_PEEK), 3);
	patience_take(&fixture->patience, fixture->fd, room);
	patience_take(&fixture->patience, fixture->fd, room);
	assert_int_equal(read(fixture->fd, bytes, sizeof(bytes)), 1);
	assert_int_equal(bytes[0], 0x10);
}

static void socket_with_nothing_in_it_leaves_nothing_to_take(struct fixture *fixture)
{
	uint8_t bytes[8];

	assert_int_equal(patience_read(&fixture->patience, fixture->fd, bytes, sizeof(bytes)), -1);
	assert_int_equal(write(fixture->host_fd, "\x10", 1), 1);
	patience_take(&fixture->patience, fixture->fd, bytes);
	assert_int_equal(read(fixture->fd, bytes, sizeof(bytes)), 1);
}

static const struct CMUnitTest tests[] = {
	CASE_ON(fixture, host_of_which_nothing_is_known_is_slept_for_without_end),
	CASE_ON(fixture, opcode_by_itself_after_a_transfer_makes_sleeps_after_transfers_patient),
	CASE_ON(fixture, whole_requests_other_opcodes_and_first_ones_teach_no_patience),
	CASE_ON(fixture, transfer_that_others_came_behind_is_followed_by_no_patience),
	CASE_ON(fixture, nothing_is_expected_between_a_transfer_and_what_is_read_next),
	CASE_ON(fixture, moment_that_needs_a_read_causes_no_patient_sleep),
	CASE_ON(fixture, any_byte_wakes_once_patience_is_over),
	CASE_ON(fixture, request_of_a_byte_is_held_up_by_a_patient_sleep_alone),
	CASE_ON(fixture, file_without_a_low_water_mark_is_asked_once),
	CASE_ON(fixture, bytes_that_are_read_stay_until_they_are_taken_and_no_others_go),
	CASE_ON(fixture, socket_with_nothing_in_it_leaves_nothing_to_take),
};

RUN_CASES(tests)
