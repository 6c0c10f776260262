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
	assert_int_equal(count_of(events, "\"violations\":1,\"clean\":true}"), 1);
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
	assert_int_equal(count_of(events, "\"violations\":0,\"clean\":true}"), 1);
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
	static const char *const bad[][4] = {
		{NULL},
		{"--chip", "W25Q129JV"},
		{"--chip", "M25P80", "--corner=middle"},
		{"--chip", "M25P80", "--corner=draw"},
		{"--chip", "M25P80", "--powered-up-ns-ago=-1"},
		{"--chip", "M25P80", "--listen=tcp:0.0.0.0:0"},
		{"--chip", "M25P80", "--image-offset=4"},
		{"--chip", "M25P80", "--events=/nowhere/at/all"},
		{"--chip", "M25P80", "--barrier-fds=5"},
		{"--chip", "M25P80", "--clients=-1"},
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
		WITH_SERVER(written_bytes_are_read_back_and_stand_in_the_image),
		WITH_SERVER(early_read_is_recorded_with_a_negative_margin),
		WITH_SERVER(parallel_part_is_programmed_and_read_over_its_own_bus),
		WITH_SERVER(write_of_too_many_bytes_leaves_the_stream_in_step),
		WITH_SERVER(chip_keeps_its_content_from_host_to_host),
		WITH_SERVER(terminated_server_still_writes_its_events),
		WITH_SERVER(host_is_not_answered_before_the_barrier_opens),
		WITH_SERVER(part_that_was_just_powered_is_owed_its_time),
		WITH_SERVER(part_is_long_powered_unless_told_otherwise),
		WITH_SERVER(drawn_corner_stands_in_the_events_with_its_seed),
		WITH_SERVER(bad_usage_exits_2_and_questions_0),
	};

	if (!program) {
		fprintf(stderr, "usage: test_server SERPROG_EMU\n");
		return 2;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
