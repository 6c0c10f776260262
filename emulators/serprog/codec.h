/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The serprog protocol, version 1: parses the bytes of requests, and writes the numbers in replies.
 * Uses neither sockets nor chips.
 */
#ifndef EMULATORS_SERPROG_CODEC_H
#define EMULATORS_SERPROG_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SERPROG_ACK 0x06
#define SERPROG_NAK 0x15
#define SERPROG_VERSION 1
#define SERPROG_BUS_PARALLEL 0x01
#define SERPROG_BUS_LPC 0x02
#define SERPROG_BUS_FWH 0x04
#define SERPROG_BUS_SPI 0x08
#define SERPROG_CMDMAP_BYTES 32
#define SERPROG_PGMNAME_BYTES 16

/* All opcodes, each with its name, the bytes of its arguments and their form (codec.c). */
#define SERPROG_OPS(OP)                                                                            \
	OP(0x00, NOP, 0, NONE)                                                                     \
	OP(0x01, Q_IFACE, 0, NONE)                                                                 \
	OP(0x02, Q_CMDMAP, 0, NONE)                                                                \
	OP(0x03, Q_PGMNAME, 0, NONE)                                                               \
	OP(0x04, Q_SERBUF, 0, NONE)                                                                \
	OP(0x05, Q_BUSTYPE, 0, NONE)                                                               \
	OP(0x06, Q_CHIPSIZE, 0, NONE)                                                              \
	OP(0x07, Q_OPBUF, 0, NONE)                                                                 \
	OP(0x08, Q_WRNMAXLEN, 0, NONE)                                                             \
	OP(0x09, R_BYTE, 3, READ)                                                                  \
	OP(0x0A, R_NBYTES, 6, READN)                                                               \
	OP(0x0B, O_INIT, 0, NONE)                                                                  \
	OP(0x0C, O_WRITEB, 4, WRITE)                                                               \
	OP(0x0D, O_WRITEN, 6, WRITEN)                                                              \
	OP(0x0E, O_DELAY, 4, VALUE)                                                                \
	OP(0x0F, O_EXEC, 0, NONE)                                                                  \
	OP(0x10, SYNCNOP, 0, NONE)                                                                 \
	OP(0x11, Q_RDNMAXLEN, 0, NONE)                                                             \
	OP(0x12, S_BUSTYPE, 1, VALUE)                                                              \
	OP(0x13, O_SPIOP, 6, SPIOP)                                                                \
	OP(0x14, S_SPI_FREQ, 4, VALUE)                                                             \
	OP(0x15, S_PIN_STATE, 1, VALUE)                                                            \
	OP(0x16, S_SPI_CS, 1, VALUE)                                                               \
	OP(0x17, S_SPI_MODE, 1, VALUE)                                                             \
	OP(0x18, S_CS_MODE, 1, VALUE)

#define SERPROG_OP(value_, name_, bytes_, body_) SERPROG_##name_ = (value_),
enum serprog_op { SERPROG_OPS(SERPROG_OP) };

#define SERPROG_OP_COUNT (SERPROG_S_CS_MODE + 1)

/* The longest write and read that a request may ask for; both fit in 24 bits. */
struct serprog_limits {
	uint32_t write_len_max;
	uint32_t read_len_max;
};

struct serprog_request {
	uint8_t op;
	bool oversized; /* past the limits: answer NAK, and drop skip_bytes */
	uint32_t value; /* the argument of O_DELAY (us), S_SPI_FREQ (Hz) or a one-byte S_ request */
	uint32_t address;     /* for R_ and O_WRITE requests */
	uint32_t write_len;   /* for O_SPIOP and O_WRITE requests */
	uint32_t read_len;    /* for O_SPIOP and R_ requests */
	const uint8_t *data;  /* write_len bytes inside the parsed buffer, NULL if oversized */
	const uint8_t *bytes; /* the whole request in the parsed buffer */
	size_t size_bytes;    /* its size */
	uint32_t skip_bytes;  /* the number of bytes after it that must be dropped */
};

/*
 * Parses the request at the head of @bytes. Returns false, with @request unchanged, if the bytes
 * end before the request does.
 */
bool serprog_parse(const uint8_t *bytes, size_t len, const struct serprog_limits *limits,
	struct serprog_request *request);

/* Returns the size of the longest request within these limits. */
size_t serprog_request_bytes_max(const struct serprog_limits *limits);

/* Returns the opcode's name, or "UNKNOWN" if the protocol does not define it. */
const char *serprog_name(uint8_t op);

/* Writes @value in little endian, in @len bytes. Returns @len. */
size_t serprog_put_number(uint8_t *out, uint32_t value, size_t len);

#endif
