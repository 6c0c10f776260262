/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef EEPROM_H
#define EEPROM_H

#include "driver.h"

/*
 * SPI EEPROMs take the commands of the 25 series, and a write needs no erase: spi25_driver drives
 * them. Only their ID is read differently.
 */

/**
 * The first three bytes of the identification page (83h): manufacturer, family and density, for
 * example 0x200012. Only parts with -D in their name have that page, and users may overwrite it.
 */
extern const struct identify_method eeprom_id;

#endif
