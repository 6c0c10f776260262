/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * serprog-emu as it ships, over a real socket: its start, clients, replies and end. The first
 * argument is its path. The dialogues in served/ test its part and the effects of a link.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../run_cases.h"
#include "served.h"

static void set_up(struct served *served)
{
	served_set_up(served, test_argv);
}

FIXTURE(served, set_up, served_tear_down);

/* Checks how often the events have that text. */
static void assert_events(const struct served *served, const char *text, size_t count)
{
	char *events = file_text(served->events);

	assert_int_equal(count_of(events, text), count);
	free(events);
}

TEST_ON(served, arguments_sent_to_a_server_on_standby_choose_the_chip)
{
	static const char rest[] = "--chip\0GD25Q16C\0--seed\0"
				   "7";
	uint8_t id[3];

	served_start_from_standby(served, rest, sizeof(rest));
	served_connect(served);
	served_spi(served, (const uint8_t *)"\x9F", 1, id, 3);
	assert_memory_equal(id, "\xC8\x40\x15", 3);
	served_end(served);
}

TEST_ON(served, bad_or_incomplete_arguments_on_standby_are_refused)
{
	static const struct {
		const char *text;
		size_t bytes;
		int exit_code;
	} rests[] = {
		{"--chip\0W25Q128JV\0--clock\0monotonic", 35, 2},
		{"--chip\0W25Q128JV\0--realtime", 28, 2},
		{"--chip\0W25Q128JV\0--standby\0"
		 "8,9",
			31, 2},
		{"--corner\0typ", 13, 2},
		{"--chip\0W25Q128JV", 16, 99}, /* the last argument has no NUL */
	};

	for (size_t i = 0; i < COUNT(rests); i++) {
		served_start_from_standby(served, rests[i].text, rests[i].bytes);
		assert_int_equal(served_wait_for_exit(served), rests[i].exit_code);
	}
}

TEST_ON(served, terminated_server_still_writes_its_events)
{
	static const char *const extra[] = {"--clients", "0", "--measure-wake", "3", NULL};
	uint8_t reply[1];

	served_start(served, extra);
	served_ask(served, "\x00", 1, reply, 1);
	kill(served->pid, SIGTERM);
	assert_int_equal(served_wait_for_exit(served), 0);
	assert_events(served, "\"ev\":\"start\"", 1);
	assert_events(served, "\"wake_latency_ns_max\":null", 0);
	assert_events(served, "\"serprog_requests\":1,", 1);
}

TEST_ON(served, client_is_not_answered_before_the_barrier_opens)
{
	char fds[24];
	const char *extra[] = {"--barrier-fds", fds, NULL};
	int out[2];
	int in[2];
	uint8_t reply[1];

	assert_int_equal(pipe(out), 0);
	assert_int_equal(pipe(in), 0);
	snprintf(fds, sizeof(fds), "%d,%d", out[1], in[0]);
	served_start(served, extra);
	assert_int_equal(send(served->fd, "\x00", 1, 0), 1);
	assert_int_equal(read(out[0], reply, 1), 1);
	assert_int_equal(recv(served->fd, reply, 1, MSG_DONTWAIT), -1);
	assert_int_equal(write(in[1], "", 1), 1);
	assert_int_equal(recv(served->fd, reply, 1, MSG_WAITALL), 1);
	assert_int_equal(reply[0], 0x06);
	served_end(served);
	assert_events(served, "{\"ev\":\"barrier\",\"t_ns\":", 1);
	close(out[0]);
	close(out[1]);
	close(in[0]);
	close(in[1]);
}

TEST_ON(served, second_client_is_refused_if_the_option_says_so)
{
	static const char *const extra[] = {"--second-client", "refuse", NULL};
	uint8_t reply[1];
	int first;

	served_start(served, extra);
	served_ask(served, "\x00", 1, reply, 1);
	first = served->fd;
	served_connect(served);
	assert_true(recv(served->fd, reply, 1, 0) <= 0);
	close(served->fd);
	served->fd = first;
	served_ask(served, "\x00", 1, reply, 1);
	assert_int_equal(reply[0], 0x06);
	served_end(served);
	assert_events(served, "{\"ev\":\"refused\",\"t_ns\":", 1);
	assert_events(served, "\"ev\":\"accept\"", 1);
}

