// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Process 1 of guests with an emulator: boots, pauses for the snapshot, then runs one cell.
 *
 *   boot -> emulator, on standby -> settle -> PAUSE (the snapshot) -> fetch the cell -> siblings,
 *        subject -> parcel -> PAUSE (the host reads the parcel and ends the machine)
 *
 * A failure in the cell becomes an `agent_error` event, which the rig reports as its own fault.
 */
#include "cell.h"
#include "guest.h"
#include "hypercall.h"
#include "process.h"
#include "serprog/counter.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define EMULATOR_WORDS "/emulator"
#define BRIDGE_FILE "opt/org.flashrom.rig/bridge"
#define FDS_CLEAR 16 /* above the descriptors in `ends` */
#define EMULATOR_READY_MS 60000
#define EMULATOR_END_MS 60000
#define HANG_UP_MS 1000 /* for a subject to notice that the emulator has disconnected it */

uint64_t hypercall_virtual_ns(void)
{
	return counter_read_ns();
}

struct emulator {
	pid_t pid;
	int ready;   /* a line arrives when the emulator listens */
	int arrived; /* a byte arrives when it accepts its client, another when it disconnects it */
	int release; /* a byte sent here lets it serve its client */
	int words;   /* takes the rest of its command line */
};

/* The pipes between the agent and the emulator; `ends` has the emulator's descriptors. */
enum { PIPE_READY, PIPE_ARRIVED, PIPE_RELEASE, PIPE_STANDS_BY, PIPE_WORDS, PIPES };

static const struct {
	int theirs_fd;
	bool theirs_writes;
} ends[PIPES] = {
	[PIPE_READY] = {3, true},
	[PIPE_ARRIVED] = {4, true},
	[PIPE_RELEASE] = {5, false},
	[PIPE_STANDS_BY] = {6, true},
	[PIPE_WORDS] = {7, false},
};

/* Moves the emulator's ends to the descriptors that `ends` assigns. */
static void assign_descriptors(int *theirs)
{
	for (size_t i = 0; i < PIPES; i++)
		theirs[i] = fcntl(theirs[i], F_DUPFD_CLOEXEC, FDS_CLEAR);
	for (size_t i = 0; i < PIPES; i++)
		dup2(theirs[i], ends[i].theirs_fd);
}

/* Waits for a byte, long enough for a very slow guest. Returns 0, -ETIMEDOUT or -EPIPE. */
static int await_byte(int fd)
{
	struct pollfd coming = {.fd = fd, .events = POLLIN};
	char first;

	if (poll(&coming, 1, EMULATOR_READY_MS) != 1)
		return -ETIMEDOUT;
	return read(fd, &first, 1) == 1 ? 0 : -EPIPE;
}

/* Starts the emulator, and waits until it is on standby (`--standby`), without its chip. */
static int emulator_stand_by(struct emulator *emulator, const struct spec_words *words)
{
	int pipes[PIPES][2], ours[PIPES], theirs[PIPES];
	int error;

	for (size_t i = 0; i < PIPES; i++) {
		if (pipe2(pipes[i], O_CLOEXEC) < 0)
			return -errno;
		ours[i] = pipes[i][ends[i].theirs_writes ? 0 : 1];
		theirs[i] = pipes[i][ends[i].theirs_writes ? 1 : 0];
	}
	emulator->pid = fork();
	if (emulator->pid < 0)
		return -errno;
	if (emulator->pid == 0) {
		process_become_ordinary(PROCESS_CORE_OF_SUBJECT);
		if (chdir(CELL_FOLDER) < 0)
			_exit(126);
		process_redirect("emulator.log");
		assign_descriptors(theirs);
		execv(words->word[0], words->word);
		_exit(127);
	}
	for (size_t i = 0; i < PIPES; i++)
		close(theirs[i]);
	*emulator = (struct emulator){
		.pid = emulator->pid,
		.ready = ours[PIPE_READY],
		.arrived = ours[PIPE_ARRIVED],
		.release = ours[PIPE_RELEASE],
		.words = ours[PIPE_WORDS],
	};
	error = await_byte(ours[PIPE_STANDS_BY]);
	close(ours[PIPE_STANDS_BY]);
	return error;
}

/* Writes all words at once: each write wakes the emulator, which has the highest priority. */
static int write_words(int fd, const struct spec_words *words)
{
	struct iovec parts[SPEC_WORDS_MAX];
	ssize_t bytes = 0;

	for (size_t i = 0; i < words->count; i++) {
		parts[i] = (struct iovec){words->word[i], strlen(words->word[i]) + 1};
		bytes += (ssize_t)parts[i].iov_len;
	}
	return writev(fd, parts, (int)words->count) == bytes ? 0 : -EPIPE;
}

/* Sends the emulator the rest of its command line, and waits until it is ready. */
static int emulator_send_arguments(struct emulator *emulator, const struct spec_words *words)
{
	int error = write_words(emulator->words, words);

	close(emulator->words);
	return error ? error : await_byte(emulator->ready);
}

/*
 * Runs the hazards that depend on the acceptance of the client, and only then lets the emulator
 * serve it: so siblings without a schedule have ended before the first byte of the protocol.
 */
