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
#include "cell.h"
#include "guest.h"
#include "hypercall.h"
#include "parcel.h"
#include "process.h"
#include "report.h"
#include "window.h"

/* Idle, so it costs nothing: late initcalls and the timers of the boot. */
#define BOOT_SETTLE_MS 3000
/* The same: files that were closed keep RCU busy, whose thread has timers on any CPU. */
#define REPORT_SETTLE_MS 1000

/*
 * Stops for the snapshot, and tells how far the virtual clock went on meanwhile: QEMU's main loop
 * takes the CPU that stops for an idle one, and skips to the next timer first. That one is this
 * CPU's tick, since the others have long been idle. Were it another's, which of the two goes on
 * first would depend on what QEMU did before (rig/delayrig/machine/device_state.py).
 */
static void pause_for_snapshot(struct report *report)
{
	uint64_t before_ns = hypercall_virtual_ns();

	hypercall_pause();
	report_moment(report, "resumed", "skipped_ns", hypercall_virtual_ns() - before_ns);
}

int main(void)
{
	struct report report;
	struct window window;
	struct parcel parcel;
	struct emulator emulator;
	struct spec spec = {0};
	int error;

	guest_begin(&window);
	error = cell_prepare_emulator(&emulator);
	if (error)
		guest_stop("no emulator", error);
	process_sleep_ms(BOOT_SETTLE_MS);
	error = report_open(&report);
	if (error)
		guest_stop("no report", error);
	report_guest(&report);
	process_sleep_ms(REPORT_SETTLE_MS);

	pause_for_snapshot(&report);
	cell_run(&window, &emulator, &report, &spec);
	if (parcel_open(&parcel, &window) == 0) {
		cell_send(&parcel, &spec, &report);
		window_show(&window, parcel.used_bytes);
	}
	guest_stop("done", 0);
}
