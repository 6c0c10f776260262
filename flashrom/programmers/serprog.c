/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Client for the serprog protocol, version 1. Waiting is left to the host also where the device
 * offers to do it (O_DELAY), so that the delay layer times every chip.
 */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "params.h"
#include "serprog.h"
#include "serprog_link.h"
#include "text.h"

enum answer {
	S_ACK = 0x06,
	S_NAK = 0x15,
};

enum request {
	S_CMD_NOP = 0x00,
	S_CMD_Q_IFACE = 0x01,
	S_CMD_Q_CMDMAP = 0x02,
	S_CMD_Q_PGMNAME = 0x03,
	S_CMD_Q_SERBUF = 0x04,
	S_CMD_Q_BUSTYPE = 0x05,
	S_CMD_Q_WRNMAXLEN = 0x08,
	S_CMD_SYNCNOP = 0x10,
	S_CMD_Q_RDNMAXLEN = 0x11,
	S_CMD_S_BUSTYPE = 0x12,
	S_CMD_O_SPIOP = 0x13,
	S_CMD_S_SPI_FREQ = 0x14,
	S_CMD_S_PIN_STATE = 0x15,
};

#define INTERFACE_VERSION 1

#define NAME_BYTES 16
#define MAP_BYTES 32
#define SPIOP_HEADER_BYTES 7
#define U24_LIMIT (UINT32_C(1) << 24)

/* Room for the largest page program; more per read only makes a hang-up show later. */
#define WRITE_BYTES_MAX 1024
#define READ_BYTES_MAX 65536
#define WRITE_BYTES_NEEDED 5
#define READ_BYTES_NEEDED 3

/* As many as the longest request outside O_SPIOP and its kin could still be waiting for. */
#define SYNC_NOPS 8
#define SYNC_ANSWER_MS 500

struct serprog {
	struct programmer base; /* first: see self() */
	struct serprog_link link;
	const struct log *log;
	struct serprog_options options;
	char peer[256];
	uint8_t version[2];
	uint8_t map[MAP_BYTES];
	bool broken; /* out of step or gone: nothing more is sent */
};

static struct serprog *self(struct programmer *programmer)
{
	return (struct serprog *)programmer;
}

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

static int fail(struct serprog *serprog, const char *during, int error)
{
	serprog->broken = true;
	log_error(serprog->log,
		"serprog: %s %s (%s). Reset the programmer, then verify or write again.\n",
		serprog->peer, cause_of(error), during);
	return error;
}

static uint32_t get_le(const uint8_t *bytes, size_t count)
{
	uint32_t value = 0;

	while (count-- > 0)
		value = value << 8 | bytes[count];
	return value;
}

static void put_le(uint8_t *bytes, size_t count, uint32_t value)
{
	for (size_t i = 0; i < count; i++, value >>= 8)
		bytes[i] = (uint8_t)value;
}

