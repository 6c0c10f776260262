// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE
#include "tracing.h"
#include "hypercall.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#define TRACEFS "/sys/kernel/tracing"

#define FUNCTION(name, body)                                                                       \
	__asm__(".pushsection .text\n"                                                             \
		".globl " #name "\n"                                                               \
		".type " #name ", %function\n" #name ":\n" body ".size " #name ", . - " #name "\n" \
		".popsection\n")

#ifdef __x86_64__
FUNCTION(tracing_nothing, "test %edi, %edi\n ret\n");
FUNCTION(tracing_nothing_pushed, "push %rbx\n pop %rbx\n ret\n");
#elif defined(__arm__)
FUNCTION(tracing_nothing, "bx lr\n");
FUNCTION(tracing_nothing_pushed, "bx lr\n");
#else
FUNCTION(tracing_nothing, "ret\n");
FUNCTION(tracing_nothing_pushed, "ret\n");
#endif

static int open_file(const char *name, int flags)
{
	char path[256];
	int file;

	snprintf(path, sizeof(path), TRACEFS "/%s", name);
	file = open(path, flags | O_CLOEXEC);
	return file < 0 ? -errno : file;
}

static int write_file(const char *name, const char *value)
{
	/* Probes add up in the one file that lists them; elsewhere there is nothing to add to. */
	int file = open_file(name, O_WRONLY | O_APPEND);
	size_t bytes = strlen(value);
	int error;

	if (file < 0)
		return file;
	error = write(file, value, bytes) == (ssize_t)bytes ? 0 : -errno;
	close(file);
	return error;
}

static int call_in_child(void)
{
	pid_t child = fork();

	if (child == 0) {
		/* As every subject: with rights to ports a probe costs more. */
		hypercall_leave();
		for (unsigned int call = 0; call < TRACING_CALLS; call++) {
			tracing_nothing(call);
			tracing_nothing_pushed(call);
		}
		_exit(0);
	}
	return child < 0 || waitpid(child, NULL, 0) != child ? -errno : 0;
}

int tracing_start(const struct spec *spec, const char **failed)
{
	int error = 0;

	if (spec->traces == 0)
		return 0;
	*failed = TRACEFS;
	if (mount("tracefs", TRACEFS, "tracefs", 0, NULL) < 0 && errno != EBUSY)
		return -errno;
	for (size_t i = 0; !error && i < spec->traces; i++) {
		*failed = spec->trace[i].file;
		error = write_file(spec->trace[i].file, spec->trace[i].value);
	}
	for (unsigned int child = 0; !error && child < TRACING_CHILDREN; child++)
		error = call_in_child();
	return error;
}

static int copy(int from, int to)
{
	static uint8_t block[65536];
	ssize_t got;

	while ((got = read(from, block, sizeof(block))) > 0)
		if (write(to, block, (size_t)got) != got)
			return -EIO;
	return got < 0 ? -errno : 0;
}

static int copy_trace(int from, const char *path)
{
	int to = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	int error = to < 0 ? -errno : copy(from, to);

	close(to);
	return error;
}

int tracing_save(const struct spec *spec, const char *path)
{
	int from, error;

	if (spec->traces == 0)
		return 0;
	error = write_file("tracing_on", "0");
	if (error)
		return error;
	from = open_file("trace", O_RDONLY);
	if (from < 0)
		return from;
	error = copy_trace(from, path);
	close(from);
	return error;
}
