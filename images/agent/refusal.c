// SPDX-License-Identifier: GPL-2.0-or-later
#include "spec.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#define NUMBERS_MAX 4
#define NONE (-1) /* the architecture has no such call */

#ifdef SYS_select
#define SELECT SYS_select
#else
#define SELECT NONE
#endif
#ifdef SYS__newselect
#define NEW_SELECT SYS__newselect
#else
#define NEW_SELECT NONE
#endif
#ifdef SYS_poll
#define POLL SYS_poll
#else
#define POLL NONE
#endif
/* 32-bit architectures have a second version of these calls, with 64-bit seconds. */
#ifdef SYS_clock_nanosleep_time64
#define SLEEP_64 SYS_clock_nanosleep_time64
#define SELECT_64 SYS_pselect6_time64
#define POLL_64 SYS_ppoll_time64
#define GETTIME_64 SYS_clock_gettime64
#else
#define SLEEP_64 NONE
#define SELECT_64 NONE
#define POLL_64 NONE
#define GETTIME_64 NONE
#endif

static const struct {
	const char *name;
	int numbers[NUMBERS_MAX];
} kinds[] = {
	{"sleep", {SYS_nanosleep, SYS_clock_nanosleep, SLEEP_64, NONE}},
	{"select", {SELECT, NEW_SELECT, SYS_pselect6, SELECT_64}},
	{"poll", {POLL, SYS_ppoll, POLL_64, NONE}},
	{"timerfd", {SYS_timerfd_create, NONE, NONE, NONE}},
	{"clock", {SYS_clock_gettime, SYS_gettimeofday, GETTIME_64, NONE}},
};

static const struct {
	const char *name;
	int error;
} errors[] = {{"eperm", EPERM}, {"enosys", ENOSYS}, {"einval", EINVAL}};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

bool refusals_add(struct refusals *refusals, const char *kind, const char *error)
{
	struct refusal *refusal = &refusals->of[refusals->count];
	size_t e = 0;

	if (refusals->count == REFUSALS_MAX || !kind || !error)
		return false;
	for (refusal->kind = 0; refusal->kind < COUNT(kinds); refusal->kind++)
		if (strcmp(kinds[refusal->kind].name, kind) == 0)
			break;
	while (e < COUNT(errors) && strcmp(errors[e].name, error) != 0)
		e++;
	if (refusal->kind == COUNT(kinds) || e == COUNT(errors))
		return false;
	refusal->error = errors[e].error;
	refusals->count++;
	return true;
}

static size_t add_refusal(struct sock_filter *code, const struct refusal *refusal)
{
	size_t count = 0;

	for (size_t i = 0; i < NUMBERS_MAX; i++) {
		const int number = kinds[refusal->kind].numbers[i];

		if (number == NONE)
			continue;
		code[count++] = (struct sock_filter)BPF_JUMP(
			BPF_JMP | BPF_JEQ | BPF_K, (unsigned int)number, 0, 1);
		code[count++] = (struct sock_filter)BPF_STMT(
			BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned int)refusal->error);
	}
	return count;
}

/* The filter ignores the architecture: the subject has the agent's, so its numbers are the same. */
int refusals_install(const struct refusals *refusals)
{
	struct sock_filter code[REFUSALS_MAX * NUMBERS_MAX * 2 + 2];
	struct sock_fprog program = {.len = 0, .filter = code};

	if (refusals->count == 0)
		return 0;
	code[program.len++] = (struct sock_filter)BPF_STMT(
		BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < refusals->count; i++)
		program.len += (unsigned short)add_refusal(code + program.len, &refusals->of[i]);
	code[program.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0 ? -errno : 0;
}