/* A request and what follows its ACK. Errors are not logged yet: a NAK may be what one expects. */
static int exchange(struct serprog *serprog, const uint8_t *request, size_t request_bytes,
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

static int query(struct serprog *serprog, uint8_t request, uint8_t *answer, size_t bytes)
{
	return exchange(serprog, &request, 1, answer, bytes);
}

static bool offers(const struct serprog *serprog, uint8_t request)
{
	return (serprog->map[request / 8] >> (request % 8) & 1) != 0;
}

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
		error = query(serprog, S_CMD_Q_IFACE, serprog->version, sizeof(serprog->version));
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

static int synchronise(struct serprog *serprog)
{
	const uint64_t start_ns = clock_now_ns(serprog->link.clock);
	const uint64_t max_ns = serprog->options.sync_ms_max * NS_PER_MS;
	int error;

	do {
		error = sync_once(serprog, serprog->options.sync_ms_max);
		if (error == 0)
			return 0;
		if (!is_worth_another_try(error))
			return fail(serprog, "synchronisation", error);
	} while (clock_now_ns(serprog->link.clock) - start_ns < max_ns);
	return report_no_sync(serprog);
}

static int check_version(struct serprog *serprog)
{
	const uint32_t version = get_le(serprog->version, sizeof(serprog->version));

	if (version == INTERFACE_VERSION)
		return 0;
	log_error(serprog->log, "serprog: %s speaks version %" PRIu32 ", only %d is known here.\n",
		serprog->peer, version, INTERFACE_VERSION);
	return -EPROTONOSUPPORT;
}

static int read_map(struct serprog *serprog)
{
	const int error = query(serprog, S_CMD_Q_CMDMAP, serprog->map, sizeof(serprog->map));

	if (error != 0)
		return fail(serprog, "command map", error);
	if (offers(serprog, S_CMD_O_SPIOP))
		return 0;
	log_error(serprog->log, "serprog: %s offers no SPI operation (command 13h).\n",
		serprog->peer);
	return -EOPNOTSUPP;
}

static int log_device(struct serprog *serprog)
{
	uint8_t name[NAME_BYTES];
	int error;

	if (!offers(serprog, S_CMD_Q_PGMNAME))
		return 0;
	error = query(serprog, S_CMD_Q_PGMNAME, name, sizeof(name));
	if (error != 0)
		return fail(serprog, "programmer name", error);
	log_debug(serprog->log, "serprog: %s is a \"%.*s\".\n", serprog->peer, NAME_BYTES,
		(const char *)name);
	return 0;
}

static int report_no_spi(struct serprog *serprog)
{
	log_error(serprog->log, "serprog: %s has no SPI bus.\n", serprog->peer);
	return -EOPNOTSUPP;
}

static int choose_bus(struct serprog *serprog)
{
	const uint8_t request[] = {S_CMD_S_BUSTYPE, BUS_SPI};
	uint8_t buses = BUS_SPI;
	int error = 0;

	if (offers(serprog, S_CMD_Q_BUSTYPE))
		error = query(serprog, S_CMD_Q_BUSTYPE, &buses, 1);
	if (error == 0 && (buses & BUS_SPI) == 0)
		return report_no_spi(serprog);
	if (error == 0 && offers(serprog, S_CMD_S_BUSTYPE))
		error = exchange(serprog, request, sizeof(request), NULL, 0);
	return error == 0 ? 0 : fail(serprog, "choice of the SPI bus", error);
}

/* An answer of 0 stands for 2^24. A device without the query takes what it is given. */
static int read_limit(struct serprog *serprog, uint8_t request, size_t needed, size_t *limit)
{
	uint8_t answer[3];
	uint32_t bytes;
	int error;

	if (!offers(serprog, request))
		return 0;
	error = query(serprog, request, answer, sizeof(answer));
	if (error != 0)
		return fail(serprog, "largest transfer", error);
	bytes = get_le(answer, sizeof(answer));
	if (bytes == 0)
		bytes = U24_LIMIT;
	if (bytes < needed) {
		log_error(serprog->log,
			"serprog: %s takes %" PRIu32 " bytes at a time, a flash "
			"chip needs %zu.\n",
			serprog->peer, bytes, needed);
		return -EOPNOTSUPP;
	}
	if (bytes < *limit)
		*limit = bytes;
	return 0;
}

static int read_limits(struct serprog *serprog)
{
	struct programmer *base = &serprog->base;
	int error;

	base->write_bytes_max = WRITE_BYTES_MAX;
	base->read_bytes_max = READ_BYTES_MAX;
	error = read_limit(serprog, S_CMD_Q_WRNMAXLEN, WRITE_BYTES_NEEDED, &base->write_bytes_max);
	if (error == 0)
		error = read_limit(
			serprog, S_CMD_Q_RDNMAXLEN, READ_BYTES_NEEDED, &base->read_bytes_max);
	return error;
}

static int set_speed(struct serprog *serprog)
{
	uint8_t request[5] = {S_CMD_S_SPI_FREQ};
	uint8_t answer[4];
	int error;

	if (serprog->options.spi_hz == 0)
		return 0;
	if (!offers(serprog, S_CMD_S_SPI_FREQ)) {
		log_warning(serprog->log,
			"serprog: %s cannot set its SPI speed; spispeed has no "
			"effect.\n",
			serprog->peer);
		return 0;
	}
	put_le(request + 1, 4, serprog->options.spi_hz);
	error = exchange(serprog, request, sizeof(request), answer, sizeof(answer));
	if (error != 0)
		return fail(serprog, "spispeed", error);
	log_debug(serprog->log, "serprog: SPI at %" PRIu32 " Hz.\n", get_le(answer, 4));
	return 0;
}

static int set_pins(struct serprog *serprog, bool driven)
{
	const uint8_t request[] = {S_CMD_S_PIN_STATE, driven};

	if (!offers(serprog, S_CMD_S_PIN_STATE))
		return 0;
	return exchange(serprog, request, sizeof(request), NULL, 0);
}

static int drive_pins(struct serprog *serprog)
{
	const int error = set_pins(serprog, true);

	return error == 0 ? 0 : fail(serprog, "driving the pins", error);
}

static int handshake(struct serprog *serprog)
{
	static int (*const steps[])(struct serprog *) = {
		synchronise,
		check_version,
		read_map,
		log_device,
		choose_bus,
		read_limits,
		set_speed,
		drive_pins,
	};

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		const int error = steps[i](serprog);

		if (error != 0)
			return error;
	}
	return 0;
}

