// SPDX-License-Identifier: GPL-2.0-or-later
#include "spec.h"
#include "guest.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S INT64_C(1000000000)
#define OFFSETS_BYTES 128
#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x80
#endif

static int lower(int resource, uint64_t most)
{
	const struct rlimit limit = {most, most};

	return most && setrlimit(resource, &limit) < 0 ? -errno : 0;
}

/*
 * Refuses threads by a filter: RLIMIT_NPROC does not limit root. C libraries use clone() instead if
 * clone3(), whose flags a filter cannot read, fails with ENOSYS.
 */
static int refuse_threads(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 4),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 1, 2),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EAGAIN),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};

	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0 ? -errno : 0;
}

int scarcity_begin(const struct scarcity *scarcity)
{
	int ret = lower(RLIMIT_NOFILE, scarcity->descriptors);

	if (ret == 0)
		ret = lower(RLIMIT_AS, (uint64_t)scarcity->memory_mib << 20);
	if (ret == 0 && scarcity->no_threads)
		ret = refuse_threads();
	return ret;
}

static int write_offsets(uint64_t uptime_ns)
{
	struct timespec now;
	char line[OFFSETS_BYTES];
	int64_t offset_ns;

	clock_gettime(CLOCK_MONOTONIC, &now);
	offset_ns = (int64_t)uptime_ns - (now.tv_sec * NS_PER_S + now.tv_nsec);
	/* The kernel takes negative seconds, but no negative nanoseconds. */
	now.tv_sec = (offset_ns - (offset_ns < 0 ? NS_PER_S - 1 : 0)) / NS_PER_S;
	now.tv_nsec = offset_ns - now.tv_sec * NS_PER_S;
	snprintf(line, sizeof(line), "monotonic %lld %ld\nboottime %lld %ld\n",
		(long long)now.tv_sec, now.tv_nsec, (long long)now.tv_sec, now.tv_nsec);
	return guest_write_text("/proc/self/timens_offsets", line);
}

int uptime_begin(uint64_t uptime_ns)
{
	int ours = open("/proc/self/ns/time", O_RDONLY | O_CLOEXEC);
	int ret;

	if (ours < 0)
		return -errno;
	ret = unshare(CLONE_NEWTIME) < 0 ? -errno : write_offsets(uptime_ns);
	if (ret < 0)
		close(ours);
	return ret < 0 ? ret : ours;
}

int uptime_end(int descriptor)
{
	int ret = setns(descriptor, CLONE_NEWTIME) < 0 ? -errno : 0;

	close(descriptor);
	return ret;
}
