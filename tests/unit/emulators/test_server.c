/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * serprog-emu as it ships, over a real socket. Its path is the first argument.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#define ARGS_MAX 24
#define READY_FD 3

struct served {
	const char *program;
	char dir[32];
	char events[64];
	char image[64];
	pid_t pid;
	uint16_t port;
	int fd;
};

static int set_up(void **state)
{
	struct served *served = calloc(1, sizeof(*served));

	served->program = *state;
	strcpy(served->dir, "/tmp/test_server.XXXXXX");
	assert_non_null(mkdtemp(served->dir));
	snprintf(served->events, sizeof(served->events), "%s/events", served->dir);
	snprintf(served->image, sizeof(served->image), "%s/image", served->dir);
	served->fd = -1;
	*state = served;
	return 0;
}

static int tear_down(void **state)
{
	struct served *served = *state;

	if (served->pid > 0)
		kill(served->pid, SIGKILL);
	if (served->fd >= 0)
		close(served->fd);
	unlink(served->events);
	unlink(served->image);
	rmdir(served->dir);
	*state = (void *)served->program;
	free(served);
	return 0;
}

static void exec_server(const struct served *served, const char *const *extra)
{
	const char *argv[ARGS_MAX] = {served->program, "--chip", "W25Q128JV", "--events",
		served->events, "--ready-fd", "3"};
	size_t count = 7;

	while (*extra)
		argv[count++] = *extra++;
	execv(served->program, (char *const *)argv);
	_exit(127);
}

/* Returns once the server listens. @extra ends with NULL. */
static void start(struct served *served, const char *const *extra)
{
	char line[16] = "";
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	served->pid = fork();
	if (served->pid == 0) {
		dup2(fds[1], READY_FD);
		if (fds[1] != READY_FD)
			close(fds[1]);
		exec_server(served, extra);
	}
	close(fds[1]);
	assert_true(read(fds[0], line, sizeof(line) - 1) > 0);
	close(fds[0]);
	served->port = (uint16_t)strtoul(line, NULL, 10);
}

/* Starts it with --standby and tells it the rest, NUL after NUL, once it says that it waits. */
static void start_from_standby(struct served *served, const char *rest, size_t rest_len)
{
	char line[16] = "";
	int ready[2], waits[2], words[2];

	assert_int_equal(pipe(ready) | pipe(waits) | pipe(words), 0);
	served->pid = fork();
	if (served->pid == 0) {
		char pair[32];
		char ready_fd[16];

		close(words[1]);
		snprintf(pair, sizeof(pair), "%d,%d", waits[1], words[0]);
		snprintf(ready_fd, sizeof(ready_fd), "%d", ready[1]);
		execl(served->program, served->program, "--standby", pair, "--ready-fd", ready_fd,
			(char *)NULL);
		_exit(127);
	}
	close(ready[1]);
	close(waits[1]);
	close(words[0]);
	assert_int_equal(read(waits[0], line, 1), 1);
	assert_int_equal(write(words[1], rest, rest_len), rest_len);
	close(words[1]);
	close(waits[0]);
	if (read(ready[0], line, sizeof(line) - 1) > 0)
		served->port = (uint16_t)strtoul(line, NULL, 10);
	close(ready[0]);
}

static void connect_host(struct served *served)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons(served->port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};

	served->fd = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(connect(served->fd, (struct sockaddr *)&address, sizeof(address)), 0);
}

static void disconnect_host(struct served *served)
{
	close(served->fd);
	served->fd = -1;
}

