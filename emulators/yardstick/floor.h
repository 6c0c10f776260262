/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * serprog-floor: a serprog client with the least possible overhead (client.c), the shortest write
 * through it (job.c), and the options of flashrom that a write through a layout needs (main.c).
 */
#ifndef EMULATORS_YARDSTICK_FLOOR_H
#define EMULATORS_YARDSTICK_FLOOR_H

#include <stddef.h>
#include <stdint.h>

#include "model/part.h"

/* The longest command: opcode, address and the largest page. */
#define CLIENT_COMMAND_BYTES_MAX 1024

/*
 * The smallest serprog client: one send, then a wait for the whole reply. Only system and device
 * add to a round trip.
 */
struct client {
	int fd;
	/*
	 * The bytes of one read: as many as flashrom reads at a time, or the limit of the device.
	 */
	uint32_t read_len_max;
	/* The size of the device's buffer: bytes that may be sent before it answers. */
	uint32_t serial_buffer_bytes;
};

/*
 * Connects to @target, "HOST:PORT" with HOST an IPv4 address, and synchronises. Returns 0 or
 * -errno: -EINVAL for a target of another form, -EPROTO if the peer is no serprog device.
 */
int client_init(struct client *client, const char *target);
void client_deinit(struct client *client);

/*
 * Runs one transfer with the chip: @command_len bytes out, then @reply_len bytes in. Returns 0 or
 * -errno: -EPROTO if the device refuses it, -ECONNRESET if the device is gone.
 */
int client_transfer(struct client *client, const uint8_t *command, size_t command_len,
	uint8_t *reply, size_t reply_len);

/*
 * Sends the opcode @first, then @command, both without a reply: in one round trip if the device's
 * serial buffer holds both. Returns as client_transfer() does.
 */
int client_transfer_after(
	struct client *client, uint8_t first, const uint8_t *command, size_t command_len);

struct region {
	uint32_t offset_bytes;
	uint32_t size_bytes;
};

/* Waits until a part that is busy for @busy must be ready. */
typedef void wait_fn(const struct busy_time *busy);

/*
 * Writes @content into the region, with the shortest possible write. It reads the old content,
 * unlocks a part that powers up locked, erases the region in the largest blocks that fit, programs
 * the pages that are not blank, and reads all back. Each change is a write enable and the command,
 * then @wait; or without @wait one status read, for a part that is never busy.
 *
 * Returns 0 or -errno: -EBUSY if the part was busy without @wait, -EIO if it does not hold the
 * content at the end. Without any command: -EINVAL if its erases do not fit the region, -ENOTSUP
 * for another family of parts, or a region past 16 MiB.
 */
int job_write(struct client *client, const struct part *part, const struct region *region,
	const uint8_t *content, wait_fn *wait);

/*
 * Sleeps SLEEP_PERCENT of that time, by CLOCK_MONOTONIC. The rig finds this function because it has
 * the name of flashrom's delay function.
 */
void default_delay(unsigned int microseconds);

/* Waits ASK_PERCENT of the longest busy time, with default_delay(). */
void yardstick_wait(const struct busy_time *busy);

#endif
