/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The limits of a confined program, the filter of its system calls, and the files that are kept. */
#ifndef CONFINE_CONFINE_H
#define CONFINE_CONFINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define LIMITS_WORDS 4

struct limits {
	uid_t uid; /* the user that the program becomes; 0: the caller's */
	uint64_t processes_max;
	uint64_t memory_bytes_max; /* for each process */
	uint64_t file_bytes_max;
};

/* Parses @argv[0] to @argv[LIMITS_WORDS - 1], in the order above. Returns 0 or -EINVAL. */
int limits_parse(char *const argv[], struct limits *limits);

/*
 * Becomes that user and keeps only the right to real-time priority; does nothing if the user is 0.
 * Returns 0 or a negative errno.
 */
int limits_take_user(const struct limits *limits);

/*
 * Limits the calling process and its descendants; never raises a limit. Returns 0 or a negative
 * errno.
 */
int limits_apply(const struct limits *limits);

/*
 * Gives the calling process and its descendants a new session keyring, so that they cannot read or
 * list the old one. Returns 0, also if the kernel has no keys for us, or a negative errno.
 */
int limits_leave_keyring(void);

/*
 * Allows the calling process and its descendants only the system calls of calls.txt, whatever their
 * rights. Calls of 32-bit programs are allowed only if @is_32_bit: both lists together reach more
 * of the kernel. Returns 0 or a negative errno.
 */
int filter_install(bool is_32_bit);

/*
 * Copies the files with the given @names, separated by commas, from one folder to another, unless
 * they are missing, empty or no regular files; follows no link. Returns 0 or a negative errno.
 *
 * The subject's folder has a bounded size and ends with the sandbox. So some files of the host are
 * copied into it before the subject starts, and back after it has ended.
 */
int files_copy(const char *from, const char *to, const char *names);

/* The numbers of the system calls in calls.txt, which differ by architecture. */
struct calls {
	const unsigned int *numbers;
	size_t count;
	/* The calls whose arguments are checked; `numbers` has them, too. */
	unsigned int clone;
	unsigned int socket;
};

const struct calls *calls_native(void);

/* Returns NULL if this machine cannot run i386 programs. */
const struct calls *calls_i386(void);

#endif