static int serprog_spi_command(struct programmer *programmer, const uint8_t *tx, size_t tx_bytes,
	uint8_t *rx, size_t rx_bytes)
{
	struct serprog *serprog = self(programmer);
	uint8_t request[SPIOP_HEADER_BYTES + WRITE_BYTES_MAX];
	int error;

	assert(tx_bytes <= programmer->write_bytes_max && rx_bytes <= programmer->read_bytes_max);
	if (serprog->broken)
		return -ECONNRESET;
	request[0] = S_CMD_O_SPIOP;
	put_le(request + 1, 3, (uint32_t)tx_bytes);
	put_le(request + 4, 3, (uint32_t)rx_bytes);
	memcpy(request + SPIOP_HEADER_BYTES, tx, tx_bytes);
	error = exchange(serprog, request, SPIOP_HEADER_BYTES + tx_bytes, rx, rx_bytes);
	return error == 0 ? 0 : fail(serprog, "SPI operation", error);
}

static void serprog_destroy(struct programmer *programmer)
{
	struct serprog *serprog = self(programmer);

	/* Whether the pins are let go is the device's affair once it stopped answering. */
	if (!serprog->broken)
		(void)set_pins(serprog, false);
	close(serprog->link.fd);
	free(serprog);
}

static const struct programmer_ops serprog_ops = {
	.spi_command = serprog_spi_command,
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
	serprog->base =
		(struct programmer){.name = "serprog", .ops = &serprog_ops, .buses = BUS_SPI};
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

struct serprog_params {
	const char *ip;
	const char *dev;
	const char *spispeed;
};

static int check_params(const struct serprog_params *params, const struct log *log, uint32_t *hz)
{
	if ((params->ip == NULL) == (params->dev == NULL)) {
		log_error(log, "serprog: give one of ip=HOST:PORT and dev=PATH[:BAUD].\n");
		return -EINVAL;
	}
	if (params->spispeed == NULL || text_to_hz(params->spispeed, hz))
		return 0;
	log_error(log,
		"serprog: spispeed=%s is no frequency. Write it in Hz, like 2000000 or "
		"2M.\n",
		params->spispeed);
	return -EINVAL;
}

/* Boards on a serial line may restart when it is opened, and need seconds for that. */
static int open_link(
	const struct serprog_params *params, struct serprog_options *options, const struct log *log)
{
	*options = (struct serprog_options){
		.quiet_ms = params->ip != NULL ? 50 : 200,
		.sync_ms_max = params->ip != NULL ? 5000 : 10000,
		.silence_ms_max = 5000,
	};
	if (params->ip != NULL)
		return serprog_link_open_tcp(params->ip, log);
	return serprog_link_open_tty(params->dev, log);
}

static int open_params(const struct serprog_params *params, const struct clock *clock,
	const struct log *log, struct programmer **out)
{
	struct serprog_options options;
	uint32_t hz = 0;
	int fd = check_params(params, log, &hz);

	if (fd == 0)
		fd = open_link(params, &options, log);
	if (fd < 0)
		return fd;
	options.spi_hz = hz;
	return serprog_attach(
		fd, params->ip != NULL ? params->ip : params->dev, &options, clock, log, out);
}

static int serprog_open(
	const char *text, const struct clock *clock, const struct log *log, struct programmer **out)
{
	struct serprog_params values = {0};
	const struct param params[] = {
		{"ip", &values.ip},
		{"dev", &values.dev},
		{"spispeed", &values.spispeed},
		{NULL, NULL},
	};
	char *copy = strdup(text);
	int error;

	if (copy == NULL)
		return -ENOMEM;
	error = params_parse(copy, "serprog", params, log);
	if (error == 0)
		error = open_params(&values, clock, log, out);
	free(copy);
	return error;
}

const struct programmer_driver serprog_driver = {
	.name = "serprog",
	.usage = "serprog:ip=HOST:PORT | serprog:dev=PATH[:BAUD]   (add ,spispeed=HZ)",
	.open = serprog_open,
};
