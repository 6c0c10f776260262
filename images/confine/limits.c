// SPDX-License-Identifier: GPL-2.0-or-later
#include "limits.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <unistd.h>

#include "text/number.h"

#define UID_MAX 0xfffffffeu

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

int limits_take_user(const struct limits *limits)
{
	uid_t uid = limits->uid;

	if (uid == 0)
		return 0;
	if (setgroups(0, NULL) < 0 || setresgid(uid, uid, uid) < 0 || setresuid(uid, uid, uid) < 0)
		return -errno;
	return 0;
}

static int lower(int resource, uint64_t most)
{
	struct rlimit limit;

	if (getrlimit(resource, &limit) < 0)
		return -errno;
	if (limit.rlim_max != RLIM_INFINITY && limit.rlim_max < most)
		most = limit.rlim_max;
	limit.rlim_cur = limit.rlim_max = most;
	return setrlimit(resource, &limit) < 0 ? -errno : 0;
}

/* Where memory runs out, the kernel is to end this program before any other. */
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
	return ret;
}