static int wait_for_exit(struct served *served)
{
	int status;

	assert_int_equal(waitpid(served->pid, &status, 0), served->pid);
	served->pid = 0;
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void ask(struct served *served, const void *request, size_t request_len, void *reply,
	size_t reply_len)
{
	assert_int_equal(send(served->fd, request, request_len, 0), request_len);
	assert_int_equal(recv(served->fd, reply, reply_len, MSG_WAITALL), reply_len);
}

/* One SPI transfer of fewer than 256 bytes each way; the reply is without its ACK. */
static void spi(struct served *served, const uint8_t *command, uint8_t command_len, uint8_t *reply,
	uint8_t reply_len)
{
	uint8_t request[7 + 256] = {0x13, command_len, 0, 0, reply_len, 0, 0};
	uint8_t answer[1 + 256];

	memcpy(request + 7, command, command_len);
	ask(served, request, 7u + command_len, answer, 1u + reply_len);
	assert_int_equal(answer[0], 0x06);
	memcpy(reply, answer + 1, reply_len);
}

static void wait_until_ready(struct served *served)
{
	static const uint8_t rdsr = 0x05;
	uint8_t status;

	do
		spi(served, &rdsr, 1, &status, 1);
	while (status & 0x01);
}

static char *slurp(const char *path)
{
	FILE *file = fopen(path, "r");
	char *text = calloc(1, 1 << 20);

	assert_non_null(file);
	assert_true(fread(text, 1, (1 << 20) - 1, file) > 0);
	fclose(file);
	return text;
}

static size_t count_of(const char *text, const char *needle)
{
	size_t count = 0;

	while ((text = strstr(text, needle)) != NULL) {
		count++;
		text += strlen(needle);
	}
	return count;
}

static void host_gets_the_handshake_and_no_delay_opcode(void **state)
{
	static const char *const extra[] = {NULL};
	struct served *served = *state;
	uint8_t reply[64];

	start(served, extra);
	connect_host(served);
	ask(served, "\x00", 1, reply, 1);
	assert_int_equal(reply[0], 0x06);
	ask(served, "\x10", 1, reply, 2);
	assert_memory_equal(reply, "\x15\x06", 2);
	ask(served, "\x02", 1, reply, 33);
	assert_int_equal(reply[0], 0x06);
	assert_int_equal(reply[1 + 0x0E / 8] >> 0x0E % 8 & 1, 0);
	assert_int_equal(reply[1 + 0x13 / 8] >> 0x13 % 8 & 1, 1);
	ask(served, "\x0E\x01\x00\x00\x00", 5, reply, 1);
	assert_int_equal(reply[0], 0x15);
	spi(served, (const uint8_t *)"\x9F", 1, reply, 3);
	assert_memory_equal(reply, "\xEF\x40\x18", 3);
	disconnect_host(served);
	assert_int_equal(wait_for_exit(served), 0);
}

static void words_told_later_make_the_chip(void **state)
{
	static const char rest[] = "--chip\0GD25Q16C\0--seed\0"
				   "7";
	struct served *served = *state;
	uint8_t id[3];

	start_from_standby(served, rest, sizeof(rest));
	connect_host(served);
	spi(served, (const uint8_t *)"\x9F", 1, id, 3);
	assert_memory_equal(id, "\xC8\x40\x15", 3);
	disconnect_host(served);
	assert_int_equal(wait_for_exit(served), 0);
}

static void words_that_come_too_late_or_in_pieces_are_refused(void **state)
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
		{"--chip\0W25Q128JV", 16, 99}, /* the last word has no end */
	};
	struct served *served = *state;

	for (size_t i = 0; i < sizeof(rests) / sizeof(rests[0]); i++) {
		start_from_standby(served, rests[i].text, rests[i].bytes);
		assert_int_equal(wait_for_exit(served), rests[i].exit_code);
	}
}

static void written_bytes_are_read_back_and_stand_in_the_image(void **state)
{
	struct served *served = *state;
	const char *extra[] = {"--corner", "min", "--image-out-sparse", served->image, NULL};
	uint8_t reply[4];
	char *image;

	start(served, extra);
	connect_host(served);
	spi(served, (const uint8_t *)"\x06", 1, reply, 0);
	spi(served,
		(const uint8_t *)"\x02\x00\x10\x00"
				 "flash",
		9, reply, 0);
	wait_until_ready(served);
	spi(served, (const uint8_t *)"\x03\x00\x10\x01", 4, reply, 4);
	assert_memory_equal(reply, "lash", 4);
	disconnect_host(served);
	assert_int_equal(wait_for_exit(served), 0);
	image = slurp(served->image);
	assert_memory_equal(image, "\x00\x10\0\0\0\0\0\0flash", 13);
	free(image);
}

