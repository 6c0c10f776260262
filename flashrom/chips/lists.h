/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CHIPS_LISTS_H
#define CHIPS_LISTS_H

#include "chip.h"
#include "spi25.h"

/* Datasheets give milliseconds for nearly everything; page programs are given in us here. */
#define KIB(n) ((n) * UINT32_C(1024))
#define MIB(n) ((n) * UINT32_C(1048576))
#define MS(n) ((n) * UINT32_C(1000))

/* What all parts of the 25 series have in common. */
#define SPI25_DRIVEN .buses = BUS_SPI, .identify = &spi25_rdid, .driver = &spi25_driver

#define CHIP_LIST(chips) {(chips), sizeof(chips) / sizeof((chips)[0])}

/* One list per vendor; lists.c strings them together. */
extern const struct chip_list adesto_chips;
extern const struct chip_list eon_chips;
extern const struct chip_list gigadevice_chips;
extern const struct chip_list issi_chips;
extern const struct chip_list macronix_chips;
extern const struct chip_list micron_chips;
extern const struct chip_list spansion_chips;
extern const struct chip_list winbond_chips;

#endif
