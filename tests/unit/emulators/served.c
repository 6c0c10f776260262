/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "served.h"

#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define READY_FD 3

void served_set_up(struct served *served, char *argv[])
{
	*served = (struct served){.program = argv[1], .fd = -1};
	if (!served->program) {
		fprintf(stderr, "usage: %s SERPROG_EMU\n", argv[0]);
		exit(2);
	}
	folder_create(&served->folder);
	folder_file(&served->folder, "events", served->events);
	folder_file(&served->folder, "image", served->image);
}

void served_tear_down(struct served *served)
{
	if (served->pid > 0) {
		kill(served->pid, SIGKILL);
		waitpid(served->pid, NULL, 0); /* from here on it cannot make files */
	}
	if (served->fd >= 0)
		close(served->fd);
	folder_destroy(&served->folder);
}

static void exec_server(const struct served *served, const char *const *extra)
{
	const char *argv[SERVED_ARGS_MAX] = {served->program, "--chip", "W25Q128JV", "--events",
		served->events, "--ready-fd", "3"};
	size_t count = 7;

	while (*extra)
		argv[count++] = *extra++;
	execv(served->program, (char *const *)argv);
	_exit(127);
}

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

void served_start_from_standby(struct served *served, const char *rest, size_t rest_len)
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

void served_connect(struct served *served)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons(served->port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};

	served->fd = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(connect(served->fd, (struct sockaddr *)&address, sizeof(address)), 0);
}

void served_start(struct served *served, const char *const *extra)
{
	start(served, extra);
	served_connect(served);
}

void served_disconnect(struct served *served)
{
	close(served->fd);
	served->fd = -1;
}

int served_wait_for_exit(struct served *served)
{
	int status;

	assert_int_equal(waitpid(served->pid, &status, 0), served->pid);
	served->pid = 0;
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

void served_end(struct served *served)
{
	served_disconnect(served);
	assert_int_equal(served_wait_for_exit(served), 0);
}

void served_ask(struct served *served, const void *request, size_t request_len, void *reply,
	size_t reply_len)
{
	assert_int_equal(send(served->fd, request, request_len, 0), request_len);
	assert_int_equal(recv(served->fd, reply, reply_len, MSG_WAITALL), reply_len);
}

void served_spi(struct served *served, const uint8_t *command, uint8_t command_len, uint8_t *reply,
	uint8_t reply_len)
{
	uint8_t request[7 + 256] = {0x13, command_len, 0, 0, reply_len, 0, 0};
	uint8_t answer[1 + 256];

	memcpy(request + 7, command, command_len);
	served_ask(served, request, 7u + command_len, answer, 1u + reply_len);
	assert_int_equal(answer[0], 0x06);
	memcpy(reply, answer + 1, reply_len);
}

void served_wait_until_ready(struct served *served)
{
	static const uint8_t rdsr = 0x05;
	uint8_t status;

	do
		served_spi(served, &rdsr, 1, &status, 1);
	while (status & 0x01);
}

char *file_text(const char *path)
{
	FILE *file = fopen(path, "r");
	char *text = calloc(1, 1 << 20);

	assert_non_null(file);
	assert_true(fread(text, 1, (1 << 20) - 1, file) > 0);
	fclose(file);
	return text;
}

size_t count_of(const char *text, const char *needle)
{
	size_t count = 0;

	while ((text = strstr(text, needle)) != NULL) {
		count++;
		text += strlen(needle);
	}
	return count;
}