static void early_read_is_recorded_with_a_negative_margin(void **state)
{
	static const char *const extra[] = {"--corner", "max", NULL};
	struct served *served = *state;
	uint8_t reply[1];
	char *events;

	start(served, extra);
	connect_host(served);
	spi(served, (const uint8_t *)"\x06", 1, reply, 0);
	spi(served, (const uint8_t *)"\x20\x00\x10\x00", 4, reply, 0); /* 400 ms */
	spi(served, (const uint8_t *)"\x03\x00\x10\x00", 4, reply, 1);
	assert_int_equal(reply[0], 0xFF);
	disconnect_host(served);
	assert_int_equal(wait_for_exit(served), 0);
	events = slurp(served->events);
	assert_int_equal(count_of(events, "\"violation\":\"busy\",\"margin_ns\":-"), 1);
	assert_int_equal(count_of(events, "\"ev\":\"busy\",\"kind\":\"erase\""), 1);
	assert_int_equal(count_of(events, "\"violations\":1,\"faults\":0,\"clean\":true}"), 1);
	free(events);
}

static void part_that_loses_power_answers_no_more_and_leaves_a_half_done(void **state)
{
	static const char *const extra[] = {"--power-cut=1,0", "--seed=3", NULL};
	struct served *served = *state;
	uint8_t reply[1];
	char *events;

	start(served, extra);
	connect_host(served);
	spi(served, (const uint8_t *)"\x06", 1, reply, 0);
	spi(served, (const uint8_t *)"\x20\x00\x10\x00", 4, reply, 0);
	spi(served, (const uint8_t *)"\x05", 1, reply, 1);
	assert_int_equal(reply[0], 0xFF);
	disconnect_host(served);
	assert_int_equal(wait_for_exit(served), 0);
	events = slurp(served->events);
	assert_int_equal(count_of(events, "{\"ev\":\"power_cut\",\"t_ns\":"), 1);
	assert_int_equal(count_of(events, "\"name\":\"OFF\""), 1);
	assert_int_equal(count_of(events, "\"violations\":0,"), 1);
	free(events);
}

/* A byte program of a parallel part, all of it sent before the first reply is read. */
static void program_byte(struct served *served, uint8_t address, uint8_t value)
{
	const uint8_t requests[] = {
		0x0C,
		0x55,
		0x55,
		0x00,
		0xAA, /* O_WRITEB */
		0x0C,
		0xAA,
		0x2A,
		0x00,
		0x55, /* O_WRITEB */
		0x0C,
		0x55,
		0x55,
		0x00,
		0xA0, /* O_WRITEB */
		0x0D,
		1,
		0,
		0,
		address,
		0x00,
		0x00, /* O_WRITEN */
		value,
		0x0F, /* O_EXEC */
	};
	uint8_t acks[5];

	ask(served, requests, sizeof(requests), acks, sizeof(acks));
	assert_memory_equal(acks, "\x06\x06\x06\x06\x06", 5);
}

#define WREN "\x13\x01\x00\x00\x00\x00\x00\x06"
#define WREN_BYTES 8

/* Requests sent by one write: how many bytes of replies the first read brings. */
static ssize_t first_replies_of(
	struct served *served, const char *const *extra, const char *requests, size_t len)
{
	uint8_t replies[64];
	ssize_t got;

	start(served, extra);
	connect_host(served);
	assert_int_equal(send(served->fd, requests, len, 0), len);
	got = recv(served->fd, replies, sizeof(replies), 0);
	assert_true(got > 0);
	return got;
}

static void replies_to_requests_that_came_together_leave_together(void **state)
{
	static const char *const extra[] = {NULL};
	struct served *served = *state;

	assert_int_equal(first_replies_of(served, extra, WREN WREN, 2 * WREN_BYTES), 2);
	disconnect_host(served);
	assert_int_equal(wait_for_exit(served), 0);
}

/* The second request alone is on the line for 0.3 s. */
static void replies_leave_one_by_one_where_a_request_takes_time(void **state)
{
	static const char *const extra[] = {"--link", "baud=300", NULL};
	struct served *served = *state;

	assert_int_equal(first_replies_of(served, extra, WREN WREN, 2 * WREN_BYTES), 1);
	disconnect_host(served);
	assert_int_equal(wait_for_exit(served), 0);
}

