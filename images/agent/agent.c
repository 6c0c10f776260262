// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Process 1 of every guest: boots to the moment of the snapshot, then runs one cell.
 *
 *   boot -> settle -> PAUSE (the snapshot) -> fetch the cell -> emulator, siblings, subject
 *        -> parcel -> PAUSE (the host reads the parcel and ends the machine)
 *
 * Every failure becomes an `agent_error` event, which the rig reports as its own fault.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "hypercall.h"
#include "parcel.h"
#include "process.h"
#include "report.h"
#include "spec.h"

#define CELL_FOLDER "/cell"
#define CELL_FILE "opt/org.flashrom.rig/cell"
#define SUBJECT_FILE "opt/org.flashrom.rig/subject"
#define BRIDGE_FILE "opt/org.flashrom.rig/bridge"
#define WINDOW_ADDRESS_KEY "rig.window_address="
#define WINDOW_BYTES_KEY "rig.window_bytes="
#define BOOT_SETTLE_MS                                                                             \
	3000 /* idle, so it costs nothing: late initcalls, RCU, timers of the boot                 \
	      */
#define CLOCK_RATE_SLEEP_NS UINT64_C(100000000)
#define NS_PER_MS UINT64_C(1000000)
#define EMULATOR_END_MS 60000

static void sleep_ms(unsigned int ms)
{
	struct timespec time = {ms / 1000, (long)(ms % 1000) * 1000000};

	nanosleep(&time, NULL);
}

static const char *const system_folders[][2] = {
	{"/dev", "devtmpfs"}, {"/proc", "proc"}, {"/sys", "sysfs"}, {"/dev/pts", "devpts"}};
#define SYSTEM_FOLDERS (sizeof(system_folders) / sizeof(system_folders[0]))

/*
 * Stops for the snapshot, and tells how far the virtual clock went on meanwhile.
 *
 * While QEMU stops the machine, its main loop may still skip idle time once, to the next timer;
 * whether it does depends on the host (icount_start_warp_timer(), QEMU 10.0). The rig throws such
 * a snapshot away: guests restored from it are as regular as others, but not the same as them.
 */
static void pause_for_snapshot(struct report *report)
{
	uint64_t before_ns = hypercall_virtual_ns();

	hypercall_pause();
	report_moment(report, "resumed", "skipped_ns", hypercall_virtual_ns() - before_ns);
}

static void mount_system(void)
{
	for (size_t i = 0; i < SYSTEM_FOLDERS; i++) {
		mkdir(system_folders[i][0], 0755);
		mount(system_folders[i][1], system_folders[i][0], system_folders[i][1], 0, NULL);
	}
}

/* The same folders inside another root, so that a tty made in one is seen in the other. */
static int show_system_in(const char *root)
{
	for (size_t i = 0; i < SYSTEM_FOLDERS; i++) {
		char target[256];

		snprintf(target, sizeof(target), "%s%s", root, system_folders[i][0]);
		mkdir(target, 0755);
		if (mount(system_folders[i][0], target, NULL, MS_BIND, NULL) < 0)
			return -errno;
	}
	return 0;
}

static int bring_up_loopback(void)
{
	struct ifreq request = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};
	int any = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int error = any < 0 || ioctl(any, SIOCSIFFLAGS, &request) < 0 ? -errno : 0;

	close(any);
	return error;
}

/* A throttled emulator would see everything late; and nothing real-time here runs for long. */
static int lift_realtime_throttling(void)
{
	int file = open("/proc/sys/kernel/sched_rt_runtime_us", O_WRONLY | O_CLOEXEC);
	int error = file < 0 || write(file, "-1", 2) != 2 ? -errno : 0;

	close(file);
	return error;
}

static uint64_t command_line_number(const char *key)
{
	char line[4096] = "";
	FILE *file = fopen("/proc/cmdline", "re");
	const char *at;

	if (!file)
		return 0;
	if (!fgets(line, sizeof(line), file))
		line[0] = '\0';
	fclose(file);
	at = strstr(line, key);
	return at ? strtoull(at + strlen(key), NULL, 0) : 0;
}

