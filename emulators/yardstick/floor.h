/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * serprog-floor: a client that costs nothing of its own (client.c), the shortest write through it
 * (job.c), and as much of flashrom's command line as a write through a layout needs (options.c).
 */
#ifndef EMULATORS_YARDSTICK_FLOOR_H
#define EMULATORS_YARDSTICK_FLOOR_H

#include <stddef.h>
#include <stdint.h>

#include "model/part.h"

/* The longest command: opcode, address and the largest page. */
#define CLIENT_COMMAND_BYTES_MAX 1024

/*
 * The least that a serprog client does: one send, its whole reply awaited. A round trip costs what
 * system and device make it cost, and nothing of ours.
 */
struct client {
	int fd;
	/*
	 * The size of one command: what flashrom reads at a time, or less if the device limits it
	 */
	uint32_t read_len_max;
	/* The device's buffer: the bytes that may be sent before it answers */
	uint32_t serial_buffer_bytes;
};

/*
 * Connects to @target, "HOST:PORT" with HOST an IPv4 address, and synchronises. A negative errno:
 * -EINVAL for a target of another form, -EPROTO for a peer that is no serprog device.
 */
int client_init(struct client *client, const char *target);
void client_deinit(struct client *client);

/*
 * One transfer with the chip: @command_len bytes out, then @reply_len bytes in. -EPROTO where the
 * device refuses it, -ECONNRESET where it is gone.
 */
int client_transfer(struct client *client, const uint8_t *command, size_t command_len,
	uint8_t *reply, size_t reply_len);

/*
 * The opcode @first, and then @command, neither with a reply: one round trip where the device's
 * serial buffer takes both. As client_transfer() otherwise.
 */
int client_transfer_after(
	struct client *client, uint8_t first, const uint8_t *command, size_t command_len);

struct region {
	uint32_t offset_bytes;
	uint32_t size_bytes;
};

/* Waits until a part that is busy with this must be ready. */
typedef void wait_fn(const struct busy_time *busy);

/*
 * Puts the @region.size_bytes bytes of @content into the region, by a write as short as it can be:
 * what was there is read, a part that comes up locked is unlocked, everything is erased in the
 * largest blocks that fit, what is not blank is programmed page by page, and all is read back. Each
 * change is a write enable, the command and one status read for a part that is never busy; for
 * others a wait, and no question.
 *
 * Without @wait the part must never
 * be busy: -EBUSY where it was, -EIO where it does not hold them in the end, -EINVAL where its
 * erases do not fit the region, -ENOTSUP for a family of parts that it cannot write, or a region
 * past 16 MiB.
 */
int job_write(struct client *client, const struct part *part, const struct region *region,
	const uint8_t *content, wait_fn *wait);

struct options {
	const char *target; /* HOST:PORT */
	const struct part *part;
	const char *layout_path;
	const char *region_name;
	const char *image_path;
};

/* The strings in @options are those of @argv. -EINVAL for what it does not understand. */
int options_parse(int argc, char *argv[], struct options *options);

/* Looks the region up in the layout, lines of `FIRST:LAST NAME` in hexadecimal. */
int options_read_region(const struct options *options, struct region *region);

/* The region's bytes of the image, a file of the whole part; to be freed. */
int options_read_content(
	const struct options *options, const struct region *region, uint8_t **content);

#endif
