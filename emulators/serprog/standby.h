/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rest of the command line, sent to a running server. The work that is the same for every chip
 * can then be done, and kept in a snapshot of the machine, before the chip is known.
 */
#ifndef EMULATORS_SERPROG_STANDBY_H
#define EMULATORS_SERPROG_STANDBY_H

#include <stddef.h>

/* The descriptors of the process that started us: we write to one, and read from the other. */
struct fd_pair {
	int out;
	int in;
};

#define STANDBY_TEXT_BYTES 16384
#define STANDBY_WORDS_MAX 128

struct standby_words {
	char text[STANDBY_TEXT_BYTES];
	char *argv[STANDBY_WORDS_MAX + 1]; /* as main() gets it: word 0 is the program's name */
	int argc;
};

/*
 * Writes one byte to fds->out, then reads words from fds->in until its end; each ends with a NUL.
 * Closes both. Returns -ECANCELED if @signal_fd is readable first, -EPIPE if the byte cannot be
 * written, -E2BIG for too many bytes or words, -EINVAL if the last word has no NUL, else the
 * negative errno of what failed.
 */
int standby_wait(const struct fd_pair *fds, int signal_fd, struct standby_words *words);

/*
 * Blocks until @fd or @signal_fd can be read. Returns -ECANCELED if @signal_fd can, or another
 * negative errno on failure.
 */
int standby_wait_readable(int fd, int signal_fd);

#endif
