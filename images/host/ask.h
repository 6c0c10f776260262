/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Asks a library's delay function for waits of given lengths. What comes of them, QEMU sees. */
#ifndef LIBRARY_CLIENT_ASK_H
#define LIBRARY_CLIENT_ASK_H

#include <stddef.h>
#include <stdint.h>

/*
 * `address` is that of a function void(unsigned int us) in the file of libflashrom.so.1.
 * 0, or -ENOENT where no library of that name is loaded.
 */
int ask_delays(uint64_t address, const unsigned int *ask_us, size_t asks);

#endif
