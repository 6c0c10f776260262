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

enum serprog_op {
	SERPROG_NOP = 0x00,
	SERPROG_Q_IFACE = 0x01,
	SERPROG_Q_CMDMAP = 0x02,
	SERPROG_Q_PGMNAME = 0x03,
	SERPROG_Q_SERBUF = 0x04,
	SERPROG_Q_BUSTYPE = 0x05,
	SERPROG_Q_CHIPSIZE = 0x06,
	SERPROG_Q_OPBUF = 0x07,
	SERPROG_Q_WRNMAXLEN = 0x08,
	SERPROG_R_BYTE = 0x09,
	SERPROG_R_NBYTES = 0x0A,
	SERPROG_O_INIT = 0x0B,
	SERPROG_O_WRITEB = 0x0C,
	SERPROG_O_WRITEN = 0x0D,
	SERPROG_O_DELAY = 0x0E,
	SERPROG_O_EXEC = 0x0F,
	SERPROG_SYNCNOP = 0x10,
	SERPROG_Q_RDNMAXLEN = 0x11,
	SERPROG_S_BUSTYPE = 0x12,
	SERPROG_O_SPIOP = 0x13,
	SERPROG_S_SPI_FREQ = 0x14,
	SERPROG_S_PIN_STATE = 0x15,
	SERPROG_S_SPI_CS = 0x16,
	SERPROG_S_SPI_MODE = 0x17,
	SERPROG_S_CS_MODE = 0x18,
};

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

enum serprog_parse {
	SERPROG_PARSE_MORE, /* the buffer ends before the request does */
	SERPROG_PARSE_DONE,
};

/* Parses the request at the head of @bytes. @request is written only if it is complete. */
enum serprog_parse serprog_parse(const uint8_t *bytes, size_t len,
	const struct serprog_limits *limits, struct serprog_request *request);

/* Returns the size of the longest request within these limits. */
size_t serprog_request_bytes_max(const struct serprog_limits *limits);

/* Returns the opcode's name, or "UNKNOWN" if the protocol does not define it. */
const char *serprog_name(uint8_t op);

/* Writes @value in little endian. Returns the number of bytes written. */
size_t serprog_put_u16(uint8_t *out, uint16_t value);
size_t serprog_put_u24(uint8_t *out, uint32_t value);
size_t serprog_put_u32(uint8_t *out, uint32_t value);

#endif