static int unpack(const char *fw_cfg_name, const char *folder)
{
	static const char archive[] = "/parcel.cpio";
	int status, error = hypercall_fetch_file(fw_cfg_name, archive);
	pid_t pid;

	if (error)
		return error;
	mkdir(folder, 0755);
	pid = fork();
	if (pid == 0) {
		if (chdir(folder) < 0)
			_exit(126);
		execl("/bin/busybox", "cpio", "-i", "-d", "-m", "-F", archive, (char *)NULL);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -errno;
	unlink(archive);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -EIO;
}

static char *read_text(const char *path)
{
	char *text = NULL;
	size_t capacity = 0;
	FILE *file = fopen(path, "re");

	if (!file)
		return NULL;
	if (getdelim(&text, &capacity, '\0', file) < 0) {
		free(text);
		text = NULL;
	}
	fclose(file);
	return text;
}

static int copy_into(const char *from, int to, off_t offset)
{
	uint8_t block[4096];
	int error = 0;
	ssize_t got = 0;
	int file = open(from, O_RDONLY | O_CLOEXEC);

	if (file < 0)
		return -errno;
	while (!error && (got = read(file, block, sizeof(block))) > 0) {
		if (pwrite(to, block, (size_t)got, offset) != got)
			error = -EIO;
		offset += got;
	}
	close(file);
	return got < 0 ? -EIO : error;
}

static int make_image(const struct spec_image *image)
{
	int file = open(image->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	int error;

	if (file < 0)
		return -errno;
	error = ftruncate(file, (off_t)image->size_bytes) < 0
			? -errno
			: copy_into(image->from, file, (off_t)image->offset_bytes);
	close(file);
	return error;
}

/*
 * The emulator holds its new client until we answer, so that the siblings are gone before the
 * first byte of the protocol is served. How much the subject had printed by then is kept: it
 * tells whether its calibration was over.
 */
static int end_siblings_at_accept(struct emulator *emulator, struct siblings *siblings,
	struct report *report, pid_t subject, uint64_t deadline_ns)
{
	struct stat output = {0};
	char byte = 0;

	if (process_wait_readable(emulator->arrived, subject, deadline_ns)) {
		if (read(emulator->arrived, &byte, 1) != 1)
			return -EPIPE;
		siblings_stop(siblings);
		stat(CELL_FOLDER "/stdout.txt", &output);
		report_moment(report, "siblings_stopped", "stdout_bytes", (uint64_t)output.st_size);
		return write(emulator->release, &byte, 1) == 1 ? 0 : -errno;
	}
	siblings_stop(siblings);
	return 0;
}

static int start_bridge(const struct spec *spec, pid_t *bridge)
{
	int error;

	*bridge = 0;
	if (spec->bridge.count == 0)
		return 0;
	error = unpack(BRIDGE_FILE, spec->bridge_root);
	if (!error)
		error = show_system_in(spec->bridge_root);
	if (!error)
		error = program_start(
			bridge, &spec->bridge, spec->bridge_root, CELL_FOLDER "/bridge.log");
	return error ? error : file_await(spec->bridge_makes);
}

static int run_subject(const struct spec *spec, struct report *report)
{
	struct emulator emulator;
	struct siblings siblings;
	struct subject_end end;
	uint64_t deadline_ns;
	pid_t subject, bridge;
	int error;

	error = emulator_start(&emulator, spec, CELL_FOLDER);
	if (error) {
		report_error(report, "the emulator did not start", strerror(-error));
		return error;
	}
	error = start_bridge(spec, &bridge);
	if (error) {
		report_error(report, "the bridge did not start", strerror(-error));
		return error;
	}
	error = siblings_start(&siblings, spec->siblings);
	if (error) {
		report_error(report, "the busy siblings did not start", strerror(-error));
		siblings_stop(&siblings);
		return error;
	}
	report_moment(report, "siblings_running", "count", siblings.count);
	deadline_ns = hypercall_virtual_ns() + spec->deadline_ms * NS_PER_MS;
	report_moment(report, "subject_start", NULL, 0);
	error = program_start(&subject, &spec->subject, spec->root, CELL_FOLDER "/stdout.txt");
	if (!error)
		error = end_siblings_at_accept(&emulator, &siblings, report, subject, deadline_ns);
	if (error) {
		report_error(report, "the subject was lost", strerror(-error));
		return error;
	}
	process_reap(subject, deadline_ns, &end);
	report_subject_end(report, &end);

	if (bridge > 0) {
		kill(bridge, SIGKILL);
		waitpid(bridge, NULL, 0);
	}
	/* The client is gone, so the emulator ends by itself, unless nobody ever came. */
	kill(emulator.pid, SIGTERM);
	process_reap(emulator.pid, hypercall_virtual_ns() + EMULATOR_END_MS * NS_PER_MS, &end);
	report_moment(report, "emulator_end", "exit_code",
		WIFEXITED(end.wait_status) ? (uint64_t)WEXITSTATUS(end.wait_status) : 255);
	return 0;
}

static int run_cell(struct report *report, struct spec *spec)
{
	char *text;
	size_t wrong_line;
	int error;

	error = unpack(CELL_FILE, CELL_FOLDER);
	if (error) {
		report_error(report, "no cell came through fw_cfg", strerror(-error));
		return error;
	}
	text = read_text(CELL_FOLDER "/spec");
	if (!text) {
		report_error(report, "the cell has no spec", strerror(errno));
		return -ENOENT;
	}
	wrong_line = spec_parse(text, spec);
	if (wrong_line) {
		char detail[32];

		snprintf(detail, sizeof(detail), "line %zu", wrong_line);
		report_error(report, "the cell's spec is wrong", detail);
		return -EINVAL;
	}
	error = unpack(SUBJECT_FILE, spec->root);
	if (error) {
		report_error(report, "no subject came through fw_cfg", strerror(-error));
		return error;
	}
	for (size_t i = 0; i < spec->images; i++) {
		error = make_image(&spec->image[i]);
		if (error) {
			report_error(report, spec->image[i].path, strerror(-error));
			return error;
		}
	}
	error = show_system_in(spec->root);
	if (error) {
		report_error(report, "no system folders for the subject", strerror(-error));
		return error;
	}
	sleep_ms(spec->settle_ms);
	report_guest(report);
	report_clock_rate(report, CLOCK_RATE_SLEEP_NS);
	return run_subject(spec, report);
}

static void send_parcel(struct parcel *parcel, const struct spec *spec, struct report *report)
{
	for (size_t i = 0; i < spec->collects; i++) {
		const struct spec_collect *want = &spec->collect[i];
		int error = parcel_add_file(parcel, want->name, want->path,
			(off_t)want->offset_bytes, want->size_bytes);

		if (error && error != -ENOENT)
			report_error(report, want->name, strerror(-error));
	}
	report_kernel_log(report);
	fflush(report->lines);
	if (parcel_add(parcel, "agent.jsonl", report->text, report->bytes) == 0)
		parcel_seal(parcel);
}

static void __attribute__((noreturn)) stop_here(const char *what, int error)
{
	fprintf(stderr, "agent: %s: %s\n", what, strerror(-error));
	for (;;) {
		hypercall_pause();
		sleep_ms(1000);
	}
}

int main(void)
{
	struct report report;
	struct parcel parcel;
	struct spec spec = {0};
	int error;

	mount_system();
	error = hypercall_init();
	if (error)
		stop_here("no port access", error);
	error = parcel_open(&parcel, command_line_number(WINDOW_ADDRESS_KEY),
		command_line_number(WINDOW_BYTES_KEY));
	if (error)
		stop_here("no window to the host", error);
	error = bring_up_loopback();
	if (!error)
		error = lift_realtime_throttling();
	if (!error)
		error = process_init();
	if (error)
		stop_here("no network or no real-time priority", error);
	sleep_ms(BOOT_SETTLE_MS);
	error = report_open(&report);
	if (error)
		stop_here("no report", error);

	pause_for_snapshot(&report);
	run_cell(&report, &spec);
	send_parcel(&parcel, &spec, &report);
	stop_here("done", 0);
}
