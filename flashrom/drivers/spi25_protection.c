/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>

#include "spi25.h"

static int report_stays(const struct flash *flash, uint8_t status, bool force)
{
	log_emit(flash->log, force ? LOG_WARNING : LOG_ERROR,
		"The chip stays write-protected (status register 0x%02x): release its WP# pin or "
		"its register lock%s.\n",
		status, force ? "; going on because of --force" : ", or add --force");
	return force ? 0 : -EPERM;
}

int spi25_unprotect(struct flash *flash, bool force)
{
	const uint8_t mask = flash->chip->spi25.protect_mask;
	uint8_t before, after;
	int error = spi25_status_read(flash, &before);

	if (error != 0)
		return error;
	flash->protection = (struct protection){.status = before};
	if ((before & mask) == 0)
		return 0;
	log_debug(flash->log, "Lifting block protection (status register 0x%02x).\n", before);
	error = spi25_status_write(flash, before & (uint8_t)~mask);
	if (error == 0)
		error = spi25_status_read(flash, &after);
	if (error != 0)
		return error;
	if ((after & mask) != 0)
		return report_stays(flash, after, force);
	flash->protection.lifted = true;
	return 0;
}

int spi25_reprotect(struct flash *flash)
{
	if (!flash->protection.lifted)
		return 0;
	flash->protection.lifted = false;
	return spi25_status_write(flash, flash->protection.status);
}