TEST_ON(served, second_client_waits_for_the_first_by_default)
{
	static const char *const extra[] = {"--clients", "2", NULL};
	uint8_t reply[1];
	int first;

	served_start(served, extra);
	served_ask(served, "\x00", 1, reply, 1);
	first = served->fd;
	served_connect(served);
	assert_int_equal(send(served->fd, "\x00", 1, 0), 1);
	assert_int_equal(recv(served->fd, reply, 1, MSG_DONTWAIT), -1);
	close(first);
	assert_int_equal(recv(served->fd, reply, 1, MSG_WAITALL), 1);
	served_end(served);
}

/* Sends @signal_number during @request; checks that the server's record is complete. */
static void assert_clean_end(struct served *served, int signal_number, const char *const *extra,
	const void *request, size_t request_len)
{
	uint8_t reply[1];

	served_start(served, extra);
	served_ask(served, "\x00", 1, reply, 1);
	assert_int_equal(send(served->fd, request, request_len, 0), request_len);
	usleep(50000); /* the request is probably under way then, but need not be */
	kill(served->pid, signal_number);
	assert_int_equal(served_wait_for_exit(served), 0);
	assert_events(served, "\"ev\":\"disconnect\"", 1);
	assert_events(served, "\"clean\":true}", 1);
	served_disconnect(served);
}

TEST_ON(served, signal_in_the_middle_of_a_transfer_ends_it_cleanly)
{
	static const char read_all[] = "\x13\x04\x00\x00\xFF\xFF\xFF\x03\x00\x00\x00";
	const char *none[] = {"--image-out", served->image, NULL};
	const char *endless[] = {"--image-out", served->image, "--fault", "stall@2", NULL};
	const char *late[] = {"--image-out", served->image, "--fault", "delay:60000000@2", NULL};
	const char *slow[] = {"--image-out", served->image, "--link", "baud=100", NULL};
	const char *unread[] = {"--image-out", served->image, "--link", "stm32-vserprog", NULL};

	assert_clean_end(served, SIGTERM, none, "\x13\x04", 2);
	assert_clean_end(served, SIGINT, endless, "\x00", 1);
	assert_clean_end(served, SIGTERM, late, "\x00", 1);
	assert_clean_end(served, SIGTERM, slow, "\x13\x01\x00\x00\x40\x00\x00\x9F", 8);
	/* The client never reads these 16 MiB, so the socket fills up. */
	assert_clean_end(served, SIGTERM, unread, read_all, 11);
	assert_int_equal(access(served->image, F_OK), 0);
}