static void last_reply_before_a_bound_reaches_its_host(void **state)
{
	static const char *const extra[] = {"--records-max", "2", NULL};
	struct served *served = *state;
	uint8_t reply[2];

	assert_int_equal(first_replies_of(served, extra, WREN WREN, 2 * WREN_BYTES), 1);
	assert_int_equal(recv(served->fd, reply, 2, 0), 0);
	assert_int_equal(wait_for_exit(served), 0);
}

static void parallel_part_is_programmed_and_read_over_its_own_bus(void **state)
{
	static const char *const extra[] = {"--chip", "SST39SF040", NULL};
	struct served *served = *state;
	uint8_t reply[4];
	char *events;

	start(served, extra);
	connect_host(served);
	ask(served, "\x05", 1, reply, 2);
	assert_memory_equal(reply, "\x06\x01", 2);
	ask(served, "\x13\x01\x00\x00\x03\x00\x00\x9F", 8, reply, 1);
	assert_int_equal(reply[0], 0x15);
	program_byte(served, 0x10, 0x5A);
	do
		ask(served, "\x09\x10\x00\x00", 4, reply, 2);
	while (reply[1] != 0x5A);
	ask(served, "\x0A\x0F\x00\x00\x03\x00\x00", 7, reply, 4);
	assert_memory_equal(reply, "\x06\xFF\x5A\xFF", 4);
	disconnect_host(served);
	assert_int_equal(wait_for_exit(served), 0);
	events = slurp(served->events);
	assert_int_equal(count_of(events, "\"ev\":\"cycle\",\"op\":\"0xa0\""), 1);
	assert_int_equal(count_of(events, "\"ev\":\"busy\",\"kind\":\"program\""), 1);
	assert_int_equal(count_of(events, "\"violations\":0,\"faults\":0,\"clean\":true}"), 1);
	free(events);
}

static void write_of_too_many_bytes_leaves_the_stream_in_step(void **state)
{
	static const char *const extra[] = {"--chip", "SST39SF040", NULL};
	struct served *served = *state;
	uint8_t request[7 + 4090] = {0x0D, 0xFA, 0x0F};
	uint8_t reply[2];

	start(served, extra);
	connect_host(served);
	memset(request + 7, 0x0F, 4090); /* each of them an O_EXEC, were it taken for one */
	ask(served, request, sizeof(request), reply, 1);
	assert_int_equal(reply[0], 0x15);
	ask(served, "\x10", 1, reply, 2);
	assert_memory_equal(reply, "\x15\x06", 2);
	disconnect_host(served);
	assert_int_equal(wait_for_exit(served), 0);
}

static void chip_keeps_its_content_from_host_to_host(void **state)
{
	static const char *const extra[] = {"--clients", "2", NULL};
	struct served *served = *state;
	uint8_t reply[1];
	char *events;

	start(served, extra);
	connect_host(served);
	spi(served, (const uint8_t *)"\x06", 1, reply, 0);
	spi(served, (const uint8_t *)"\x02\x00\x00\x00\x42", 5, reply, 0);
	wait_until_ready(served);
	disconnect_host(served);
	connect_host(served);
	spi(served, (const uint8_t *)"\x03\x00\x00\x00", 4, reply, 1);
	assert_int_equal(reply[0], 0x42);
	disconnect_host(served);
	assert_int_equal(wait_for_exit(served), 0);
	events = slurp(served->events);
	assert_int_equal(count_of(events, "\"ev\":\"accept\""), 2);
	assert_int_equal(count_of(events, "\"ev\":\"disconnect\""), 2);
	free(events);
}

static void terminated_server_still_writes_its_events(void **state)
{
	static const char *const extra[] = {"--clients", "0", "--measure-wake", "3", NULL};
	struct served *served = *state;
	uint8_t reply[1];
	char *events;

	start(served, extra);
	connect_host(served);
	ask(served, "\x00", 1, reply, 1);
	kill(served->pid, SIGTERM);
	assert_int_equal(wait_for_exit(served), 0);
	events = slurp(served->events);
	assert_int_equal(count_of(events, "\"ev\":\"start\""), 1);
	assert_int_equal(count_of(events, "\"wake_latency_ns_max\":null"), 0);
	assert_int_equal(count_of(events, "\"serprog_requests\":1,"), 1);
	free(events);
}

