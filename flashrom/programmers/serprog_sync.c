/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <inttypes.h>

#include "serprog_device.h"

/* As many as the longest request outside O_SPIOP and its kin could still be waiting for. */
#define SYNC_NOPS 8
#define SYNC_ANSWER_MS 500

/* SYNCNOP is the one request that is answered by a NAK and an ACK. */
static int expect_sync(struct serprog *serprog)
{
	const uint8_t request = S_CMD_SYNCNOP;
	uint8_t answer[2];
	int error = serprog_link_send(&serprog->link, &request, 1);

	if (error == 0)
		error = serprog_link_receive(&serprog->link, answer, 2, SYNC_ANSWER_MS);
	if (error != 0)
		return error;
	return answer[0] == S_NAK && answer[1] == S_ACK ? 0 : -EBADMSG;
}

/*
 * One attempt. The NOPs end a request that was cut off half way; their answers are thrown away once
 * the line has gone quiet, so no wait is longer than the device makes it. A late leftover may look
 * like the sync answer, but then the version that follows does not look like one.
 */
static int sync_once(struct serprog *serprog, uint32_t ms_max)
{
	static const uint8_t nops[SYNC_NOPS] = {S_CMD_NOP};
	int error = serprog_link_send(&serprog->link, nops, sizeof(nops));

	if (error == 0)
		error = serprog_link_drain(&serprog->link, serprog->options.quiet_ms, ms_max);
	if (error == 0)
		error = expect_sync(serprog);
	if (error == 0)
		error = serprog_query(
			serprog, S_CMD_Q_IFACE, serprog->version, sizeof(serprog->version));
	return error;
}

static bool is_worth_another_try(int error)
{
	return error == -EBADMSG || error == -EOPNOTSUPP || error == -ETIMEDOUT || error == -EBUSY;
}

static int report_no_sync(struct serprog *serprog)
{
	serprog->broken = true;
	log_error(serprog->log,
		"serprog: %s does not synchronise within %" PRIu32 " ms. Is it a serprog device, "
		"and the baud rate right?\n",
		serprog->peer, serprog->options.sync_ms_max);
	return -ETIMEDOUT;
}

int serprog_synchronise(struct serprog *serprog)
{
	const uint64_t start_ns = clock_now_ns(serprog->link.clock);
	const uint64_t max_ns = serprog->options.sync_ms_max * NS_PER_MS;
	int error;

	do {
		error = sync_once(serprog, serprog->options.sync_ms_max);
		if (error == 0)
			return 0;
		if (!is_worth_another_try(error))
			return serprog_fail(serprog, "synchronisation", error);
	} while (clock_now_ns(serprog->link.clock) - start_ns < max_ns);
	return report_no_sync(serprog);
}
