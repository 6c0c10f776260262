/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef EEPROM_H
#define EEPROM_H

#include "driver.h"

/*
 * SPI EEPROMs speak as SPI NOR parts of the 25 series do, and overwrite what they hold:
 * spi25_driver drives them. Only their identity is elsewhere.
 */

/**
 * The first three bytes of the identification page (83h): maker, family, density; 0x200012. Only
 * the parts with -D in their name have that page, and its user may have written something else
 * there.
 */
extern const struct identify_method eeprom_id;

#endif