static void host_is_not_answered_before_the_barrier_opens(void **state)
{
	struct served *served = *state;
	char fds[24];
	const char *extra[] = {"--barrier-fds", fds, NULL};
	int out[2];
	int in[2];
	uint8_t reply[1];
	char *events;

	assert_int_equal(pipe(out), 0);
	assert_int_equal(pipe(in), 0);
	snprintf(fds, sizeof(fds), "%d,%d", out[1], in[0]);
	start(served, extra);
	connect_host(served);
	assert_int_equal(send(served->fd, "\x00", 1, 0), 1);
	assert_int_equal(read(out[0], reply, 1), 1);
	assert_int_equal(recv(served->fd, reply, 1, MSG_DONTWAIT), -1);
	assert_int_equal(write(in[1], "", 1), 1);
	assert_int_equal(recv(served->fd, reply, 1, MSG_WAITALL), 1);
	assert_int_equal(reply[0], 0x06);
	disconnect_host(served);
	assert_int_equal(wait_for_exit(served), 0);
	events = slurp(served->events);
	assert_int_equal(count_of(events, "{\"ev\":\"barrier\",\"t_ns\":"), 1);
	free(events);
	close(out[0]);
	close(out[1]);
	close(in[0]);
	close(in[1]);
}

/* The events of a run in which one write enable is all that came. */
static char *events_of_write_enable(struct served *served, const char *const *extra)
{
	static const uint8_t wren[] = {0x06};
	uint8_t reply[1];

	start(served, extra);
	connect_host(served);
	spi(served, wren, sizeof(wren), reply, 0);
	disconnect_host(served);
	assert_int_equal(wait_for_exit(served), 0);
	return slurp(served->events);
}

/* What the first write owes is there either way; whether it came too early is the machine's. */
static void part_that_was_just_powered_is_owed_its_time(void **state)
{
	static const char *const extra[] = {"--powered-up-ns-ago=0", NULL};
	char *events = events_of_write_enable(*state, extra);

	assert_int_equal(count_of(events, "\"grade\":\"datasheet\""), 1);
	free(events);
}

static void part_is_long_powered_unless_told_otherwise(void **state)
{
	static const char *const extra[] = {NULL};
	char *events = events_of_write_enable(*state, extra);

	assert_int_equal(count_of(events, "\"margin_ns\":null"), 1);
	free(events);
}

static void drawn_corner_stands_in_the_events_with_its_seed(void **state)
{
	static const char *const extra[] = {"--corner=draw:42", NULL};
	struct served *served = *state;
	char *events;

	start(served, extra);
	connect_host(served);
	disconnect_host(served);
	assert_int_equal(wait_for_exit(served), 0);
	events = slurp(served->events);
	assert_int_equal(count_of(events, "\"corner\":\"draw:42\""), 1);
	free(events);
}

static void limits_of_the_link_are_told_and_kept(void **state)
{
	static const char *const extra[] = {"--link",
		"serial-buffer=64,opbuf=12,write-max=8,read-max=16", "--native-delay", NULL};
	struct served *served = *state;
	uint8_t reply[32];

	start(served, extra);
	connect_host(served);
	ask(served, "\x04", 1, reply, 3);
	assert_memory_equal(reply, "\x06\x40\x00", 3);
	ask(served, "\x07", 1, reply, 3);
	assert_memory_equal(reply, "\x06\x0C\x00", 3);
	ask(served, "\x08", 1, reply, 4);
	assert_memory_equal(reply, "\x06\x08\x00\x00", 4);
	ask(served, "\x11", 1, reply, 4);
	assert_memory_equal(reply, "\x06\x10\x00\x00", 4);
	ask(served, "\x13\x01\x00\x00\x10\x00\x00\x9F", 8, reply, 17);
	ask(served, "\x13\x01\x00\x00\x11\x00\x00\x9F", 8, reply, 1);
	assert_int_equal(reply[0], 0x15);
	ask(served, "\x13\x09\x00\x00\x00\x00\x00\x9F\x00\x00\x00\x00\x00\x00\x00\x00", 16, reply,
		1);
	assert_int_equal(reply[0], 0x15);
	for (size_t i = 0; i < 2; i++) { /* of 5 bytes each */
		ask(served, "\x0E\x01\x00\x00\x00", 5, reply, 1);
		assert_int_equal(reply[0], 0x06);
	}
	ask(served, "\x0E\x01\x00\x00\x00", 5, reply, 1);
	assert_int_equal(reply[0], 0x15);
	disconnect_host(served);
	assert_int_equal(wait_for_exit(served), 0);
}

