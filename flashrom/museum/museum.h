/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MUSEUM_H
#define MUSEUM_H

#include <stdint.h>

struct flash;

/** What is wrong with this build, for its second line of output. Each piece has its own. */
extern const char museum_mistake[];

/** What a piece finds out about its machine before main(); of those that calibrate or probe. */
void museum_prepare(void);

/** In place of flash_wait_us(), by a word to the linker (--wrap), which chose the name. */
int __wrap_flash_wait_us(struct flash *flash, uint32_t us);

#endif
