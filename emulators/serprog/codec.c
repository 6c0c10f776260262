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

#define FORMAT(value_, name_, bytes_, body_) {#name_, bytes_, BODY_##body_},

/* Has all opcodes, so that a device can skip a whole request that it does not offer. */
static const struct format formats[SERPROG_OP_COUNT] = {SERPROG_OPS(FORMAT)};

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

bool serprog_parse(const uint8_t *bytes, size_t len, const struct serprog_limits *limits,
	struct serprog_request *request)
{
	struct serprog_request parsed = {.bytes = bytes, .size_bytes = 1};
	const struct format *format;

	if (len == 0)
		return false;
	format = format_find(bytes[0]);
	parsed.op = bytes[0];
	if (format) {
		parsed.size_bytes += format->argument_bytes;
		if (len < parsed.size_bytes)
			return false;
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
		return false;
	*request = parsed;
	return true;
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

size_t serprog_put_number(uint8_t *out, uint32_t value, size_t len)
{
	assert(value >> 8 * (len - 1) <= UINT8_MAX);
	for (size_t i = 0; i < len; i++)
		out[i] = (uint8_t)(value >> 8 * i);
	return len;
}