static int answer_accept(struct emulator *emulator, struct hazards *hazards)
{
	char byte = 0;

	if (read(emulator->arrived, &byte, 1) != 1)
		return -EPIPE;
	cell_subject_accepted(hazards);
	if (write(emulator->release, &byte, 1) != 1)
		return -errno;
	hypercall_mark(MARK_SUBJECT_CONNECTED);
	return 0;
}

static uint64_t end_soon_ns(uint64_t deadline_ns)
{
	uint64_t soon_ns = hypercall_virtual_ns() + HANG_UP_MS * NS_PER_MS;

	return soon_ns < deadline_ns ? soon_ns : deadline_ns;
}

/* Runs the hazards that are due, until the subject ends or its time is up. */
static int accompany(
	struct emulator *emulator, struct hazards *hazards, pid_t subject, uint64_t *deadline_ns)
{
	int arrived = emulator->arrived;
	bool accepted = false;

	while (hypercall_virtual_ns() < *deadline_ns) {
		int error;

		switch (process_await(arrived, subject, hazards_due_ns(hazards, *deadline_ns))) {
		case PROCESS_READABLE:
			/* A second byte means that the only client was disconnected. */
			if (accepted) {
				*deadline_ns = end_soon_ns(*deadline_ns);
				arrived = -1;
				break;
			}
			error = answer_accept(emulator, hazards);
			if (error)
				return error;
			accepted = true;
			break;
		case PROCESS_HUNG_UP:
			arrived = -1;
			break;
		case PROCESS_ENDED:
			return 0;
		case PROCESS_TIME_IS_UP:
			hazards_run_due(hazards);
			break;
		}
	}
	return 0;
}

static int start_bridge(const struct window *window, const struct spec *spec, pid_t *bridge)
{
	const struct program program = {
		.words = &spec->bridge,
		.root = spec->bridge_root,
		.output = CELL_FOLDER "/bridge.log",
	};
	int error;

	*bridge = 0;
	if (spec->bridge.count == 0)
		return 0;
	error = guest_unpack(window, BRIDGE_FILE, spec->bridge_root);
	if (!error)
		error = guest_show_system_in(spec->bridge_root);
	if (!error)
		error = process_start(bridge, &program);
	return error ? error : guest_await_file(spec->bridge_makes);
}

static void end_emulator(const struct emulator *emulator, struct report *report)
{
	struct subject_end end;

	/* The emulator ends after its client. If none came, it is still waiting for one. */
	kill(emulator->pid, SIGTERM);
	process_reap(emulator->pid, hypercall_virtual_ns() + EMULATOR_END_MS * NS_PER_MS, &end);
	hypercall_mark(MARK_EMULATOR_ENDED);
	report_moment(report, "emulator_end", "exit_code",
		WIFEXITED(end.wait_status) ? (uint64_t)WEXITSTATUS(end.wait_status) : 255);
}

/* Writes failures to the report. */
static void run_subject(const struct window *window, struct emulator *emulator,
	struct report *report, const struct spec *spec)
{
	struct hazards hazards;
	uint64_t deadline_ns;
	pid_t bridge, subject;
	int error = emulator_send_arguments(emulator, &spec->emulator);

	if (report_failure(report, "the emulator did not get ready", error) < 0)
		return;
	error = start_bridge(window, spec, &bridge);
	if (report_failure(report, "the bridge did not start", error) < 0)
		return;
	if (hazards_begin(&hazards, spec, report, emulator->pid) < 0) {
		hazards_end(&hazards);
		return;
	}
	hypercall_mark(MARK_EMULATOR_READY);
	deadline_ns = hypercall_virtual_ns() + spec->deadline_ms * NS_PER_MS;
	error = cell_start_subject(&hazards, &subject);
	if (!error)
		error = accompany(emulator, &hazards, subject, &deadline_ns);
	if (report_failure(report, "the subject was lost", error) < 0)
		return;
	cell_end_subject(&hazards, deadline_ns);
	hazards_end(&hazards);
	if (bridge > 0) {
		kill(bridge, SIGKILL);
		waitpid(bridge, NULL, 0);
	}
	end_emulator(emulator, report);
}

static void run_cell(const struct window *window, struct emulator *emulator, struct report *report,
	struct spec *spec)
{
	if (cell_take_in(window, report, spec) < 0)
		return;
	report_clock_rate(report, spec->settle_ms * NS_PER_MS);
	hypercall_mark(MARK_SETTLED);
	run_subject(window, emulator, report, spec);
}

/* Starts the emulator with the arguments in the image, and waits until it is on standby. */
static int prepare_emulator(struct emulator *emulator)
{
	struct spec_words words;
	char *text = guest_read_text(EMULATOR_WORDS);

	if (!text)
		return -errno;
	if (!spec_parse_words(text, &words))
		return -EINVAL;
	mkdir(CELL_FOLDER, 0755);
	return emulator_stand_by(emulator, &words);
}

int main(void)
{
	struct report report;
	struct window window;
	struct emulator emulator = {0};
	struct spec spec = {0};

	guest_begin(&window);
	guest_require(prepare_emulator(&emulator), "no emulator");
	guest_take_snapshot(&report);

	run_cell(&window, &emulator, &report, &spec);
	cell_send(&window, &spec, &report);
	guest_stop("done", 0);
}
