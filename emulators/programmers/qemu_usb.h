/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A USB device of our own in QEMU: a type for `-device`. QEMU's functions are looked up by name,
 * and each structure is tried out before there is a machine: a wrong answer is refused. Only
 * qemu_usb.c knows QEMU's USB.
 */
#ifndef EMULATORS_PROGRAMMERS_QEMU_USB_H
#define EMULATORS_PROGRAMMERS_QEMU_USB_H

#include "front.h"

struct qemu_usb;

/* A device, with the functions of front_usb. Its owner keeps it for as long as QEMU lives. */
struct qemu_usb_device {
	const char *type; /* its name for `-device` */
	const struct front_usb *front;
	void (*reset)(void *owner);
	int (*control)(void *owner, const struct front_request *request, uint8_t *bytes);
	int (*write)(void *owner, const uint8_t *bytes, size_t len);
	size_t (*read)(void *owner, uint8_t *bytes, size_t room);
	uint64_t (*ready_ns)(void *owner);
	void *owner;
};

/*
 * Makes the type known. NULL: *@missing is the function that this QEMU has not, or the structure
 * that it lays out in another way. Lives as long as QEMU.
 */
struct qemu_usb *qemu_usb_register(const struct qemu_usb_device *device, const char **missing);

/* Forgets the moments at which the device would have asked for its host. */
void qemu_usb_forget(struct qemu_usb *self);

#endif
