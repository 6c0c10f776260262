/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The resources of a confined program, the system calls that the kernel refuses it, and its kept
 * files.
 */
#ifndef CONFINE_CONFINE_H
#define CONFINE_CONFINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define LIMITS_WORDS 4

struct limits {
	uid_t uid; /* the user that it becomes; 0: our own */
	uint64_t processes_max;
	uint64_t memory_bytes_max; /* the memory of each process */
	uint64_t file_bytes_max;
};

/* Takes the words @argv[0] to @argv[LIMITS_WORDS - 1], in the order above. -EINVAL. */
int limits_parse(char *const argv[], struct limits *limits);

/*
 * Gives up being root for that user, and all rights but that to real-time priority. Negative errno.
 */
int limits_take_user(const struct limits *limits);

/* For this process and all that come of it; never raises a limit. Negative errno. */
int limits_apply(const struct limits *limits);

/*
 * A session keyring of our own, for this process and all that come of it: the caller's is neither
 * read nor listed. Negative errno; no error where the kernel has no keys for us.
 */
int limits_leave_keyring(void);

/*
 * Leaves to this process and all that come of it the system calls of calls.txt alone, whatever
 * their rights. The numbers of a 32-bit program's are refused unless it @is_32_bit: whoever has
 * both reaches more of the kernel than either list says. Negative errno.
 */
int filter_install(bool is_32_bit);

/*
 * The subject's own folder has a bounded size and is gone with the sandbox. Files of some names,
 * joined by commas, are brought into it before, and kept after: each name stands for a file of this
 * machine, elsewhere. Copies what is a file and not empty: no link is followed. Negative errno.
 */
int files_copy(const char *from, const char *to, const char *names);

/* The numbers of the system calls in calls.txt, which each architecture has for itself. */
struct calls {
	const unsigned int *numbers;
	size_t count;
	/* Those whose arguments are looked at; they are among the numbers, too. */
	unsigned int clone;
	unsigned int socket;
};

const struct calls *calls_native(void);

/* NULL where this machine runs no such programs. */
const struct calls *calls_i386(void);

#endif
