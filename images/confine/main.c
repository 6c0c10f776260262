// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Process 1 of the bubblewrap sandbox in which a subject of the host lane runs. It limits the
 * subject, starts it when the rig says so, and reports its end.
 *
 *     rig-confine FD UID PROCESSES MEMORY_BYTES FILE_BYTES OWN KEPT NAMES PROGRAM [WORD...]
 *
 * OWN is the subject's folder, and KEPT the folder of the host's files with these NAMES. FD is a
 * socket that keeps messages apart, for these messages to the rig:
 *
 *     ready            sent by the subject's process, so that the kernel can add its id; any answer
 *                      starts the subject
 *     failed ERRNO     the subject could not be started
 *     ended STATUS USER_US SYS_US VOLUNTARY INVOLUNTARY LEFT
 *
 * STATUS is that of wait(2). USER_US to INVOLUNTARY are CPU times and context switches, LEFT is the
 * number of processes that the subject left behind.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "confine.h"
#include "shared/number.h"

#define FILES_WORDS 3
#define WORDS_MIN (2 + LIMITS_WORDS + FILES_WORDS + 1)
#define MESSAGE_BYTES 160
#define FD_MAX 1023

static void say(int fd, const char *message)
{
	if (send(fd, message, strlen(message), MSG_NOSIGNAL) < 0)
		_exit(1);
}

static bool has_32_bits(const char *program)
{
	unsigned char head[EI_NIDENT] = {0};
	int fd = open(program, O_RDONLY | O_CLOEXEC);
	bool is_elf = fd >= 0 && read(fd, head, sizeof(head)) == (ssize_t)sizeof(head) &&
		      memcmp(head, ELFMAG, SELFMAG) == 0;

	if (fd >= 0)
		close(fd);
	return is_elf && head[EI_CLASS] == ELFCLASS32;
}

/* Becomes the subject; never returns. */
static void become(int fd, const struct limits *limits, char *const words[])
{
	char message[MESSAGE_BYTES];
	char answer;
	int ret;

	/* Only a process that may be traced owns its /proc/self/oom_score_adj. */
	ret = prctl(PR_SET_DUMPABLE, 1) < 0 ? -errno : limits_apply(limits);
	if (ret == 0)
		ret = filter_install(has_32_bits(words[0]));
	if (ret == 0) {
		say(fd, "ready");
		if (recv(fd, &answer, 1, 0) <= 0)
			_exit(1);
		/* NOLINTNEXTLINE(clang-analyzer-optin.taint.GenericTaint): it is for that */
		execv(words[0], words);
		ret = -errno;
	}
	snprintf(message, sizeof(message), "failed %d", -ret);
	say(fd, message);
	_exit(127);
}

/* Waits for the subject. Also reaps orphans, which become children of process 1. */
static int await(pid_t subject, struct rusage *usage)
{
	int status;
	pid_t pid;

	do
		pid = wait4(-1, &status, 0, usage);
	while (pid != subject && (pid >= 0 || errno == EINTR));
	return pid == subject ? status : -1;
}

static unsigned int end_the_rest(void)
{
	unsigned int count = 0;

	kill(-1, SIGKILL);
	while (waitpid(-1, NULL, 0) > 0)
		count++;
	return count;
}

static uint64_t to_us(const struct timeval *time)
{
	return (uint64_t)time->tv_sec * 1000000 + (uint64_t)time->tv_usec;
}

static void report(int fd, int status, const struct rusage *usage, unsigned int left)
{
	char message[MESSAGE_BYTES];

	snprintf(message, sizeof(message), "ended %d %llu %llu %ld %ld %u", status,
		(unsigned long long)to_us(&usage->ru_utime),
		(unsigned long long)to_us(&usage->ru_stime), usage->ru_nvcsw, usage->ru_nivcsw,
		left);
	say(fd, message);
}

static void end_if_hung_up(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)context;
	if (info->si_code == POLL_HUP)
		_exit(1);
}

/*
 * Makes this process end when the rig's end of the socket closes. If it has closed already, the
 * first message fails. bubblewrap's --die-with-parent would kill bubblewrap itself at any moment:
 * if it has just forked process 1, that waits for it forever. Source: fcntl(2), F_SETSIG.
 */
static int end_with_rig(int fd)
{
	struct sigaction action = {
		.sa_sigaction = end_if_hung_up,
		.sa_flags = SA_SIGINFO | SA_RESTART,
	};
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || sigaction(SIGIO, &action, NULL) < 0 || fcntl(fd, F_SETOWN, getpid()) < 0 ||
		fcntl(fd, F_SETSIG, SIGIO) < 0 || fcntl(fd, F_SETFL, flags | O_ASYNC) < 0)
		return -errno;
	return 0;
}

/* Makes this process end with its parent, and keeps the subject, the same user, from tracing it. */
static int prepare(int fd, const struct limits *limits)
{
	int ret = limits_leave_keyring();

	if (ret == 0)
		ret = limits_take_user(limits);
	if (ret == 0)
		ret = end_with_rig(fd);
	if (ret == 0 && (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || prctl(PR_SET_DUMPABLE, 0) < 0 ||
				fcntl(fd, F_SETFD, FD_CLOEXEC) < 0))
		ret = -errno;
	return ret;
}

/* `words` begins with OWN. */
static int run(int fd, const struct limits *limits, char *words[])
{
	const char *own = words[0], *kept = words[1], *names = words[2];
	struct rusage usage;
	pid_t subject;
	unsigned int left;
	int status;
	int ret = files_copy(kept, own, names);

	subject = ret < 0 ? -1 : fork();
	if (subject < 0)
		return ret < 0 ? ret : -errno;
	if (subject == 0)
		become(fd, limits, words + FILES_WORDS);
	status = await(subject, &usage);
	left = end_the_rest();
	ret = files_copy(own, kept, names);
	if (ret == 0)
		report(fd, status, &usage, left);
	return ret;
}

int main(int argc, char *argv[])
{
	struct limits limits;
	uint64_t fd;
	int ret = -EINVAL;

	if (argc >= WORDS_MIN && number_parse(argv[1], 10, 0, FD_MAX, &fd))
		ret = limits_parse(argv + 2, &limits);
	if (ret < 0) {
		fprintf(stderr,
			"usage: %s FD UID PROCESSES MEMORY_BYTES FILE_BYTES OWN KEPT NAMES"
			" PROGRAM [WORD...]\n",
			argv[0]);
		return 2;
	}
	ret = prepare((int)fd, &limits);
	if (ret == 0)
		ret = run((int)fd, &limits, argv + 2 + LIMITS_WORDS);
	if (ret < 0)
		fprintf(stderr, "rig-confine: %s\n", strerror(-ret));
	return ret < 0 ? 1 : 0;
}