static void streaming_firmware_has_no_query_for_lengths(void **state)
{
	static const char *const extra[] = {"--link", "stm32-vserprog", NULL};
	struct served *served = *state;
	uint8_t *reply = malloc(1 + 0x10000);

	start(served, extra);
	connect_host(served);
	ask(served, "\x08", 1, reply, 1);
	assert_int_equal(reply[0], 0x15);
	/* 64 KiB at once, as hosts ask of a device that tells no end. */
	ask(served, "\x13\x04\x00\x00\x00\x00\x01\x03\x00\x00\x00", 11, reply, 1 + 0x10000);
	assert_int_equal(reply[0x10000], 0xFF);
	free(reply);
	disconnect_host(served);
	assert_int_equal(wait_for_exit(served), 0);
}

/* What a host that asks three times and is told once finds in the events. */
static char *events_of_three_nops(struct served *served, const char *const *extra, uint8_t *replies)
{
	start(served, extra);
	connect_host(served);
	for (size_t i = 0; i < 3; i++)
		ask(served, "\x00", 1, replies + i, 1);
	disconnect_host(served);
	assert_int_equal(wait_for_exit(served), 0);
	return slurp(served->events);
}

static void refused_request_is_a_fault_of_the_link(void **state)
{
	static const char *const extra[] = {"--fault", "nak@2", NULL};
	uint8_t replies[3];
	char *events = events_of_three_nops(*state, extra, replies);

	assert_memory_equal(replies, "\x06\x15\x06", 3);
	assert_int_equal(count_of(events, "\"kind\":\"nak\",\"at\":\"request\",\"nth\":2,"), 1);
	assert_int_equal(count_of(events, "\"faults\":\"nak@2\"}"), 1);
	assert_int_equal(count_of(events, "\"violations\":0,\"faults\":1,\"clean\":true}"), 1);
	free(events);
}

static void same_requests_on_a_scripted_clock_leave_the_same_events(void **state)
{
	static const char *const extra[] = {"--clock", "scripted:5000", "--seed", "3", "--link",
		"baud=115200,usb-frame-us=1000", "--fault", "nak@p=0.3", "--fault",
		"delay:700000@p=0.5", NULL};
	uint8_t first[3];
	uint8_t second[3];
	char *events = events_of_three_nops(*state, extra, first);
	char *again = events_of_three_nops(*state, extra, second);

	assert_memory_equal(first, second, 3);
	assert_string_equal(events, again);
	assert_int_equal(count_of(events, "\"clock\":\"scripted\",\"clock_step_ns\":5000,"), 1);
	free(events);
	free(again);
}

/* At 300 baud a NOP and its reply are 66 ms on the line: for a request this side of the wait. */
static void slow_line_holds_requests_and_replies(void **state)
{
	static const char *const extra[] = {"--clock", "scripted:1", "--link", "baud=300", NULL};
	uint8_t replies[3];
	char *events = events_of_three_nops(*state, extra, replies);

	/* 2 x 33333334 ns after the clock's start; then a tick. */
	assert_int_equal(count_of(events, "\"read_ns\":1000000000,\"reply_ns\":1066666668,"), 1);
	assert_int_equal(count_of(events, "\"read_ns\":1066666669,\"reply_ns\":1133333337,"), 1);
	assert_int_equal(count_of(events, "\"link\":\"baud=300\""), 1);
	free(events);
}

static void request_that_ends_the_link_is_not_answered(void **state)
{
	static const char *const extra[] = {"--fault", "hang-up@1", NULL};
	struct served *served = *state;
	uint8_t reply[1];
	char *events;

	start(served, extra);
	connect_host(served);
	assert_int_equal(send(served->fd, "\x00", 1, 0), 1);
	assert_true(recv(served->fd, reply, 1, 0) <= 0);
	assert_int_equal(wait_for_exit(served), 0);
	events = slurp(served->events);
	assert_int_equal(count_of(events, "\"ev\":\"serprog\""), 0);
	assert_int_equal(count_of(events, "\"kind\":\"hang-up\""), 1);
	free(events);
}

