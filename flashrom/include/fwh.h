/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef FWH_H
#define FWH_H

#include "flash.h"

/* Firmware hubs with Intel's commands: 82802AB, M50FW040 and similar parts. */

extern const struct chip_driver fwh_driver;

/** 90h: manufacturer and device (0x89ad). It ends in read-array mode, also after an error. */
extern const struct identify_method fwh_id;

#endif
