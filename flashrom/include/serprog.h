/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SERPROG_H
#define SERPROG_H

#include <stdbool.h>

#include "programmer.h"

/** `-p serprog:ip=HOST:PORT` and `-p serprog:dev=PATH[:BAUD]`, both with `,spispeed=HZ,cs=N`. */
extern const struct programmer_driver serprog_driver;

struct serprog_options {
	uint32_t spi_hz;      /* 0: the device keeps its own */
	bool has_chip_select; /* else the device keeps its own */
	uint8_t chip_select;
	uint32_t quiet_ms;       /* silence that ends the answers to the NOPs */
	uint32_t sync_ms_max;    /* for the whole synchronisation */
	uint32_t silence_ms_max; /* until a device counts as dead */
};

/**
 * Creates a serprog programmer that owns the non-blocking stream `fd`; a failure closes it. `peer`
 * is the device's name in messages. A bus must be selected before anything else. Returns 0,
 * -ENOMEM, or another -errno (logged).
 */
int serprog_attach(int fd, const char *peer, const struct serprog_options *options,
	const struct clock *clock, const struct log *log, struct programmer **out);

#endif
