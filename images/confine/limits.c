// SPDX-License-Identifier: GPL-2.0-or-later
#include "confine.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/keyctl.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "shared/number.h"

#define UID_MAX 0xfffffffeu
#define REALTIME_MAX 49 /* below the emulator's 50, so that no subject delays it */

int limits_parse(char *const argv[], struct limits *limits)
{
	uint64_t words[LIMITS_WORDS];

	for (int i = 0; i < LIMITS_WORDS; i++) {
		if (!number_parse(argv[i], 10, i ? 1 : 0, i ? INT64_MAX : UID_MAX, &words[i]))
			return -EINVAL;
	}
	*limits = (struct limits){.uid = (uid_t)words[0],
		.processes_max = words[1],
		.memory_bytes_max = words[2],
		.file_bytes_max = words[3]};
	return 0;
}

static bool has_priority_by_limit(void)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_RTPRIO, &limit) == 0 && limit.rlim_max > 0;
}

/*
 * Drops all capabilities, but keeps CAP_SYS_NICE if the caller has it and RLIMIT_RTPRIO allows no
 * real-time priority: a flashrom may ask for that, and it gives no right over other programs.
 */
static int keep_scheduling_alone(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = {0};
	uint32_t kept;

	if (syscall(SYS_capget, &header, sets) < 0)
		return -errno;
	kept = has_priority_by_limit() ? 0 : sets[0].permitted & (1u << CAP_SYS_NICE);
	sets[0] = (struct __user_cap_data_struct){kept, kept, kept};
	sets[1] = (struct __user_cap_data_struct){0};
	if (syscall(SYS_capset, &header, sets) < 0)
		return -errno;
	if (kept && prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_SYS_NICE, 0, 0) < 0)
		return -errno;
	return 0;
}

int limits_take_user(const struct limits *limits)
{
	uid_t uid = limits->uid;

	if (uid == 0)
		return 0;
	if (prctl(PR_SET_KEEPCAPS, 1) < 0 || setgroups(0, NULL) < 0 ||
		setresgid(uid, uid, uid) < 0 || setresuid(uid, uid, uid) < 0)
		return -errno;
	return keep_scheduling_alone();
}

static int lower(int resource, uint64_t most)
{
	struct rlimit limit;

	if (getrlimit(resource, &limit) < 0)
		return -errno;
	if (limit.rlim_max > most)
		limit.rlim_max = most;
	if (limit.rlim_cur > most)
		limit.rlim_cur = most;
	return setrlimit(resource, &limit) < 0 ? -errno : 0;
}

/* Makes the kernel end this program before any other when memory runs out. */
static int be_ended_first(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	bool told = fd >= 0 && write(fd, "1000", 4) == 4;
	int error = told ? 0 : -errno;

	if (fd >= 0)
		close(fd);
	return error;
}

int limits_apply(const struct limits *limits)
{
	int ret = be_ended_first();

	if (ret == 0)
		ret = lower(RLIMIT_NPROC, limits->processes_max);
	if (ret == 0)
		ret = lower(RLIMIT_AS, limits->memory_bytes_max);
	if (ret == 0)
		ret = lower(RLIMIT_FSIZE, limits->file_bytes_max);
	if (ret == 0)
		ret = lower(RLIMIT_RTPRIO, REALTIME_MAX);
	return ret;
}

int limits_leave_keyring(void)
{
	if (syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) >= 0 || errno == ENOSYS ||
		errno == EPERM)
		return 0;
	return -errno;
}
