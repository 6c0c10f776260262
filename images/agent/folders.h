/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Folders and files of the guest: the system's own, archives from the host, images for jobs. */
#ifndef AGENT_FOLDERS_H
#define AGENT_FOLDERS_H

#include "spec.h"
#include "window.h"

/* Mounts what a running system has: /dev, /proc, /sys, /dev/pts. */
void folders_mount_system(void);

/*
 * Shows the same folders inside another root, so that a tty made in one is seen in the other.
 * Returns 0 or a negative errno.
 */
int folders_show_system_in(const char *root);

/* Fetches an archive into the window and unpacks it into `folder`; 0 or a negative errno. */
int folders_unpack(const struct window *window, const char *fw_cfg_name, const char *folder);

/* The text of a file, to be freed; NULL where it cannot be read. */
char *folders_read_text(const char *path);

/* Writes to a file that is there, at once; 0 or a negative errno. */
int folders_write_text(const char *path, const char *text);

/* Waits until the file `path` is there, 10 s at most: 0 or -ETIMEDOUT. */
int folders_await_file(const char *path);

/* Makes one image of a spec; 0 or a negative errno. */
int folders_make_image(const struct spec_image *image);

#endif
