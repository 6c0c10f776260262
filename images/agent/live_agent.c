// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Process 1 of the guests of the live lane, in which time is real: boots, loads the driver of its
 * network card, calls the host, and runs one cell.
 *
 *   boot -> card -> call the host -> cell -> parcel -> PAUSE (the host reads the parcel)
 *
 * Every failure becomes an `agent_error` event, which the rig reports as its own fault.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cell.h"
#include "channel.h"
#include "folders.h"
#include "guest.h"
#include "hypercall.h"
#include "live_cell.h"
#include "parcel.h"
#include "process.h"
#include "report.h"
#include "window.h"

#define PORT_KEY "rig.host_port="
#define DRIVER "/driver.ko"
#define CLOCKSOURCE "/sys/devices/system/clocksource/clocksource0/current_clocksource"
#define EARLY_CLOCKSOURCE "tsc-early"
#define LOOKS_MAX 200
#define LOOK_MS 50

static int load_driver(void)
{
	int file = open(DRIVER, O_RDONLY | O_CLOEXEC);
	int error = file < 0 || syscall(SYS_finit_module, file, "", 0) < 0 ? -errno : 0;

	close(file);
	return error;
}

/* The rate of the time stamp counter is refined about a second after the boot, and then settled. */
static int await_settled_clock(void)
{
	for (unsigned int looks = 0; looks < LOOKS_MAX; looks++) {
		char *name = folders_read_text(CLOCKSOURCE);
		bool settled = name &&
			       strncmp(name, EARLY_CLOCKSOURCE, sizeof(EARLY_CLOCKSOURCE) - 1) != 0;

		free(name);
		if (settled)
			return 0;
		process_sleep_ms(LOOK_MS);
	}
	return -ETIMEDOUT;
}

int main(void)
{
	struct report report;
	struct window window;
	struct parcel parcel;
	struct spec spec = {0};
	int channel, error;

	guest_begin(&window);
	error = load_driver();
	if (error)
		guest_stop("no driver of the network card", error);
	channel = channel_open((uint16_t)guest_number(PORT_KEY));
	if (channel < 0)
		guest_stop("no line to the host", channel);
	error = await_settled_clock();
	if (!error)
		error = report_open(&report);
	if (error)
		guest_stop("no settled clock or no report", error);
	report_guest(&report);

	live_cell_run(&window, channel, &report, &spec);
	if (parcel_open(&parcel, &window) == 0) {
		cell_send(&parcel, &spec, &report);
		window_show(&window, parcel.used_bytes);
	}
	guest_stop("done", 0);
}
