// SPDX-License-Identifier: GPL-2.0-or-later
#include "process.h"
#include "hypercall.h"
#include "shared/timespec.h"
#include "tsc.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define AGENT_PRIORITY 40     /* below the emulator's 50, so that the agent never delays it */
#define USUAL_SLACK_NS 50000L /* the slack of every process that a shell starts */

static void keep_to(unsigned int first, unsigned int count)
{
	cpu_set_t cores;

	CPU_ZERO(&cores);
	for (unsigned int core = first; core < first + count; core++)
		CPU_SET(core, &cores);
	sched_setaffinity(0, sizeof(cores), &cores);
}

void process_become_ordinary(unsigned int core)
{
	struct sched_param param = {0};
	sigset_t none;

	hypercall_leave();
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	sched_setscheduler(0, SCHED_OTHER, &param);
	/* A child of a real-time process inherits its timer slack of 0. */
	prctl(PR_SET_TIMERSLACK, USUAL_SLACK_NS, 0L, 0L, 0L);
	keep_to(core, 1);
}

void process_sleep_ms(unsigned int ms)
{
	const struct timespec time = timespec_of(ms * NS_PER_MS);

	nanosleep(&time, NULL);
}

int process_init(void)
{
	struct sched_param param = {.sched_priority = AGENT_PRIORITY};

	keep_to(PROCESS_CORE_OF_SUBJECT, 1);
	return sched_setscheduler(0, SCHED_FIFO, &param) < 0 ? -errno : 0;
}

int process_leave_core_of_subject(pid_t emulator)
{
	struct sched_param param = {0};

	keep_to(PROCESS_CORE_OF_SUBJECT + 1, 1);
	return sched_setscheduler(emulator, SCHED_OTHER, &param) < 0 ? -errno : 0;
}

void process_redirect(const char *path)
{
	int input = open("/dev/null", O_RDONLY);
	int output = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);

	if (input >= 0)
		dup2(input, STDIN_FILENO);
	if (output >= 0) {
		dup2(output, STDOUT_FILENO);
		dup2(output, STDERR_FILENO);
	}
}

/* Enters the program's root, and applies its limits. */
static int confine(const struct program *program)
{
	const struct rlimit none = {0, 0};
	const struct rlimit file_bytes = {program->file_bytes_max, program->file_bytes_max};
	int ret = 0;

	if (chroot(program->root) < 0 || chdir("/") < 0)
		return -errno;
	/*
	 * The next execve() gives root all capabilities of the bounding set. Without CAP_SYS_NICE,
	 * RLIMIT_RTPRIO decides.
	 */
	if (program->realtime_denied &&
		(setrlimit(RLIMIT_RTPRIO, &none) < 0 || prctl(PR_CAPBSET_DROP, CAP_SYS_NICE) < 0))
		return -errno;
	/* The files are in the guest's memory, so a write beyond the limit ends the process. */
	if (program->file_bytes_max && setrlimit(RLIMIT_FSIZE, &file_bytes) < 0)
		return -errno;
	if (program->refused)
		ret = refusals_install(program->refused);
	if (ret == 0 && program->few)
		ret = scarcity_begin(program->few);
	return ret;
}

/*
 * Forks a child whose clocks show `uptime_ns`, or the machine's uptime for 0. If the caller cannot
 * return to the machine's clocks for later children, kills the child and returns the error.
 */
static pid_t fork_at(uint64_t uptime_ns)
{
	int own_clocks = uptime_ns ? uptime_begin(uptime_ns) : -1;
	int error;
	pid_t pid;

	if (uptime_ns && own_clocks < 0)
		return own_clocks;
	pid = fork();
	if (pid < 0)
		pid = -errno;
	error = pid != 0 && own_clocks >= 0 ? uptime_end(own_clocks) : 0;
	if (!error || pid < 0)
		return pid;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return error;
}

int process_start(pid_t *pid, const struct program *program)
{
	static char *const environment[] = {
		"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/", "LANG=C", NULL};

	struct tsc_gate gate;
	int ret = program->tsc_mhz ? tsc_prepare(&gate) : 0;

	if (ret < 0)
		return ret;
	*pid = fork_at(program->uptime_ns);
	if (*pid < 0 && program->tsc_mhz) {
		close(gate.wait);
		close(gate.open);
	}
	if (*pid < 0)
		return *pid;
	if (*pid == 0) {
		process_become_ordinary(PROCESS_CORE_OF_SUBJECT);
		if (program->anywhere)
			keep_to(0, (unsigned int)sysconf(_SC_NPROCESSORS_ONLN));
		process_redirect(program->output);
		if ((program->tsc_mhz && tsc_give_up(&gate) < 0) || confine(program) < 0)
			_exit(126);
		execve(program->words->word[0], program->words->word, environment);
		_exit(127);
	}
	return program->tsc_mhz ? tsc_serve(&gate, *pid, program->tsc_mhz) : 0;
}

/* Polls `set` until `deadline_ns` of the agent's clock. Returns true if a descriptor is ready. */
static bool poll_until(struct pollfd *set, nfds_t count, uint64_t deadline_ns)
{
	uint64_t now_ns = hypercall_virtual_ns();
	uint64_t left_ns = deadline_ns > now_ns ? deadline_ns - now_ns : 0;
	const struct timespec left = timespec_of(left_ns);

	return ppoll(set, count, &left, NULL) > 0;
}

enum process_news process_await(int fd, pid_t pid, uint64_t until_ns)
{
	struct pollfd set[2] = {
		{.fd = fd, .events = POLLIN},
		{.fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN},
	};

	poll_until(set, 2, until_ns);
	close(set[1].fd);
	if (set[0].revents & POLLIN)
		return PROCESS_READABLE;
	if (set[1].revents & POLLIN)
		return PROCESS_ENDED;
	return set[0].revents & POLLHUP ? PROCESS_HUNG_UP : PROCESS_TIME_IS_UP;
}

static uint64_t timeval_ns(struct timeval time)
{
	return (uint64_t)time.tv_sec * NS_PER_S + (uint64_t)time.tv_usec * 1000;
}

void process_reap(pid_t pid, uint64_t deadline_ns, struct subject_end *end)
{
	struct pollfd ended = {.fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN};
	const bool timed_out = ended.fd < 0 || !poll_until(&ended, 1, deadline_ns);
	struct rusage usage = {0};

	*end = (struct subject_end){.t_ns = hypercall_virtual_ns(), .timed_out = timed_out};
	if (timed_out)
		kill(pid, SIGKILL);
	wait4(pid, &end->wait_status, 0, &usage);
	close(ended.fd);
	end->user_ns = timeval_ns(usage.ru_utime);
	end->sys_ns = timeval_ns(usage.ru_stime);
	end->voluntary_switches = usage.ru_nvcsw;
	end->involuntary_switches = usage.ru_nivcsw;
}
