/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>

#include "protection.h"

static int report_stays(const struct spi25 *flash, uint8_t status, bool force)
{
	log_emit(flash->log, force ? LOG_WARNING : LOG_ERROR,
		"The chip stays write-protected (status register 0x%02x): release its WP# pin or "
		"its register lock%s.\n",
		status, force ? "; going on because of --force" : ", or add --force");
	return force ? 0 : -EPERM;
}

int protection_lift(const struct spi25 *flash, bool force, struct protection *out)
{
	const uint8_t mask = flash->chip->protect_mask;
	uint8_t before, after;
	int error = spi25_status_read(flash, &before);

	if (error != 0)
		return error;
	*out = (struct protection){.status = before};
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
	out->lifted = true;
	return 0;
}

int protection_restore(const struct spi25 *flash, const struct protection *protection)
{
	if (!protection->lifted)
		return 0;
	return spi25_status_write(flash, protection->status);
}
