/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "../run_cases.h"
#include "../temporary_folder.h"
#include "serprog/listener.h"

struct fixture {
	struct folder folder;
	char path[FOLDER_FILE_BYTES];
	struct listener listener;
	struct clock clock;
	int stop_fds[2];
};

static void set_up(struct fixture *fixture)
{
	folder_create(&fixture->folder);
	folder_file(&fixture->folder, "here", fixture->path);
	fixture->listener.fd = -1;
	assert_int_equal(pipe(fixture->stop_fds), 0);
	clock_init_scripted(&fixture->clock, 1);
}

static void tear_down(struct fixture *fixture)
{
	listener_close(&fixture->listener);
	close(fixture->stop_fds[0]);
	close(fixture->stop_fds[1]);
	folder_destroy(&fixture->folder);
}

FIXTURE(fixture, set_up, tear_down);

static int open_at(struct fixture *fixture, const char *kind)
{
	struct listener_address address;
	char text[8 + FOLDER_FILE_BYTES];

	snprintf(text, sizeof(text), "%s:%s", kind, fixture->path);
	assert_int_equal(listener_parse(text, &address), 0);
	return listener_open(&address, &fixture->listener);
}

static int accept_one(struct fixture *fixture)
{
	uint64_t empty_ns = 0;
	int fd = -1;
	int ret = listener_accept(
		&fixture->listener, fixture->stop_fds[0], &fixture->clock, &fd, &empty_ns);

	return ret < 0 ? ret : fd;
}

static int connect_unix(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	strcpy(address.sun_path, path);
	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

TEST(addresses_are_parsed_and_bad_ones_refused)
{
	static const char *const bad[] = {"", "tcp:", "tcp:1", "tcp:127.0.0.1", "tcp:localhost:1",
		"tcp:127.0.0.1:65536", "tcp:127.0.0.1:-1", "unix:", "unix", "pty:", "ptyx",
		"udp:1"};
	struct listener_address address;
	char longest[5 + LISTENER_PATH_BYTES + 1] = "unix:";

	for (size_t i = 0; i < COUNT(bad); i++)
		assert_int_equal(listener_parse(bad[i], &address), -EINVAL);
	memset(longest + 5, 'x', LISTENER_PATH_BYTES);
	assert_int_equal(listener_parse(longest, &address), -ENAMETOOLONG);
	longest[5 + LISTENER_PATH_BYTES - 1] = '\0';
	assert_int_equal(listener_parse(longest, &address), 0);
	assert_int_equal(listener_parse("tcp:0.0.0.0:1", &address), 0);
	assert_false(listener_is_local(&address));
	assert_int_equal(listener_parse("tcp:127.8.0.1:1", &address), 0);
	assert_true(listener_is_local(&address));
	assert_int_equal(listener_parse("pty", &address), 0);
	assert_true(listener_is_local(&address));
}

TEST_ON(fixture, unix_socket_exists_only_while_it_is_open)
{
	char byte = 0;
	int client;
	int fd;

	assert_int_equal(open_at(fixture, "unix"), 0);
	assert_string_equal(fixture->listener.name, fixture->path);
	client = connect_unix(fixture->path);
	fd = accept_one(fixture);
	assert_true(fd >= 0);
	assert_int_equal(write(client, "x", 1), 1);
	assert_int_equal(read(fd, &byte, 1), 1);
	assert_int_equal(byte, 'x');
	close(fd);
	close(client);
	listener_close(&fixture->listener);
	assert_int_equal(access(fixture->path, F_OK), -1);
}

TEST_ON(fixture, socket_that_a_killed_server_left_is_replaced)
{
	assert_int_equal(open_at(fixture, "unix"), 0);
	close(fixture->listener.fd); /* as a kill does */
	assert_int_equal(open_at(fixture, "unix"), 0);
	close(connect_unix(fixture->path));
}

TEST_ON(fixture, socket_in_use_and_files_are_left_alone)
{
	struct listener first;
	int fd;

	assert_int_equal(open_at(fixture, "unix"), 0);
	first = fixture->listener;
	assert_int_equal(open_at(fixture, "unix"), -EADDRINUSE);
	assert_int_equal(access(fixture->path, F_OK), 0);
	listener_close(&first);
	fixture->listener.fd = -1;
	fixture->listener.path[0] = '\0';
	fd = open(fixture->path, O_CREAT | O_WRONLY, 0600);
	close(fd);
	assert_true(open_at(fixture, "unix") < 0);
	assert_true(open_at(fixture, "pty") < 0);
	assert_int_equal(access(fixture->path, F_OK), 0);
}

TEST_ON(fixture, path_in_a_missing_folder_is_not_in_use)
{
	strcat(fixture->path, "/nobody");
	assert_int_equal(open_at(fixture, "unix"), -ENOENT);
}

TEST_ON(fixture, terminal_passes_every_byte_unchanged_for_each_client)
{
	uint8_t all[256];
	uint8_t got[256];

	for (size_t i = 0; i < sizeof(all); i++)
		all[i] = (uint8_t)i;
	assert_int_equal(open_at(fixture, "pty"), 0);
	for (int round = 0; round < 2; round++) {
		int client = open(fixture->path, O_RDWR | O_NOCTTY);
		int fd;

		assert_true(client >= 0);
		assert_int_equal(write(client, all, sizeof(all)), sizeof(all));
		fd = accept_one(fixture);
		assert_true(fd >= 0);
		assert_int_equal(read(fd, got, sizeof(got)), sizeof(got));
		assert_memory_equal(got, all, sizeof(all));
		assert_int_equal(write(fd, all, sizeof(all)), sizeof(all));
		assert_int_equal(read(client, got, sizeof(got)), sizeof(got));
		assert_memory_equal(got, all, sizeof(all));
		close(client);
		assert_true(read(fd, got, 1) <= 0);
		close(fd);
	}
	listener_close(&fixture->listener);
	assert_int_equal(access(fixture->path, F_OK), -1);
}

TEST_ON(fixture, signal_ends_the_wait_for_a_client)
{
	static const char *const kinds[] = {"unix", "pty"};

	assert_int_equal(write(fixture->stop_fds[1], "", 1), 1);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(open_at(fixture, kinds[i]), 0);
		assert_int_equal(accept_one(fixture), -ECANCELED);
		listener_close(&fixture->listener);
	}
}

TEST_ON(fixture, second_client_is_disconnected)
{
	char byte;
	int client;

	assert_int_equal(open_at(fixture, "unix"), 0);
	assert_int_equal(listener_turn_away(&fixture->listener), -EAGAIN);
	client = connect_unix(fixture->path);
	assert_int_equal(listener_turn_away(&fixture->listener), 0);
	assert_int_equal(read(client, &byte, 1), 0);
	close(client);
}
