/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "spi_settle.h"

#include "aai.h"
#include "spi25.h"

#define STATUS_BUSY 0x01

/* The longest operation of an unknown part: a chip erase takes minutes. */
static const struct busy_time unknown_operation = {.typ_us = 800000, .max_us = 250000000};

static void report_earlier_operation(const struct flash *flash)
{
	log_info(flash->log, "The chip is busy with an earlier operation, waiting for its end.\n");
}

/*
 * In AAI mode a part takes only status reads, words and WRDI. On other parts that bit has another
 * meaning; there WRDI only clears a write enable of an earlier session.
 */
static int settle_spi25(struct flash *flash, uint8_t status)
{
	int error = 0;

	if ((status & STATUS_BUSY) != 0) {
		report_earlier_operation(flash);
		error = busy_wait(flash, &unknown_operation, "this session", spi25_ask_ready, 0);
	}
	if (error == 0 && (status & AAI_STATUS_MODE) != 0)
		error = aai_leave(flash);
	return error;
}

/* Busy parts ignore everything but status reads. */
int spi_settle(struct flash *flash)
{
	uint8_t status;
	const int error = spi25_status_read(flash, &status);

	if (error != 0 || status == SPI25_FLOATING)
		return error;
	return settle_spi25(flash, status);
}
