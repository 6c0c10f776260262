/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "serprog_device.h"

#define SPIOP_HEADER_BYTES 7
#define OPERATION_BYTES_MAX (SPIOP_HEADER_BYTES + SERPROG_WRITE_BYTES_MAX)
#define U24_LIMIT (UINT32_C(1) << 24)

/* Opcode, address and one byte to program; a JEDEC ID. */
#define WRITE_BYTES_NEEDED 5
#define READ_BYTES_NEEDED 3

bool serprog_has_spi(const struct serprog *serprog)
{
	return serprog_offers(serprog, S_CMD_O_SPIOP);
}

static int read_limits(struct serprog *serprog)
{
	struct programmer *base = &serprog->base;
	int error;

	base->write_bytes_max = SERPROG_WRITE_BYTES_MAX;
	base->read_bytes_max = SERPROG_READ_BYTES_MAX;
	error = serprog_read_size(serprog, S_CMD_Q_WRNMAXLEN, 3, U24_LIMIT, &base->write_bytes_max);
	if (error == 0)
		error = serprog_read_size(
			serprog, S_CMD_Q_RDNMAXLEN, 3, U24_LIMIT, &base->read_bytes_max);
	if (error != 0)
		return error;
	if (base->write_bytes_max < WRITE_BYTES_NEEDED)
		return serprog_report_too_small(serprog, "writes", base->write_bytes_max);
	if (base->read_bytes_max < READ_BYTES_NEEDED)
		return serprog_report_too_small(serprog, "reads", base->read_bytes_max);
	return 0;
}

static int warn_speed_stays(struct serprog *serprog)
{
	log_warning(serprog->log, "serprog: %s cannot set its SPI speed; spispeed has no effect.\n",
		serprog->peer);
	return 0;
}

static int set_speed(struct serprog *serprog)
{
	uint8_t request[5] = {S_CMD_S_SPI_FREQ};
	uint8_t answer[4];
	int error;

	if (serprog->options.spi_hz == 0)
		return 0;
	if (!serprog_offers(serprog, S_CMD_S_SPI_FREQ))
		return warn_speed_stays(serprog);
	serprog_put(request + 1, 4, serprog->options.spi_hz);
	error = serprog_exchange(serprog, request, sizeof(request), answer, sizeof(answer));
	if (error != 0)
		return serprog_fail(serprog, "spispeed", error);
	log_debug(serprog->log, "serprog: SPI at %" PRIu32 " Hz.\n", serprog_get(answer, 4));
	return 0;
}

/* An error, because the wrong chip select could erase the wrong chip. */
static int report_no_chip_select(struct serprog *serprog)
{
	log_error(serprog->log,
		"serprog: %s has one chip select only (no command 16h). Leave out cs=.\n",
		serprog->peer);
	return -EOPNOTSUPP;
}

static int set_chip_select(struct serprog *serprog)
{
	const uint8_t request[] = {S_CMD_S_SPI_CS, serprog->options.chip_select};
	int error;

	if (!serprog->options.has_chip_select)
		return 0;
	if (!serprog_offers(serprog, S_CMD_S_SPI_CS))
		return report_no_chip_select(serprog);
	error = serprog_exchange(serprog, request, sizeof(request), NULL, 0);
	return error == 0 ? 0 : serprog_fail(serprog, "choice of the chip select, cs", error);
}

int serprog_prepare_spi(struct serprog *serprog)
{
	int error = read_limits(serprog);

	if (error == 0)
		error = serprog_queue_prepare(serprog, "SPI operation");
	if (error == 0)
		error = set_speed(serprog);
	if (error == 0)
		error = set_chip_select(serprog);
	return error;
}

static size_t put_operation(
	uint8_t request[OPERATION_BYTES_MAX], const uint8_t *tx, size_t tx_bytes, size_t rx_bytes)
{
	request[0] = S_CMD_O_SPIOP;
	serprog_put(request + 1, 3, (uint32_t)tx_bytes);
	serprog_put(request + 4, 3, (uint32_t)rx_bytes);
	memcpy(request + SPIOP_HEADER_BYTES, tx, tx_bytes);
	return SPIOP_HEADER_BYTES + tx_bytes;
}

int serprog_spi_hold(struct programmer *programmer, const uint8_t *tx, size_t tx_bytes)
{
	struct serprog *serprog = serprog_self(programmer);
	uint8_t request[OPERATION_BYTES_MAX];

	assert(tx_bytes <= programmer->write_bytes_max);
	if (serprog->broken)
		return -ECONNRESET;
	return serprog_queue_push(serprog, request, put_operation(request, tx, tx_bytes, 0));
}

static int send_with_held(struct programmer *programmer, const uint8_t *tx, size_t tx_bytes)
{
	const int error = serprog_spi_hold(programmer, tx, tx_bytes);

	return error == 0 ? serprog_queue_settle(serprog_self(programmer)) : error;
}

int serprog_spi_command(struct programmer *programmer, const uint8_t *tx, size_t tx_bytes,
	uint8_t *rx, size_t rx_bytes)
{
	struct serprog *serprog = serprog_self(programmer);
	uint8_t request[OPERATION_BYTES_MAX];
	int error;

	assert(tx_bytes <= programmer->write_bytes_max && rx_bytes <= programmer->read_bytes_max);
	if (serprog->queue.count > 0 && rx_bytes == 0)
		return send_with_held(programmer, tx, tx_bytes);
	error = serprog_queue_settle(serprog);
	if (error != 0 || serprog->broken)
		return error != 0 ? error : -ECONNRESET;
	error = serprog_exchange(
		serprog, request, put_operation(request, tx, tx_bytes, rx_bytes), rx, rx_bytes);
	return error == 0 ? 0 : serprog_fail(serprog, "SPI operation", error);
}