static void part_that_never_ends_its_work_breaks_no_rule_of_time(void **state)
{
	static const char *const extra[] = {
		"--clock", "scripted:1000000", "--fault", "stuck-wip@1", NULL};
	struct served *served = *state;
	uint8_t reply[1];
	char *events;

	start(served, extra);
	connect_host(served);
	spi(served, (const uint8_t *)"\x06", 1, reply, 0);
	spi(served, (const uint8_t *)"\x02\x00\x00\x00\x42", 5, reply, 0);
	for (size_t i = 0; i < 100; i++) { /* of 1 ms; the page is meant to take less than 1 */
		spi(served, (const uint8_t *)"\x05", 1, reply, 1);
		assert_int_equal(reply[0] & 0x01, 0x01);
	}
	spi(served, (const uint8_t *)"\x03\x00\x00\x00", 4, reply, 1);
	assert_int_equal(reply[0], 0xFF);
	disconnect_host(served);
	assert_int_equal(wait_for_exit(served), 0);
	events = slurp(served->events);
	assert_int_equal(count_of(events, "\"violation\":\"stuck\",\"margin_ns\":null"), 1);
	assert_int_equal(count_of(events, "\"violation\":\"busy\""), 0);
	assert_int_equal(count_of(events, "\"kind\":\"stuck-wip\",\"at\":\"busy\",\"nth\":1,"), 1);
	free(events);
}

static void second_host_is_turned_away_where_so_told(void **state)
{
	static const char *const extra[] = {"--second-client", "refuse", NULL};
	struct served *served = *state;
	uint8_t reply[1];
	char *events;
	int first;

	start(served, extra);
	connect_host(served);
	ask(served, "\x00", 1, reply, 1);
	first = served->fd;
	connect_host(served);
	assert_true(recv(served->fd, reply, 1, 0) <= 0);
	close(served->fd);
	served->fd = first;
	ask(served, "\x00", 1, reply, 1);
	assert_int_equal(reply[0], 0x06);
	disconnect_host(served);
	assert_int_equal(wait_for_exit(served), 0);
	events = slurp(served->events);
	assert_int_equal(count_of(events, "{\"ev\":\"refused\",\"t_ns\":"), 1);
	assert_int_equal(count_of(events, "\"ev\":\"accept\""), 1);
	free(events);
}

static void second_host_waits_its_turn_unless_so_told(void **state)
{
	static const char *const extra[] = {"--clients", "2", NULL};
	struct served *served = *state;
	uint8_t reply[1];
	int first;

	start(served, extra);
	connect_host(served);
	ask(served, "\x00", 1, reply, 1);
	first = served->fd;
	connect_host(served);
	assert_int_equal(send(served->fd, "\x00", 1, 0), 1);
	assert_int_equal(recv(served->fd, reply, 1, MSG_DONTWAIT), -1);
	close(first);
	assert_int_equal(recv(served->fd, reply, 1, MSG_WAITALL), 1);
	disconnect_host(served);
	assert_int_equal(wait_for_exit(served), 0);
}

/* Stopped by @signal_number once @request is under way: the evidence is all there. */
static void assert_clean_end(struct served *served, int signal_number, const char *const *extra,
	const void *request, size_t request_len)
{
	uint8_t reply[1];
	char *events;

	start(served, extra);
	connect_host(served);
	ask(served, "\x00", 1, reply, 1);
	assert_int_equal(send(served->fd, request, request_len, 0), request_len);
	usleep(50000); /* so that it is more likely to be under way; right either way */
	kill(served->pid, signal_number);
	assert_int_equal(wait_for_exit(served), 0);
	events = slurp(served->events);
	assert_int_equal(count_of(events, "\"ev\":\"disconnect\""), 1);
	assert_int_equal(count_of(events, "\"clean\":true}"), 1);
	free(events);
	disconnect_host(served);
}

