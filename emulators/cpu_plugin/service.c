/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "service.h"
#include "shared/timespec.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static void sleep_until(uint64_t until_ns)
{
	const struct timespec until = timespec_of(until_ns);

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
		;
}

static void wait_until(uint64_t now_ns, uint64_t until_ns, uint64_t spin_ns)
{
	if (until_ns > now_ns + spin_ns)
		sleep_until(until_ns - spin_ns);
	while (spin_ns > 0 && monotonic_ns() < until_ns)
		;
}

uint64_t core_settle(struct core *core, uint64_t instructions, uint64_t spin_ns)
{
	uint64_t now_ns;
	uint64_t until_ns;
	uint64_t quantum;

	pthread_mutex_lock(&core->lock);
	now_ns = monotonic_ns();
	until_ns = vcpu_settle(&core->vcpu, now_ns, instructions);
	quantum = vcpu_quantum(&core->vcpu);
	pthread_mutex_unlock(&core->lock);
	if (until_ns <= now_ns)
		return quantum;
	wait_until(now_ns, until_ns, spin_ns);
	pthread_mutex_lock(&core->lock);
	pacer_release(&core->vcpu.pacer, monotonic_ns());
	pthread_mutex_unlock(&core->lock);
	return quantum;
}

void core_idle(struct core *core, uint64_t instructions)
{
	pthread_mutex_lock(&core->lock);
	vcpu_idle(&core->vcpu, monotonic_ns(), instructions);
	pthread_mutex_unlock(&core->lock);
}

uint64_t core_resume(struct core *core)
{
	uint64_t quantum;

	pthread_mutex_lock(&core->lock);
	vcpu_resume(&core->vcpu, monotonic_ns());
	quantum = vcpu_quantum(&core->vcpu);
	pthread_mutex_unlock(&core->lock);
	return quantum;
}

#define TRACE_BUFFER_BYTES ((size_t)256 * 1024)
#define DATAGRAM_BYTES_MAX 128
#define OWNER_ONLY 0600

struct service {
	struct core *cores;
	unsigned int core_count;
	const struct options *options;
	FILE *trace; /* NULL: none */
	int control; /* -1: none */
	int stop;    /* an eventfd that ends the thread */
	pthread_t thread;
	struct trace_totals totals;
	struct vcpu_account before[]; /* each vCPU's account when its last window ended */
};

/* Obeys the command of one datagram, and writes the answer to @reply (@size bytes). */
static void obey_datagram(struct service *service, char *text, char *reply, size_t size)
{
	struct command command;
	uint64_t now_ns;

	text[strcspn(text, "\n")] = '\0';
	if (command_parse(text, &command) < 0) {
		snprintf(reply, size, "error not a command: VCPU MIPS|auto [RAMP_US]\n");
		return;
	}
	if (command.vcpu >= (int)service->core_count) {
		snprintf(reply, size, "error there is no vCPU %d\n", command.vcpu);
		return;
	}
	now_ns = monotonic_ns();
	for (unsigned int i = 0; i < service->core_count; i++) {
		if (!command_is_for(&command, i))
			continue;
		pthread_mutex_lock(&service->cores[i].lock);
		vcpu_command(&service->cores[i].vcpu, now_ns, &command);
		pthread_mutex_unlock(&service->cores[i].lock);
	}
	snprintf(reply, size, "ok %" PRIu64 "\n", now_ns);
}

static void take_datagram(struct service *service)
{
	char text[DATAGRAM_BYTES_MAX];
	char reply[DATAGRAM_BYTES_MAX];
	struct sockaddr_un from;
	socklen_t from_bytes = sizeof(from);
	ssize_t len = recvfrom(service->control, text, sizeof(text) - 1, MSG_DONTWAIT,
		(struct sockaddr *)&from, &from_bytes);

	if (len < 0)
		return;
	text[len] = '\0';
	obey_datagram(service, text, reply, sizeof(reply));
	/* The address of a sender that is not bound holds only the family. */
	if (from_bytes > sizeof(sa_family_t))
		sendto(service->control, reply, strlen(reply), MSG_DONTWAIT | MSG_NOSIGNAL,
			(struct sockaddr *)&from, from_bytes);
}

/*
 * Copies the vCPU as it is now, and clears the changes that it noted. Returns its largest delay
 * since the last call.
 */
static uint64_t take_copy(struct core *core, struct vcpu *copy)
{
	uint64_t late_ns_max;

	pthread_mutex_lock(&core->lock);
	vcpu_look(&core->vcpu, monotonic_ns());
	*copy = core->vcpu;
	core->vcpu.change_count = 0;
	core->vcpu.changes_dropped = 0;
	late_ns_max = pacer_take_late_ns(&core->vcpu.pacer);
	pthread_mutex_unlock(&core->lock);
	return late_ns_max;
}

