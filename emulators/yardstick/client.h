/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The least that a serprog client does: one send, its whole reply awaited. A round trip costs what
 * system and device make it cost, and nothing of ours.
 */
#ifndef EMULATORS_FLOOR_CLIENT_H
#define EMULATORS_FLOOR_CLIENT_H

#include <stddef.h>
#include <stdint.h>

/* The longest command: opcode, address and the largest page. */
#define CLIENT_COMMAND_BYTES_MAX 1024

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

#endif
