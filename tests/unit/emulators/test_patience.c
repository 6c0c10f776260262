/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A link learns from a client's requests, sleeps accordingly, and leaves bytes unread. */
#include <sys/socket.h>
#include <unistd.h>

#include "../run_cases.h"
#include "serprog/link.h"

static const struct serprog_request transfer = {.op = SERPROG_O_SPIOP, .size_bytes = 8};
static const struct serprog_request nop = {.op = SERPROG_NOP, .size_bytes = 1};

struct fixture {
	struct patience patience;
	int fd;
	int client_fd;
};

static void set_up(struct fixture *fixture)
{
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
	fixture->fd = fds[0];
	fixture->client_fd = fds[1];
	fixture->patience.wake_suffices = true;
	patience_init(&fixture->patience);
}

static void tear_down(struct fixture *fixture)
{
	close(fixture->fd);
	close(fixture->client_fd);
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

TEST_ON(fixture, sleep_for_an_unknown_client_has_no_limit)
{
	assert_int_equal(patience_begin_ms(&fixture->patience, fixture->fd), -1);
	note_transfer(&fixture->patience);
	assert_int_equal(patience_begin_ms(&fixture->patience, fixture->fd), -1);
	assert_int_equal(bytes_that_wake(fixture), 1);
}

TEST_ON(fixture, separate_opcode_after_a_transfer_makes_later_sleeps_patient)
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

TEST_ON(fixture, other_bytes_make_no_sleep_patient)
{
	patience_note_bytes(&fixture->patience, (const uint8_t *)"\x13", 1);
	note_bytes_after_transfer(&fixture->patience, "\x13\x01", 2);
	note_bytes_after_transfer(&fixture->patience, "\x00", 1);
	/* This 13h is the second byte of a request; its first byte was read before. */
	patience_note_bytes(&fixture->patience, (const uint8_t *)"\x13", 1);
	note_transfer(&fixture->patience);
	assert_int_equal(patience_begin_ms(&fixture->patience, fixture->fd), -1);
}

TEST_ON(fixture, sleep_after_a_transfer_with_bytes_behind_it_is_not_patient)
{
	make_patient(&fixture->patience);
	patience_note_request(&fixture->patience, &transfer, false);
	assert_false(patience_expects_nothing(&fixture->patience));
	assert_int_equal(patience_begin_ms(&fixture->patience, fixture->fd), -1);
}

TEST_ON(fixture, nothing_is_expected_after_a_transfer_until_bytes_are_read)
{
	assert_false(patience_expects_nothing(&fixture->patience));
	note_transfer(&fixture->patience);
	assert_true(patience_expects_nothing(&fixture->patience));
	patience_note_bytes(&fixture->patience, (const uint8_t *)"\x13\x01", 2);
	assert_false(patience_expects_nothing(&fixture->patience));
}

TEST_ON(fixture, no_sleep_is_patient_unless_a_wake_up_suffices)
{
	fixture->patience.wake_suffices = false;
	patience_init(&fixture->patience);
	make_patient(&fixture->patience);
	assert_false(patience_expects_nothing(&fixture->patience));
	assert_int_equal(patience_begin_ms(&fixture->patience, fixture->fd), -1);
}

TEST_ON(fixture, any_byte_wakes_after_the_end_of_patience)
{
	make_patient(&fixture->patience);
	patience_begin_ms(&fixture->patience, fixture->fd);
	patience_end(&fixture->patience, fixture->fd);
	assert_int_equal(bytes_that_wake(fixture), 1);
	assert_false(patience_expects_nothing(&fixture->patience));
	assert_int_equal(patience_begin_ms(&fixture->patience, fixture->fd), -1);
}

TEST_ON(fixture, only_a_patient_sleep_holds_up_a_request_of_one_byte)
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

TEST_ON(fixture, file_without_a_low_water_mark_ends_patience_for_good)
{
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	make_patient(&fixture->patience);
	assert_int_equal(patience_begin_ms(&fixture->patience, fds[0]), -1);
	/* The option is not tried again, even on a socket, which would accept it. */
	note_transfer(&fixture->patience);
	assert_int_equal(patience_begin_ms(&fixture->patience, fixture->fd), -1);
	assert_int_equal(bytes_that_wake(fixture), 1);
	close(fds[0]);
	close(fds[1]);
}

TEST_ON(fixture, only_bytes_that_were_read_are_taken_out_of_the_socket)
{
	uint8_t bytes[8] = {0};
	uint8_t room[8];

	assert_int_equal(write(fixture->client_fd, "\x13\x01", 2), 2);
	assert_int_equal(patience_read(&fixture->patience, fixture->fd, bytes, sizeof(bytes)), 2);
	assert_memory_equal(bytes, "\x13\x01", 2);
	assert_int_equal(write(fixture->client_fd, "\x10", 1), 1);
	assert_int_equal(recv(fixture->fd, bytes, sizeof(bytes), MSG_PEEK), 3);
	patience_take(&fixture->patience, fixture->fd, room);
	patience_take(&fixture->patience, fixture->fd, room);
	assert_int_equal(read(fixture->fd, bytes, sizeof(bytes)), 1);
	assert_int_equal(bytes[0], 0x10);
}

TEST_ON(fixture, read_of_an_empty_socket_leaves_nothing_to_take)
{
	uint8_t bytes[8];

	assert_int_equal(patience_read(&fixture->patience, fixture->fd, bytes, sizeof(bytes)), -1);
	assert_int_equal(write(fixture->client_fd, "\x10", 1), 1);
	patience_take(&fixture->patience, fixture->fd, bytes);
	assert_int_equal(read(fixture->fd, bytes, sizeof(bytes)), 1);
}
