/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Asks a library's delay function for waits of given lengths. What comes of them, QEMU sees. */
#ifndef LIBRARY_CLIENT_ASK_H
#define LIBRARY_CLIENT_ASK_H

#include <stddef.h>
#include <stdint.h>

#define ASK_ARGUMENT_MAX 2

/*
 * `address` is that of a function void(unsigned int us) in the file of libflashrom.so.1, or of one
 * that takes a uint64_t; `ask` is in its unit. `argument` counts from 0; those before it are 0.
 * 0, or -ENOENT where no library of that name is loaded.
 */
int ask_delays(uint64_t address, unsigned int argument, const uint64_t *ask, size_t asks);

#endif
