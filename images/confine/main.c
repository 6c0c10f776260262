/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Process 1 of the bubblewrap sandbox in which a subject of the host lane runs. It limits the
 * subject, starts it when the rig answers, and reports its end.
 *
 *     rig-confine FD UID PROCESSES MEMORY_BYTES FILE_BYTES OWN KEPT NAMES PROGRAM [WORD...]
 *
 * OWN is the subject's folder, which ends with the sandbox. NAMES are files, separated by commas,
 * that are copied from the folder KEPT to OWN before the subject starts, and back after its end.
 *
 * FD is a SOCK_SEQPACKET socket for these messages to the rig:
 *
 *     ready            sent by the subject's process, so that the rig gets its id by SO_PASSCRED;
 *                      any answer starts the subject
 *     failed ERRNO     the subject could not be started
 *     ended STATUS USER_US SYS_US VOLUNTARY INVOLUNTARY LEFT
 *
 * STATUS is that of wait(2). USER_US and SYS_US are CPU times, VOLUNTARY and INVOLUNTARY context
 * switches, and LEFT is the number of processes that the subject left behind.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/keyctl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "confine.h"
#include "shared/number.h"

#define LIMITS_WORDS 4

struct limits {
	uid_t uid; /* the user that the program becomes; 0: the caller's */
	uint64_t processes_max;
	uint64_t memory_bytes_max; /* for each process */
	uint64_t file_bytes_max;
};

#define PATH_BYTES 4096
#define COPY_BYTES 65536
/* Flags against a symbolic link, or a FIFO without a writer, that the subject made there. */
#define WARY (O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)

static int write_all(int fd, const char *bytes, ssize_t count)
{
	while (count > 0) {
		ssize_t written = write(fd, bytes, (size_t)count);

		if (written < 0)
			return -errno;
		bytes += written;
		count -= written;
	}
	return 0;
}

static int copy(int from, int to)
{
	static char bytes[COPY_BYTES];
	ssize_t count;
	int ret = 0;

	while (ret == 0 && (count = read(from, bytes, sizeof(bytes))) != 0)
		ret = count < 0 ? -errno : write_all(to, bytes, count);
	return ret;
}

/* Does nothing if @from cannot be opened, is empty, or is not a regular file. */
static int copy_file(const char *from, const char *to)
{
	struct stat status;
	int in = open(from, O_RDONLY | WARY);
	int out = -1;
	int ret = 0;

	if (in < 0)
		return 0;
	if (fstat(in, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
		out = open(to, O_WRONLY | O_CREAT | O_TRUNC | WARY, 0644);
		ret = out < 0 ? -errno : copy(in, out);
	}
	close(in);
	if (out >= 0)
		close(out);
	return ret;
}

/* Writes the path of a file, whose name has @length characters. Returns 0 or -ENAMETOOLONG. */
static int write_path(char *path, const char *folder, const char *name, int length)
{
	int bytes = snprintf(path, PATH_BYTES, "%s/%.*s", folder, length, name);

	return bytes < PATH_BYTES ? 0 : -ENAMETOOLONG;
}

/*
 * Copies the files with the given @names, separated by commas, from one folder to another, and
 * omits those that copy_file() does not copy. Returns 0 or a negative errno.
 */
static int files_copy(const char *from, const char *to, const char *names)
{
	char source[PATH_BYTES], target[PATH_BYTES];
	int ret = 0;

	while (ret == 0 && *names) {
		int length = (int)strcspn(names, ",");

		ret = write_path(source, from, names, length);
		if (ret == 0)
			ret = write_path(target, to, names, length);
		if (ret == 0)
			ret = copy_file(source, target);
		names += length + (names[length] == ',');
	}
	return ret;
}

#define UID_MAX 0xfffffffeu
#define REALTIME_MAX 49 /* below the emulator's 50, so that no subject delays it */

/* Parses @argv[0] to @argv[LIMITS_WORDS - 1], in the order above. Returns 0 or -EINVAL. */
static int limits_parse(char *const argv[], struct limits *limits)
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
 * real-time priority, which a flashrom may request. In the sandbox's PID namespace CAP_SYS_NICE
 * gives no right over other programs.
 */
static int keep_realtime_right(void)
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

/*
 * Switches to the user in @limits, and keeps only the right to real-time priority. Does nothing if
 * the user is 0. Returns 0 or a negative errno.
 */
static int limits_take_user(const struct limits *limits)
{
	uid_t uid = limits->uid;

	if (uid == 0)
		return 0;
	if (prctl(PR_SET_KEEPCAPS, 1) < 0 || setgroups(0, NULL) < 0 ||
		setresgid(uid, uid, uid) < 0 || setresuid(uid, uid, uid) < 0)
		return -errno;
	return keep_realtime_right();
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
	int error = fd < 0 ? -errno : write_all(fd, "1000", 4);

	if (fd >= 0)
		close(fd);
	return error;
}

/*
 * Limits the calling process and its descendants; never raises a limit. Returns 0 or a negative
 * errno.
 */
static int limits_apply(const struct limits *limits)
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

/*
 * Gives the calling process and its descendants a new session keyring, so that they cannot read or
 * list the old one. Returns 0, also if the kernel has no keyrings or refuses them, or a negative
 * errno.
 */
static int limits_leave_keyring(void)
{
	if (syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) >= 0 || errno == ENOSYS ||
		errno == EPERM)
		return 0;
	return -errno;
}

#define FILES_WORDS 3
#define WORDS_MIN (2 + LIMITS_WORDS + FILES_WORDS + 1)
#define MESSAGE_BYTES 160
#define FD_MAX 1023

static void send_message(int fd, const char *message)
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
		send_message(fd, "ready");
		if (recv(fd, &answer, 1, 0) <= 0)
			_exit(1);
		/* NOLINTNEXTLINE(clang-analyzer-optin.taint.GenericTaint): that is its purpose */
		execv(words[0], words);
		ret = -errno;
	}
	snprintf(message, sizeof(message), "failed %d", -ret);
	send_message(fd, message);
	_exit(127);
}

/*
 * Waits for the subject. Also reaps orphans, which become children of process 1. Returns 0 or a
 * negative errno.
 */
static int await(pid_t subject, int *status, struct rusage *usage)
{
	pid_t pid;

	do
		pid = wait4(-1, status, 0, usage);
	while (pid != subject && (pid >= 0 || errno == EINTR));
	return pid == subject ? 0 : -errno;
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
	send_message(fd, message);
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
 * first message fails. bubblewrap's --die-with-parent is not used: it may kill bubblewrap just
 * after the fork of process 1, which then waits for bubblewrap forever. Source: fcntl(2), F_SETSIG.
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

/*
 * Drops the keyring and the rights that no subject may have, makes this process end with the rig
 * and with its parent, and forbids the subject, which has the same user, to trace it. Returns 0 or
 * a negative errno.
 */
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

/* Runs the subject; `words` begins with OWN. Returns 0 or a negative errno. */
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
	ret = await(subject, &status, &usage);
	left = end_the_rest();
	if (ret == 0)
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