static int exit_status_of(const char *program, const char *const *args)
{
	const char *argv[SERVED_ARGS_MAX] = {program};
	size_t count = 1;
	pid_t pid;
	int status;

	while (*args)
		argv[count++] = *args++;
	pid = fork();
	if (pid == 0) {
		if (!freopen("/dev/null", "w", stderr) || !freopen("/dev/null", "w", stdout))
			_exit(126);
		execv(program, (char *const *)argv);
		_exit(127);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WEXITSTATUS(status);
}

TEST_ON(served, bad_usage_exits_with_2_and_help_with_0)
{
	static const char *const bad[][5] = {
		{NULL},
		{"--chip", "W25Q129JV"},
		{"--chip", "M25P80", "--corner=middle"},
		{"--chip", "M25P80", "--corner=draw"},
		{"--chip", "M25P80", "--powered-up-ns-ago=-1"},
		{"--chip", "M25P80", "--power-cut=0"},
		{"--chip", "M25P80", "--listen=tcp:0.0.0.0:0"},
		{"--chip", "M25P80", "--image-offset=4"},
		{"--chip", "M25P80", "--events=/nowhere/at/all"},
		{"--chip", "M25P80", "--barrier-fds=5"},
		{"--chip", "M25P80", "--clients=-1"},
		{"--chip", "M25P80", "--second-client=queue"},
		{"--chip", "M25P80", "--listen=unix:"},
		{"--chip", "M25P80", "--link=stm32"},
		{"--chip", "M25P80", "--link=baud=fast"},
		{"--chip", "M25P80", "--fault=drop"},
		{"--chip", "M25P80", "--clock=scripted:0"},
		{"--chip", "M25P80", "--clock=scripted", "--measure-wake=1"},
		{"--chip", "M25P80", "stray"},
		{"--no-such-option"},
	};
	static const char *const help[] = {"--help", NULL};
	static const char *const list[] = {"--list-chips", NULL};

	for (size_t i = 0; i < COUNT(bad); i++)
		assert_int_equal(exit_status_of(served->program, bad[i]), 2);
	assert_int_equal(exit_status_of(served->program, help), 0);
	assert_int_equal(exit_status_of(served->program, list), 0);
}

/* The times at which replies leave. */

#define WREN "\x13\x01\x00\x00\x00\x00\x00\x06"
#define WREN_BYTES 8

/* Sends a server requests in one write. Returns the number of bytes that the first read gets. */
static ssize_t first_replies_of(
	struct served *served, const char *const *extra, const char *requests, size_t len)
{
	uint8_t replies[64];
	ssize_t got;

	served_start(served, extra);
	assert_int_equal(send(served->fd, requests, len, 0), len);
	got = recv(served->fd, replies, sizeof(replies), 0);
	assert_true(got > 0);
	return got;
}

TEST_ON(served, replies_to_requests_sent_together_leave_together)
{
	static const char *const extra[] = {NULL};

	assert_int_equal(first_replies_of(served, extra, WREN WREN, 2 * WREN_BYTES), 2);
	served_end(served);
}

/* Each request takes 0.27 s on the line. */
TEST_ON(served, replies_leave_one_by_one_if_a_request_takes_time)
{
	static const char *const extra[] = {"--link", "baud=300", NULL};

	assert_int_equal(first_replies_of(served, extra, WREN WREN, 2 * WREN_BYTES), 1);
	served_end(served);
}

TEST_ON(served, last_reply_before_the_limit_of_records_reaches_the_client)
{
	static const char *const extra[] = {"--records-max", "2", NULL};
	uint8_t reply[2];

	assert_int_equal(first_replies_of(served, extra, WREN WREN, 2 * WREN_BYTES), 1);
	assert_int_equal(recv(served->fd, reply, 2, 0), 0);
	assert_int_equal(served_wait_for_exit(served), 0);
}

/* Sends a server three NOPs. Returns its events, and the answers in @replies. */
static char *events_of_three_nops(struct served *served, const char *const *extra, uint8_t *replies)
{
	served_start(served, extra);
	for (size_t i = 0; i < 3; i++)
		served_ask(served, "\x00", 1, replies + i, 1);
	served_end(served);
	return file_text(served->events);
}

TEST_ON(served, same_requests_on_a_scripted_clock_leave_the_same_events)
{
	static const char *const extra[] = {"--clock", "scripted:5000", "--seed", "3", "--link",
		"baud=115200,usb-frame-us=1000", "--fault", "nak@p=0.3", "--fault",
		"delay:700000@p=0.5", NULL};
	uint8_t first[3];
	uint8_t second[3];
	char *events = events_of_three_nops(served, extra, first);
	char *again = events_of_three_nops(served, extra, second);

	assert_memory_equal(first, second, 3);
	assert_string_equal(events, again);
	assert_int_equal(count_of(events, "\"clock\":\"scripted\",\"clock_step_ns\":5000,"), 1);
	free(events);
	free(again);
}

TEST_ON(served, request_that_ends_the_link_is_not_answered)
{
	static const char *const extra[] = {"--fault", "hang-up@1", NULL};
	uint8_t reply[1];

	served_start(served, extra);
	assert_int_equal(send(served->fd, "\x00", 1, 0), 1);
	assert_true(recv(served->fd, reply, 1, 0) <= 0);
	assert_int_equal(served_wait_for_exit(served), 0);
	assert_events(served, "\"ev\":\"serprog\"", 0);
	assert_events(served, "\"kind\":\"hang-up\"", 1);
}
