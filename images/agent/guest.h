/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What process 1 of every guest begins with, and how it ends. */
#ifndef AGENT_GUEST_H
#define AGENT_GUEST_H

#include <stdint.h>

#include "window.h"

/* System folders, devices, the window, loopback, real-time priority. Ends the guest where it fails.
 */
void guest_begin(struct window *window);

/* The number behind `key`, such as `rig.window_bytes=`, of the kernel's command line; 0: none. */
uint64_t guest_number(const char *key);

/* Brings that network interface up; 0 or a negative errno. */
int guest_bring_up(const char *interface);

/* Says why, and pauses the machine for good. */
void guest_stop(const char *what, int error) __attribute__((noreturn));

/* The same where `error` is one. */
void guest_require(int error, const char *what);

#endif
