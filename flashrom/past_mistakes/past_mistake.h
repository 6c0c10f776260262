/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PAST_MISTAKE_H
#define PAST_MISTAKE_H

#include <stdint.h>

struct flash;

/** The mistake of this build in words, for its second line of output. */
extern const char past_mistake[];

/** Runs before main(), for mistakes that calibrate a loop or query the clock. */
void past_mistake_prepare(void);

/** Replaces flash_wait_us(); the name is that of the linker's --wrap. */
int __wrap_flash_wait_us(struct flash *flash, uint32_t us);

#endif
