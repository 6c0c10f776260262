/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests that get only an ACK are sent together. With a round trip for each write, a page could
 * not be loaded within its window, and each byte program would take four times as long. A write
 * enable shares the round trip of its command.
 */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "serprog_device.h"

#define ANSWERS_AT_A_TIME 64

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
