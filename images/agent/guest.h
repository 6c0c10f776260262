/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The guest: its start and end by process 1, and its folders, files and archives. */
#ifndef AGENT_GUEST_H
#define AGENT_GUEST_H

#include <stddef.h>
#include <stdint.h>

#include "report.h"
#include "spec.h"
#include "window.h"

/* Makes an empty guest usable: system folders, devices, window, network. Stops it on a failure. */
void guest_begin(struct window *window);

/* Lets the guest settle, opens the report, and pauses the machine for its snapshot. */
void guest_take_snapshot(struct report *report);

/* Returns the number after `key` (`rig.window_bytes=`) in the kernel command line, or 0. */
uint64_t guest_number(const char *key);

/* Brings that network interface up. Returns 0 or a negative errno. */
int guest_bring_up(const char *interface);

/* Prints the reason, and pauses the machine for good. */
void guest_stop(const char *what, int error) __attribute__((noreturn));

/* Calls guest_stop() if `error` is negative. */
void guest_require(int error, const char *what);

/* Mounts /dev, /dev/pts, /proc and /sys in another root, too. Returns 0 or a negative errno. */
int guest_show_system_in(const char *root);

/* Fetches an archive into the window, unpacks it into `folder`. Returns 0 or a negative errno. */
int guest_unpack(const struct window *window, const char *fw_cfg_name, const char *folder);

/* Returns the text of a file, to be freed, or NULL with errno, ENODATA if it is empty. */
char *guest_read_text(const char *path);

/* Writes an existing file by one write(). Returns 0, -EIO for a short write, or another error. */
int guest_write_text(const char *path, const char *text);

/* Waits until the file exists, for about 10 s at most. Returns 0 or -ETIMEDOUT. */
int guest_await_file(const char *path);

/* Creates the file of an `image` line of the spec. Returns 0 or a negative errno. */
int guest_make_image(const struct spec_image *image);

/*
 * A reader of the archives of rig/delayrig/base/archive.py: cpio's "newc" format with folders,
 * files and symbolic links; a folder comes before its content.
 *
 * Source: Linux Documentation/driver-api/early-userspace/buffer-format.
 */

/*
 * Unpacks the archive into `folder`, which must exist; its folders may exist, too. Returns 0,
 * -EBADMSG if the archive is damaged or cut short, or another negative errno.
 */
int cpio_unpack(const uint8_t *archive, size_t bytes, const char *folder);

#endif
