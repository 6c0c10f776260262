/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "codec.h"

#include <assert.h>

enum body {
	BODY_NONE,
	BODY_VALUE,  /* the arguments are one little-endian number */
	BODY_READ,   /* u24 address */
	BODY_READN,  /* u24 address, u24 length */
	BODY_WRITE,  /* u24 address, the byte */
	BODY_WRITEN, /* u24 length, u24 address, then the bytes to write */
	BODY_SPIOP,  /* u24 write length, u24 read length, then the bytes to write */
};

struct format {
	const char *name;
	uint8_t argument_bytes;
	enum body body;
};

/* Has all opcodes, so that a device can skip a whole request that it does not offer. */
static const struct format formats[SERPROG_OP_COUNT] = {
	[SERPROG_NOP] = {"NOP", 0, BODY_NONE},
	[SERPROG_Q_IFACE] = {"Q_IFACE", 0, BODY_NONE},
	[SERPROG_Q_CMDMAP] = {"Q_CMDMAP", 0, BODY_NONE},
	[SERPROG_Q_PGMNAME] = {"Q_PGMNAME", 0, BODY_NONE},
	[SERPROG_Q_SERBUF] = {"Q_SERBUF", 0, BODY_NONE},
	[SERPROG_Q_BUSTYPE] = {"Q_BUSTYPE", 0, BODY_NONE},
	[SERPROG_Q_CHIPSIZE] = {"Q_CHIPSIZE", 0, BODY_NONE},
	[SERPROG_Q_OPBUF] = {"Q_OPBUF", 0, BODY_NONE},
	[SERPROG_Q_WRNMAXLEN] = {"Q_WRNMAXLEN", 0, BODY_NONE},
	[SERPROG_R_BYTE] = {"R_BYTE", 3, BODY_READ},
	[SERPROG_R_NBYTES] = {"R_NBYTES", 6, BODY_READN},
	[SERPROG_O_INIT] = {"O_INIT", 0, BODY_NONE},
	[SERPROG_O_WRITEB] = {"O_WRITEB", 4, BODY_WRITE},
	[SERPROG_O_WRITEN] = {"O_WRITEN", 6, BODY_WRITEN},
	[SERPROG_O_DELAY] = {"O_DELAY", 4, BODY_VALUE},
	[SERPROG_O_EXEC] = {"O_EXEC", 0, BODY_NONE},
	[SERPROG_SYNCNOP] = {"SYNCNOP", 0, BODY_NONE},
	[SERPROG_Q_RDNMAXLEN] = {"Q_RDNMAXLEN", 0, BODY_NONE},
	[SERPROG_S_BUSTYPE] = {"S_BUSTYPE", 1, BODY_VALUE},
	[SERPROG_O_SPIOP] = {"O_SPIOP", 6, BODY_SPIOP},
	[SERPROG_S_SPI_FREQ] = {"S_SPI_FREQ", 4, BODY_VALUE},
	[SERPROG_S_PIN_STATE] = {"S_PIN_STATE", 1, BODY_VALUE},
	[SERPROG_S_SPI_CS] = {"S_SPI_CS", 1, BODY_VALUE},
	[SERPROG_S_SPI_MODE] = {"S_SPI_MODE", 1, BODY_VALUE},
	[SERPROG_S_CS_MODE] = {"S_CS_MODE", 1, BODY_VALUE},
};

#define HEAD_BYTES_MAX 7 /* the opcode and its arguments */

static const struct format *format_find(uint8_t op)
{
	return op < SERPROG_OP_COUNT ? &formats[op] : NULL;
}

static uint32_t get_number(const uint8_t *bytes, size_t len)
{
	uint32_t value = 0;

	for (size_t i = len; i > 0; i--)
		value = value << 8 | bytes[i - 1];
	return value;
}

static void parse_arguments(
	const uint8_t *arguments, const struct format *format, struct serprog_request *request)
{
	switch (format->body) {
	case BODY_NONE:
		break;
	case BODY_VALUE:
		request->value = get_number(arguments, format->argument_bytes);
		break;
	case BODY_READ:
		request->address = get_number(arguments, 3);
		request->read_len = 1;
		break;
	case BODY_READN:
		request->address = get_number(arguments, 3);
		request->read_len = get_number(arguments + 3, 3);
		break;
	case BODY_WRITE:
		request->address = get_number(arguments, 3);
		request->write_len = 1;
		request->data = arguments + 3;
		break;
	case BODY_WRITEN:
		request->write_len = get_number(arguments, 3);
		request->address = get_number(arguments + 3, 3);
		break;
	case BODY_SPIOP:
		request->write_len = get_number(arguments, 3);
		request->read_len = get_number(arguments + 3, 3);
		break;
	}
}

static bool has_data(const struct format *format)
{
	return format->body == BODY_WRITEN || format->body == BODY_SPIOP;
}

/* Ends an oversized request before its data. The caller drops the data when it arrives. */
static void refuse(const struct format *format, struct serprog_request *request)
{
	request->oversized = true;
	request->skip_bytes = has_data(format) ? request->write_len : 0;
}

enum serprog_parse serprog_parse(const uint8_t *bytes, size_t len,
	const struct serprog_limits *limits, struct serprog_request *request)
{
	struct serprog_request parsed = {.bytes = bytes, .size_bytes = 1};
	const struct format *format;

	if (len == 0)
		return SERPROG_PARSE_MORE;
	format = format_find(bytes[0]);
	parsed.op = bytes[0];
	if (format) {
		parsed.size_bytes += format->argument_bytes;
		if (len < parsed.size_bytes)
			return SERPROG_PARSE_MORE;
		parse_arguments(bytes + 1, format, &parsed);
		if (parsed.write_len > limits->write_len_max ||
			parsed.read_len > limits->read_len_max) {
			refuse(format, &parsed);
		} else if (has_data(format)) {
			parsed.data = bytes + parsed.size_bytes;
			parsed.size_bytes += parsed.write_len;
		}
	}
	if (len < parsed.size_bytes)
		return SERPROG_PARSE_MORE;
	*request = parsed;
	return SERPROG_PARSE_DONE;
}

size_t serprog_request_bytes_max(const struct serprog_limits *limits)
{
	return HEAD_BYTES_MAX + (size_t)limits->write_len_max;
}

const char *serprog_name(uint8_t op)
{
	const struct format *format = format_find(op);

	return format ? format->name : "UNKNOWN";
}

static size_t put_number(uint8_t *out, uint32_t value, size_t len)
{
	for (size_t i = 0; i < len; i++)
		out[i] = (uint8_t)(value >> 8 * i);
	return len;
}

size_t serprog_put_u16(uint8_t *out, uint16_t value)
{
	return put_number(out, value, 2);
}

size_t serprog_put_u24(uint8_t *out, uint32_t value)
{
	assert(value < 1u << 24);
	return put_number(out, value, 3);
}

size_t serprog_put_u32(uint8_t *out, uint32_t value)
{
	return put_number(out, value, 4);
}
