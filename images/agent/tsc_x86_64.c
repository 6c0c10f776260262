// SPDX-License-Identifier: GPL-2.0-or-later
#include "tsc.h"
#include "hypercall.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>
#include <x86intrin.h>

#define FOLLOWED (PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK)
#define EVENT_SHIFT 16

/* 0f 31 and 0f 01 f9, read as little-endian numbers. */
#define RDTSC_CODE 0x310fu
#define RDTSC_BYTES 2
#define RDTSCP_CODE 0xf9010fu
#define RDTSCP_BYTES 3

int tsc_prepare(struct tsc_gate *gate)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	*gate = (struct tsc_gate){.wait = ends[0], .open = ends[1]};
	return 0;
}

int tsc_give_up(struct tsc_gate *gate)
{
	char byte;

	close(gate->open);
	if (read(gate->wait, &byte, 1) != 1)
		return -ECHILD;
	return prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0L, 0L, 0L) < 0 ? -errno : 0;
}

static unsigned int reading_bytes(pid_t thread, uint64_t address)
{
	uint64_t code;

	errno = 0;
	code = (uint64_t)ptrace(PTRACE_PEEKTEXT, thread, address, 0);
	if (errno)
		return 0;
	if ((code & 0xffff) == RDTSC_CODE)
		return RDTSC_BYTES;
	return (code & 0xffffff) == RDTSCP_CODE ? RDTSCP_BYTES : 0;
}

/* Emulates the instruction of a stopped thread. Returns false if it does not read the counter. */
static bool answer(pid_t thread, unsigned int mhz)
{
	struct user_regs_struct registers;
	unsigned int bytes;
	uint64_t now;

	if (ptrace(PTRACE_GETREGS, thread, 0, &registers) < 0)
		return false;
	bytes = reading_bytes(thread, registers.rip);
	if (bytes == 0)
		return false;
	now = (uint64_t)((unsigned __int128)__rdtsc() * mhz / TSC_USUAL_MHZ);
	registers.rax = (uint32_t)now;
	registers.rdx = now >> 32;
	if (bytes == RDTSCP_BYTES)
		registers.rcx = 0;
	registers.rip += bytes;
	return ptrace(PTRACE_SETREGS, thread, 0, &registers) == 0;
}

static bool is_group_stop(int signal)
{
	return signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

/* Continues a stopped thread, and delivers its signal unless the signal comes from the tracing. */
static void go_on(pid_t thread, int status, unsigned int mhz)
{
	const int signal = WSTOPSIG(status), event = status >> EVENT_SHIFT;

	if (event == PTRACE_EVENT_STOP && is_group_stop(signal))
		ptrace(PTRACE_LISTEN, thread, 0, 0);
	else if (event || (signal == SIGSEGV && answer(thread, mhz)))
		ptrace(PTRACE_CONT, thread, 0, 0);
	else
		ptrace(PTRACE_CONT, thread, 0, signal);
}

static void answer_all(unsigned int mhz)
{
	int status;

	for (;;) {
		pid_t thread = waitpid(-1, &status, __WALL);

		if (thread < 0 && errno != EINTR)
			return;
		if (thread > 0 && WIFSTOPPED(status))
			go_on(thread, status, mhz);
	}
}

int tsc_serve(struct tsc_gate *gate, pid_t pid, unsigned int mhz)
{
	const pid_t server = fork();
	int ret = server < 0 ? -errno : 0;

	if (server == 0) {
		hypercall_leave();
		if (ptrace(PTRACE_SEIZE, pid, 0, FOLLOWED) == 0 && write(gate->open, "", 1) == 1)
			answer_all(mhz);
		_exit(0);
	}
	close(gate->wait);
	close(gate->open);
	return ret;
}
