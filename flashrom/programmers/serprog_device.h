/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SERPROG_DEVICE_H
#define SERPROG_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "programmer.h"
#include "programmers.h"
#include "serprog_link.h"

/* The internal header of the serprog client. */

enum serprog_command {
	S_CMD_NOP = 0x00,
	S_CMD_Q_IFACE = 0x01,
	S_CMD_Q_CMDMAP = 0x02,
	S_CMD_Q_PGMNAME = 0x03,
	S_CMD_Q_SERBUF = 0x04,
	S_CMD_Q_BUSTYPE = 0x05,
	S_CMD_Q_OPBUF = 0x07,
	S_CMD_Q_WRNMAXLEN = 0x08,
	S_CMD_R_BYTE = 0x09,
	S_CMD_R_NBYTES = 0x0a,
	S_CMD_O_INIT = 0x0b,
	S_CMD_O_WRITEB = 0x0c,
	S_CMD_O_WRITEN = 0x0d,
	S_CMD_O_EXEC = 0x0f,
	S_CMD_SYNCNOP = 0x10,
	S_CMD_Q_RDNMAXLEN = 0x11,
	S_CMD_S_BUSTYPE = 0x12,
	S_CMD_O_SPIOP = 0x13,
	S_CMD_S_SPI_FREQ = 0x14,
	S_CMD_S_PIN_STATE = 0x15,
	S_CMD_S_SPI_CS = 0x16,
};

enum serprog_answer {
	S_ACK = 0x06,
	S_NAK = 0x15,
};

/* Any page program of the 25 series fits. A longer read would take longer to notice a hang-up. */
#define SERPROG_WRITE_BYTES_MAX 1024
#define SERPROG_READ_BYTES_MAX 65536

/* More bytes would save nothing, since the device reads requests one after the other. */
#define SERPROG_QUEUE_BYTES 4096

/* Requests that are sent together, and whose ACKs are then read together. */
struct serprog_queue {
	uint8_t requests[SERPROG_QUEUE_BYTES];
	size_t bytes;
	/* The size of the device's serial buffer; only a single request may exceed it */
	size_t bytes_max;
	unsigned int count;
	const char *what; /* the name of a request in messages */
};

/* The device's operation buffer, and a run of adjacent writes that will become one request. */
struct serprog_opbuf {
	size_t bytes; /* the used bytes of the buffer, without the run */
	size_t bytes_max;
	uint8_t run[SERPROG_WRITE_BYTES_MAX];
	uint32_t run_address;
	size_t run_bytes;
	size_t run_bytes_max;
};

struct serprog {
	struct programmer base; /* first: see serprog_self() */
	struct serprog_link link;
	const struct log *log;
	struct serprog_options options;
	char peer[256];
	uint8_t version[2];
	uint8_t map[32];
	struct serprog_queue queue;
	struct serprog_opbuf opbuf;
	bool broken; /* the device is gone or out of sync: nothing more is sent */
};

static inline struct serprog *serprog_self(struct programmer *programmer)
{
	return (struct serprog *)programmer;
}

/* Returns true if the command map has `command`. */
bool serprog_offers(const struct serprog *serprog, uint8_t command);

/* Logs `error`, marks the device as broken, and returns `error`. */
int serprog_fail(struct serprog *serprog, const char *during, int error);

/*
 * Sends a request and receives the answer behind its ACK. Returns 0, -EOPNOTSUPP for a NAK, or
 * another -errno. It logs nothing, because a NAK may be expected.
 */
int serprog_exchange(struct serprog *serprog, const uint8_t *request, size_t request_bytes,
	uint8_t *answer, size_t answer_bytes);

/* Does the same for a request of one byte. */
int serprog_query(struct serprog *serprog, uint8_t command, uint8_t *answer, size_t bytes);

/*
 * The first queues a request whose only answer is an ACK; a queue without room for it is settled
 * before. The second sends all queued requests and reads their ACKs. Both return 0, or -errno
 * (logged).
 */
int serprog_queue_push(struct serprog *serprog, const uint8_t *request, size_t bytes);
int serprog_queue_settle(struct serprog *serprog);

/*
 * Queries the size of the device's serial buffer, which limits the queue. If the device does not
 * have that query, requests are sent one at a time. `what` is the name of a request in messages.
 */
int serprog_queue_prepare(struct serprog *serprog, const char *what);

/* Read and write numbers of the protocol, little-endian. */
uint32_t serprog_get(const uint8_t *bytes, size_t count);
void serprog_put(uint8_t *bytes, size_t count, uint32_t value);

/*
 * Queries a size and lowers `*size` to it; an answer of 0 means `zero`. If the device does not have
 * that query, `*size` stays unchanged. Returns 0, or -errno (logged).
 */
int serprog_read_size(
	struct serprog *serprog, uint8_t command, size_t answer_bytes, uint32_t zero, size_t *size);

/* Logs that the device `what` (such as "reads") too few bytes at a time. Returns -EOPNOTSUPP. */
int serprog_report_too_small(struct serprog *serprog, const char *what, size_t bytes);

/* Return true if the device has the commands for SPI, or for memory cycles. */
bool serprog_has_spi(const struct serprog *serprog);
bool serprog_has_memory(const struct serprog *serprog);

/* Query limits and apply settings after the bus was selected. Return 0, or -errno (logged). */
int serprog_prepare_spi(struct serprog *serprog);
int serprog_prepare_memory(struct serprog *serprog);

/* The operations of struct programmer_ops. */
int serprog_spi_command(struct programmer *programmer, const uint8_t *tx, size_t tx_bytes,
	uint8_t *rx, size_t rx_bytes);
int serprog_spi_hold(struct programmer *programmer, const uint8_t *tx, size_t tx_bytes);
int serprog_read_bytes(
	struct programmer *programmer, uint32_t address, uint8_t *data, size_t bytes);
int serprog_write_byte(struct programmer *programmer, uint32_t address, uint8_t value);
int serprog_flush(struct programmer *programmer);

#endif
