/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "standby.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

int standby_wait_readable(int fd, int signal_fd)
{
	struct pollfd fds[] = {
		{.fd = fd, .events = POLLIN},
		{.fd = signal_fd, .events = POLLIN},
	};

	while (poll(fds, sizeof(fds) / sizeof(fds[0]), -1) < 0) {
		if (errno != EINTR)
			return -errno;
	}
	return fds[1].revents ? -ECANCELED : 0;
}

/* Reads @fd to its end. Returns the length, or a negative errno. */
static ssize_t read_all(int fd, int signal_fd, char *text, size_t size)
{
	size_t len = 0;

	for (;;) {
		int ret = standby_wait_readable(fd, signal_fd);
		ssize_t got;

		if (ret < 0)
			return ret;
		got = read(fd, text + len, size - len);
		if (got == 0)
			return (ssize_t)len;
		if (got < 0)
			return -errno;
		len += (size_t)got;
		if (len == size)
			return -E2BIG;
	}
}

static int split(struct standby_words *words, size_t len)
{
	static char name[] = "serprog-emu";
	char *end = words->text + len;

	if (len > 0 && end[-1] != '\0')
		return -EINVAL;
	words->argv[0] = name;
	words->argc = 1;
	for (char *word = words->text; word < end; word += strlen(word) + 1) {
		if (words->argc == STANDBY_WORDS_MAX)
			return -E2BIG;
		words->argv[words->argc++] = word;
	}
	words->argv[words->argc] = NULL;
	return 0;
}

int standby_wait(const struct fd_pair *fds, int signal_fd, struct standby_words *words)
{
	ssize_t len = -EPIPE;

	if (write(fds->out, "", 1) == 1)
		len = read_all(fds->in, signal_fd, words->text, sizeof(words->text));

	close(fds->out);
	close(fds->in);
	return len < 0 ? (int)len : split(words, (size_t)len);
}
