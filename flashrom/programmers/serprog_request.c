/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A single request and its answer. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "serprog_device.h"

static const char *cause_of(int error)
{
	switch (error) {
	case -ETIMEDOUT:
		return "stopped answering";
	case -ECONNRESET:
		return "hung up";
	case -EBADMSG:
		return "sent something that is no serprog answer";
	case -EOPNOTSUPP:
		return "refused";
	default:
		return strerror(-error);
	}
}

int serprog_fail(struct serprog *serprog, const char *during, int error)
{
	serprog->broken = true;
	log_error(serprog->log,
		"serprog: %s %s (%s). Reset the programmer, then verify or write again.\n",
		serprog->peer, cause_of(error), during);
	return error;
}

uint32_t serprog_get(const uint8_t *bytes, size_t count)
{
	uint32_t value = 0;

	while (count-- > 0)
		value = value << 8 | bytes[count];
	return value;
}

void serprog_put(uint8_t *bytes, size_t count, uint32_t value)
{
	for (size_t i = 0; i < count; i++, value >>= 8)
		bytes[i] = (uint8_t)value;
}

bool serprog_offers(const struct serprog *serprog, uint8_t command)
{
	return (serprog->map[command / 8] >> (command % 8) & 1) != 0;
}

int serprog_exchange(struct serprog *serprog, const uint8_t *request, size_t request_bytes,
	uint8_t *answer, size_t answer_bytes)
{
	uint8_t first = 0;
	struct iovec parts[] = {{&first, 1}, {answer, answer_bytes}};
	int error = serprog_link_send(&serprog->link, request, request_bytes);

	if (error == 0)
		error = serprog_link_receive_after(&serprog->link, S_ACK, parts,
			answer_bytes > 0 ? 2 : 1, serprog->options.silence_ms_max);
	return error == -EBADMSG && first == S_NAK ? -EOPNOTSUPP : error;
}

int serprog_query(struct serprog *serprog, uint8_t command, uint8_t *answer, size_t bytes)
{
	return serprog_exchange(serprog, &command, 1, answer, bytes);
}

int serprog_read_size(
	struct serprog *serprog, uint8_t command, size_t answer_bytes, uint32_t zero, size_t *size)
{
	uint8_t answer[4];
	uint32_t bytes;
	int error;

	if (!serprog_offers(serprog, command))
		return 0;
	error = serprog_query(serprog, command, answer, answer_bytes);
	if (error != 0)
		return serprog_fail(serprog, "question for a size", error);
	bytes = serprog_get(answer, answer_bytes);
	if (bytes == 0)
		bytes = zero;
	if (bytes < *size)
		*size = bytes;
	return 0;
}

int serprog_report_too_small(struct serprog *serprog, const char *what, size_t bytes)
{
	log_error(serprog->log,
		"serprog: %s %s %zu bytes at a time, too few for a flash chip. Another firmware "
		"for the programmer may do better.\n",
		serprog->peer, what, bytes);
	return -EOPNOTSUPP;
}
