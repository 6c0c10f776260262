// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Process 1 of every guest: boots to the moment of the snapshot, then runs one cell.
 *
 *   boot -> emulator, on standby -> settle -> PAUSE (the snapshot) -> fetch the cell -> siblings,
 *        subject -> parcel -> PAUSE (the host reads the parcel and ends the machine)
 *
 * Every failure becomes an `agent_error` event, which the rig reports as its own fault.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cell.h"
#include "folders.h"
#include "hypercall.h"
#include "parcel.h"
#include "process.h"
#include "report.h"
#include "window.h"

#define WINDOW_ADDRESS_KEY "rig.window_address="
#define WINDOW_BYTES_KEY "rig.window_bytes="
/* Idle, so it costs nothing: late initcalls, RCU and the timers of the boot. */
#define BOOT_SETTLE_MS 3000

/*
 * Stops for the snapshot, and tells how far the virtual clock went on meanwhile: QEMU's main loop
 * takes the CPU that stops for an idle one, and skips to the next timer first.
 */
static void pause_for_snapshot(struct report *report)
{
	uint64_t before_ns = hypercall_virtual_ns();

	hypercall_pause();
	report_moment(report, "resumed", "skipped_ns", hypercall_virtual_ns() - before_ns);
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

static void __attribute__((noreturn)) stop_here(const char *what, int error)
{
	fprintf(stderr, "agent: %s: %s\n", what, strerror(-error));
	for (;;) {
		hypercall_pause();
		process_sleep_ms(1000);
	}
}

int main(void)
{
	struct report report;
	struct window window;
	struct parcel parcel;
	struct emulator emulator;
	struct spec spec = {0};
	int error;

	folders_mount_system();
	error = hypercall_init();
	if (error)
		stop_here("no access to devices", error);
	error = window_open(&window, command_line_number(WINDOW_ADDRESS_KEY),
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
	error = cell_prepare_emulator(&emulator);
	if (error)
		stop_here("no emulator", error);
	process_sleep_ms(BOOT_SETTLE_MS);
	error = report_open(&report);
	if (error)
		stop_here("no report", error);
	report_guest(&report);

	pause_for_snapshot(&report);
	cell_run(&window, &emulator, &report, &spec);
	if (parcel_open(&parcel, &window) == 0) {
		cell_send(&parcel, &spec, &report);
		window_show(&window, parcel.used_bytes);
	}
	stop_here("done", 0);
}