static void end_window(struct service *service, unsigned int index)
{
	struct vcpu_account *before = &service->before[index];
	struct vcpu vcpu;
	uint64_t late_ns_max = take_copy(&service->cores[index], &vcpu);

	for (size_t i = 0; i < vcpu.change_count; i++)
		trace_change(service->trace, index, &vcpu.changes[i]);
	trace_window(service->trace, &vcpu, before, late_ns_max);
	service->totals.changes_dropped += vcpu.changes_dropped;
	if (vcpu.account.settled_ns != before->settled_ns) {
		service->totals.windows++;
		service->totals.windows_not_kept += !trace_kept(&vcpu, before);
	}
	*before = vcpu.account;
}

static void end_windows(struct service *service)
{
	if (!service->trace)
		return;
	for (unsigned int i = 0; i < service->core_count; i++)
		end_window(service, i);
	fflush(service->trace);
}

/* Rounds up: poll() must not return before the end of the window. */
static int ms_until(uint64_t at_ns)
{
	uint64_t now_ns = monotonic_ns();

	return at_ns > now_ns ? (int)((at_ns - now_ns + NS_PER_MS - 1) / NS_PER_MS) : 0;
}

static void *serve(void *argument)
{
	struct service *service = argument;
	struct pollfd fds[] = {
		{.fd = service->stop, .events = POLLIN},
		{.fd = service->control, .events = POLLIN}, /* poll() ignores -1 */
	};
	uint64_t window_ns = service->options->window_ms * NS_PER_MS;
	uint64_t window_end_ns = monotonic_ns() + window_ns;

	for (;;) {
		if (poll(fds, 2, ms_until(window_end_ns)) < 0 && errno != EINTR)
			break;
		if (fds[0].revents)
			break;
		if (fds[1].revents)
			take_datagram(service);
		if (monotonic_ns() < window_end_ns)
			continue;
		end_windows(service);
		window_end_ns += window_ns;
		if (window_end_ns < monotonic_ns())
			window_end_ns = monotonic_ns() + window_ns;
	}
	return NULL;
}

static int open_trace(struct service *service, const struct trace_host *host, uint64_t start_ns)
{
	if (!service->options->trace)
		return 0;
	service->trace = fopen(service->options->trace, "we");
	if (!service->trace)
		return -errno;
	setvbuf(service->trace, NULL, _IOFBF, TRACE_BUFFER_BYTES);
	trace_start(service->trace, start_ns, host, service->options);
	return fflush(service->trace) == 0 ? 0 : -errno;
}

/* A QEMU that was killed leaves its socket, which would make our bind() fail. */
static void remove_left_over(const char *path)
{
	struct stat st;

	if (lstat(path, &st) == 0 && S_ISSOCK(st.st_mode))
		unlink(path);
}

static int open_control(struct service *service)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const char *path = service->options->control;

	if (!path)
		return 0;
	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	memcpy(address.sun_path, path, strlen(path));
	service->control = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (service->control < 0)
		return -errno;
	remove_left_over(path);
	/* bind() creates the file with these rights. */
	fchmod(service->control, OWNER_ONLY);
	if (bind(service->control, (struct sockaddr *)&address, sizeof(address)) < 0)
		return -errno;
	return 0;
}

/* The new thread blocks all signals, which are for QEMU's own threads. */
static int start_thread(struct service *service)
{
	sigset_t all;
	sigset_t before;
	int ret;

	service->stop = eventfd(0, EFD_CLOEXEC);
	if (service->stop < 0)
		return -errno;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	ret = pthread_create(&service->thread, NULL, serve, service);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -ret;
}

static void release(struct service *service)
{
	if (service->trace)
		fclose(service->trace);
	if (service->control >= 0)
		close(service->control);
	if (service->stop >= 0)
		close(service->stop);
	free(service);
}

static int fail(struct service *service, int ret, const char *what, char *error)
{
	snprintf(error, OPTIONS_ERROR_BYTES, "%s: %s", what, strerror(-ret));
	release(service);
	return ret;
}

int service_create(struct service **service, struct core *cores, const struct trace_host *host,
	const struct options *options, uint64_t start_ns, char *error)
{
	struct service *made = calloc(1, sizeof(*made) + host->vcpus * sizeof(made->before[0]));
	int ret;

	if (!made) {
		snprintf(error, OPTIONS_ERROR_BYTES, "no memory");
		return -ENOMEM;
	}
	made->cores = cores;
	made->core_count = host->vcpus;
	made->options = options;
	made->control = -1;
	made->stop = -1;
	for (unsigned int i = 0; i < host->vcpus; i++)
		made->before[i].settled_ns = start_ns;
	ret = open_trace(made, host, start_ns);
	if (ret < 0)
		return fail(made, ret, options->trace, error);
	ret = open_control(made);
	if (ret < 0)
		return fail(made, ret, options->control, error);
	ret = start_thread(made);
	if (ret < 0)
		return fail(made, ret, "thread", error);
	*service = made;
	return 0;
}

void service_destroy(struct service *service)
{
	const uint64_t one = 1;

	if (!service)
		return;
	if (write(service->stop, &one, sizeof(one)) == sizeof(one))
		pthread_join(service->thread, NULL);
	end_windows(service);
	if (service->trace)
		trace_end(service->trace, monotonic_ns(), &service->totals);
	if (service->options->control)
		unlink(service->options->control);
	release(service);
}
