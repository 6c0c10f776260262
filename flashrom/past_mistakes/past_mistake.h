/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PAST_MISTAKE_H
#define PAST_MISTAKE_H

#include <stdint.h>

struct flash;

/** The mistake of this build, for its second line of output. Each has its own text. */
extern const char past_mistake[];

/** Finds out facts of its machine before main(), for mistakes that calibrate or probe. */
void past_mistake_prepare(void);

/** In place of flash_wait_us(), by a word to the linker (--wrap), which chose the name. */
int __wrap_flash_wait_us(struct flash *flash, uint32_t us);

#endif