static void signal_in_the_middle_of_a_transfer_ends_it_cleanly(void **state)
{
	static const char read_all[] = "\x13\x04\x00\x00\xFF\xFF\xFF\x03\x00\x00\x00";
	struct served *served = *state;
	const char *none[] = {"--image-out", served->image, NULL};
	const char *endless[] = {"--image-out", served->image, "--fault", "stall@2", NULL};
	const char *late[] = {"--image-out", served->image, "--fault", "delay:60000000@2", NULL};
	const char *slow[] = {"--image-out", served->image, "--link", "baud=100", NULL};
	const char *unread[] = {"--image-out", served->image, "--link", "stm32-vserprog", NULL};

	assert_clean_end(served, SIGTERM, none, "\x13\x04", 2);
	assert_clean_end(served, SIGINT, endless, "\x00", 1);
	assert_clean_end(served, SIGTERM, late, "\x00", 1);
	assert_clean_end(served, SIGTERM, slow, "\x13\x01\x00\x00\x40\x00\x00\x9F", 8);
	/* 16 MiB that nobody reads: the socket is full. */
	assert_clean_end(served, SIGTERM, unread, read_all, 11);
	assert_int_equal(access(served->image, F_OK), 0);
}

static int exit_status_of(const char *program, const char *const *args)
{
	const char *argv[ARGS_MAX] = {program};
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

static void bad_usage_exits_2_and_questions_0(void **state)
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
	const struct served *served = *state;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(exit_status_of(served->program, bad[i]), 2);
	assert_int_equal(exit_status_of(served->program, help), 0);
	assert_int_equal(exit_status_of(served->program, list), 0);
}

#define WITH_SERVER(test) {#test, test, set_up, tear_down, program}

int main(int argc, char *argv[])
{
	void *program = argc > 1 ? argv[1] : NULL;
	const struct CMUnitTest tests[] = {
		WITH_SERVER(host_gets_the_handshake_and_no_delay_opcode),
		WITH_SERVER(words_told_later_make_the_chip),
		WITH_SERVER(words_that_come_too_late_or_in_pieces_are_refused),
		WITH_SERVER(written_bytes_are_read_back_and_stand_in_the_image),
		WITH_SERVER(early_read_is_recorded_with_a_negative_margin),
		WITH_SERVER(part_that_loses_power_answers_no_more_and_leaves_a_half_done),
		WITH_SERVER(parallel_part_is_programmed_and_read_over_its_own_bus),
		WITH_SERVER(write_of_too_many_bytes_leaves_the_stream_in_step),
		WITH_SERVER(chip_keeps_its_content_from_host_to_host),
		WITH_SERVER(terminated_server_still_writes_its_events),
		WITH_SERVER(host_is_not_answered_before_the_barrier_opens),
		WITH_SERVER(part_that_was_just_powered_is_owed_its_time),
		WITH_SERVER(part_is_long_powered_unless_told_otherwise),
		WITH_SERVER(drawn_corner_stands_in_the_events_with_its_seed),
		WITH_SERVER(limits_of_the_link_are_told_and_kept),
		WITH_SERVER(streaming_firmware_has_no_query_for_lengths),
		WITH_SERVER(refused_request_is_a_fault_of_the_link),
		WITH_SERVER(same_requests_on_a_scripted_clock_leave_the_same_events),
		WITH_SERVER(replies_to_requests_that_came_together_leave_together),
		WITH_SERVER(replies_leave_one_by_one_where_a_request_takes_time),
		WITH_SERVER(last_reply_before_a_bound_reaches_its_host),
		WITH_SERVER(slow_line_holds_requests_and_replies),
		WITH_SERVER(request_that_ends_the_link_is_not_answered),
		WITH_SERVER(part_that_never_ends_its_work_breaks_no_rule_of_time),
		WITH_SERVER(second_host_is_turned_away_where_so_told),
		WITH_SERVER(second_host_waits_its_turn_unless_so_told),
		WITH_SERVER(signal_in_the_middle_of_a_transfer_ends_it_cleanly),
		WITH_SERVER(bad_usage_exits_2_and_questions_0),
	};

	if (!program) {
		fprintf(stderr, "usage: test_server SERPROG_EMU\n");
		return 2;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
