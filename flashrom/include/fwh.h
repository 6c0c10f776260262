/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef FWH_H
#define FWH_H

#include "flash.h"

/* Firmware hubs with Intel's commands: 82802AB, M50FW040 and their kin. */

extern const struct chip_driver fwh_driver;

/** 90h: manufacturer and device, 0x89ad. The array is read again afterwards in any case. */
extern const struct identify_method fwh_id;

#endif
