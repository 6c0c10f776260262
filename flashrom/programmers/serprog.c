/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Client for the serprog protocol, version 1: from the open stream to the selection of a bus. The
 * client makes all waits, even if the device offers them (O_DELAY), so that the delay layer times
 * every chip.
 */
#include "programmers.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "serprog_device.h"

/* Enough bytes to complete an interrupted request, except an O_SPIOP or O_WRITEN with its data. */
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
 * Makes one attempt. The late answers of a slow device may look like the answer to SYNCNOP, but
 * then the version that follows consists of ACKs and NAKs, too.
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

/* Synchronises client and device, and reads the version. Returns 0, or -errno (logged). */
static int synchronise(struct serprog *serprog)
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

#define INTERFACE_VERSION 1
#define NAME_BYTES 16

static int check_version(struct serprog *serprog)
{
	const uint32_t version = serprog_get(serprog->version, sizeof(serprog->version));

	if (version == INTERFACE_VERSION)
		return 0;
	log_error(serprog->log, "serprog: %s speaks version %" PRIu32 ", only %d is known here.\n",
		serprog->peer, version, INTERFACE_VERSION);
	return -EPROTONOSUPPORT;
}

static int read_map(struct serprog *serprog)
{
	const int error =
		serprog_query(serprog, S_CMD_Q_CMDMAP, serprog->map, sizeof(serprog->map));

	return error == 0 ? 0 : serprog_fail(serprog, "command map", error);
}

static int log_device(struct serprog *serprog)
{
	uint8_t name[NAME_BYTES];
	int error;

	if (!serprog_offers(serprog, S_CMD_Q_PGMNAME))
		return 0;
	error = serprog_query(serprog, S_CMD_Q_PGMNAME, name, sizeof(name));
	if (error != 0)
		return serprog_fail(serprog, "programmer name", error);
	log_debug(serprog->log, "serprog: %s is a \"%.*s\".\n", serprog->peer, NAME_BYTES,
		(const char *)name);
	return 0;
}

/* Returns the buses for which the device has the commands. */
static uint8_t buses_with_commands(const struct serprog *serprog)
{
	return (uint8_t)((serprog_has_spi(serprog) ? BUS_SPI : 0) |
			 (serprog_has_memory(serprog) ? BUSES_MEMORY : 0));
}

static int report_no_bus(struct serprog *serprog, uint8_t buses)
{
	log_error(serprog->log,
		"serprog: %s has no bus that can be used (types %02x, and the commands for %02x). "
		"SPI needs command 13h, memory buses 09h or 0Ah, 0Bh, 0Ch and 0Fh.\n",
		serprog->peer, buses, buses_with_commands(serprog));
	return -EOPNOTSUPP;
}

/* Without Q_BUSTYPE, a device is assumed to have every bus that its commands are for. */
static int read_buses(struct serprog *serprog)
{
	uint8_t buses = buses_with_commands(serprog);
	int error = 0;

	if (serprog_offers(serprog, S_CMD_Q_BUSTYPE))
		error = serprog_query(serprog, S_CMD_Q_BUSTYPE, &buses, 1);
	if (error != 0)
		return serprog_fail(serprog, "bus types", error);
	serprog->base.buses = buses & buses_with_commands(serprog);
	return serprog->base.buses != 0 ? 0 : report_no_bus(serprog, buses);
}

static int set_pins(struct serprog *serprog, bool driven)
{
	const uint8_t request[] = {S_CMD_S_PIN_STATE, driven};

	if (!serprog_offers(serprog, S_CMD_S_PIN_STATE))
		return 0;
	return serprog_exchange(serprog, request, sizeof(request), NULL, 0);
}

static int drive_pins(struct serprog *serprog)
{
	const int error = set_pins(serprog, true);

	if (error != 0)
		return serprog_fail(serprog, "driving the pins", error);
	if (serprog_offers(serprog, S_CMD_S_PIN_STATE))
		serprog->base.powered_ns = clock_now_ns(serprog->link.clock);
	return 0;
}

static int handshake(struct serprog *serprog)
{
	static int (*const steps[])(struct serprog *) = {
		synchronise,
		check_version,
		read_map,
		log_device,
		read_buses,
		drive_pins,
	};

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		const int error = steps[i](serprog);

		if (error != 0)
			return error;
	}
	return 0;
}

static int set_bus(struct serprog *serprog, uint8_t bus)
{
	const uint8_t request[] = {S_CMD_S_BUSTYPE, bus};
	int error;

	if (!serprog_offers(serprog, S_CMD_S_BUSTYPE))
		return 0;
	error = serprog_exchange(serprog, request, sizeof(request), NULL, 0);
	return error == 0 ? 0 : serprog_fail(serprog, "choice of the bus", error);
}

/* The largest transfers may depend on the bus, so they are queried after its selection. */
static int serprog_select_bus(struct programmer *programmer, uint8_t bus)
{
	struct serprog *serprog = serprog_self(programmer);
	int error = serprog_flush(programmer);

	if (error == 0)
		error = set_bus(serprog, bus);
	if (error != 0)
		return error;
	return bus == BUS_SPI ? serprog_prepare_spi(serprog) : serprog_prepare_memory(serprog);
}

/* Nothing is sent to a device that stopped answering, so its pins may stay driven. */
static void serprog_destroy(struct programmer *programmer)
{
	struct serprog *serprog = serprog_self(programmer);

	if (!serprog->broken)
		(void)serprog_flush(programmer);
	if (!serprog->broken)
		(void)set_pins(serprog, false);
	close(serprog->link.fd);
	free(serprog);
}

static const struct programmer_ops serprog_ops = {
	.select_bus = serprog_select_bus,
	.spi_command = serprog_spi_command,
	.spi_hold = serprog_spi_hold,
	.read_bytes = serprog_read_bytes,
	.write_byte = serprog_write_byte,
	.flush = serprog_flush,
	.destroy = serprog_destroy,
};

int serprog_attach(int fd, const char *peer, const struct serprog_options *options,
	const struct clock *clock, const struct log *log, struct programmer **out)
{
	struct serprog *serprog = calloc(1, sizeof(*serprog));
	int error;

	if (serprog == NULL) {
		close(fd);
		return -ENOMEM;
	}
	serprog->base = (struct programmer){.name = "serprog", .ops = &serprog_ops};
	serprog->link = (struct serprog_link){.fd = fd, .clock = clock};
	serprog->log = log;
	serprog->options = *options;
	strncpy(serprog->peer, peer, sizeof(serprog->peer) - 1);
	error = handshake(serprog);
	if (error != 0) {
		serprog_destroy(&serprog->base);
		return error;
	}
	*out = &serprog->base;
	return 0;
}
