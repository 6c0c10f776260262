/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tries each thing once, and says with which error it was refused: `tried NAME ERRNO`, 0 for none.
 * Nothing is without end, so that a machine without any confinement lives to tell.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef HOST
#define HOST "127.0.0.1"
#endif
#ifndef OUTSIDE
#define OUTSIDE "/written-outside"
#endif
#ifndef PORT
#define PORT 1
#endif

#define FORKS_MAX 2000
#define MEMORY_BYTES (64ull << 30)
#define FILE_BYTES_MAX (512ull << 20)
#define CHUNK_BYTES (1u << 20)
#define CONNECT_S 3

/* The rig starts a program only if it contains the part's name. */
static const char *const volatile part = "W25Q128.V";

static int error_of(long result)
{
	return result < 0 ? errno : 0;
}

static int read_shadow(void)
{
	return error_of(open("/etc/shadow", O_RDONLY));
}

static int connect_elsewhere(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(PORT)};
	struct timeval limit = {.tv_sec = CONNECT_S};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	inet_pton(AF_INET, HOST, &address.sin_addr);
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	return error_of(connect(fd, (struct sockaddr *)&address, sizeof(address)));
}

static int write_outside(void)
{
	return error_of(open(OUTSIDE, O_WRONLY | O_CREAT, 0644));
}

static int fork_without_end(void)
{
	int error = 0;
	pid_t pid = 1;

	for (int i = 0; i < FORKS_MAX && pid > 0; i++) {
		pid = fork();
		if (pid == 0) {
			pause();
			_exit(0);
		}
		error = error_of(pid);
	}
	return error;
}

static int take_memory(void)
{
	void *all = mmap(NULL, MEMORY_BYTES, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return all == MAP_FAILED ? errno : 0;
}

static int fill(const char *path)
{
	static char chunk[CHUNK_BYTES];
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	ssize_t written = fd;

	for (unsigned long long at = 0; at < FILE_BYTES_MAX && written >= 0; at += CHUNK_BYTES)
		written = write(fd, chunk, sizeof(chunk));
	return error_of(written);
}

static int fill_disk(void)
{
	char path[32];
	int error = 0;

	signal(SIGXFSZ, SIG_IGN);
	for (int i = 0; i < 8; i++) {
		snprintf(path, sizeof(path), "/tmp/filled-%d", i);
		error = fill(path);
	}
	return error;
}

static int trace_parent(void)
{
	return error_of(ptrace(PTRACE_ATTACH, getppid(), NULL, NULL));
}

static int open_user_namespace(void)
{
	return error_of(unshare(CLONE_NEWUSER));
}

static int clone_user_namespace(void)
{
	long pid = syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);

	if (pid == 0)
		_exit(0);
	return error_of(pid);
}

static int become_root(void)
{
	return error_of(setresuid(0, 0, 0));
}

static int mount_something(void)
{
	return error_of(mount("none", "/tmp", "tmpfs", 0, NULL));
}

static const struct {
	const char *name;
	int (*attempt)(void);
} attempts[] = {
	{"shadow", read_shadow},
	{"connect", connect_elsewhere},
	{"outside", write_outside},
	{"memory", take_memory},
	{"disk", fill_disk},
	{"trace", trace_parent},
	{"unshare", open_user_namespace},
	{"clone", clone_user_namespace},
	{"root", become_root},
	{"mount", mount_something},
	{"forks", fork_without_end},
};

int main(void)
{
	setvbuf(stdout, NULL, _IONBF, 0);
	printf("flashrom hostile, for %s\n", part);
	for (size_t i = 0; i < sizeof(attempts) / sizeof(attempts[0]); i++) {
#ifdef ONLY
		if (strcmp(attempts[i].name, ONLY) != 0)
			continue;
#endif
		printf("tried %s %d\n", attempts[i].name, attempts[i].attempt());
	}
	return 0;
}
