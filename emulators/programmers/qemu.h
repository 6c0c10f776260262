/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The chip plugin's access to QEMU: its clock, registers laid over a device's, and calls when the
 * machine is complete, goes on or is paused. Only qemu.c and qemu_usb.c know QEMU's inside.
 *
 * QEMU has no interface for that, but exports its functions. They are looked up by name, and
 * registers are tried out before the guest starts: a wrong answer is refused.
 */
#ifndef EMULATORS_PROGRAMMERS_QEMU_H
#define EMULATORS_PROGRAMMERS_QEMU_H

#include "front.h"

/* Told to a person where this is another one. */
#define QEMU_NEEDED "QEMU 9.1 to 10.1, built as Debian builds it"

struct qemu;

/* Registers in a region of memory. Their owner keeps them where they are for as long as QEMU lives.
 */
struct qemu_registers {
	const char *name;
	uint64_t size_bytes;
	unsigned int access_bytes_max; /* longer ones come in pieces, the lowest address first */
	uint64_t (*read)(void *owner, uint64_t offset, unsigned int size_bytes);
	void (*write)(void *owner, uint64_t offset, uint64_t value, unsigned int size_bytes);
	void *owner;
};

struct qemu_events {
	void (*machine_done)(void *owner);
	void (*resumed)(void *owner, uint64_t now_ns);
	void (*paused)(void *owner, uint64_t now_ns);
	void *owner;
};

/* NULL: *@missing is the function that this QEMU has not. Lives as long as QEMU. */
struct qemu *qemu_find(const char **missing);

/* @events stays where it is, too. */
void qemu_listen(struct qemu *qemu, const struct qemu_events *events);

/* By the virtual clock: within an access, the moment of its instruction. */
uint64_t qemu_now_ns(const struct qemu *qemu);

/* Once the machine is done: whether registers work in this QEMU as they do in those known. */
bool qemu_registers_work(struct qemu *qemu);

/* A region of memory of QEMU's. */
struct MemoryRegion;

/* Registers as they lie over a region. */
struct qemu_layer {
	struct MemoryRegion *registers;
	struct MemoryRegion *beneath;
	uint64_t offset;
};

/*
 * Over the device's region of that name, above all that is there. -ENODEV: the machine has none, or
 * several; -ERANGE: it ends before; -ENOMEM.
 */
int qemu_lay_over(struct qemu *qemu, const char *region, uint64_t offset,
	const struct qemu_registers *registers, struct qemu_layer *layer);

/* NULL: the machine has no region of that name, or several. */
struct MemoryRegion *qemu_find_region(struct qemu *qemu, const char *name);

/* An access to the region itself, whatever lies over it. */
uint64_t qemu_read_region(
	struct qemu *qemu, struct MemoryRegion *region, uint64_t offset, unsigned int size_bytes);
void qemu_write_region(struct qemu *qemu, struct MemoryRegion *region, uint64_t offset,
	uint64_t value, unsigned int size_bytes);

/* Puts registers that are laid over a region there, or takes them away. */
void qemu_show(struct qemu *qemu, const struct qemu_layer *layer, bool shown);

/* A USB device of our own. QEMU's structures are tried out before there is a machine, too. */
struct qemu_usb;

/*
 * Makes the type known, by its name for `-device`. The device is that of @front, and @bus_of says
 * behind which bus its chip is by now. NULL: *@missing is the function that this QEMU has not, or
 * the structure that it lays out in another way. Lives as long as QEMU.
 */
struct qemu_usb *qemu_usb_register(const char *type, const struct front_usb *front,
	struct bus *(*bus_of)(void *owner), void *owner, const char **missing);

/* Resets the device, and forgets when it would have asked for its host. */
void qemu_usb_reset(struct qemu_usb *self);

#endif
