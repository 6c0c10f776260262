/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The chip plugin's access to QEMU: its clock, registers laid over those of a device, and calls
 * when the machine is complete, resumes or is paused. Only qemu.c and qemu_usb.c know QEMU's
 * internals.
 *
 * QEMU's plugin interface offers none of that, but QEMU exports its functions, and the plugin finds
 * them by name (dlsym). It also accesses trial registers before the guest starts, and refuses a
 * QEMU in which they do not work.
 */
#ifndef EMULATORS_PROGRAMMERS_QEMU_H
#define EMULATORS_PROGRAMMERS_QEMU_H

#include "front.h"

/* The known versions of QEMU, for error messages. */
#define QEMU_NEEDED "QEMU 9.2 to 10.1, built as Debian builds it"

struct qemu;

/* The name of something that QEMU exports, and the offset of the pointer to it in a struct. */
struct qemu_symbol {
	const char *name;
	size_t offset;
};

/* A function of QEMU: the pointer to it in a struct, and its symbol. */
#define QEMU_FIELD(result_, name_, ...) result_ (*(name_))(__VA_ARGS__);
#define QEMU_SYMBOL(struct_, name_) {#name_, offsetof(struct_, name_)}

/* Sets the pointers of @symbols in @owner. Returns false if QEMU does not export *@missing. */
bool qemu_find_symbols(
	const struct qemu_symbol *symbols, size_t count, void *owner, const char **missing);

/* Registers in a region of memory. @owner must live as long as QEMU. */
struct qemu_registers {
	const char *name;
	uint64_t size_bytes;
	unsigned int access_bytes_max; /* QEMU splits longer ones, lowest address first */
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

/* Returns QEMU's functions, never freed; NULL if QEMU does not export *@missing. */
struct qemu *qemu_find(const char **missing);

/* Makes QEMU call the functions of @events, which must live as long as QEMU. */
void qemu_listen(struct qemu *qemu, const struct qemu_events *events);

/* Returns the virtual time; within an access, the time of its instruction. */
uint64_t qemu_now_ns(const struct qemu *qemu);

/* Returns true if registers work as in the known QEMUs. Must be called when the machine is done. */
bool qemu_registers_work(struct qemu *qemu);

/* One of QEMU's regions of memory. */
struct MemoryRegion;

/* Registers that are laid over a region. */
struct qemu_layer {
	struct MemoryRegion *registers;
	struct MemoryRegion *beneath;
	uint64_t offset;
};

/*
 * Lays registers over the device's region of that name, above all that is there. Returns -ENODEV if
 * the machine has no such region, or several; -ERANGE if it is too short; -ENOMEM.
 */
int qemu_lay_over(struct qemu *qemu, const char *region, uint64_t offset,
	const struct qemu_registers *registers, struct qemu_layer *layer);

/* Returns NULL if the machine has no region of that name, or several. */
struct MemoryRegion *qemu_find_region(struct qemu *qemu, const char *name);

/* Access the region itself, whatever lies over it. */
uint64_t qemu_read_region(
	struct qemu *qemu, struct MemoryRegion *region, uint64_t offset, unsigned int size_bytes);
void qemu_write_region(struct qemu *qemu, struct MemoryRegion *region, uint64_t offset,
	uint64_t value, unsigned int size_bytes);

/* Shows or hides registers that are laid over a region. */
void qemu_show(struct qemu *qemu, const struct qemu_layer *layer, bool shown);

/* A USB device that the plugin adds to QEMU. */
struct qemu_usb;

/*
 * Registers the device of @front as a type for `-device`, before there is a machine. @bus_of
 * returns the current bus of its chip. The result lives as long as QEMU. Returns NULL if QEMU does
 * not export the function *@missing, or has another layout of the structure *@missing.
 */
struct qemu_usb *qemu_usb_register(const struct qemu *qemu, const char *type,
	const struct front_usb *front, struct bus *(*bus_of)(void *owner), void *owner,
	const char **missing);

/* Resets the device and stops its timer. */
void qemu_usb_reset(struct qemu_usb *self);

#endif
