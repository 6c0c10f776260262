/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <inttypes.h>

#include "serprog_device.h"

/* Enough to complete an interrupted request, unless it is an O_SPIOP or O_WRITEN with its data. */
#define SYNC_NOPS 8
#define SYNC_ANSWER_MS 500
#define SYNC_QUIET_MS_MAX 1000

/* Only SYNCNOP is answered by a NAK and an ACK. */
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

static bool are_acks(const uint8_t *answers, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (answers[i] != S_ACK)
			return false;
	}
	return true;
}

/* Returns true if each NOP is answered by an ACK. */
static bool is_in_step(struct serprog *serprog, uint32_t quiet_ms)
{
	uint8_t answers[SYNC_NOPS];

	if (serprog_link_receive(&serprog->link, answers, sizeof(answers), quiet_ms) != 0)
		return false;
	return are_acks(answers, sizeof(answers));
}

/*
 * Sends NOPs, which complete an interrupted request. Unless each NOP is answered, all bytes are
 * dropped until the line is quiet. Later attempts always do so, since the surplus answers of an
 * earlier one look like those of the NOPs.
 */
static int settle(struct serprog *serprog, uint32_t quiet_ms, bool first)
{
	static const uint8_t nops[SYNC_NOPS] = {S_CMD_NOP};
	const int error = serprog_link_send(&serprog->link, nops, sizeof(nops));

	if (error != 0 || (first && is_in_step(serprog, quiet_ms)))
		return error;
	return serprog_link_drain(&serprog->link, quiet_ms, serprog->options.sync_ms_max);
}

static bool is_answer(uint8_t byte)
{
	return byte == S_ACK || byte == S_NAK;
}

static bool is_made_of_answers(const uint8_t version[2])
{
	return is_answer(version[0]) && is_answer(version[1]);
}

/*
 * One attempt. The late answers of a slow device may look like the answer to SYNCNOP, but then the
 * version that follows also consists of answer bytes.
 */
static int sync_once(struct serprog *serprog, uint32_t quiet_ms, bool first)
{
	int error = settle(serprog, quiet_ms, first);

	if (error == 0)
		error = expect_sync(serprog);
	if (error == 0)
		error = serprog_query(
			serprog, S_CMD_Q_IFACE, serprog->version, sizeof(serprog->version));
	if (error == 0 && is_made_of_answers(serprog->version))
		error = -EBADMSG;
	return error;
}

static bool is_worth_another_try(int error)
{
	return error == -EBADMSG || error == -EOPNOTSUPP || error == -ETIMEDOUT || error == -EBUSY;
}

/* Each attempt waits twice as long, up to a limit that late answers hardly ever exceed. */
static uint32_t more_quiet_ms(uint32_t quiet_ms)
{
	return quiet_ms < SYNC_QUIET_MS_MAX / 2 ? 2 * quiet_ms : SYNC_QUIET_MS_MAX;
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
	uint32_t quiet_ms = serprog->options.quiet_ms;
	bool first = true;
	int error;

	do {
		error = sync_once(serprog, quiet_ms, first);
		first = false;
		quiet_ms = more_quiet_ms(quiet_ms);
		if (error == 0)
			return 0;
		if (!is_worth_another_try(error))
			return serprog_fail(serprog, "synchronisation", error);
	} while (clock_now_ns(serprog->link.clock) - start_ns < max_ns);
	return report_no_sync(serprog);
}
