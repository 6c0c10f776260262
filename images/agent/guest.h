/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The guest: what process 1 begins with, folders, files and archives in it, and how it ends. */
#ifndef AGENT_GUEST_H
#define AGENT_GUEST_H

#include <stdint.h>

#include "spec.h"
#include "window.h"

/* Ends the guest where anything fails. */
void guest_begin(struct window *window);

/* The number behind `key`, such as `rig.window_bytes=`, of the kernel's command line; 0: none. */
uint64_t guest_number(const char *key);

/* Brings that network interface up; 0 or a negative errno. */
int guest_bring_up(const char *interface);

/* Says why, and pauses the machine for good. */
void guest_stop(const char *what, int error) __attribute__((noreturn));

/* The same where `error` is one. */
void guest_require(int error, const char *what);

/* Shows the system folders in another root, too, and ttys with them; 0 or a negative errno. */
int guest_show_system_in(const char *root);

/* Fetches an archive into the window and unpacks it into `folder`; 0 or a negative errno. */
int guest_unpack(const struct window *window, const char *fw_cfg_name, const char *folder);

/* The text of a file, to be freed; NULL where it cannot be read. */
char *guest_read_text(const char *path);

/* Writes to a file that is there, at once; 0 or a negative errno. */
int guest_write_text(const char *path, const char *text);

/* Waits until the file `path` is there, 10 s at most: 0 or -ETIMEDOUT. */
int guest_await_file(const char *path);

/* Makes one image of a spec; 0 or a negative errno. */
int guest_make_image(const struct spec_image *image);

#endif
