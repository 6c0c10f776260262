/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "standby.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* The length of all that came until the end of @fd, or a negative errno. */
static ssize_t read_all(int fd, char *text, size_t size)
{
	size_t len = 0;

	for (;;) {
		ssize_t got = read(fd, text + len, size - len);

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

int standby_wait(int out_fd, int in_fd, struct standby_words *words)
{
	ssize_t len = write(out_fd, "", 1) == 1 ? read_all(in_fd, words->text, sizeof(words->text))
						: -EPIPE;

	close(out_fd);
	close(in_fd);
	return len < 0 ? (int)len : split(words, (size_t)len);
}
