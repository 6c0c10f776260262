/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>

#include "spi25.h"

int spi25_report_protected(const struct flash *flash, bool force)
{
	log_emit(flash->log, force ? LOG_WARNING : LOG_ERROR,
		"The chip stays write-protected: release its WP# pin or its register lock%s.\n",
		force ? "; going on because of --force" : ", or add --force");
	return force ? 0 : -EPERM;
}

/* A missing register reads as FFh and protects nothing. */
static uint8_t protecting(uint8_t value, uint8_t mask)
{
	return value == SPI25_FLOATING ? 0 : value & mask;
}

static bool is_protected(const struct spi25_traits *traits, const struct spi25_status *status)
{
	return (status->first & traits->protect_mask) != 0 ||
	       protecting(status->second, traits->protect_mask_2) != 0 ||
	       protecting(status->third, traits->protect_mask_3) != 0;
}

static struct spi25_status without_protection(
	const struct spi25_traits *traits, struct spi25_status status)
{
	status.first &= (uint8_t)~traits->protect_mask;
	status.second ^= protecting(status.second, traits->protect_mask_2);
	status.third ^= protecting(status.third, traits->protect_mask_3);
	return status;
}

/* Remembers all registers before the first write, since a later write may fail. */
static void remember(struct protection *protection, const struct spi25_status *found)
{
	*protection = (struct protection){
		.lifted = true,
		.status = found->first,
		.status_2 = found->second,
		.status_3 = found->third,
	};
}

int spi25_unprotect(struct flash *flash, bool force)
{
	const struct spi25_traits *traits = &flash->chip->spi25;
	struct spi25_status found, wanted, after;
	int error = spi25_status_read_all(flash, &found);

	if (error != 0 || !is_protected(traits, &found))
		return error;
	log_debug(flash->log, "Lifting block protection (status register 0x%02x).\n", found.first);
	wanted = without_protection(traits, found);
	remember(&flash->protection, &found);
	error = spi25_status_write_all(flash, &found, &wanted);
	if (error == 0)
		error = spi25_status_read_all(flash, &after);
	if (error == 0 && is_protected(traits, &after))
		error = spi25_report_protected(flash, force);
	return error;
}

int spi25_reprotect(struct flash *flash)
{
	const struct protection *protection = &flash->protection;
	const struct spi25_status found = {
		protection->status, protection->status_2, protection->status_3};
	struct spi25_status now;
	int error;

	if (!protection->lifted)
		return 0;
	flash->protection.lifted = false;
	error = spi25_status_read_all(flash, &now);
	return error == 0 ? spi25_status_write_all(flash, &now, &found) : error;
}
