/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tries each forbidden action once, and prints `tried NAME ERRNO`, with 0 if it succeeded. Each
 * attempt has a limit, so that it does no harm on a machine without confinement.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/keyctl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
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
#ifndef KEY
#define KEY "no key"
#endif
#ifndef CALLS
#define CALLS -1
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

static int clone_user_namespace(void)
{
	long pid = syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);

	if (pid == 0)
		_exit(0);
	return error_of(pid);
}

/* Looks for KEY in the list of visible keys. */
static int list_keys(void)
{
	static char text[1 << 16];
	FILE *file = fopen("/proc/keys", "r");
	size_t count = file ? fread(text, 1, sizeof(text) - 1, file) : 0;

	text[count] = '\0';
	if (file)
		fclose(file);
	return strstr(text, KEY) ? 0 : ENOENT;
}

static int make_ring(void)
{
	char parameters[120] = {0};

	return error_of(syscall(SYS_io_uring_setup, 1, parameters));
}

static int run_by_deadline(void)
{
	struct {
		unsigned int size, policy;
		unsigned long long flags;
		int nice;
		unsigned int priority;
		unsigned long long runtime, deadline, period;
	} request = {48, 6, 0, 0, 0, 900000, 1000000, 1000000};

	return error_of(syscall(SYS_sched_setattr, 0, &request, 0));
}

static int count_events(void)
{
	unsigned int request[32] = {1, sizeof(request)}; /* PERF_TYPE_SOFTWARE */

	request[10] = 0x60; /* exclude_kernel, exclude_hv */
	return error_of(syscall(SYS_perf_event_open, request, 0, -1, -1, 0));
}

static int load_program(void)
{
	unsigned int map[18] = {2, 4, 4, 1};

	return error_of(syscall(SYS_bpf, 0, map, sizeof(map)));
}

/* Calls getpid() as a 32-bit program does. */
static int call_as_32_bits(void)
{
	long result = -ENOSYS;
	int status = 0;
#ifdef __x86_64__
	if (fork() == 0) {
		__asm__ volatile("int $0x80" : "=a"(result) : "a"(20L) : "memory");
		_exit(result < 0 ? (int)-result : 0);
	}
	wait(&status);
	return WIFEXITED(status) ? WEXITSTATUS(status) : ENOSYS;
#else
	return (int)(-result + status);
#endif
}

static const struct sched_param first_of_all = {.sched_priority = 99};

/* Each attempt calls a function, or makes one system call with the arguments. */
static const struct {
	const char *name;
	int (*function)(void);
	long call;
	long arguments[5];
} attempts[] = {
	{.name = "shadow", .function = read_shadow},
	{.name = "connect", .function = connect_elsewhere},
	{.name = "outside", .function = write_outside},
	{.name = "memory", .function = take_memory},
	{.name = "disk", .function = fill_disk},
	{.name = "trace", .function = trace_parent},
	{.name = "unshare", .call = SYS_unshare, .arguments = {CLONE_NEWUSER}},
	{.name = "clone", .function = clone_user_namespace},
	{.name = "root", .call = SYS_setresuid, .arguments = {0, 0, 0}},
	{.name = "mount",
		.call = SYS_mount,
		.arguments = {(long)"none", (long)"/tmp", (long)"tmpfs"}},
	{.name = "list_keys", .function = list_keys},
	{.name = "add_key",
		.call = SYS_add_key,
		.arguments = {(long)"user", (long)"hostile", (long)"x", 1,
			KEY_SPEC_SESSION_KEYRING}},
	{.name = "read_keys",
		.call = SYS_keyctl,
		.arguments = {KEYCTL_READ, KEY_SPEC_SESSION_KEYRING}},
	{.name = "request_key", .call = SYS_request_key, .arguments = {(long)"user", (long)KEY}},
	{.name = "vsock", .call = SYS_socket, .arguments = {AF_VSOCK, SOCK_STREAM}},
	{.name = "io_uring", .function = make_ring},
	{.name = "deadline", .function = run_by_deadline},
	{.name = "priority",
		.call = SYS_sched_setscheduler,
		.arguments = {0, SCHED_FIFO, (long)&first_of_all}},
	{.name = "mlockall", .call = SYS_mlockall, .arguments = {MCL_CURRENT}},
	{.name = "userfaultfd", .call = SYS_userfaultfd, .arguments = {1}},
	{.name = "perf", .function = count_events},
	{.name = "bpf", .function = load_program},
	{.name = "32_bits", .function = call_as_32_bits},
	{.name = "forks", .function = fork_without_end},
};

/* The numbers of system calls, each of which gets invalid arguments. */
static const int calls[] = {CALLS};

static int attempt(size_t i)
{
	const long *arguments = attempts[i].arguments;

	if (attempts[i].function)
		return attempts[i].function();
	return error_of(syscall(attempts[i].call, arguments[0], arguments[1], arguments[2],
		arguments[3], arguments[4]));
}

static void try_calls(void)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		if (calls[i] >= 0)
			printf("tried call_%d %d\n", calls[i],
				error_of(syscall(calls[i], -1, -1, -1, -1, -1, -1)));
	}
}

int main(void)
{
	setvbuf(stdout, NULL, _IONBF, 0);
	printf("flashrom hostile, for %s\n", part);
	for (size_t i = 0; i < sizeof(attempts) / sizeof(attempts[0]); i++) {
#ifdef ONLY
		if (strcmp(attempts[i].name, ONLY) != 0)
			continue;
#endif
		printf("tried %s %d\n", attempts[i].name, attempt(i));
	}
	try_calls();
	return 0;
}
