/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Requests and their answers: one at a time, or queued if the answer is only an ACK. */
#include <assert.h>
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
		return serprog_fail(serprog, "query of a size", error);
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

/*
 * The queue sends requests that get only an ACK together. With a round trip for each write cycle, a
 * page could not be loaded within its window, and a byte program, which has four cycles, would take
 * four times as long. A write enable shares the round trip of the command that follows it.
 */
#define ANSWERS_AT_A_TIME 64 /* the ACKs that one call receives */

static int check_answers(const uint8_t *answers, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (answers[i] != S_ACK)
			return answers[i] == S_NAK ? -EOPNOTSUPP : -EBADMSG;
	}
	return 0;
}

static int receive_answers(struct serprog *serprog, size_t count)
{
	while (count > 0) {
		const size_t chunk = count < ANSWERS_AT_A_TIME ? count : ANSWERS_AT_A_TIME;
		uint8_t answers[ANSWERS_AT_A_TIME];
		int error = serprog_link_receive(
			&serprog->link, answers, chunk, serprog->options.silence_ms_max);

		if (error == 0)
			error = check_answers(answers, chunk);
		if (error != 0)
			return error;
		count -= chunk;
	}
	return 0;
}

int serprog_queue_prepare(struct serprog *serprog, const char *what)
{
	struct serprog_queue *queue = &serprog->queue;

	queue->what = what;
	queue->bytes_max = serprog_offers(serprog, S_CMD_Q_SERBUF) ? sizeof(queue->requests) : 0;
	return serprog_read_size(serprog, S_CMD_Q_SERBUF, 2, 0, &queue->bytes_max);
}

int serprog_queue_settle(struct serprog *serprog)
{
	struct serprog_queue *queue = &serprog->queue;
	int error;

	if (queue->count == 0)
		return 0;
	error = serprog_link_send(&serprog->link, queue->requests, queue->bytes);
	if (error == 0)
		error = receive_answers(serprog, queue->count);
	queue->bytes = 0;
	queue->count = 0;
	return error == 0 ? 0 : serprog_fail(serprog, queue->what, error);
}

int serprog_queue_push(struct serprog *serprog, const uint8_t *request, size_t bytes)
{
	struct serprog_queue *queue = &serprog->queue;

	assert(bytes <= sizeof(queue->requests));
	if (queue->bytes + bytes > queue->bytes_max) {
		const int error = serprog_queue_settle(serprog);

		if (error != 0)
			return error;
	}
	memcpy(queue->requests + queue->bytes, request, bytes);
	queue->bytes += bytes;
	queue->count++;
	return 0;
}
